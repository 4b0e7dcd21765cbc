"""Grades survive import, nDCG and export; whatever is binary stays as it was to the last digit."""

from pathlib import Path

import ir_measures
import numpy as np
import polars as pl
import pytest
import pytrec_eval

import likewise as lw
from likewise.errors import LikewiseError
from likewise.evaluation.bundles.bundle import make_bundle
from likewise.evaluation.bundles.evaluate import evaluate_bundle
from likewise.evaluation.exchange.labels_export import export_labels
from likewise.evaluation.exchange.labels_import import import_labels
from likewise.evaluation.exchange.labels_io import read_labels_file
from likewise.evaluation.step import evaluate
from likewise.labeling.state import read_labels_note
from likewise.labeling.step import read_labels
from likewise.workspace import WorkspaceFolder
from tests.evaluation.label_files import write_labels_file
from tests.evaluation.labelled_workspace import make_labelled

GRADED = pl.DataFrame(
    [("q", "a", 1, 3.0), ("q", "b", 1, 2.0), ("q", "c", 0, 1.0), ("q", "d", 0, 0.0)],
    schema={"query": pl.String, "candidate": pl.String, "label": pl.Int8, "grade": pl.Float64},
    orient="row",
)
SHARES = GRADED.with_columns(grade=pl.Series([1.0, 2 / 3, 0.5, 0.0]))


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".json"])
@pytest.mark.parametrize("labels", [GRADED, SHARES], ids=["grades", "shares"])
def test_labels_and_grades_come_back_as_they_were(tmp_path: Path, ending: str, labels: pl.DataFrame) -> None:
    path = tmp_path / f"labels{ending}"
    write_labels_file(labels, path)
    assert read_labels_file(path).labels.equals(labels)


