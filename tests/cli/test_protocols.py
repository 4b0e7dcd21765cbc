"""Every protocol in the terminal, with one, two and three models; and options that a bundle cannot honour."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.cli.tables import rounded_p
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.bundles.bundle import open_bundle
from likewise.evaluation.ranking import MAIN
from likewise.workspace import WorkspaceFolder

from .conftest import Run
from .test_road import labelled, pooled  # noqa: F401 - fixtures


@pytest.mark.parametrize("models", ["shape", "colour,shape", "colour,shape,layout"])
def test_every_protocol_is_printed_for_few_models(labelled: WorkspaceFolder, run: Run, models: str) -> None:  # noqa: F811
    if "layout" in models:
        assert run("encode", labelled.path, "--with", "layout", "--workers", 1).code == 0
    ran = run("evaluate", labelled.path, "--with", models, "--protocol", "all", "--k", "1,3")
    assert ran.code == 0, ran.err
    said = " ".join(ran.out.split())
    for words in (
        "no sampled negatives: the gallery of 24 images is too small",
        "Identification",
        "Gallery ROC-AUC under",
        "Table 2: candidates that two generators share",
        "Table 5: discovery, closed catalog: the queries belong to it (%), continued",
        "of 6 queries, identification rests on 6 with another image of their item, macro areas on",
    ):
        assert words in said
    assert ("3 models are too few for a rank correlation" in said) is (models.count(",") == 2)
    one = run("evaluate", labelled.path, "--with", models, "--protocol", "experts")
    assert one.code == 0
    assert "resampled groups of experts" in one.out


def test_a_bundle_is_evaluated_as_typed_and_refuses_what_it_cannot_honour(
    labelled: WorkspaceFolder,  # noqa: F811
    run: Run,
    tmp_path: Path,
) -> None:
    path = tmp_path / "shapes.zip"
    assert run("bundle", "benchmark", labelled.path, path, "--title", "Shapes", "--licence", "CC0-1.0").code == 0
    for name in ("shape", "colour"):
        np.save(tmp_path / f"{name}.npy", read_vectors(labelled, name, open_bundle(path).images))
    vectors = ("--vectors", tmp_path / "shape.npy", "--vectors", tmp_path / "colour.npy")
    found = json.loads(run("evaluate", path, *vectors, "--json", "--k", 3).out)
    assert found["differences"]
    assert all(row["low"] <= row["value"] <= row["high"] for row in found["results"] if row["value"] is not None)
    for wrong in (
        ("--protocol", "nonsense"),
        ("--protocol", "identification"),
        ("--with", "shape"),
        ("--seed", -5),
    ):
        ran = run("evaluate", path, *vectors, *wrong)
        assert ran.code == 2, wrong
        assert ran.err


def test_every_number_has_an_interval_and_few_queries_are_said_to_be_few(
    labelled: WorkspaceFolder,  # noqa: F811
    run: Run,
) -> None:
    typed = ("evaluate", labelled.path, "--protocol", "all", "--k", "1,3")
    tables = json.loads(run(*typed, "--json").out)["tables"]
    for table in ("discovery", "identification"):
        assert all(row["low"] <= row["value"] <= row["high"] for row in tables[table] if row["value"] is not None)
    assert all(row["low"] <= row["difference"] <= row["high"] for row in tables["differences"] if row["p"] is not None)
    assert all(row["bpref_low"] <= row["bpref"] <= row["bpref_high"] for row in tables["incomplete"])
    assert "fewer than 15 queries" in " ".join(run(*typed).out.split())
    by_class = ("evaluate", labelled.path, "--classes", "category")
    ways = [
        json.loads(run(*by_class, "--json", "--intervals-over", unit).out)["retrieval"] for unit in ("query", "class")
    ]
    assert [row["low"] for row in ways[0]] != [row["low"] for row in ways[1]]
    assert "fewer than 15 classes" in " ".join(run(*by_class, "--intervals-over", "class").out.split())
    assert run(*by_class, "--intervals-over", "wide").code == 2


def test_sampled_negatives_do_not_depend_on_the_models_that_are_measured(tmp_path: Path, run: Run) -> None:
    target = WorkspaceFolder(tmp_path / "w")
    assert run("new", target.path, "--wardrobe", "--items", 150, "--views", 1).code == 0
    assert run("encode", target.path, "--with", "colour,layout").code == 0
    assert run("discover", target.path, "--k", 4, "--n-queries", 12, "--random", 400).code == 0
    assert run("label", "simulate", target.path).code == 0

    def sampled(*more: object) -> dict[str, float]:
        ran = run("evaluate", target.path, "--json", *more)
        assert ran.code == 0, ran.err
        rows = json.loads(ran.out)["results"]
        return {row["encoder"]: row["value"] for row in rows if row["measure"] == 'ROC_AUC(negatives="sampled")'}

    both = sampled()
    assert set(both) == {"colour", "layout"}
    assert sampled("--with", "colour") == {"colour": both["colour"]}
    path = tmp_path / "b.zip"
    assert run("bundle", "benchmark", target.path, path, "--title", "W", "--licence", "CC0-1.0").code == 0
    negatives = open_bundle(path).tables.negatives
    labels = pl.read_parquet(target.labels_file)
    assert len(negatives) > 10
    assert negatives.join(labels, on=["query", "candidate"], how="semi").is_empty()


def test_measures_are_chosen_by_name_and_renewed_with_the_report(
    labelled: WorkspaceFolder,  # noqa: F811
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "chosen_measures.py").write_text("def first(labels, scores):\n    return labels[0]\n")
    monkeypatch.chdir(tmp_path)
    names = ["P@2", "nDCG@3", 'AP(average="micro")', "python:chosen_measures:first"]
    ran = run("evaluate", labelled.path.resolve(), "--measures", " ".join(names), "--store")
    assert ran.code == 0, ran.err
    assert "first" in ran.out and "nDCG" in ran.out and "VSD_MRR" not in ran.out
    for table in ("discovery", "differences"):
        found = pl.read_parquet(labelled.results_folder / f"{table}.parquet")["measure"].unique(maintain_order=True)
        assert found.to_list() == [*names, str(MAIN)]
    measured = ("--measures", "R_Precision", "--protocol", "all", "--store")
    assert run("evaluate", labelled.path, *measured).code == 0
    labelled.labels_file.touch()  # results are older than the labels: the report evaluates with the same options
    assert run("report", labelled.path).code == 0
    again = pl.read_parquet(labelled.results_folder / "discovery.parquet")
    assert set(again["measure"]) == {"R_Precision", str(MAIN)}
    assert "R_Precision" in labelled.report_file.read_text()


def test_no_p_is_printed_as_zero() -> None:
    assert [rounded_p(p) for p in (0.0, 1e-9, 0.0004999, 0.0005, 0.04321, 1.0)] == [
        *("< 0.001", "< 0.001", "< 0.001"),
        *("0.001", "0.043", "1.000"),
    ]
