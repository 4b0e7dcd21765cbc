"""Labels know who proposed them: after another pool, in a file, in another workspace, and when somebody says so."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from likewise import Workspace
from likewise.discovery.proposals import GENERATORS
from likewise.workspace import WorkspaceFolder

from .conftest import Run
from .test_road import labelled, pooled  # noqa: F401 - fixtures

POOL = ("--k", 3, "--n-queries", 6, "--random", 20)
FILES = ("labels.json", "labels.csv", "labels.parquet", "labels.qrels")


def evaluated(run: Run, workspace: WorkspaceFolder) -> dict[tuple[str, str], tuple[bool, float | None]]:
    """Every model's measures: whether it is a generator, and the value."""
    ran = run("evaluate", workspace.path, "--json")
    assert ran.code == 0, ran.err
    rows = json.loads(ran.out)["results"]
    return {(row["encoder"], row["measure"]): (row["generator"], row["value"]) for row in rows}


def without_pool(workspace: WorkspaceFolder, folder: Path) -> WorkspaceFolder:
    """The same catalog and vectors, nothing labelled."""
    here = WorkspaceFolder(folder)
    here.path.mkdir()
    for name in ("workspace.json", "catalog.parquet"):
        shutil.copy(workspace.path / name, here.path / name)
    shutil.copytree(workspace.vectors_folder, here.vectors_folder)
    return here


def test_a_generator_stays_one_when_the_pool_is_made_again_without_it(labelled: WorkspaceFolder, run: Run) -> None:  # noqa: F811
    assert run("discover", labelled.path, *POOL, "--with", "shape", "--replace").code == 0
    found = evaluated(run, labelled)
    assert found["colour", "ROC_AUC"][0] and found["shape", "ROC_AUC"][0]
    labels = pl.read_parquet(labelled.labels_file)
    assert set(labels[GENERATORS].drop_nulls()) >= {"colour", "colour,shape", "shape", "random"}
    left_out = pl.read_parquet(labelled.results_folder / "leave_one_out_orders.parquet")
    assert set(left_out["removed"]) == {"colour", "shape"}
    rows = json.loads(run("evaluate", labelled.path, "--json").out)["tables"]["own_pairs"]
    assert {row["encoder"] for row in rows} == {"colour", "shape"}
    stored = Workspace(labelled.path).evaluate().own_pairs
    assert (
        stored.to_dicts() == rows
        and "Each generator without the pairs it proposed" in run("evaluate", labelled.path).out
    )
    for row in rows:
        assert row["n_pairs"] < len(labels)
    page = run("report", labelled.path)
    assert page.code == 0, page.err


@pytest.mark.parametrize("name", FILES)
def test_random_pairs_that_go_out_and_come_back_judge_nobody(
    name: str,
    labelled: WorkspaceFolder,  # noqa: F811
    run: Run,
    tmp_path: Path,
) -> None:
    before = evaluated(run, labelled)
    assert run("label", "export", labelled.path, tmp_path / name).code == 0
    here = without_pool(labelled, tmp_path / "here")
    assert run("label", "import", here.path, tmp_path / name).code == 0
    after = evaluated(run, here)
    areas = [key for key in before if key[1] in ("ROC_AUC", "AP", 'ROC_AUC(negatives="gallery")', "P@5")]
    assert len(areas) == 8
    for key in areas:
        assert after[key][1] == before[key][1]
        assert after[key][0] == (name != "labels.qrels")  # TREC's files have no place for names


def test_votes_take_their_generators_along(labelled: WorkspaceFolder, run: Run, tmp_path: Path) -> None:  # noqa: F811
    assert run("discover", labelled.path, *POOL, "--with", "shape", "--replace").code == 0
    before = evaluated(run, labelled)
    assert run("label", "export", labelled.path, tmp_path / "votes.csv", "--what", "votes").code == 0
    here = without_pool(labelled, tmp_path / "here")
    assert run("discover", here.path, *POOL, "--with", "shape").code == 0
    assert run("label", "import", here.path, tmp_path / "votes.csv").code == 0
    assert evaluated(run, here) == before
    assert pl.read_parquet(here.labels_file).equals(pl.read_parquet(labelled.labels_file))


def test_labels_from_elsewhere_name_their_generators(labelled: WorkspaceFolder, run: Run, tmp_path: Path) -> None:  # noqa: F811
    """Their lists are made again, so that tables 2 and 3 are those of the workspace where the labels were made."""
    evaluated(run, labelled)
    assert run("label", "export", labelled.path, tmp_path / "theirs.qrels", "--as-evaluated").code == 0
    here = without_pool(labelled, tmp_path / "here")
    ran = run("label", "import", here.path, tmp_path / "theirs.qrels", "--generators", "colour,shape", "--k", 3)
    assert ran.code == 0, ran.err
    assert "colour, shape contributed to it" in ran.out
    assert all(generator for generator, _ in evaluated(run, here).values())
    for table in ("table_2", "table_3", "table_5", "generators", "overlap"):
        old, new = (pl.read_parquet(one.results_folder / f"{table}.parquet") for one in (labelled, here))
        assert len(new) == 2
        assert new.equals(old), table
    unknown = run("label", "import", here.path, tmp_path / "theirs.qrels", "--generators", "dinov2", "--replace")
    assert unknown.code == 2
    assert "dinov2" in unknown.err


def test_labels_of_a_training_part_are_kept_apart(labelled: WorkspaceFolder, run: Run, tmp_path: Path) -> None:  # noqa: F811
    labels = pl.read_parquet(labelled.labels_file).select("query", "candidate", "label")
    split = pl.Series("split", ["train", "test"] * len(labels)).head(len(labels))
    both = labels.with_columns(split)
    turned = both.filter(split="test").head(1).select(query="candidate", candidate="query", label="label")
    asked_twice = turned.join(both, on=["query", "candidate"], how="anti").with_columns(split=pl.lit("train"))
    pl.concat([both, asked_twice]).write_parquet(tmp_path / "labels.parquet")
    here = without_pool(labelled, tmp_path / "here")
    assert run("label", "import", here.path, tmp_path / "labels.parquet").code == 0
    measured, learned = pl.read_parquet(here.labels_file), pl.read_parquet(here.training_labels_file)
    assert set(measured["split"]) == {"test"} and set(learned["split"]) == {"train"}
    assert len(measured) == (split == "test").sum()
    pairs = {frozenset(pair) for pair in measured.select("query", "candidate").rows()}
    assert not pairs & {frozenset(pair) for pair in learned.select("query", "candidate").rows()}
    assert run("label", "export", here.path, tmp_path / "again.csv").code == 0
    assert pl.read_csv(tmp_path / "again.csv")["split"].to_list() == measured["split"].to_list()
    labels.write_parquet(tmp_path / "plain.parquet")
    assert run("label", "import", here.path, tmp_path / "plain.parquet", "--replace").code == 0
    assert not here.training_labels_file.exists()  # these labels have no such part
    only = both.filter(split="train")
    only.write_parquet(tmp_path / "only.parquet")
    ran = run("label", "import", here.path, tmp_path / "only.parquet", "--replace")
    assert ran.code == 2 and "measured on" in ran.err
