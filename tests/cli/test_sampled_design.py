"""From drawn pairs to whole-catalog estimates on the command line, where the truth is known."""

import json
from html import unescape
from pathlib import Path

import polars as pl
import pytest

from likewise.workspace import WorkspaceFolder

from .conftest import Run


def labels_of_certain_pairs(workspace: WorkspaceFolder) -> Path:
    """A file as someone makes it who asks about each model's first candidates and nothing else."""
    certain = pl.read_parquet(workspace.pool_file).filter(pl.col("probability") == 1.0)
    labels = pl.read_parquet(workspace.labels_file).join(certain, on=["query", "candidate"], how="semi")
    file = workspace.path.parent / "likeliest.csv"
    labels.drop_nulls("label").select("query", "candidate", "label").write_csv(file)
    return file


@pytest.mark.slow
def test_a_drawn_pool_is_measured_against_the_whole_catalog(tmp_path: Path, run: Run) -> None:
    """60 drawn items: two thirds of all labels drawn, and every estimate is near what all of them say."""
    target = tmp_path / "wardrobe"
    assert run("new", target, "--wardrobe", "--items", 60, "--views", 1).code == 0
    assert run("encode", target, "--with", "colour,shape", "--workers", 1).code == 0
    few = run("discover", target, "--design", "sampled", "--n-queries", 30, "--labels", 20)
    assert few.code == 2
    assert "20 labels for 30 queries" in few.err
    assert "no design 'lottery'" in run("discover", target, "--design", "lottery").err
    asked = ("discover", target, "--design", "sampled", "--n-queries", 30, "--labels")
    said = run(*asked, 600).out
    assert "600 pairs to label for 30 queries" in said and "20.0 a query" in said
    workspace = WorkspaceFolder(target)
    pool = pl.read_parquet(workspace.pool_file)
    assert pool["generator"].unique().to_list() == ["drawn"]
    assert pool.select("query", "candidate").is_unique().all()
    assert pool["probability"].is_between(0.1, 1.0).all()
    assert "this pool already existed" in run(*asked, 600).out
    adding = run("label", "add-pairs", target, "--with", "texture")
    assert adding.code == 2
    assert "were drawn by the design sampled" in adding.err

    assert run("label", "simulate", target, "--experts", 3).code == 0
    ran = run("evaluate", target, "--json", "--k", "1,5")
    assert ran.code == 0
    sampled = json.loads(ran.out)
    facts = sampled["summary"]["catalog"]
    assert (facts["unit"], facts["n_pairs"], facts["n_labelled"]) == ("item", 30 * 59, 600)
    assert facts["n_similar_low"] <= facts["n_similar"] <= facts["n_similar_high"]
    printed = run("evaluate", target, "--k", "1,5").out
    assert "Estimated for the whole catalog" in printed
    assert printed.index("Estimated for the whole catalog") < printed.index("Over the labelled pairs alone")
    assert "The labels found" in printed and "EDS" not in printed
    assert run("evaluate", target, "--k", "1,5", "--store").code == 0
    assert run("report", target).code == 0
    page = unescape(workspace.report_file.read_text())
    assert "follows the ranks that colour, shape give it" in page  # and nothing that only an EDS pool has
    for words in (
        "EDS",
        "proposed its k",
        "that the generators proposed",
        "needs labelled random pairs",
        "plan labels",
    ):
        assert words not in page, words

    likeliest = labels_of_certain_pairs(workspace)
    assert run("label", "import", target, likeliest, "--replace").code == 0
    said = " ".join(run("evaluate", target, "--k", "5").out.split())
    assert "nothing is estimated for the whole catalog yet" in said and "Estimated for the whole catalog" not in said

    assert run(*asked, 30 * 59, "--replace").code == 0  # a census
    assert run("label", "simulate", target, "--experts", 3).code == 0
    ran = run("evaluate", target, "--json", "--k", "1,5", "--store")
    census = json.loads(ran.out)
    assert census["summary"]["catalog"]["recall"] == 1.0
    stored = pl.read_parquet(workspace.results_folder / "catalog.parquet")
    truth = {(row["encoder"], row["measure"]): row["value"] for row in stored.iter_rows(named=True)}
    for row in sampled["tables"]["catalog"]:
        assert abs(row["value"] - truth[row["encoder"], row["measure"]]) < 0.15
        assert row["low"] <= row["value"] <= row["high"]
    assert facts["n_similar_low"] <= census["summary"]["catalog"]["n_similar"] <= facts["n_similar_high"]
