"""The adaptive design from the first command to the number in the report, where the truth is known."""

import json
from pathlib import Path

import polars as pl
import pytest

from likewise.workspace import WorkspaceFolder

from .conftest import Run


def test_two_rounds_from_a_new_workspace_to_the_report(tmp_path: Path, run: Run) -> None:
    """40 drawn items, 20 queries: two rounds of 200 labels each, and the whole catalog is estimated from both."""
    target = tmp_path / "wardrobe"
    assert run("new", target, "--wardrobe", "--items", 40, "--views", 1).code == 0
    assert run("encode", target, "--with", "colour,shape", "--workers", 1).code == 0
    asked = ("discover", target, "--design", "adaptive", "--n-queries", 20, "--labels", 400, "--rounds", 2)
    assert "labels are drawn for finding or comparing, not 'fun'" in run(*asked, "--for", "fun").err
    assert "at least 2 rounds, not 1" in run(*asked[:-1], 1).err
    first = run(*asked, "--for", "finding")
    assert "200 pairs to label for 20 queries" in first.out
    assert "round 1 of 2, for finding" in " ".join(first.out.split())
    workspace = WorkspaceFolder(target)
    before = pl.read_parquet(workspace.pool_file)
    assert before["round"].unique().to_list() == [1]
    assert "200 of its 200 pairs wait for an answer" in run(*asked, "--for", "finding").out

    assert run("label", "simulate", target, "--experts", 3).code == 0
    assert "200 pairs more to label" in run(*asked, "--for", "finding").out
    pool = pl.read_parquet(workspace.pool_file)
    assert pool.filter(pl.col("round") == 1).equals(before)  # what was drawn stays, and how likely it was
    assert pool["round"].value_counts(sort=True).sort("round").rows() == [(1, 200), (2, 200)]
    assert pool.select("query", "candidate").is_unique().all()
    assert pool["probability"].is_between(0.0, 1.0, closed="right").all()
    assert run("label", "simulate", target, "--experts", 3).code == 0
    again = json.loads(run(*asked, "--for", "finding", "--json").out)
    assert again == {"state": "finished", "round": 2, "rounds": 2, "n_open": 0}
    labels = pl.read_parquet(workspace.labels_file).join(pool, on=["query", "candidate"])
    by_round = labels.group_by("round").agg(pl.col("label").sum()).sort("round")["label"].to_list()
    assert sum(by_round) > 0

    ran = run("evaluate", target, "--json", "--k", "1,5", "--store")
    assert ran.code == 0, ran.err
    facts = json.loads(ran.out)["summary"]["catalog"]
    assert (facts["design"], facts["n_pairs"], facts["n_labelled"]) == ("adaptive", 20 * 39, 400)
    assert facts["n_similar_low"] <= facts["n_similar"] <= facts["n_similar_high"]
    [value] = [
        row["value"]
        for row in json.loads(ran.out)["tables"]["catalog"]
        if (row["encoder"], row["measure"]) == ("colour", "P@5")
    ]
    printed = run("evaluate", target, "--k", "1,5").out
    assert f"{100 * value:.1f}" in printed
    left_out = "Not shown, because these labels cannot tell it closely enough or without bias: Recall@5, nDCG@5, AP,"
    assert left_out in " ".join(printed.split())
    assert run("report", target).code == 0
    assert left_out in (target / "report" / "index.html").read_text()

    asked_pairs = set(pool.select("query", "candidate").rows())
    query, images = pool["query"][0], pool["candidate"].unique().sort().to_list()
    free = next(image for image in images if (query, image) not in asked_pairs and image != query)
    pl.DataFrame({"query": [query], "candidate": [free]}).write_csv(tmp_path / "by_hand.csv")
    added = run("label", "add-pairs", target, "--pairs", tmp_path / "by_hand.csv")
    assert added.code == 0, added.err
    said = " ".join(added.out.split())
    assert "1 of them the design adaptive did not draw: their labels count for finding similar pairs, not for" in said
    assert pl.read_parquet(workspace.pool_file).equals(pool)


@pytest.mark.slow
def test_another_design_needs_a_word_and_loses_no_label(tmp_path: Path, run: Run) -> None:
    target = tmp_path / "wardrobe"
    assert run("new", target, "--wardrobe", "--items", 40, "--views", 1).code == 0
    assert run("encode", target, "--with", "colour,shape", "--workers", 1).code == 0
    assert run("discover", target, "--n-queries", 10, "--k", 4).code == 0
    assert run("label", "simulate", target, "--experts", 3).code == 0
    workspace = WorkspaceFolder(target)
    before = pl.read_parquet(workspace.labels_file).select("query", "candidate", "label")
    asked = ("discover", target, "--design", "adaptive", "--n-queries", 10, "--labels", 100, "--rounds", 2)
    refused = run(*asked)
    assert refused.code == 2
    assert "were chosen by the design eds, and two designs cannot be mixed" in " ".join(refused.err.split())
    assert run(*asked, "--replace").code == 0
    assert run("label", "simulate", target, "--experts", 3).code == 0
    after = pl.read_parquet(workspace.labels_file).select("query", "candidate", "label")
    assert before.join(after, on=["query", "candidate", "label"], how="anti").is_empty()
    said = run("evaluate", target, "--k", "1,5")
    assert said.code == 0
