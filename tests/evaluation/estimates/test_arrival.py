"""Labels that are no random part of the drawn pairs: named, so that nothing is estimated from them."""

import numpy as np
import polars as pl
import pytest

from likewise.discovery.pool import DRAWN, PICKED
from likewise.evaluation.estimates.arrival import not_at_random

N_QUERIES, PER_QUERY = 40, 25


def pool(rounds: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    n = N_QUERIES * PER_QUERY
    return pl.DataFrame(
        {
            "query": np.repeat([f"q{number}" for number in range(N_QUERIES)], PER_QUERY),
            "candidate": [f"c{number}" for number in range(n)],
            "generator": DRAWN,
            "probability": np.where(rng.random(n) < 0.2, 1.0, rng.random(n) * 0.9 + 0.01),
            "round": np.arange(n) % rounds + 1,
        }
    )


def labelled(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.select("query", "candidate", label=pl.lit(1, pl.Int8))


@pytest.mark.parametrize("rounds", [1, 3])
def test_labels_in_random_order_are_taken_at_any_time(rounds: int) -> None:
    drawn = pool(rounds)
    for seed in range(200):
        asked = drawn.sample(fraction=0.05 + 0.9 * seed / 200, seed=seed)
        assert not_at_random(drawn, labelled(asked)) == ""
    whole_queries = drawn.filter(pl.col("query").is_in(["q0", "q3"]))
    assert not_at_random(drawn, labelled(whole_queries)) == not_at_random(drawn, labelled(drawn)) == ""
    assert not_at_random(drawn, labelled(drawn.head(0))) == ""


@pytest.mark.parametrize("rounds", [1, 3])
def test_labels_of_the_likeliest_pairs_alone_are_named(rounds: int) -> None:
    drawn = pool(rounds)
    likely = drawn.filter(pl.col("probability") > 0.8)
    assert "mostly the likeliest" in not_at_random(drawn, labelled(likely))
    assert "mostly the least likely" in not_at_random(drawn, labelled(drawn.join(likely, on="candidate", how="anti")))


def test_pairs_that_nobody_could_tell_count_as_asked_and_picked_ones_not_at_all() -> None:
    drawn = pool()
    unsure = labelled(drawn).with_columns(label=pl.when(drawn["probability"] > 0.8).then(None).otherwise(1))
    assert not_at_random(drawn, unsure) == ""
    likely = drawn.filter(pl.col("probability") > 0.8)
    picked = drawn.with_columns(
        generator=pl.when(pl.col("probability") > 0.8).then(pl.lit(PICKED)).otherwise("generator")
    )
    assert not_at_random(picked, labelled(likely)) == ""
