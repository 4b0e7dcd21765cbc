"""VSD-Fashion as its authors release it: from its files to the rows of the paper's tables, against a known truth."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from likewise.workspace import WorkspaceFolder

from .conftest import Run
from .vsd_world import CLOSED, GENERATORS, OPEN, WILD, ZERO_SHOT, K, VsdWorld, make_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> VsdWorld:
    return make_world(tmp_path_factory.mktemp("vsd"))


def opened(world: VsdWorld, task: str, folder: Path, run: Run) -> WorkspaceFolder:
    """A workspace of one task, with the vectors that its authors brought along."""
    ran = run("new", folder, world.folder(task), "--reader", "vsd", "--root", world.root)
    assert ran.code == 0, ran.err
    images = pl.read_parquet(folder / "catalog.parquet")["image"].to_list()
    row_of = {image: row for row, image in enumerate(world.images)}
    for name in ("near", "odd"):
        rows = world.vectors[name][[row_of[image] for image in images]].astype(np.float32)
        np.savez(folder / f"{name}.npz", keys=np.array(images), vectors=rows)
        ran = run("encode", folder, "--import", folder / f"{name}.npz", "--name", name)
        assert ran.code == 0, ran.err
    return WorkspaceFolder(folder)


def imported(workspace: WorkspaceFolder, run: Run) -> str:
    ran = run("label", "import", workspace.path, "--generators", ",".join(GENERATORS), "--k", K)
    assert ran.code == 0, ran.err
    return ran.out


def tables(workspace: WorkspaceFolder, run: Run, *options: object) -> dict[str, list[dict[str, Any]]]:
    ran = run("evaluate", workspace.path, "--protocol", "tables", "--json", *options)
    assert ran.code == 0, ran.err
    found: dict[str, list[dict[str, Any]]] = json.loads(ran.out)["tables"]
    return found


def rows_of(world: VsdWorld, labels: pl.DataFrame, generator: str) -> tuple[list[int], list[float], list[str]]:
    """Labels, the scores of a generator, and the query of each pair."""
    row_of = {image: row for row, image in enumerate(world.images)}
    vectors = world.vectors[generator]
    scores = [float(vectors[row_of[q]] @ vectors[row_of[c]]) for q, c in labels.select("query", "candidate").rows()]
    return labels["label"].to_list(), scores, labels["query"].to_list()


def check_table_5(world: VsdWorld, workspace: WorkspaceFolder, table: list[dict[str, Any]], wild: bool) -> None:
    """Every generator's row against brute force and scikit-learn."""
    labels = pl.read_parquet(workspace.labels_file)
    row_of = {image: row for row, image in enumerate(world.images)}
    queries = [row_of[query] for query in labels["query"].unique().sort()]
    gallery, by_name = list(range(world.n_shop)), {str(row["encoder"]): row for row in table}
    similar = {(row_of[q], row_of[c]) for q, c, label in labels.select("query", "candidate", "label").rows() if label}
    asked = [query for query in queries if any(one == query for one, _ in similar)]
    for name in GENERATORS:
        value, score, query_of = rows_of(world, labels, name)
        row = by_name[name]
        assert row["group"] == "Generators"
        assert row["ROC-AUC micro annotated"] == pytest.approx(roc_auc_score(value, score), abs=1e-5)
        assert row["PR-AUC micro annotated"] == pytest.approx(average_precision_score(value, score), abs=1e-5)
        parts = [[i for i, of in enumerate(query_of) if of == query] for query in dict.fromkeys(query_of)]
        both = [part for part in parts if len({value[i] for i in part}) == 2]
        areas = [roc_auc_score([value[i] for i in part], [score[i] for i in part]) for part in both]
        assert row["ROC-AUC macro annotated"] == pytest.approx(np.mean(areas), abs=1e-5)
        hits = [[(query, one) in similar for one in world.first(name, query, gallery)[:5]] for query in asked]
        assert row["HR@5"] == pytest.approx(np.mean(hits), abs=1e-6)
        ranks = np.array([1.0 / n for n in range(1, 6)])
        assert row["MRR@5"] == pytest.approx(np.sum(np.array(hits) @ ranks) / (len(asked) * ranks.sum()), abs=1e-6)
        assert 0.5 < row["ROC-AUC micro sampled"] <= 1  # the pool's negatives are harder than those of ranks 100-499
        assert row["ROC-AUC micro sampled"] > row["ROC-AUC micro annotated"]
    inside = {row_of[query] < world.n_shop for query in labels["query"]}
    assert inside == {not wild}


