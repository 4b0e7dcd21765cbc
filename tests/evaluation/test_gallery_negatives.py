"""Items labelled similar against items of the whole gallery: the measure that models are ranked by."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from likewise.discovery.pool import QueryGallery
from likewise.evaluation.compute import evaluate_vectors
from likewise.evaluation.fidelity import GroundTruth, ItemTruth, admissible_pairs
from likewise.evaluation.gallery_negatives import draw_gallery_negatives, macro_against_gallery
from likewise.evaluation.item_pairs import best_images
from likewise.evaluation.measures import ROC_AUC
from likewise.evaluation.pairs import JudgedPairs, select_pairs
from likewise.evaluation.ranking import MAIN, measure_is
from likewise.neighbours import as_unit, pair_scores

from .judging import random_pairs


def several_images(rng: np.random.Generator, n_queries: int = 10, n_items: int = 40, views: int = 3) -> JudgedPairs:
    """Every item in several images; the queries are images of the gallery."""
    gallery = [f"c{row:03}" for row in range(n_items * views)]
    items = np.arange(n_items * views) // views
    rows = np.sort(rng.choice(len(gallery), n_queries, replace=False))
    query = np.repeat(np.arange(n_queries), 12)
    candidate = np.concatenate(
        [rng.choice(np.flatnonzero(items != items[row]), 12, replace=False) for row in rows]
    ).astype(np.int64)
    label = (rng.random(len(query)) < 0.4).astype(np.int8)
    return JudgedPairs([gallery[row] for row in rows], gallery, items[rows], items, query, candidate, label)


def cells(pairs: JudgedPairs) -> set[tuple[int, int]]:
    return set(zip(pairs.query.tolist(), pairs.candidate.tolist(), strict=True))


def items_of_queries(pairs: JudgedPairs, label: int) -> list[tuple[int, int]]:
    chosen = select_pairs(pairs, pairs.label == label)
    return list(zip(chosen.query.tolist(), pairs.gallery_items[chosen.candidate].tolist(), strict=True))


def test_every_item_is_drawn_once_but_the_own_one_and_what_is_labelled_similar(rng: np.random.Generator) -> None:
    pairs = several_images(rng)
    drawn = draw_gallery_negatives(pairs, seed=0)
    positive, negative = items_of_queries(drawn, 1), items_of_queries(drawn, 0)
    assert sorted(positive) == sorted(set(items_of_queries(pairs, 1)))  # an item that two images speak for counts once
    assert len(items_of_queries(pairs, 1)) > len(positive)
    expected = {
        (query, item) for query, own in enumerate(pairs.query_items) for item in set(pairs.gallery_items) - {own}
    }
    assert sorted(negative) == sorted(expected - set(positive))


def test_a_sample_is_uniform_seeded_and_does_not_depend_on_other_queries(rng: np.random.Generator) -> None:
    pairs = several_images(rng)
    everything = cells(draw_gallery_negatives(pairs, seed=0))
    sample = draw_gallery_negatives(pairs, seed=0, per_query=20)
    drawn = select_pairs(sample, sample.label == 0)
    assert set(np.bincount(drawn.query)) == {20} and cells(drawn) < everything
    assert cells(sample) == cells(draw_gallery_negatives(pairs, seed=0, per_query=20))
    assert cells(sample) != cells(draw_gallery_negatives(pairs, seed=1, per_query=20))
    alone = select_pairs(pairs, pairs.query == 3)
    again = draw_gallery_negatives(alone, seed=0, per_query=20)
    assert {c for q, c in cells(again) if q == 3} == {c for q, c in cells(sample) if q == 3}
    times = np.zeros(len(pairs.gallery))
    for seed in range(400):
        one = draw_gallery_negatives(select_pairs(pairs, pairs.query < 0), seed, per_query=20)
        times += np.bincount(one.candidate[one.query == 0], minlength=len(times))
    first = np.isin(np.arange(len(times)), np.unique(pairs.gallery_items, return_index=True)[1])
    possible = first & (pairs.gallery_items != pairs.query_items[0])
    expected = 400 * 20 / possible.sum()
    chi_squared = float(((times[possible] - expected) ** 2 / expected).sum())
    assert chi_squared < 1.5 * possible.sum() and times[~possible].sum() == 0


def test_what_a_random_pair_calls_similar_is_not_drawn(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng)
    more = replace(
        pairs,
        query=np.append(pairs.query, 0),
        candidate=np.append(pairs.candidate, np.setdiff1d(np.arange(40), pairs.candidate[pairs.query == 0])[0]),
        label=np.append(pairs.label, np.int8(1)),
    )
    drawn = draw_gallery_negatives(pairs, seed=0, labelled=more)
    assert cells(draw_gallery_negatives(pairs, seed=0)) - cells(drawn) == cells(more) - cells(pairs)


def test_where_everything_is_labelled_both_kinds_of_negatives_are_one(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng, n_queries=12, n_gallery=40, per_query=40)
    vectors = {name: (rng.standard_normal((12, 8)), rng.standard_normal((40, 8))) for name in ("a", "b")}
    results = evaluate_vectors(vectors, pairs, [ROC_AUC]).results
    both = [results.filter(measure_is(measure)).drop("measure", "n_pairs") for measure in (ROC_AUC, MAIN)]
    assert both[0].equals(both[1])


def best_scores(vectors: tuple[np.ndarray, np.ndarray], items: np.ndarray) -> np.ndarray:
    """Queries x items, by brute force."""
    cosines = as_unit(vectors[0]).astype(np.float64) @ as_unit(vectors[1]).astype(np.float64).T
    each = [cosines[:, items == item].max(axis=1, initial=-1.0) for item in range(items.max() + 1)]
    return np.stack(each, axis=1)


def brute_force(pairs: JudgedPairs, best: np.ndarray) -> dict[int, float]:
    """scikit-learn's value of each query that has a positive: items by their best image, all others negative."""
    values = {}
    for query, own in enumerate(pairs.query_items):
        similar = np.zeros(best.shape[1], np.int8)
        similar[[item for q, item in items_of_queries(pairs, 1) if q == query]] = 1
        others = np.arange(best.shape[1]) != own
        if similar.any():
            values[query] = roc_auc_score(similar[others], best[query][others])
    return values