def test_trec_has_whole_grades_and_shares_in_hundredths(tmp_path: Path) -> None:
    path = tmp_path / "labels.qrels"
    write_labels_file(GRADED, path)
    assert path.read_text() == "q 0 a 3\nq 0 b 2\nq 0 c 1\nq 0 d 0\n"
    read = read_labels_file(path, positive_from=2)
    assert read.labels.equals(GRADED) and str(read.threshold) == "grade >= 2"
    write_labels_file(SHARES, path)
    assert [line.split()[3] for line in path.read_text().splitlines()] == ["100", "67", "50", "0"]
    assert read_labels_file(path, positive_from=51).labels["label"].to_list() == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("written", "labels", "grades", "threshold"),
    [
        (["3", "2", "1", "0"], [1, 1, 1, 0], [3, 2, 1, 0], "grade >= 1"),
        (["1", "0.6", "0.5", "0"], [1, 1, 0, 0], [1, 0.6, 0.5, 0], "grade > 0.5"),
        (["exact", "similar", "substitute", "different"], [1, 1, 0, 0], [3, 2, 1, 0], "grade >= 2"),
        (["similar", "yes", "no", "0"], [1, 1, 0, 0], None, "None"),
        (["1", "1", "0", "0"], [1, 1, 0, 0], None, "None"),
    ],
)
def test_a_file_says_its_own_scale(
    tmp_path: Path, written: list[str], labels: list[int], grades: list[float] | None, threshold: str
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("query,candidate,label\n" + "".join(f"q,{c},{w}\n" for c, w in zip("abcd", written, strict=True)))
    read = read_labels_file(path)
    assert read.labels["label"].to_list() == labels
    assert (read.labels["grade"].to_list() if "grade" in read.labels.columns else None) == grades
    assert str(read.threshold) == threshold


def test_two_grades_of_one_pair_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.qrels"
    path.write_text("q 0 a 2\nq 0 a 3\nq 0 b 0\n")
    with pytest.raises(LikewiseError, match="grades \\(q, a\\) 2 and 3"):
        read_labels_file(path)


@pytest.mark.parametrize("k", [3, 10])
def test_graded_ndcg_is_that_of_trec_eval_and_ir_measures(k: int) -> None:
    rng = np.random.default_rng(k)
    vectors = rng.normal(size=(40, 6))
    grades = {
        f"{q:02}": {f"{c:02}": int(rng.choice([0, 0, 1, 2, 3])) for c in rng.permutation(40)[:12] if c != q}
        for q in range(8)
    }
    keys = [f"{row:02}" for row in range(40)]
    done = lw.evaluate({"m": vectors}, grades, keys=keys, measures=[f"nDCG@{k}"])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    run = {q: {c: float(unit[int(q)] @ unit[int(c)]) for c in keys if c != q} for q in grades}
    theirs = pytrec_eval.RelevanceEvaluator(grades, {f"ndcg_cut.{k}"}).evaluate(run)
    expected = np.mean([one[f"ndcg_cut_{k}"] for one in theirs.values()])
    value = done.table.filter(pl.col("measure") == f"nDCG@{k}")["value"][0]
    assert value == pytest.approx(expected, abs=1e-12)
    measure = ir_measures.nDCG @ k
    assert value == pytest.approx(ir_measures.calc_aggregate([measure], grades, run)[measure], abs=1e-12)
    binary = lw.evaluate(
        {"m": vectors}, {q: {c: int(g > 0) for c, g in of.items()} for q, of in grades.items()}, keys=keys
    )
    graded = lw.evaluate({"m": vectors}, grades, keys=keys)
    same = ~pl.col("measure").str.starts_with("nDCG")
    assert graded.table.filter(same).equals(binary.table.filter(same))  # to the last digit


def test_grades_through_a_workspace_and_a_bundle(tmp_path: Path) -> None:
    """Import, evaluate, export, bundle: one nDCG, that of trec_eval on the exported grades."""
    workspace = make_labelled(tmp_path)
    labels = read_labels(workspace)
    binary = evaluate(workspace).evaluation.results
    graded = labels.select("query", "candidate", "label").with_row_index("row")
    grade = pl.when(pl.col("label") == 1).then(2 + pl.col("row") % 2).otherwise(pl.col("row") % 2)
    graded = graded.with_columns(grade=grade.cast(pl.Float64)).drop("row", "label")
    file = tmp_path / "graded.csv"
    graded.write_csv(file)
    done = import_labels(workspace, file, positive_from=2, replace=True)
    assert done.grades == "grade >= 2" and read_labels_note(workspace)["grades"]["similar_from"] == 2
    results = evaluate(workspace).evaluation.results
    unchanged = ~pl.col("measure").str.starts_with("nDCG")
    assert results.filter(unchanged).equals(binary.filter(unchanged))
    assert not results.equals(binary)
    exported = export_labels(workspace, ".qrels")
    assert exported.positive_from == 2
    again = tmp_path / "again.qrels"
    again.write_bytes(exported.content)
    assert read_labels_file(again, positive_from=2).labels["grade"].sort().equals(graded["grade"].sort())
    bundle = make_bundle(workspace, tmp_path / "b", title="Shapes", licence="CC0")
    assert bundle.tables.labels["grade"].sum() == graded["grade"].sum()
    vectors = tmp_path / "colour.npy"
    from likewise.encoders.storage.reading import read_vectors

    np.save(vectors, read_vectors(workspace, "colour", bundle.images))
    measured = evaluate_bundle(bundle, {"colour": vectors}).results
    ours = pl.col("measure") == "nDCG@5"
    here = results.filter(ours & (pl.col("encoder") == "colour"))["value"][0]
    assert measured.filter(ours)["value"][0] == pytest.approx(here, abs=1e-6)


def test_binary_labels_have_no_column_of_grades(tmp_path: Path) -> None:
    workspace: WorkspaceFolder = make_labelled(tmp_path)
    assert "grade" not in read_labels(workspace).columns
    assert "grades" not in read_labels_note(workspace)
