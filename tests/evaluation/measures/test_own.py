"""A user's own measure: two lines, and it has intervals, paired tests and a column like any other."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.evaluation.compute import evaluate_vectors
from likewise.evaluation.measures import P, parse_measure, parse_measures, register_measure
from likewise.evaluation.measures.registry import OWN
from likewise.evaluation.ranking import MAIN

from ..judging import random_pairs

Labels = NDArray[np.integer]
Scores = NDArray[np.float64]


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    before = dict(OWN)
    yield
    OWN.clear()
    OWN.update(before)


def test_two_lines_make_a_measure(rng: np.random.Generator) -> None:
    @register_measure
    def first_is_right(labels: Labels, scores: Scores) -> float:
        return float(labels[0])

    assert parse_measure("first_is_right") == first_is_right and str(first_is_right) == "first_is_right"
    pairs = random_pairs(rng, n_queries=30)
    vectors = {
        name: (rng.standard_normal((30, 8), np.float32), rng.standard_normal((40, 8), np.float32)) for name in "abc"
    }
    done = evaluate_vectors(vectors, pairs, [first_is_right, P @ 5])
    assert set(done.results["measure"]) == {"first_is_right", "P@5", str(MAIN)}  # models are ranked by the last
    own = done.results.filter(measure="first_is_right")
    for encoder, value, low, high in own.select("encoder", "value", "low", "high").iter_rows():
        queries, gallery = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in vectors[encoder])
        scores = (queries @ gallery.T)[pairs.query, pairs.candidate]
        best = [np.flatnonzero(pairs.query == query)[scores[pairs.query == query].argmax()] for query in range(30)]
        assert value == pytest.approx(pairs.label[best].mean())
        assert low <= value <= high and low < high
    differences = done.differences.filter(measure="first_is_right")
    assert len(differences) == 3 and set(differences["n_queries"]) == {30}
    assert differences["p_holm"].null_count() == 0


def test_labels_and_scores_come_best_first_and_nan_leaves_a_query_out() -> None:
    seen: list[tuple[list[int], list[float]]] = []

    def look(labels: Labels, scores: Scores) -> float:
        seen.append((labels.tolist(), scores.tolist()))
        return float("nan") if len(seen) == 1 else 1.0

    measure = register_measure(look, name="looking")
    pairs = random_pairs(np.random.default_rng(0), n_queries=2, n_gallery=6, per_query=3)
    vectors = np.eye(6, dtype=np.float32)
    done = evaluate_vectors({"m": (vectors[:2] + 0.1, vectors)}, pairs, [measure])
    assert all(scores == sorted(scores, reverse=True) for _, scores in seen)
    assert [len(labels) for labels, _ in seen] == [3, 3]
    assert done.results.filter(measure="looking").select("value", "n_queries", "n_queries_total").row(0) == (1.0, 1, 2)


def test_a_function_of_a_module_is_named_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_measures_for_a_test.py").write_text(
        "from likewise.evaluation.measures import register_measure\n"
        "@register_measure\ndef registered(labels, scores): return labels[-1]\n"
        "def last(labels, scores): return labels[-1]\nnumber = 5\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    first, own = parse_measures("P@5 python:my_measures_for_a_test:last")
    assert (str(first), str(own), own.title) == ("P@5", "python:my_measures_for_a_test:last", "last")
    assert parse_measure(str(own)) == own
    assert parse_measure("python:my_measures_for_a_test:registered").title == "registered"
    for text, said in (
        ("python:my_measures_for_a_test", "must be python:MODULE:FUNCTION"),
        ("python:not_there_at_all:f", "there is no module 'not_there_at_all'"),
        ("python:my_measures_for_a_test:f", "has no 'f'"),
        ("python:my_measures_for_a_test:number", "is not a function"),
    ):
        with pytest.raises(LikewiseError, match=said):
            parse_measure(text)


def test_names_that_cannot_be_read_back_are_refused_and_failures_say_where() -> None:
    def fails(labels: Labels, scores: Scores) -> float:
        return 1 / 0

    for name in ("P", "a b", "mine@5", "f(x)"):
        with pytest.raises(LikewiseError, match="of a measure"):
            register_measure(fails, name=name)
    measure = register_measure(fails)
    pairs = random_pairs(np.random.default_rng(0), n_queries=2)
    vectors = np.ones((40, 3), np.float32)
    with pytest.raises(LikewiseError, match="the measure fails failed on a query with 10 judged pairs: ZeroDivision"):
        evaluate_vectors({"m": (vectors[:2], vectors)}, pairs, [measure])


def test_nothing_is_written_and_no_torch_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "torch", None)
    pairs = random_pairs(np.random.default_rng(0), n_queries=3)
    vectors = np.random.default_rng(1).standard_normal((40, 3))
    done = evaluate_vectors({"m": (vectors[:3], vectors)}, pairs)
    assert isinstance(done.results, pl.DataFrame) and not list(tmp_path.iterdir())
