"""A project that goes on: another pool, further generators, corrected items, more pairs, labels from elsewhere."""

import json
from pathlib import Path

import polars as pl

from likewise.discovery import RANDOM
from likewise.labeling.sheet import reveal_names
from likewise.workspace import WorkspaceFolder, read_json, write_parquet

from .conftest import Run
from .test_road import labelled, pooled, similar_if_same_shape  # noqa: F401 - fixtures


def judged_pairs(run: Run, workspace: WorkspaceFolder) -> int:
    ran = run("evaluate", workspace.path, "--json", "--k", "1,3", "--store")
    assert ran.code == 0, ran.err
    rows = json.loads(ran.out)["results"]
    return max(int(row["n_pairs"]) for row in rows if row["measure"] == "ROC_AUC")


def test_labels_of_random_pairs_judge_nobody_after_their_pool_is_gone(labelled: WorkspaceFolder, run: Run) -> None:  # noqa: F811
    before = pl.read_parquet(labelled.pool_file)
    proposed = before.filter(pl.col("generator") != RANDOM).select("query", "candidate").unique()
    assert judged_pairs(run, labelled) == len(proposed)
    assert run("discover", labelled.path, "--k", 3, "--n-queries", 6, "--random", 0, "--replace").code == 0
    drawn = before.filter(pl.col("generator") == RANDOM).join(proposed, on=["query", "candidate"], how="anti")
    assert len(drawn) > 5
    assert judged_pairs(run, labelled) == len(proposed)


def test_further_generators_keep_the_queries_and_the_pairs_that_are_there(labelled: WorkspaceFolder, run: Run) -> None:  # noqa: F811
    before, queries = pl.read_parquet(labelled.pool_file), read_json(labelled.pool_settings_file)["queries"]
    assert run("encode", labelled.path, "--with", "layout", "--workers", 1).code == 0
    ran = run("label", "add-pairs", labelled.path, "--with", "layout", "--json")
    assert ran.code == 0, ran.err
    after, description = pl.read_parquet(labelled.pool_file), read_json(labelled.pool_settings_file)
    assert description["queries"] == queries
    assert description["settings"]["generators"] == ["colour", "shape", "layout"]
    assert before.join(after, on=before.columns, how="anti", nulls_equal=True).is_empty()
    assert after.filter(pl.col("generator") == "layout").height == 3 * len(queries)
    again = run("label", "add-pairs", labelled.path, "--with", "layout")
    assert again.code == 2
    assert "layout already contributed to this pool" in again.err


def test_a_pool_made_before_the_items_were_corrected_is_refused(pooled: WorkspaceFolder, run: Run) -> None:  # noqa: F811
    catalog = pl.read_parquet(pooled.catalog_file)
    write_parquet(catalog.with_columns(item=pl.lit("all the same thing")), pooled.catalog_file)
    ran = run("label", "add-pairs", pooled.path)
    assert ran.code == 2
    assert "the items of the catalog changed" in ran.err


def test_pairs_of_a_file_are_asked_and_a_sheet_leaves_out_what_is_answered(labelled: WorkspaceFolder, run: Run) -> None:  # noqa: F811
    images = pl.read_parquet(labelled.catalog_file)["image"].to_list()
    answered = pl.read_parquet(labelled.pool_file).select("query", "candidate").unique().sort("query", "candidate")
    known = set(answered.iter_rows())
    query = answered["query"][0]
    new = [(query, image) for image in images if image != query and (query, image) not in known][:2]
    pairs = labelled.path / "more.csv"
    table = pl.DataFrame([*new, answered.row(0)], schema=["query", "candidate"], orient="row")
    table.write_csv(pairs)
    # What discover chose has votes, from a file, and is not asked anew; nor is it counted as the file's.
    ran = run("label", "add-pairs", labelled.path, "--pairs", pairs, "--json")
    assert ran.code == 0, ran.err
    counted = json.loads(ran.out)
    assert (counted["added"], counted["known"], counted["left_by_discover"]) == (len(new), 1, 0)
    sheet = labelled.path / "sheet.csv"
    ran = run("label", "sheet", labelled.path, sheet, "--expert", "anna", "--pairs", pairs)
    assert ran.code == 0, ran.err
    asked = reveal_names(pl.read_csv(sheet), images).select("query", "candidate")
    assert set(asked.iter_rows()) == set(new)
    nothing = run("label", "sheet", labelled.path, labelled.path / "empty.csv", "--expert", "anna")
    assert nothing.code == 2
    assert "nothing left to ask" in nothing.err
    table.with_columns(candidate=pl.lit("nowhere.png")).write_csv(pairs)
    ran = run("label", "add-pairs", labelled.path, "--pairs", pairs)
    assert ran.code == 2
    assert "more.csv names 1 of" in ran.err


def test_votes_that_take_the_place_of_imported_labels_say_where_those_are(pooled: WorkspaceFolder, run: Run) -> None:  # noqa: F811
    votes = pl.DataFrame(
        similar_if_same_shape(pl.read_parquet(pooled.pool_file)),
        schema=["query", "candidate", "expert", "answer"],
        orient="row",
    )
    labels: Path = pooled.path / "theirs.csv"
    votes.select("query", "candidate").unique().sort("query", "candidate").with_columns(label=1).write_csv(labels)
    assert run("label", "import", pooled.path, labels).code == 0
    votes.write_csv(pooled.path / "votes.csv")
    ran = run("label", "import", pooled.path, pooled.path / "votes.csv")
    assert ran.code == 0, ran.err
    assert "labels.imported.parquet" in ran.out.replace("\n", "")
    assert (
        pl.read_parquet(pooled.imported_labels_file)["label"].to_list()
        == [1] * votes.select("query", "candidate").n_unique()
    )
    again = run("label", "consensus", pooled.path)
    assert "imported" not in again.out


def test_status_says_when_results_are_older_than_the_labels(labelled: WorkspaceFolder, run: Run) -> None:  # noqa: F811
    judged_pairs(run, labelled)
    assert json.loads(run("status", labelled.path, "--json").out)["stale"] == []
    assert run("label", "consensus", labelled.path, "--rule", "exclude").code == 0
    facts = json.loads(run("status", labelled.path, "--json").out)
    assert facts["stale"] == ["results"]
    assert facts["next"].startswith("likewise report")
