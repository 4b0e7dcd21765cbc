"""The votes table every part of this room speaks: one row per (query, candidate, expert), and one answer.

A question asks for yes or no (similar, not similar) or for a grade (exact, similar, substitute, different). Whatever
is at least similar is positive, the rest negative, so that votes of both kinds make labels. "cannot tell" is an answer
an expert gave, but an abstention: it never counts for or against similarity.
`time` is ISO-8601 text in UTC, or null where nobody knows when the vote was cast.
"""

import hashlib

import polars as pl

from likewise.errors import LikewiseError

SIMILAR = "similar"
NOT_SIMILAR = "not similar"
CANNOT_TELL = "cannot tell"
EXACT, SUBSTITUTE, DIFFERENT = "exact", "substitute", "different"
GRADED_ANSWERS = (EXACT, SIMILAR, SUBSTITUTE, DIFFERENT)
POSITIVE_ANSWERS = (SIMILAR, EXACT)
NEGATIVE_ANSWERS = (NOT_SIMILAR, SUBSTITUTE, DIFFERENT)
ANSWERS = (SIMILAR, NOT_SIMILAR, CANNOT_TELL, EXACT, SUBSTITUTE, DIFFERENT)

PAIR = ("query", "candidate")
VOTE_KEY = (*PAIR, "expert")
PAIRS_BEFORE_REPEAT = 12
REPEAT_SPREAD = 40  # a hidden repeat comes at least PAIRS_BEFORE_REPEAT and up to this many more pairs later
VOTE_SCHEMA = dict.fromkeys((*VOTE_KEY, "answer", "time"), pl.String)


def tidy_votes(votes: pl.DataFrame) -> pl.DataFrame:
    """The same votes as columns query, candidate, expert, answer, time, each vote once, sorted by its key.

    Refuses missing columns, empty keys, unknown answers, and two answers of one expert to one pair.
    """
    missing = [column for column in (*VOTE_KEY, "answer") if column not in votes.columns]
    if missing:
        raise LikewiseError(
            f"the votes have no column {', '.join(missing)}: they need query, candidate, expert, answer."
        )
    if "time" not in votes.columns:
        votes = votes.with_columns(time=pl.lit(None, pl.String))
    votes = votes.select(pl.col(column).cast(pl.String) for column in VOTE_SCHEMA)
    unkeyed = votes.filter(pl.any_horizontal(pl.col(column).fill_null("") == "" for column in VOTE_KEY))
    if unkeyed.height:
        raise LikewiseError(f"{unkeyed.height} votes have no query, candidate or expert: fill these columns.")
    unknown = votes.filter(~pl.col("answer").is_in(ANSWERS).fill_null(False))
    if unknown.height:
        query, candidate, expert, answer, _ = unknown.row(0)
        raise LikewiseError(
            f"{expert}'s answer to ({query}, {candidate}) is {answer!r}: write one of {', '.join(ANSWERS)}."
        )
    refuse_two_answers(votes)
    # Of repeats with different times the earliest stays: that is when the expert decided.
    return votes.sort(*VOTE_KEY, "time", nulls_last=True).unique(VOTE_KEY, keep="first", maintain_order=True)


def refuse_two_answers(votes: pl.DataFrame, where: str = "") -> None:
    """Raise if an expert answered one pair in two ways, naming the first such pair."""
    answers = votes.group_by(VOTE_KEY).agg(pl.col("answer").unique().sort())
    twice = answers.filter(pl.col("answer").list.len() > 1).sort(VOTE_KEY)
    if twice.height:
        query, candidate, expert, given = twice.row(0)
        raise LikewiseError(
            f"{where}{expert} answered the pair ({query}, {candidate}) both {' and '.join(map(repr, given))}"
            f"{and_others(twice.height)}: keep one answer for each pair and expert."
        )


def and_others(count: int) -> str:
    """How an error names what else is wrong in the same way."""
    return "" if count == 1 else f" (and {count - 1} more like it)"


def hash_bytes(size: int, *key: object) -> bytes:
    """Up to 64 bytes that depend on nothing but the key: the same on every machine, in every order of asking."""
    return hashlib.blake2b("\x1f".join(map(str, key)).encode(), digest_size=size).digest()
