"""Positives against candidates of the whole gallery: the measure that models are ranked by."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from likewise.discovery.pool import QueryGallery
from likewise.evaluation.auc import roc_auc, sort_pairs
from likewise.evaluation.compute import evaluate_vectors
from likewise.evaluation.fidelity import GroundTruth, Standing, admissible_pairs
from likewise.evaluation.gallery_negatives import draw_gallery_negatives, macro_against_gallery
from likewise.evaluation.measures import ROC_AUC
from likewise.evaluation.pairs import JudgedPairs, select_pairs
from likewise.evaluation.ranking import MAIN, of_measure
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


def test_anything_may_be_drawn_but_the_own_item_and_what_is_labelled_similar(rng: np.random.Generator) -> None:
    pairs = several_images(rng)
    drawn = draw_gallery_negatives(pairs, seed=0)
    negatives = cells(select_pairs(drawn, drawn.label == 0))
    labels = dict(zip(zip(pairs.query, pairs.candidate, strict=True), pairs.label, strict=True))
    for query, own in enumerate(pairs.query_items):
        similar = {pairs.gallery_items[c] for (q, c), label in labels.items() if q == query and label == 1}
        expected = {
            c
            for c, item in enumerate(pairs.gallery_items)
            if item != own and (item not in similar or labels.get((query, c)) == 0)
        }
        assert {c for q, c in negatives if q == query} == expected
    assert cells(select_pairs(drawn, drawn.label == 1)) == cells(select_pairs(pairs, pairs.label == 1))


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
    possible = pairs.gallery_items != pairs.query_items[0]
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
    both = [results.filter(of_measure(measure)).drop("measure", "n_pairs") for measure in (ROC_AUC, MAIN)]
    assert both[0].equals(both[1])


def test_the_value_is_the_mean_over_queries_and_a_sample_comes_near_it(rng: np.random.Generator) -> None:
    pairs = several_images(rng, n_queries=30, n_items=400)
    vectors = rng.standard_normal((30, 6)), rng.standard_normal((1200, 6))
    values = []
    for per_query in (1200, 300):
        done = evaluate_vectors({"m": vectors}, pairs, [], gallery_per_query=per_query)
        values.append(done.results.filter(of_measure(MAIN)).row(0, named=True))
    drawn = draw_gallery_negatives(pairs, seed=0, per_query=1200)
    scores = pair_scores(as_unit(vectors[0]), as_unit(vectors[1]), drawn.query, drawn.candidate)
    expected = [
        roc_auc_score(drawn.label[drawn.query == query], scores[drawn.query == query])
        for query in range(30)
        if drawn.label[drawn.query == query].sum() > 0
    ]
    assert values[0]["value"] == pytest.approx(np.mean(expected))
    assert values[0]["n_queries"] == len(expected) and values[0]["n_pairs"] == pairs.n_positive.sum()
    assert abs(values[1]["value"] - values[0]["value"]) < 4 * 0.5 / np.sqrt(300 * 30)


def test_other_positives_take_their_items_out_of_the_negatives(rng: np.random.Generator) -> None:
    pairs = several_images(rng)
    drawn = draw_gallery_negatives(pairs, seed=0)
    everything = rng.random((10, len(pairs.gallery)))
    scores = everything[drawn.query, drawn.candidate]
    same = select_pairs(pairs, pairs.label == 1)
    known = macro_against_gallery(same, everything[same.query, same.candidate], drawn, scores)
    by_query = sort_pairs(drawn.query, scores, drawn.label, 10)
    clear = {  # a query where no item has images of both labels: nothing is taken out
        q
        for q in range(10)
        if not {pairs.gallery_items[c] for c in same.candidate[same.query == q]}
        & {pairs.gallery_items[c] for c in drawn.candidate[(drawn.query == q) & (drawn.label == 0)]}
    }
    assert clear
    for query in clear:
        assert known.numerator[query] == pytest.approx(roc_auc(by_query)[query])


def test_the_quick_way_of_the_budget_equals_brute_force(rng: np.random.Generator) -> None:
    catalog = pl.DataFrame(
        {"image": [f"i{row:02}" for row in range(60)], "item": [f"item{row // 3}" for row in range(60)]}
    )
    chosen = QueryGallery.from_catalog(catalog, catalog["image"][::7], catalog["image"])
    vectors = rng.standard_normal((60, 5)).round(1).astype(np.float32)  # with ties
    queries, gallery = as_unit(vectors[::7]), as_unit(vectors)
    query, candidate = admissible_pairs(chosen)
    similar = rng.random((9, 21)) < 0.3
    label = similar[query, chosen.gallery_items[candidate]].astype(np.int8)
    truth = GroundTruth(query, candidate, label)
    pool = rng.choice(len(query), 150, replace=False)
    found = np.flatnonzero(label[pool] == 1)
    item = query * 21 + chosen.gallery_items[candidate]
    one = Standing.of(truth, query[pool] * 60 + candidate[pool], 60, 9, queries, gallery)
    value = one.gallery_auc(found, query[pool][found], np.isin(item[label == 1], item[pool[found]]))
    scores, expected = pair_scores(queries, gallery, query, candidate), []
    for row in range(9):
        positive = pool[found][query[pool[found]] == row]
        negative = np.flatnonzero((query == row) & ~np.isin(item, item[positive]))
        if len(positive):
            truths = [1] * len(positive) + [0] * len(negative)
            expected.append(roc_auc_score(truths, np.concatenate([scores[positive], scores[negative]])))
    assert value == pytest.approx(np.mean(expected))
