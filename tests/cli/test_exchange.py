"""Labels, runs, bundles and leaderboards as a user types them."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import pytrec_eval

from likewise.cli import bundle
from likewise.cli.app import app
from likewise.encoders import read_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.bundles.bundle import open_bundle
from likewise.evaluation.discovery import default_measures
from likewise.evaluation.exchange.labels_io import read_labels_file
from likewise.evaluation.item_pairs import best_images
from likewise.evaluation.provenance import read_note
from likewise.evaluation.step import evaluate
from likewise.neighbours import as_unit
from likewise.workspace import WorkspaceFolder
from tests.evaluation.labelled_workspace import make_labelled

from .conftest import Run

Typed = Callable[..., str]
NAMED = ("--title", "Shapes", "--licence", "CC0-1.0")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceFolder:
    return make_labelled(tmp_path_factory.mktemp("exchange"))


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Typed:
    """`typed("bundle", "benchmark", ...)` runs one command and gives what it printed."""
    monkeypatch.setenv("COLUMNS", "200")

    def _typed(*arguments: object) -> str:
        app([str(argument) for argument in arguments], standalone_mode=False)
        return capsys.readouterr().out

    return _typed


def test_trec_eval_users_can_check_us(labelled: WorkspaceFolder, typed: Typed, tmp_path: Path) -> None:
    assert "only drawn at random" in typed("label", "export", labelled.path, tmp_path / "all.qrels")
    typed("label", "export", labelled.path, tmp_path / "l.qrels", "--as-evaluated")
    typed("bundle", "run", labelled.path, tmp_path / "l.run", "--with", "layout")
    with (tmp_path / "l.qrels").open() as qrels, (tmp_path / "l.run").open() as run:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), {"P_5", "num_rel"})
        theirs = [query for query in evaluator.evaluate(pytrec_eval.parse_run(run)).values() if query["num_rel"]]
    ours = evaluate(labelled).results.filter((pl.col("encoder") == "layout") & (pl.col("measure") == "P@5"))
    assert ours["value"][0] == pytest.approx(np.mean([query["P_5"] for query in theirs]))
    assert ours["n_queries"][0] == len(theirs)


def test_runs_say_what_they_list(labelled: WorkspaceFolder, typed: Typed, tmp_path: Path) -> None:
    said = typed("bundle", "run", labelled.path, tmp_path / "a.run", "--with", "colour", "--candidates", "judged-pairs")
    assert "tag colour:judged-pairs" in said
    typed("bundle", "benchmark", labelled.path, tmp_path / "b.zip", "--title", "Shapes", "--licence", "CC0-1.0")
    bundle = open_bundle(tmp_path / "b.zip")
    pairs, drawn = bundle.tables.pairs, bundle.gallery_pairs
    vectors = [read_vectors(labelled, "colour", images) for images in (pairs.queries, pairs.gallery)]
    best = best_images(as_unit(vectors[0]), as_unit(vectors[1]), drawn)[0]
    wanted = {
        (pairs.queries[query], pairs.gallery[candidate])
        for queries, candidates in ((pairs.query, pairs.candidate), (drawn.query, best))
        for query, candidate in zip(queries, candidates, strict=True)
    }
    lines = [line.split() for line in (tmp_path / "a.run").read_text().splitlines()]
    assert {(query, candidate) for query, _, candidate, *_ in lines} == wanted and len(lines) == len(wanted)
    with pytest.raises(LikewiseError, match="already exists: add `--replace`"):
        typed("bundle", "run", labelled.path, tmp_path / "a.run", "--with", "colour")
    with pytest.raises(LikewiseError, match="best-image-per-item, every-image or judged-pairs, not 'all'"):
        typed("bundle", "run", labelled.path, tmp_path / "b.run", "--with", "colour", "--candidates", "all")
    with pytest.raises(LikewiseError, match="depth of at least 1"):
        typed("bundle", "run", labelled.path, tmp_path / "b.run", "--with", "colour", "--depth", 0)
    typed("bundle", "run", labelled.path, tmp_path / "b.run", "--with", "colour", "--depth", 2)
    assert len((tmp_path / "b.run").read_text().splitlines()) == 2 * 8


def test_labels_go_out_and_come_back(labelled: WorkspaceFolder, typed: Typed, tmp_path: Path) -> None:
    typed("label", "export", labelled.path, tmp_path / "tags.json")
    read = read_labels_file(tmp_path / "tags.json")
    assert read.labels.equals(pl.read_parquet(labelled.labels_file).select("query", "candidate", "label", "generators"))
    before = labelled.labels_file.read_bytes()
    with pytest.raises(LikewiseError, match="made from the votes of 3 experts"):
        typed("label", "import", labelled.path, tmp_path / "tags.json")
    assert labelled.labels_file.read_bytes() == before


def test_a_bundle_is_made_measured_and_put_on_a_page(
    labelled: WorkspaceFolder,
    typed: Typed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "shapes.zip"
    said = typed("bundle", "benchmark", labelled.path, path, "--title", "Shapes [v1]", "--licence", "CC0-1.0")
    assert open_bundle(path).card["checksum"] in said
    assert bundle.is_bundle(path)
    assert not bundle.is_bundle(labelled.path)
    np.save(tmp_path / "mine.npy", read_vectors(labelled, "layout", open_bundle(path).images))
    monkeypatch.setattr(sys, "argv", ["/bin/likewise", "evaluate", "my shapes.zip", "--vectors", "mine.npy"])
    out = tmp_path / "mine.parquet"
    bundle.evaluate_bundle(path, [str(tmp_path / "mine.npy")], measures=default_measures([5]), out=out)
    assert "Shapes [v1]: 8 queries" in capsys.readouterr().out
    assert read_note(out).command == "likewise evaluate 'my shapes.zip' --vectors mine.npy"
    typed("bundle", "leaderboard", tmp_path / "board.html", out, "--title", "Shapes")
    assert "likewise evaluate &#39;my shapes.zip&#39; --vectors mine.npy" in (tmp_path / "board.html").read_text()


def test_models_of_a_bundle_are_named_by_file_or_by_hand(
    labelled: WorkspaceFolder, typed: Typed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shapes"
    typed("bundle", "benchmark", labelled.path, path, "--title", "S", "--licence", "CC0-1.0")
    np.save(tmp_path / "v=1.npy", read_vectors(labelled, "shape", open_bundle(path).images))
    typed("bundle", "run", labelled.path, tmp_path / "c.run", "--with", "colour", "--candidates", "every-image")
    vectors = [str(tmp_path / "v=1.npy"), f"again={tmp_path / 'v=1.npy'}"]
    at_3 = default_measures([3])
    bundle.evaluate_bundle(path, vectors, runs=[f"c={tmp_path / 'c.run'}"], measures=at_3, as_json=True)
    results = json.loads(capsys.readouterr().out)["results"]
    assert list(dict.fromkeys(row["encoder"] for row in results)) == ["v=1", "again", "c"]
    typed("bundle", "run", labelled.path, tmp_path / "short.run", "--with", "colour", "--depth", 2)
    bundle.evaluate_bundle(path, [], runs=[str(tmp_path / "short.run")], measures=at_3)
    assert "judged pairs are not in the run, so ROC_AUC and AP are undefined" in capsys.readouterr().out
    with pytest.raises(LikewiseError, match="not 'first'"):
        bundle.evaluate_bundle(path, vectors, measures=at_3, missing="first")
    with pytest.raises(LikewiseError, match="give every model its own name"):
        bundle.evaluate_bundle(path, vectors[:1] * 2, measures=at_3)
    with pytest.raises(LikewiseError, match="there is no model to measure"):
        bundle.evaluate_bundle(path, [], measures=at_3)
    with pytest.raises(LikewiseError, match="must end in"):
        bundle.evaluate_bundle(path, vectors, measures=at_3, out=tmp_path / "x.json")
    with pytest.raises(LikewiseError, match="it is another benchmark bundle"):
        bundle.evaluate_bundle(path, vectors, measures=at_3, checksum="abc")


@pytest.mark.parametrize(
    "option", [("--with", "layout"), ("--protocol", "recall"), ("--next-pairs", "7"), ("--gallery-sample", "9")]
)
def test_what_a_bundle_cannot_honour_is_refused(
    option: tuple[str, str], labelled: WorkspaceFolder, typed: Typed, run: Run, tmp_path: Path
) -> None:
    typed("bundle", "benchmark", labelled.path, tmp_path / "shapes", "--title", "S", "--licence", "CC0-1.0")
    done = run("evaluate", tmp_path / "shapes", "--vectors", tmp_path / "mine.npy", *option)
    assert done.code == 2
    assert "leave --with, --protocol, --seconds-per-pair, --next-pairs, --gallery-sample," in " ".join(done.err.split())


def test_labels_from_elsewhere_need_no_pool(labelled: WorkspaceFolder, run: Run, tmp_path: Path) -> None:
    """Their pairs become the pool: the same areas as where they were made, and no model counts as a generator."""
    sent = json.loads(run("label", "export", labelled.path, tmp_path / "theirs.qrels", "--as-evaluated", "--json").out)
    there = json.loads(run("evaluate", labelled.path, "--json").out)["results"]
    here = WorkspaceFolder(tmp_path / "here")
    shutil.copytree(labelled.path, here.path)
    for path in (here.pool_file, here.pool_settings_file, here.labels_file, here.labels_settings_file):
        path.unlink()
    ran = run("label", "import", here.path, tmp_path / "theirs.qrels")
    assert f"{sent['n_labels']} labels" in ran.out and "these pairs are the pool" in ran.out
    found = json.loads(run("evaluate", here.path, "--json").out)["results"]
    areas = [[row["value"] for row in rows if row["measure"].startswith(("ROC_AUC", "AP"))] for rows in (there, found)]
    assert areas[0] == areas[1]
    assert not any(row["generator"] for row in found)
    said = run("evaluate", here.path, "--protocol", "all").out
    assert "no generator proposed the pairs of these labels, so none can be left out" in said
    assert run("report", here.path).code == run("bundle", "benchmark", here.path, tmp_path / "b.zip", *NAMED).code == 0
    again = run("label", "import", here.path, tmp_path / "theirs.qrels", "--gallery", "category=nothing")
    assert again.code == 2
    assert run("discover", here.path, "--k", 2, "--n-queries", 12, "--random", 0, "--replace").code == 0
    said = " ".join(run("evaluate", here.path).out.split())
    assert "labels are about other queries or images, or a query's own item, and are left out" in said
