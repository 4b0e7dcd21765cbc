"""The discovery protocol as one table: right numbers, right counts, fair to a model that never fed the pool."""

import numpy as np
import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.evaluation.bootstrap import percentile_interval, query_weights
from likewise.evaluation.discovery import RESULT_SCHEMA, EncoderScores, default_measures, score_encoder
from likewise.evaluation.mistakes import FALSE_FRIEND, MISSED, mistake_severity, mistake_table
from likewise.evaluation.pairs import JudgedPairs, build_judged_pairs
from likewise.evaluation.query_sums import QuerySums

from .judging import result_table


def pairs_of(query: list[int], candidate: list[int], label: list[int], n_gallery: int = 20) -> JudgedPairs:
    n_queries = max(query) + 1
    return JudgedPairs(
        [f"q{row}" for row in range(n_queries)],
        [f"c{row:02}" for row in range(n_gallery)],
        np.arange(n_queries) + 1000,
        np.arange(n_gallery),
        np.array(query),
        np.array(candidate),
        np.array(label, dtype=np.int8),
    )


def value(table: pl.DataFrame, encoder: str, measure: str) -> dict[str, float | None]:
    return table.filter((pl.col("encoder") == encoder) & (pl.col("measure") == measure)).row(0, named=True)


def test_an_excellent_model_outside_the_pool_loses_hits_but_not_auc() -> None:
    """Its whole top list is unlabelled, yet it orders the labelled pairs perfectly."""
    pairs = pairs_of([0] * 6 + [1] * 6, list(range(6)) * 2, [1, 1, 1, 0, 0, 0] * 2)
    own_lists = np.array([[0, 1, 3, 2, 4]] * 2)
    fed = EncoderScores("fed", np.array([0.9, 0.8, 0.6, 0.7, 0.5, 0.4] * 2), own_lists)
    outside = EncoderScores("outside", np.array([0.5, 0.4, 0.3, 0.2, 0.1, 0.0] * 2), own_lists + 10)
    table = result_table([fed, outside], pairs, ["fed"], measures=default_measures((5,)))
    assert table.schema == RESULT_SCHEMA
    assert value(table, "outside", "P@5")["value"] == 0.0
    assert value(table, "outside", "Judged@5")["value"] == 0.0
    assert value(table, "fed", "P@5")["value"] == pytest.approx(3 / 5)
    assert value(table, "outside", "ROC_AUC")["value"] == 1.0
    assert value(table, "fed", "ROC_AUC")["value"] == pytest.approx(8 / 9)
    assert [value(table, name, "P@5")["generator"] for name in ("fed", "outside")] == [True, False]


def test_one_class_queries_are_left_out_and_counted() -> None:
    pairs = pairs_of([0, 0, 1, 1, 2, 2], [0, 1] * 3, [1, 0, 1, 1, 0, 0])
    scores = np.array([0.9, 0.1, 0.5, 0.5, 0.3, 0.4])
    table = result_table([EncoderScores("m", scores, np.zeros((3, 9), dtype=np.int64))], pairs, [])
    macro = value(table, "m", "ROC_AUC")
    assert (macro["value"], macro["n_queries"], macro["n_queries_total"], macro["n_pairs"]) == (1.0, 1, 3, 6)


def test_everything_undefined_is_null_not_zero() -> None:
    pairs = pairs_of([0, 0], [0, 1], [0, 0])
    table = result_table([EncoderScores("m", np.array([0.2, 0.1]), np.zeros((1, 9), dtype=np.int64))], pairs, [])
    for measure in ("ROC_AUC", 'ROC_AUC(average="micro")', "AP", "P@5"):
        row = value(table, "m", measure)
        assert row["value"] is None
        assert row["low"] is None


def test_added_unlabelled_images_leave_annotated_auc_unchanged(rng: np.random.Generator) -> None:
    gallery = rng.standard_normal((40, 8)).astype(np.float32)
    queries = rng.standard_normal((4, 8)).astype(np.float32)
    label = rng.integers(0, 2, 40).tolist()
    query, candidate = [q for q in range(4) for _ in range(10)], list(range(10)) * 4
    small = result_table(
        [score_encoder("m", pairs_of(query, candidate, label, 20), queries, gallery[:20], 9)],
        pairs_of(query, candidate, label, 20),
        [],
    )
    large = result_table(
        [score_encoder("m", pairs_of(query, candidate, label, 40), queries, gallery, 9)],
        pairs_of(query, candidate, label, 40),
        [],
    )
    auc = pl.col("measure").str.contains("^(ROC_AUC|AP)")
    assert small.filter(auc).equals(large.filter(auc))


