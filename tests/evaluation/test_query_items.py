"""Several queries that show one item are one observation."""

import numpy as np
import polars as pl
import pytest

import likewise as lw
from likewise.api.evaluate import EvaluationResult

N_QUERIES, N_CANDIDATES, PER_QUERY = 18, 30, 10
MEASURES = 'ROC_AUC ROC_AUC(negatives="gallery") ROC_AUC(average="micro") AP(average="micro") P@5 nDCG@5 bpref Judged@5'
NUMBERS = ("value", "low", "high")


def measured(views: int, rng: np.random.Generator, *, same_item: bool = True) -> EvaluationResult:
    """Two models without skill; every query is asked `views` times, by images that look the same."""
    of_item = np.concatenate([np.repeat(np.arange(N_QUERIES), views), np.arange(N_QUERIES, N_QUERIES + N_CANDIDATES)])
    number = np.arange(len(of_item))
    models = {name: rng.normal(size=(N_QUERIES + N_CANDIDATES, 8)).astype(np.float32)[of_item] for name in "ab"}
    labels = []
    for item in range(N_QUERIES):
        for candidate in rng.choice(N_CANDIDATES, PER_QUERY, replace=False).tolist():
            label = int(rng.random() < 0.4)
            row = int(number[of_item == N_QUERIES + candidate][0])
            labels += [(str(query), str(row), label) for query in number[of_item == item].tolist()]
    keys = [str(row) for row in number]
    items = [f"item{item}" for item in of_item] if same_item else keys
    return lw.evaluate(models, labels, items=items, keys=keys, measures=MEASURES)


def test_asking_about_an_item_from_every_side_changes_no_interval_and_no_p() -> None:
    once, often = (measured(views, np.random.default_rng(1)) for views in (1, 3))
    assert often.table["n_queries"].to_list() == (3 * once.table["n_queries"]).to_list()
    assert f"The queries show {N_QUERIES} items: intervals are over items." in often.note
    assert "items: intervals" not in once.note
    for name in NUMBERS:
        np.testing.assert_allclose(often.table[name].to_numpy(), once.table[name].to_numpy(), atol=1e-9, err_msg=name)
    for name in ("difference", "low", "high", "p", "p_holm"):
        found, expected = (one.differences[name].to_numpy() for one in (often, once))
        np.testing.assert_allclose(found, expected, atol=1e-9, err_msg=name)
    assert often.differences["significant"].to_list() == once.differences["significant"].to_list()


def test_where_items_are_not_said_every_query_counts() -> None:
    once, often = measured(1, np.random.default_rng(1)), measured(3, np.random.default_rng(1), same_item=False)
    [narrow, wide] = [
        one.table.filter(pl.col("measure") == "ROC_AUC").select(pl.col("high") - pl.col("low")).to_series()[0]
        for one in (often, once)
    ]
    assert narrow < 0.7 * wide


@pytest.mark.slow
def test_noise_is_significant_no_more_often_where_items_are_asked_about_from_four_sides() -> None:
    rng = np.random.default_rng(3)
    p = [measured(4, rng).compare("a", "b", "ROC_AUC").p for _ in range(200)]
    assert sum(each is not None and each < 0.05 for each in p) <= 18  # 5 %, and what chance adds