def test_the_zero_shot_task_from_its_files_to_tables_2_to_5(world: VsdWorld, run: Run, tmp_path: Path) -> None:
    workspace = opened(world, ZERO_SHOT, tmp_path / "zero", run)
    said = imported(workspace, run)  # computes the vectors of layout first
    assert "layout, near, odd contributed to it" in said
    labels = pl.read_parquet(workspace.labels_file)
    assert f"{len(labels):,} of the labels are among the first {K} candidates" in said  # all lists are found again
    made = tables(workspace, run)
    check_table_5(world, workspace, made["table_5"], wild=False)
    row_of = {image: row for row, image in enumerate(world.images)}
    queries, gallery = [row_of[query] for query in labels["query"].unique()], list(range(world.n_shop))
    lists = {name: {(q, c) for q in queries for c in world.first(name, q, gallery)} for name in GENERATORS}
    for row in made["table_2"]:
        for other in GENERATORS:
            shared = len(lists[str(row["generator"])] & lists[other]) / (len(queries) * K)
            assert row[other] == (None if other == row["generator"] else pytest.approx(shared))
    pairs = [(row_of[q], row_of[c]) for q, c in labels.select("query", "candidate").rows()]
    left_out = {str(row["generator"]): row for row in made["table_3"]}
    for name in GENERATORS:  # its area over the three ground truths without one generator
        areas = []
        for removed in GENERATORS:
            others = set().union(*(lists[other] for other in GENERATORS if other != removed))
            value, score, _ = rows_of(world, labels.filter([pair in others for pair in pairs]), name)
            areas.append(roc_auc_score(value, score))
        assert left_out[name]["micro AUC"] == pytest.approx(np.mean(areas), abs=1e-5)
        assert left_out[name]["micro sd"] == pytest.approx(np.std(areas, ddof=1), abs=1e-5)
    as_paper = ("--protocol", "tables", "--unit", "images", "--json")  # Eq. 1 counts images
    summary = json.loads(run("evaluate", workspace.path, *as_paper).out)["summary"]
    assert summary["prevalence"]["p_pool"] == pytest.approx(labels["label"].mean())
    n_asked = labels.filter(pl.col("label") == 1)["query"].n_unique()
    assert summary["sampled_negatives"] == 4 * n_asked  # the paper's number, unless another is asked for
    more = json.loads(run("evaluate", workspace.path, "--protocol", "tables", "--negatives-per-query", 9, "--json").out)
    assert more["summary"]["sampled_negatives"] == 9 * n_asked
    assert more["tables"]["table_5"][0]["PR-AUC micro sampled"] < made["table_5"][0]["PR-AUC micro sampled"]
    printed = run("evaluate", workspace.path, "--protocol", "tables").out
    assert "Table 5: discovery, closed catalog: the queries belong to it" in printed
    assert "4 per query" in printed


def test_the_wild_task_looks_in_the_catalog_for_pictures_from_outside(
    world: VsdWorld, run: Run, tmp_path: Path
) -> None:
    workspace = opened(world, WILD, tmp_path / "wild", run)
    imported(workspace, run)
    made = tables(workspace, run)
    check_table_5(world, workspace, made["table_5"], wild=True)
    assert (
        "Table 6: discovery, the queries are not of the catalog"
        in run("evaluate", workspace.path, "--protocol", "tables").out
    )


@pytest.mark.parametrize("task", [OPEN, CLOSED])
def test_what_is_learned_from_training_labels_has_its_row_on_test_labels(
    task: str, world: VsdWorld, run: Run, tmp_path: Path
) -> None:
    workspace = opened(world, task, tmp_path / "task", run)
    said = imported(workspace, run)
    released = {
        part: {tuple(tag["key"]) for tag in json.loads((world.folder(task) / f"{part}_tags.json").read_text())}
        for part in ("train", "test")
    }
    measured = set(pl.read_parquet(workspace.labels_file).select("query", "candidate").rows())
    learned = set(pl.read_parquet(workspace.training_labels_file).select("query", "candidate").rows())
    assert measured == released["test"]
    assert learned <= released["train"]
    item = dict(pl.read_parquet(workspace.catalog_file).select("image", "item").rows())
    asked, taught = ({frozenset(map(item.get, pair)) for pair in pairs} for pairs in (measured, learned))
    assert not asked & taught  # either way round, and by no other picture of the two items
    by_others = {pair for pair in released["train"] - learned if frozenset(pair) not in map(frozenset, measured)}
    assert by_others  # the made data set asks about the same items by other pictures
    assert f"{len(learned):,} labels of the training part are kept apart" in said
    same_queries = {query for query, _ in measured} == {query for query, _ in learned}
    assert same_queries == (task == OPEN)
    ran = run("train", "perceptual", workspace.path, "--with", "near", "--unseen", "queries", "--hidden", 0, "--json")
    assert ran.code == 0, ran.err
    held_out = pl.DataFrame(json.loads(ran.out)["results"])
    given = held_out.filter(pl.col("unseen") == "given test")
    assert set(given["n_answers"]) == {len(measured)}
    assert run("encode", workspace.path, "--with", "run:perceptual").code == 0
    table = {str(row["encoder"]): row for row in tables(workspace, run)["table_5"]}
    learner = next(row for name, row in table.items() if "perceptual" in name)
    assert learner["group"] == "New models"
    assert learner["ROC-AUC micro annotated"] > table["near"]["ROC-AUC micro annotated"] + 0.05
    notes = " ".join(json.loads(run("evaluate", workspace.path, "--json").out)["summary"]["lineage"]["notes"])
    assert "not the answers" in notes  # it has seen some of the images: said, and no reason to leave it out


def test_labels_of_several_tasks_are_refused(world: VsdWorld, run: Run, tmp_path: Path) -> None:
    ran = run("new", tmp_path / "all", world.root / "in_fashion", "--reader", "vsd", "--root", world.root)
    assert ran.code == 0, ran.err
    ran = run("label", "import", tmp_path / "all")
    assert ran.code == 2
    assert "several tasks" in ran.err
