"""Each expert alone: pace, steadiness on hidden repeats, answers to pairs whose answer is known."""

from dataclasses import dataclass

import polars as pl

from likewise.labeling.votes import ANSWERS, CANNOT_TELL, PAIR, POSITIVE_ANSWERS

BREAK_SECONDS = 120.0  # who is silent for longer is not at work
MAX_SECONDS_PER_PAIR = 60.0
HASTY_SECONDS = 1.0  # nobody compares two pictures in less
MIN_TIMED_ANSWERS = 10  # before anybody is called hasty


@dataclass(frozen=True)
class Pace:
    """How fast an expert works while working; None before there is anything to measure."""

    n_answers: int
    hours_worked: float
    answers_per_hour: float | None
    seconds_per_pair: float | None  # median time on a pair, as measured by the page
    hasty: bool = False  # more than half of the answers came faster than anybody can look


def current_answers(events: pl.DataFrame) -> pl.DataFrame:
    """The current answers, repeats counted separately: the latest revision that is neither an undo nor undone."""
    key = [*PAIR, "asking", "expert"]
    undone = events.filter(pl.col("undoes").is_not_null()).select(*key, revision="undoes")
    left = events.filter(pl.col("answer") != "undo").join(undone, on=[*key, "revision"], how="anti")
    latest = left.sort("revision").unique(key, keep="last", maintain_order=True)
    return latest.filter(pl.col("answer").is_in(ANSWERS))


def answer_pace(events: pl.DataFrame, expert: str) -> Pace:
    """From the moments at which an expert's answers were stored, breaks left out, and clocks that were set back."""
    own = events.filter((pl.col("expert") == expert) & pl.col("answer").is_in(ANSWERS) & (pl.col("source") == "site"))
    if own.is_empty():
        return Pace(0, 0.0, None, None)
    moments = own["stored"].str.to_datetime(format="%Y-%m-%dT%H:%M:%S%.fZ", time_unit="ms")  # in the order of storing
    gaps = moments.diff().dt.total_milliseconds().drop_nulls() / 1000.0
    working = gaps.filter((gaps >= 0) & (gaps <= BREAK_SECONDS))
    hours = float(working.sum()) / 3600.0
    timed = own["milliseconds"].drop_nulls().clip(0, round(1000 * MAX_SECONDS_PER_PAIR))
    seconds = timed.median()
    return Pace(
        n_answers=own.height,
        hours_worked=hours,
        answers_per_hour=working.len() / hours if hours > 0 else None,
        seconds_per_pair=float(seconds) / 1000.0 if isinstance(seconds, int | float) else None,
        hasty=is_hasty(len(timed), int((timed < 1000 * HASTY_SECONDS).sum())),
    )


def is_hasty(n_timed: int, n_quick: int) -> bool:
    """Whether more than half of the answers came faster than anybody can look."""
    return n_timed >= MIN_TIMED_ANSWERS and n_quick > n_timed / 2


def self_consistency(events: pl.DataFrame, expert: str) -> tuple[float | None, int]:
    """The share of hidden repeats answered like the first time (abstentions left out), and how many there were."""
    own = current_answers(events).filter((pl.col("expert") == expert) & (pl.col("answer") != CANNOT_TELL))
    first, again = own.filter(pl.col("asking") == 0), own.filter(pl.col("asking") > 0)
    both = again.join(first, on=list(PAIR), suffix="_first")
    if both.is_empty():
        return None, 0
    return int((both["answer"] == both["answer_first"]).sum()) / both.height, both.height


def catch_pair_accuracy(events: pl.DataFrame, expert: str, gold: pl.DataFrame) -> tuple[float | None, int]:
    """The share of catch pairs (query, candidate, gold) that an expert got right, and how many were answered.

    Right is whoever stands on the side of the known answer: exact and similar are one side, the others the other.
    """
    own = current_answers(events).filter((pl.col("expert") == expert) & (pl.col("asking") == 0))
    met = own.join(gold, on=list(PAIR)).filter(pl.col("answer") != CANNOT_TELL)
    if met.is_empty():
        return None, 0
    right = met["answer"].is_in(POSITIVE_ANSWERS) == met["gold"].is_in(POSITIVE_ANSWERS)
    return int(right.sum()) / met.height, met.height
