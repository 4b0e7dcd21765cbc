"""A benchmark on a data-set hub: it loads, validates, gives the same numbers elsewhere, and comes back."""

import json
from pathlib import Path

import ir_measures
import mlcroissant
import numpy as np
import polars as pl
import pytest
import yaml

from likewise.catalog import read_catalog
from likewise.cli.app import app
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.step import evaluate
from likewise.labeling.step import read_labels
from likewise.workspace import WorkspaceFolder
from tests.evaluation.labelled_workspace import make_labelled

datasets = pytest.importorskip("datasets")


def run(*arguments: object) -> None:
    app([str(each) for each in arguments], standalone_mode=False)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceFolder:
    """A labelled workspace whose positives have the grades 2 and 3."""
    made = make_labelled(tmp_path_factory.mktemp("hub"))
    graded = read_labels(made).select("query", "candidate", "label").with_row_index("row")
    grade = pl.when(pl.col("label") == 1).then(2 + pl.col("row") % 2).otherwise(0)
    file = made.path.parent / "graded.csv"
    graded.select("query", "candidate", "label", grade=grade).write_csv(file)
    run("label", "import", made.path, file, "--replace")
    return made


@pytest.fixture(scope="module")
def folder(workspace: WorkspaceFolder) -> Path:
    made = workspace.path.parent / "shapes-hub"
    said = ("--title", "Shapes, drawn", "--licence", "CC-BY-4.0", "--description", "Drawn shapes.")
    run("bundle", "benchmark", workspace.path, made, "--to", "hub", "--with-images", *said)
    return made


@pytest.fixture
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))


def load(folder: Path, part: str | None = None) -> list[dict[str, object]]:
    found = datasets.load_dataset(str(folder), part)
    rows: list[dict[str, object]] = list(found["test"])
    return rows


@pytest.mark.usefixtures("no_cache")
def test_it_loads_with_datasets(workspace: WorkspaceFolder, folder: Path) -> None:
    catalog = read_catalog(workspace)
    corpus = load(folder, "corpus")
    assert {row["id"] for row in corpus} == set(catalog["image"])
    widths = dict(catalog.select("image", "width").iter_rows())
    assert all(row["image"].size[0] == widths[row["id"]] for row in corpus)  # type: ignore[attr-defined]
    qrels = load(folder)  # the default part
    assert set(qrels[0]) == {"query-id", "corpus-id", "score"}
    assert {row["score"] for row in qrels} == {0, 2, 3}
    assert {row["query-id"] for row in qrels} == {row["id"] for row in load(folder, "queries")}


def test_its_readme_has_a_head_that_the_hub_reads(folder: Path) -> None:
    from huggingface_hub import DatasetCard

    text = (folder / "README.md").read_text()
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["license"] == "cc-by-4.0" and head["pretty_name"] == "Shapes, drawn"
    assert [part["config_name"] for part in head["configs"]] == ["corpus", "queries", "qrels", "labels"]
    assert yaml.safe_load(str(DatasetCard(text).data))["task_categories"] == ["image-feature-extraction"]
    assert "grade" in text and str(folder.parent) not in text


@pytest.mark.filterwarnings("ignore::DeprecationWarning:mlcroissant|rdflib", "ignore:ConjunctiveGraph is deprecated")
def test_mlcroissant_validates_it_and_reads_its_records(folder: Path) -> None:
    described = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    assert not described.metadata.ctx.issues.errors
    qrels = list(described.records(record_set="qrels"))
    stored = pl.read_parquet(folder / "qrels" / "*.parquet")
    assert len(qrels) == len(stored)
    assert sum(int(row["qrels/score"]) for row in qrels) == stored["score"].sum()


def test_the_same_model_gets_the_same_numbers_elsewhere(workspace: WorkspaceFolder, folder: Path) -> None:
    """ir_measures on the folder's tables, every image of the corpus ranked but the query's own item."""
    corpus, queries, qrels = (pl.read_parquet(folder / part / "*.parquet") for part in ("corpus", "queries", "qrels"))
    results = evaluate(workspace).evaluation.results
    relevant: dict[str, dict[str, int]] = {}
    for query, candidate, score in qrels.rows():
        relevant.setdefault(query, {})[candidate] = score
    measures = {"nDCG@5": ir_measures.nDCG @ 5, "P@5": ir_measures.P(rel=2) @ 5}
    for encoder in ("colour", "shape", "layout"):
        gallery, asked = corpus["id"].to_list(), queries["id"].to_list()
        vectors = {name: read_vectors(workspace, encoder, each) for name, each in (("c", gallery), ("q", asked))}
        unit = {name: each / np.linalg.norm(each, axis=1, keepdims=True) for name, each in vectors.items()}
        scores = unit["q"].astype(np.float64) @ unit["c"].astype(np.float64).T
        items = dict(corpus.select("id", "item").iter_rows())
        ranked = {}
        for row, query in enumerate(asked):
            order = sorted(range(len(gallery)), key=lambda at: (-round(scores[row, at], 12), gallery[at]))
            best: dict[str, int] = {}
            for at in order:  # the best image of each item, as likewise lists them
                if items[gallery[at]] != items[query]:
                    best.setdefault(items[gallery[at]], at)
            ranked[query] = {gallery[at]: -float(place) for place, at in enumerate(best.values())}
        theirs = ir_measures.calc_aggregate(list(measures.values()), relevant, ranked)
        for name, measure in measures.items():
            ours = results.filter((pl.col("encoder") == encoder) & (pl.col("measure") == name))["value"][0]
            assert ours == pytest.approx(theirs[measure], abs=1e-9), (encoder, name)


def test_it_comes_back(workspace: WorkspaceFolder, folder: Path, tmp_path: Path) -> None:
    again = WorkspaceFolder(tmp_path / "again")
    run("new", again.path, folder, "--reader", "hub")
    before, after = read_catalog(workspace), read_catalog(again)
    assert after.select("image", "item", "digest").equals(before.select("image", "item", "digest"))
    run("label", "import", again.path, again.path / "tables" / "labels.parquet")
    columns = ["query", "candidate", "label", "grade"]
    assert read_labels(again).select(columns).equals(read_labels(workspace).select(columns))


def test_results_are_mtebs(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    run("bundle", "mteb-results", workspace.path, tmp_path, "--task", "Shapes", "--with", "colour,shape")
    results = evaluate(workspace).evaluation.results
    for encoder in ("colour", "shape"):
        stored = json.loads((tmp_path / encoder / "Shapes.json").read_text())
        scores = stored["scores"]["test"][0]
        ours = results.filter((pl.col("encoder") == encoder) & (pl.col("measure") == "nDCG@5"))["value"][0]
        assert scores["ndcg_at_5"] == pytest.approx(ours, abs=1e-12)
        assert scores["main_score"] == scores["ndcg_at_10"] and stored["task_name"] == "Shapes"
