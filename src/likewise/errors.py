"""What a person did wrong, said in one sentence: what is wrong, where, and what to do."""


class LikewiseError(Exception):
    """A mistake in the input that its user can mend; shown without a traceback, exit code 2."""
