"""What a person did wrong, said in one sentence: what is wrong, where, and what to do."""

import re

LONG_WORD = re.compile(r"\S{400,}")
MAX_SENTENCE = 1500


class LikewiseError(Exception):
    """A mistake in the input that its user can mend; shown without a traceback, exit code 2.

    What it quotes of a file may be anything: endless words are shortened, and it stays one line.
    """

    def __init__(self, sentence: str = "") -> None:
        line = " ".join(sentence.splitlines()) if "\n" in sentence or "\r" in sentence else sentence
        line = LONG_WORD.sub(lambda found: f"{found.group()[:80]}…{found.group()[-20:]}", line)
        super().__init__(line if len(line) <= MAX_SENTENCE else f"{line[:MAX_SENTENCE]}…")
