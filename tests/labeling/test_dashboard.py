"""What the owner sees: alpha's interval, the order of the models, pace, and each expert's steadiness."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import t

from likewise.labeling.agreement import agreement
from likewise.labeling.exports import crowdkit_table
from likewise.labeling.quality import answer_pace, current_answers
from likewise.labeling.store.read import EVENT_SCHEMA

from .factories import planted, votes_of


def many_queries(n_queries: int, seed: int) -> pl.DataFrame:
    votes, _ = planted(n_queries * 8, 0.5, [(0.9, 0.9)] * 3, seed)
    number = pl.col("candidate").str.slice(1).cast(pl.Int64)
    return votes.with_columns(query=pl.format("q{}", number % n_queries))


def test_the_interval_of_alpha_covers_it_and_shrinks_with_more_queries() -> None:
    widths = []
    for n_queries in (10, 160):
        alpha = agreement(many_queries(n_queries, 3)).krippendorff_alpha
        assert alpha.value is not None and alpha.low is not None and alpha.high is not None
        assert alpha.low <= alpha.value <= alpha.high
        widths.append(alpha.high - alpha.low)
    assert widths[1] < widths[0] / 2
    assert agreement(votes_of(ann="sn", bob="sn")).krippendorff_alpha.low is None  # one query


def test_the_interval_of_agreement_is_that_of_leaving_queries_out() -> None:
    """Against computing both coefficients again without each query."""
    votes, n = many_queries(12, 5), 12
    whole = agreement(votes)
    without = [agreement(votes.filter(pl.col("query") != f"q{one}")) for one in range(n)]
    for name in ("fleiss_kappa", "krippendorff_alpha"):
        found = getattr(whole, name)
        values = np.array([getattr(one, name).value for one in without])
        margin = t.ppf(0.975, n - 1) * np.sqrt((n - 1) / n * ((values - found.value) ** 2).sum())
        assert (found.low, found.high) == pytest.approx((found.value - margin, min(1.0, found.value + margin)))


def events_of(*rows: tuple[str, int, int, str, int | None, str]) -> pl.DataFrame:
    """(candidate, asking, revision, answer, undoes, stored) of one expert."""
    full = [
        {
            "query": "q", "candidate": candidate, "expert": "ann", "asking": asking, "revision": revision,
            "answer": answer, "undoes": undoes, "milliseconds": 4000, "stored": stored, "source": "site",
        }
        for candidate, asking, revision, answer, undoes, stored in rows
    ]  # fmt: skip
    return pl.DataFrame(full, schema=EVENT_SCHEMA)


def test_pace_leaves_breaks_out() -> None:
    moments = ["10:00:00", "10:00:10", "10:00:20", "12:00:00", "12:00:10"]
    events = events_of(*((f"c{n}", 0, 1, "similar", None, f"2026-01-05T{at}.000Z") for n, at in enumerate(moments)))
    found = answer_pace(events, "ann")
    assert found.answers_per_hour == pytest.approx(360.0)
    assert found.seconds_per_pair == 4.0
    assert answer_pace(events, "bob").answers_per_hour is None


def test_what_stands_after_undos() -> None:
    time = "2026-01-05T10:00:00.000Z"
    events = events_of(
        ("a", 0, 1, "similar", None, time),
        ("a", 0, 2, "not similar", None, time),
        ("a", 0, 3, "undo", 2, time),
        ("b", 0, 1, "similar", None, time),
        ("b", 0, 2, "undo", 1, time),
        ("c", 0, 1, "similar", None, time),
        ("c", 0, 2, "later", None, time),
    )
    assert current_answers(events).select("candidate", "answer").rows() == [("a", "similar")]


def test_exports_in_others_formats() -> None:
    votes = votes_of(ann="s?", bob="n.")
    table = crowdkit_table(votes)
    assert table.rows() == [("q | c0", "ann", "similar"), ("q | c0", "bob", "not similar")]