def test_relabelled_keys_leave_every_number_unchanged(rng: np.random.Generator) -> None:
    """Other names put queries and gallery in another order; who is similar to whom stays."""
    images = [f"{kind}{n:02}" for kind, count in (("q", 5), ("c", 30)) for n in range(count)]
    vectors = dict(zip(images, rng.standard_normal((35, 8)).astype(np.float32), strict=True))
    judged = [(q, c, int(rng.integers(0, 2))) for q in images[:5] for c in rng.choice(images[5:], 12, replace=False)]
    tables = []
    for new_name in ({image: image for image in images}, dict(zip(images, rng.permutation(images), strict=True))):
        name = {image: str(new_name[image]) for image in images}
        catalog = pl.DataFrame({"image": sorted(name.values()), "item": sorted(name.values())})
        labels = pl.DataFrame(
            [(name[q], name[c], y) for q, c, y in judged], schema=["query", "candidate", "label"], orient="row"
        )
        queries, gallery = sorted(name[q] for q in images[:5]), sorted(name[c] for c in images[5:])
        of = {name[image]: vector for image, vector in vectors.items()}
        pairs = build_judged_pairs(catalog, labels, queries, gallery)
        measured = score_encoder("m", pairs, np.stack([of[q] for q in queries]), np.stack([of[c] for c in gallery]), 9)
        tables.append(result_table([measured], pairs, []).drop("low", "high"))
    assert tables[0].drop("value").equals(tables[1].drop("value"))
    assert tables[0]["value"].to_list() == pytest.approx(tables[1]["value"].to_list(), abs=1e-12)


def test_resamples_are_seeded_and_cover_the_value() -> None:
    weights = query_weights(50, 400, seed=3)
    assert weights.shape == (400, 50)
    assert (weights.sum(axis=1) == 50).all()
    assert np.array_equal(weights, query_weights(50, 400, seed=3))
    values = np.random.default_rng(1).random(50)
    low, high = percentile_interval(QuerySums.mean_of(values).resampled(weights))
    assert low < values.mean() < high
    spread = values.std() / np.sqrt(50) * 1.96
    assert high - low == pytest.approx(2 * spread, rel=0.2)  # as the normal approximation says
    assert np.isnan(percentile_interval(np.full(5, np.nan))).all()


def test_labels_of_unknown_images_are_named() -> None:
    catalog = pl.DataFrame({"image": ["a", "b"], "item": ["a", "b"]})
    labels = pl.DataFrame({"query": ["a", "x1", "x2"], "candidate": ["b", "x3", "x4"], "label": [1, 0, 1]})
    with pytest.raises(LikewiseError, match=r"4 images that are not in the catalog \(x1, x2, x3, …\)"):
        build_judged_pairs(catalog, labels, ["a"], ["b"])


def test_pairs_of_one_item_judge_nobody() -> None:
    catalog = pl.DataFrame({"image": ["a1", "a2", "b"], "item": ["a", "a", "b"]})
    labels = pl.DataFrame({"query": ["a1"] * 3, "candidate": ["a1", "a2", "b"], "label": [1, 1, 0]})
    pairs = build_judged_pairs(catalog, labels, ["a1"], ["a1", "a2", "b"])
    assert [pairs.gallery[row] for row in pairs.candidate] == ["b"]


def test_mistakes_are_the_pairs_on_the_wrong_side() -> None:
    pairs = pairs_of([0] * 5, list(range(5)), [1, 1, 0, 0, 0])
    scores = np.array([0.9, 0.1, 0.95, 0.1, 0.0])
    wrong = mistake_severity(scores, pairs)
    np.testing.assert_allclose(wrong, [1 / 3, 1.5 / 3, 1.0, 0.25, 0.0])
    table = mistake_table(
        [EncoderScores("m", np.array([0.9, 0.1, 0.95, 0.2, 0.0]), np.zeros((1, 9), dtype=np.int64))], pairs
    )
    assert table.select("kind", "candidate").rows() == [(FALSE_FRIEND, "c02"), (MISSED, "c01")]