def test_the_value_is_the_mean_over_queries_and_a_sample_comes_near_it(rng: np.random.Generator) -> None:
    pairs = several_images(rng, n_queries=30, n_items=400)
    vectors = rng.standard_normal((30, 6)), rng.standard_normal((1200, 6))
    values = []
    for per_query in (1200, 300):
        done = evaluate_vectors({"m": vectors}, pairs, [], gallery_per_query=per_query)
        values.append(done.results.filter(measure_is(MAIN)).row(0, named=True))
    expected = brute_force(pairs, best_scores(vectors, pairs.gallery_items))
    assert values[0]["value"] == pytest.approx(np.mean(list(expected.values())), abs=1e-7)
    assert values[0]["n_queries"] == len(expected) and values[0]["n_pairs"] == len(set(items_of_queries(pairs, 1)))
    assert abs(values[1]["value"] - values[0]["value"]) < 4 * 0.5 / np.sqrt(300 * 30)


def test_which_image_of_an_item_the_experts_saw_does_not_matter(rng: np.random.Generator) -> None:
    pairs = several_images(rng)
    other = replace(pairs, candidate=pairs.gallery_items[pairs.candidate] * 3 + rng.integers(0, 3, len(pairs)))
    vectors = {"m": (rng.standard_normal((10, 6)), rng.standard_normal((120, 6)))}
    one, two = (evaluate_vectors(vectors, each, [ROC_AUC]).results for each in (pairs, other))
    assert one.filter(measure_is(MAIN)).equals(two.filter(measure_is(MAIN)))
    assert not one.filter(measure_is(ROC_AUC)).equals(two.filter(measure_is(ROC_AUC)))


def test_best_images_in_blocks_are_those_of_brute_force(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("likewise.evaluation.item_pairs.BLOCK_PAIRS", 7)
    pairs = several_images(rng)
    queries, gallery = (as_unit(rng.integers(-1, 2, (n, 3)).astype(np.float32)) for n in (10, 120))  # with ties
    image, score = best_images(queries, gallery, pairs)
    for row, (query, candidate) in enumerate(zip(pairs.query, pairs.candidate, strict=True)):
        shown = np.flatnonzero(pairs.gallery_items == pairs.gallery_items[candidate])
        cosines = pair_scores(queries, gallery, np.full(len(shown), query), shown)
        assert score[row] == cosines.max() and image[row] == shown[np.argmax(cosines)]


def test_other_positives_take_their_items_out_of_the_negatives(rng: np.random.Generator) -> None:
    pairs = several_images(rng)
    drawn = draw_gallery_negatives(pairs, seed=0)
    vectors = rng.standard_normal((10, 6)), rng.standard_normal((120, 6))
    best = best_scores(vectors, pairs.gallery_items)
    others = replace(pairs, label=1 - pairs.label)
    positives = select_pairs(others, others.label == 1)
    items = pairs.gallery_items
    found = macro_against_gallery(
        positives, best[positives.query, items[positives.candidate]], drawn, best[drawn.query, items[drawn.candidate]]
    )
    similar = set(items_of_queries(pairs, 1))
    for query, own in enumerate(pairs.query_items):
        taken = {item for q, item in items_of_queries(others, 1) if q == query}
        left = [i for i in range(40) if i != own and i not in taken and (query, i) not in similar]
        scores = best[query][[*taken, *left]]
        expected = roc_auc_score([1] * len(taken) + [0] * len(left), scores)
        assert found.numerator[query] == pytest.approx(expected)


def test_the_quick_way_of_the_budget_equals_brute_force(rng: np.random.Generator) -> None:
    catalog = pl.DataFrame(
        {"image": [f"i{row:02}" for row in range(60)], "item": [f"item{row // 3}" for row in range(60)]}
    )
    chosen = QueryGallery.from_catalog(catalog, catalog["image"][::7], catalog["image"])
    vectors = rng.standard_normal((60, 5)).round(1).astype(np.float32)  # with ties
    queries, gallery = as_unit(vectors[::7]), as_unit(vectors)
    query, candidate = admissible_pairs(chosen)
    similar = rng.random((9, chosen.gallery_items.max() + 1)) < 0.3
    label = similar[query, chosen.gallery_items[candidate]].astype(np.int8)
    truth = ItemTruth.of(chosen, GroundTruth(query, candidate, label))
    found = np.sort(rng.choice(np.flatnonzero(truth.label == 1), 12, replace=False))
    best = best_scores((queries, gallery), chosen.gallery_items)
    for positive in (found, np.flatnonzero(truth.label == 1)):
        value = truth.macro_auc(truth.below(queries, gallery), positive)
        expected = []
        for row, own in enumerate(chosen.query_items):
            taken = (truth.cell[positive] % truth.n_items)[truth.query[positive] == row]
            others = np.setdiff1d(chosen.gallery_items, [own])
            if len(taken):
                expected.append(roc_auc_score(np.isin(others, taken), best[row][others]))
        assert value == pytest.approx(np.mean(expected))
