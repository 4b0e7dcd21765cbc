"""Simulated experts: the same answers whatever else is asked, and people who differ as people do."""

from datetime import datetime

import numpy as np
import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.labeling import agreement, consensus
from likewise.synthetic import BASE_WEIGHTS, make_items, similarity
from likewise.synthetic.experts import sample_experts, simulate_votes
from likewise.synthetic.truth import similar_item_pairs

N_ITEMS = 400
TOP_K = 6


@pytest.fixture(scope="module")
def catalog() -> pl.DataFrame:
    items = make_items(N_ITEMS, seed=3)
    return items.with_columns(image=pl.format("{}/front.png", "item"))


@pytest.fixture(scope="module")
def pool(catalog: pl.DataFrame) -> pl.DataFrame:
    """The union of the best candidates of several made-up encoders, each of which sees a part of the truth."""
    catalog = catalog.sort("item")
    queries = np.arange(0, N_ITEMS, 4)
    images = catalog["image"].to_numpy()
    rows, columns = np.repeat(queries, N_ITEMS), np.tile(np.arange(N_ITEMS), len(queries))
    random = np.random.default_rng(0)
    pairs: set[tuple[str, str]] = set()
    for _ in range(4):
        weights = {name: float(weight * random.exponential()) for name, weight in BASE_WEIGHTS.items()}
        scores = similarity(catalog, rows, columns, weights).astype(np.float64).reshape(len(queries), N_ITEMS)
        scores += random.normal(0, 0.25, scores.shape)  # as near the threshold as a real pool
        scores[np.arange(len(queries)), queries] = -np.inf
        for row, best in zip(queries, np.argsort(-scores, axis=1)[:, :TOP_K], strict=True):
            pairs.update((images[row], images[column]) for column in best)
    return pl.DataFrame(sorted(pairs), schema=["query", "candidate"], orient="row")


def test_answers_depend_on_nothing_but_pair_expert_and_seed(catalog: pl.DataFrame, pool: pl.DataFrame) -> None:
    experts = sample_experts(3, seed=0)
    votes = simulate_votes(catalog, pool, experts, seed=0)
    assert simulate_votes(catalog.reverse(), pool.reverse(), experts[::-1], seed=0).equals(votes)
    half = pool.sample(fraction=0.5, seed=1)
    answers = votes.drop("time").join(half, on=["query", "candidate"], how="semi")
    alone = simulate_votes(catalog, half, experts[:2], seed=0).drop("time")
    assert alone.equals(answers.filter(pl.col("expert") != experts[2].name))
    assert not simulate_votes(catalog, pool, experts, seed=1).equals(votes)


def test_the_first_experts_of_many_are_the_experts_of_few() -> None:
    assert sample_experts(5, seed=2)[:3] == sample_experts(3, seed=2)
    assert sample_experts(3, seed=2) != sample_experts(3, seed=1)
    weights = [tuple(expert.weights.values()) for expert in sample_experts(5, seed=2)]
    assert len(set(weights)) == 5
    averaged = sum(BASE_WEIGHTS.values()) - BASE_WEIGHTS["category"]
    assert np.allclose([sum(own) - own[0] for own in weights], averaged)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_experts_agree_as_well_as_people_do(catalog: pl.DataFrame, pool: pl.DataFrame, seed: int) -> None:
    votes = simulate_votes(catalog, pool, sample_experts(3, seed), seed)
    item_of = dict(catalog.select("image", "item").iter_rows())
    similar = {frozenset(pair) for pair in similar_item_pairs(catalog).iter_rows()}
    labels = consensus(votes).labels.select("query", "candidate", "label").rows()
    assert len(labels) > 0.99 * pool.height
    right = [(frozenset((item_of[query], item_of[other])) in similar) == label for query, other, label in labels]
    assert 0.9 <= np.mean(right) <= 0.97
    found = agreement(votes)
    assert found.fleiss_kappa.value is not None
    assert 0.6 <= found.fleiss_kappa.value <= 0.83
    assert all(0 < expert.n_abstentions < 0.05 * expert.n_votes for expert in found.experts)


def test_times_are_plausible(catalog: pl.DataFrame, pool: pl.DataFrame) -> None:
    votes = simulate_votes(catalog, pool, sample_experts(1), seed=0)
    moments = sorted(datetime.fromisoformat(time).timestamp() for time in votes["time"])
    seconds = np.diff(moments)
    assert 2 < np.median(seconds) < 8
    assert (seconds > 0).all()


def test_without_attributes_nothing_is_simulated(catalog: pl.DataFrame, pool: pl.DataFrame) -> None:
    with pytest.raises(LikewiseError, match="simulate works only where the truth is known"):
        simulate_votes(catalog.select("image", "item", "category"), pool, sample_experts(1))
    with pytest.raises(LikewiseError, match=r"nowhere\.png is in the pairs but not in the catalog"):
        nowhere = pl.DataFrame({"query": ["nowhere.png"], "candidate": ["nowhere.png"]})
        simulate_votes(catalog, nowhere, sample_experts(1))
