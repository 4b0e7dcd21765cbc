"""Class-based retrieval equals brute force in exact arithmetic, with ties, and pytorch-metric-learning without."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.evaluation import class_ranks, rank_accumulator
from likewise.evaluation.retrieval import MEASURES, RETRIEVAL_SCHEMA, Retrieval, retrieval, retrieval_table
from likewise.neighbours import as_unit

Vectors = NDArray[np.float32]


def brute_force(
    queries: Vectors, gallery: Vectors, query_labels: Any, gallery_labels: Any, own: list[int]
) -> list[tuple[int, int, float, float]]:
    """R, rank of the first same-class image, R-Precision and MAP@R by sorting the whole gallery, in whole numbers."""
    grid = 2.0**26
    left = np.rint(as_unit(queries).astype(np.float64) * grid).astype(np.int64).tolist()
    right = np.rint(as_unit(gallery).astype(np.float64) * grid).astype(np.int64).tolist()
    answer = []
    for q, query in enumerate(left):
        scored = sorted(
            (-sum(a * b for a, b in zip(query, candidate, strict=True)), row)
            for row, candidate in enumerate(right)
            if row != own[q]
        )
        relevant = [gallery_labels[row] == query_labels[q] for _, row in scored]
        n_same_class = sum(relevant)
        if not n_same_class:
            answer.append((0, 0, np.nan, np.nan))
            continue
        first = relevant[:n_same_class]
        precision = [sum(first[: i + 1]) / (i + 1) for i in range(n_same_class) if first[i]]
        rank = relevant.index(True) + 1
        answer.append((n_same_class, rank, sum(first) / n_same_class, sum(precision) / n_same_class))
    return answer


def check(found: Retrieval, expected: list[tuple[int, int, float, float]]) -> None:
    counts, ranks, r_precision, average_precision = (np.array(column) for column in zip(*expected, strict=True))
    assert found.n_same_class.tolist() == counts.tolist()
    assert found.first_rank.tolist() == ranks.tolist()
    np.testing.assert_allclose(found.r_precision, r_precision, atol=1e-12)
    np.testing.assert_allclose(found.average_precision, average_precision, atol=1e-12)


def some_vectors(rng: np.random.Generator, n: int, n_distinct: int | None, jitter: float) -> Vectors:
    base = rng.standard_normal((n_distinct or n, 6))
    vectors = base[rng.integers(0, len(base), n)] if n_distinct else base
    return (vectors + jitter * rng.standard_normal(vectors.shape)).astype(np.float32)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 50),
    n_distinct=st.sampled_from([None, 1, 2, 5]),
    jitter=st.sampled_from([0.0, 1e-7]),
    n_classes=st.integers(1, 20),
    spare=st.sampled_from([0, 256]),
    kept=st.sampled_from([40, 4_000_000]),
    at_once=st.booleans(),
)
@settings(max_examples=80)
def test_equals_brute_force(
    seed: int, n: int, n_distinct: int | None, jitter: float, n_classes: int, spare: int, kept: int, at_once: bool
) -> None:
    """Equal and nearly equal vectors; small limits send queries through every path, also the exact one."""
    rng = np.random.default_rng(seed)
    vectors, labels = some_vectors(rng, n, n_distinct, jitter), rng.integers(0, n_classes, n)
    other, other_labels = some_vectors(rng, 7, n_distinct, jitter), rng.integers(0, n_classes, 7)
    other[:3], own = vectors[rng.integers(0, n, 3)], [int(rng.integers(0, n)), *[-1] * 6]
    keys = [f"image {row}" for row in range(n)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_accumulator, "MAX_NEAR_TIES", spare)
        patch.setattr(rank_accumulator, "COMPACT_AFTER", kept)
        patch.setattr(class_ranks, "MAX_NEIGHBOURS_KEPT", kept)
        patch.setattr(class_ranks, "TILE", 8 if kept == 40 else 1024)
        patch.setattr(class_ranks, "FIRST_TILE", 2)
        patch.setattr(class_ranks, "RESCORING_COST", 1e9 if at_once else 0)
        expected = brute_force(vectors, vectors, labels, labels, list(range(n)))
        check(retrieval(vectors, labels), expected)
        within = [(r, min(rank, r + 1), precision, average) for r, rank, precision, average in expected]
        check(retrieval(vectors, labels, whole_rank=False), within)
        found = retrieval(
            vectors,
            labels,
            query_vectors=other,
            query_labels=other_labels,
            images=keys,
            query_images=[keys[row] if row >= 0 else "unknown" for row in own],
        )
    check(found, brute_force(other, vectors, other_labels, labels, own))


def test_what_was_looked_for_in_the_first_r_only_has_no_mrr() -> None:
    vectors = some_vectors(np.random.default_rng(0), 20, None, 0.0)
    found = retrieval(vectors, [row % 5 for row in range(20)], whole_rank=False)
    assert found.value("P@1") == retrieval(vectors, [row % 5 for row in range(20)]).value("P@1")
    assert found.value("Success@1") == found.value("P@1")
    with pytest.raises(LikewiseError, match="there is no measure 'NDCG'"):
        found.value("NDCG")
    for measure in ("MRR", "Success@3"):
        with pytest.raises(LikewiseError, match="whole_rank=True"):
            found.value(measure)


@pytest.mark.parametrize("n_classes", [2, 10, 150])
def test_equals_pytorch_metric_learning(n_classes: int) -> None:
    torch = pytest.importorskip("torch")
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

    rng = np.random.default_rng(n_classes)
    labels = rng.integers(0, n_classes, 400)
    centres = rng.standard_normal((n_classes, 16))
    vectors = as_unit((centres[labels] + 2 * rng.standard_normal((400, 16))).astype(np.float32))
    found = retrieval(vectors, labels)
    names = {
        "P@1": "precision_at_1",
        "R_Precision": "r_precision",
        "MAP@R": "mean_average_precision_at_r",
        "MRR": "mean_reciprocal_rank",
    }
    calculator = AccuracyCalculator(include=tuple(names.values()), device=torch.device("cpu"))  # all N neighbours
    expected = calculator.get_accuracy(torch.from_numpy(vectors), torch.from_numpy(labels))
    for measure, name in names.items():
        assert found.value(measure) == pytest.approx(expected[name], abs=1e-6)


def test_several_tiles_and_threads_give_the_same(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.repeat(np.arange(500), 6)
    vectors = as_unit((rng.standard_normal((500, 24))[labels] + rng.standard_normal((3000, 24))).astype(np.float32))
    at_once = retrieval(vectors, labels)
    rows = rng.permutation(3000)
    by_blocks = retrieval(
        vectors,
        labels,
        query_vectors=vectors[rows],
        query_labels=labels[rows],
        images=[str(row) for row in range(3000)],
        query_images=[str(row) for row in rows],
    )
    assert np.array_equal(at_once.first_rank[rows], by_blocks.first_rank)
    assert np.array_equal(at_once.average_precision[rows], by_blocks.average_precision)
    monkeypatch.setattr(class_ranks, "TILE", 96)
    assert np.array_equal(retrieval(vectors, labels).average_precision, at_once.average_precision)


def test_identities(rng: np.random.Generator) -> None:
    labels = rng.integers(0, 8, 60)
    vectors = rng.standard_normal((60, 5)).astype(np.float32)
    found = retrieval(vectors, labels)
    renamed = retrieval(vectors, [f"class {9 - label}" for label in labels])
    shuffled = rng.permutation(60)
    moved = retrieval(vectors[shuffled], labels[shuffled])
    for measure in MEASURES:
        assert renamed.value(measure) == found.value(measure)
        np.testing.assert_array_equal(moved.per_query(measure), found.per_query(measure)[shuffled])
    perfect = retrieval(np.eye(8, dtype=np.float32)[labels], labels)
    assert [perfect.value(measure) for measure in MEASURES] == [1.0] * 4
    np.testing.assert_array_equal(found.per_query("Success@1"), found.per_query("P@1"))
    assert found.value("Success@59") == 1.0


def test_toy_spaces_that_recall_at_1_cannot_tell_apart() -> None:
    """As in Fig. 1 of the Reality Check: every nearest neighbour is right, only MAP@R sees the order behind it."""
    angles = np.radians([0, 1, 10, 11, 20, 21, 30, 31])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    apart, mixed = retrieval(vectors, [0] * 4 + [1] * 4), retrieval(vectors, [0, 0, 1, 1, 0, 0, 1, 1])
    assert apart.value("P@1") == mixed.value("P@1") == 1.0
    assert mixed.value("MAP@R") < 0.6 < apart.value("MAP@R")


def test_lone_classes_are_left_out_and_counted_but_stay_in_the_gallery() -> None:
    vectors = np.array([[1, 0], [0.6, 0.8], [0.9, 0.1]], np.float32)
    found = retrieval(vectors, ["a", "a", "b"])
    assert (found.n_queries, found.n_excluded) == (2, 1)
    assert found.first_rank.tolist() == [2, 2, 0]  # the lone image stands between the two
    assert found.value("P@1") == 0.0
    table = retrieval_table({"m": found}, ks=(2,))
    assert table.schema == RETRIEVAL_SCHEMA
    assert table["n_queries"].unique().to_list() == [2]
    assert table["n_queries_total"].unique().to_list() == [3]
    assert retrieval(vectors[:0], []).n_queries == 0
    nobody = retrieval(vectors, ["a", "b", "c"])
    assert nobody.n_queries == 0
    assert retrieval_table({"m": nobody})["value"].to_list() == [None] * 4


def test_intervals_cover_the_value_and_classes_are_the_wider_unit(rng: np.random.Generator) -> None:
    labels = np.repeat(np.arange(40), 10)
    centres = rng.standard_normal((40, 8)) * rng.uniform(0.2, 3, 40)[:, None]  # some classes are hard
    found = retrieval((centres[labels] + rng.standard_normal((400, 8))).astype(np.float32), labels)
    by_query, by_class = (retrieval_table({"m": found}, unit=unit) for unit in ("query", "class"))
    assert (by_query["low"] < by_query["value"]).all()
    assert (by_query["value"] < by_query["high"]).all()
    np.testing.assert_allclose(by_class["value"], by_query["value"], atol=1e-12)
    assert (by_class["high"] - by_class["low"] > by_query["high"] - by_query["low"]).all()


def test_mistakes_are_said_in_one_sentence() -> None:
    vectors = np.eye(3, dtype=np.float32)
    with pytest.raises(LikewiseError, match="3 gallery vectors but 2 gallery labels"):
        retrieval(vectors, ["a", "b"])
    with pytest.raises(LikewiseError, match="1 gallery labels are missing, the first in row 1"):
        retrieval(vectors, ["a", None, "b"])
    with pytest.raises(LikewiseError, match="need both query_vectors and query_labels"):
        retrieval(vectors, ["a", "a", "b"], query_vectors=vectors)
    with pytest.raises(LikewiseError, match="P@5 is not known of classes"):
        retrieval(vectors, ["a", "a", "b"]).value("P@5")
    with pytest.raises(LikewiseError, match="the same queries"):
        retrieval_table({"a": retrieval(vectors, [1, 1, 1]), "b": retrieval(vectors[:2], [1, 1])})
