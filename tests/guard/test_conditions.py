"""Encoders of images and texts, and Combiners on them: what they learned is marked, refused or said in every score."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from likewise.conditional.combiner import CombinerShape, TrainedCombiner, combiner_module, write_combiner
from likewise.conditional.screening import combiner_lineage
from likewise.conditional.templates.files import write_templates
from likewise.conditional.towers import TwoTower
from likewise.conditional.training_triplets import to_training_triplets
from likewise.lineage.files import lineage_file, write_lineage
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run
from tests.conditional.test_split_commands import cirr
from tests.encoders.conftest import Tiny, cache, tiny
from tests.guard.world import World, everything, make_world, templates

__all__ = ["cache", "run", "tiny"]
pytest.importorskip("torch")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> World:
    made = make_world(tmp_path_factory.mktemp("conditions"))
    for name, items in (("one", range(10)), ("other", range(10, 20))):
        write_templates(made.workspace, name, templates(list(items)), {})
    return made


@pytest.fixture(scope="module")
def clean(tiny: Tiny) -> str:
    return f"hf:{tiny('clip')}"


@pytest.fixture(scope="module")
def taught(world: World, tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same network, as one that learned every caption leaves it behind."""
    folder = tmp_path_factory.mktemp("taught") / "clip"
    shutil.copytree(tiny("clip"), folder)
    write_lineage(everything(world.workspace, []), lineage_file(folder))
    return f"hf:{folder}"


@pytest.fixture(scope="module")
def combiner(world: World, clean: str) -> str:
    """A Combiner that learned from the templates `one`."""
    tower = TwoTower.from_spec(clean)
    lineage = combiner_lineage(world.workspace, tower, to_training_triplets(templates(list(range(10)))), None)
    shape = CombinerShape(tower.dim, 1, 1)
    folder = world.workspace.path / "combiners" / "mine"
    write_combiner(folder, TrainedCombiner(combiner_module(shape), shape, clean, lineage=lineage))
    return "combiner:mine"


def test_condition_evaluate_marks_an_encoder_that_learned_the_captions(world: World, run: Run, taught: str) -> None:
    asked = ("condition", "evaluate", world.workspace.path, "--templates", "one", "--workers", 1)
    named = run(*asked, "--with", taught, "--json")
    assert named.code == 0, named.err
    assert all(row["learned"] for row in json.loads(named.out))
    assert "image + text † learned from" in run(*asked, "--with", taught).out
    refused = run(*asked)  # nobody named it: it is only the one that has features
    assert refused.code == 2 and "every model learned the answers of the templates one" in refused.err


def test_condition_catalog_marks_an_encoder_that_learned_the_captions(
    world: World, run: Run, taught: str, clean: str
) -> None:
    asked = ("condition", "catalog", world.workspace.path, "--attributes", "side", "--top", 1, "--workers", 1)
    for encoder, learned in ((taught, {True}), (clean, {False})):
        done = run(*asked, "--with", encoder, "--json")
        assert done.code == 0, done.err
        assert {row["learned"] for row in json.loads(done.out)} == learned
    shown = run(*asked, "--with", taught).out
    assert "three scores † learned from" in shown


def test_condition_evaluate_marks_a_combiner_on_its_own_templates(
    world: World, run: Run, clean: str, combiner: str
) -> None:
    for name, expected in (("one", {combiner}), ("other", set())):
        done = run(
            "condition", "evaluate", world.workspace.path, "--templates", name, "--with", clean,
            "--methods", f"image,{combiner}", "--workers", 1, "--json",
        )  # fmt: skip
        assert done.code == 0, done.err
        assert {row["method"] for row in json.loads(done.out) if row["learned"]} == expected


@pytest.mark.parametrize("reason", ["triplets", "encoder"])
def test_condition_study_refuses_before_it_trains(
    world: World, run: Run, clean: str, taught: str, tmp_path: Path, reason: str
) -> None:
    tower, test = (clean, "one") if reason == "triplets" else (taught, "other")
    done = run(
        "condition",
        "study",
        world.workspace.path,
        "--with",
        tower,
        "--on",
        "one",
        "--test",
        test,
        "--output",
        tmp_path / "s",
    )
    assert done.code == 2 and "learned from" in done.err and "--half train" in done.err
    assert not (tmp_path / "s").exists()


def test_condition_train_says_that_its_validation_is_not_unseen(world: World, run: Run, clean: str) -> None:
    quick = ("--steps", 2, "--batch", 4, "--force", "--json")
    asked = ("condition", "train", world.workspace.path, "--with", clean, "--on", "one", "--name", "tried", *quick)
    same = json.loads(run(*asked, "--validate", "one").out)
    other = json.loads(run(*asked, "--validate", "other").out)
    assert any("learned from" in note for note in same["notes"]) and other["notes"] == []


def test_cirr_is_guarded_on_its_validation_and_for_its_server(
    run: Run, clean: str, tmp_path: Path, world: World
) -> None:
    cirr(tmp_path / "data")
    place = tmp_path / "cirr"
    assert run("new", place, tmp_path / "data", "--reader", "cirr").code == 0
    images = sorted(pl.read_parquet(WorkspaceFolder(place).catalog_file)["image"])
    rows = [(images[n], f"more {n}", images[n + 1], images[n + 2 : n + 4]) for n in range(18, 21)]
    columns = ["reference", "condition", "target", "gallery"]
    pl.DataFrame(rows, schema=columns, orient="row").write_parquet(tmp_path / "t.parquet")
    train = ("condition", "train", place, "--with", clean, "--on", tmp_path / "t.parquet", "--steps", 2, "--batch", 2)
    assert run(*train, "--validate", "official").code == 0
    shown = run("condition", "evaluate", place, "--with", clean, "--methods", "image,combiner", "--workers", 1)
    assert "combiner † learned from" in shown.out and "stopped by validation" in shown.out
    options = ("--with", clean, "--method", "combiner", "--split", "val", "--workers", 1, "--json")
    sent = run("condition", "submit", place, tmp_path / "out", *options)
    assert sent.code == 0, sent.err
    assert any("learned from" in note for note in json.loads(sent.out)["notes"])


def test_a_two_tower_says_that_its_base_knows_the_held_out_captions(
    world: World, run: Run, taught: str, clean: str, tmp_path: Path
) -> None:
    for base, noted in ((taught, True), (clean, False)):
        done = run(
            "condition", "two-tower", world.workspace.path, tmp_path / f"tower{noted}", "--base", base, "--steps", 2,
            "--dim", 4, "--workers", 1, "--json",
        )  # fmt: skip
        assert done.code == 0, done.err
        assert bool(json.loads(done.out.replace("NaN", "0"))["notes"]) == noted
