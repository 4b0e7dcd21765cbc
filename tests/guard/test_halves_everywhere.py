"""From `--half train` to the number on the other half, as a person would go: one walk per room."""

import json
from pathlib import Path

import polars as pl
import pytest

from likewise.catalog import read_catalog
from likewise.conditional.templates.files import write_templates
from likewise.encoders.lineage import encoder_lineage, picture_lineage
from likewise.lineage import Lineage
from likewise.lineage.files import read_model_lineage
from likewise.lineage.halves import select_half
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run
from tests.encoders.conftest import Tiny, cache, tiny
from tests.guard.world import World, make_world, templates

__all__ = ["cache", "run", "tiny"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("halves"))


def items_of(lineage: Lineage, workspace: WorkspaceFolder) -> set[str]:
    """The items of all lessons, each of which says that it was the half `train`; none is of the other half."""
    assert {lesson.half for lesson in lineage.lessons} == {"train"}
    found = {item for lesson in lineage.lessons for item in lesson.examples.images["item"]}
    assert found <= set(select_half(read_catalog(workspace), "train")["item"])
    return found


def test_from_labels_of_one_half_to_the_order_on_the_other(world: World, run: Run) -> None:
    place = world.workspace.path
    options = ("--with", "colour,layout", "--hidden", 0, "--folds", 2, "--unseen", "queries")
    done = run("train", "perceptual", place, *options, "--half", "train", "--name", "halved")
    assert done.code == 0, done.err
    assert run("encode", place, "--with", "run:halved").code == 0
    assert items_of(encoder_lineage(world.workspace, "halved"), world.workspace)
    on_test = json.loads(run("evaluate", place, "--half", "test", "--json").out)
    assert "halved" in {row["encoder"] for row in on_test["results"] if not row["learned"]}
    assert not [note for note in on_test["summary"]["lineage"]["notes"] if note.startswith("halved")]
    for half in ("train", None):
        asked = run("evaluate", place, *(("--half", half) if half else ()), "--json")
        assert "halved" in json.loads(asked.out)["summary"]["lineage"]["learned_labels"]
    gate = ("gate", place, "--old", "colour", "--new", "halved", "--measure", "P@3")
    assert run(*gate, "--half", "test").code in (0, 1, 3)
    assert run(*gate, "--half", "train").code == run(*gate).code == 2


def test_evaluating_a_half_is_evaluating_its_labels_alone(world: World, run: Run) -> None:
    known = set(select_half(read_catalog(world.workspace), "test")["image"])
    labels = pl.read_parquet(world.workspace.labels_file)
    both = labels.filter(pl.col("query").is_in(known) & pl.col("candidate").is_in(known))
    told = json.loads(run("evaluate", world.workspace.path, "--half", "test", "--with", "colour", "--json").out)
    area = next(row for row in told["results"] if row["measure"] == "ROC_AUC")
    assert area["n_pairs"] == len(both) and told["summary"]["n_gallery"] == len(known)


def test_a_fine_tune_of_a_fine_tune_keeps_both_lessons(world: World, run: Run) -> None:
    pytest.importorskip("torch")
    place, quick = world.workspace.path, ("--epochs", 1, "--batch", 8, "--half", "train")
    assert (
        run("train", "finetune", place, "--with", "small?size=16", "--task", "cat", "--name", "first", *quick).code == 0
    )
    first = f"run:{place / 'runs' / 'first'}"
    assert run("train", "finetune", place, "--with", first, "--task", "dino", "--name", "second", *quick).code == 0
    assert run("encode", place, "--with", "run:second", "--workers", 1).code == 0
    lineage = encoder_lineage(world.workspace, "second")
    steps = [(lesson.task, lesson.step) for lesson in lineage.lessons]
    assert steps == [("classes", "train finetune --task cat"), ("pictures", "train finetune --task dino")]
    items_of(lineage, world.workspace)
    asked = ("evaluate", place, "--classes", "category", "--with", "second,colour", "--json")
    on_test, on_train = (json.loads(run(*asked, "--half", half).out) for half in ("test", "train"))
    assert not any(row["learned"] for row in on_test["retrieval"])
    assert {row["encoder"] for row in on_train["retrieval"] if row["learned"]} == {"second"}


def test_from_captions_of_one_half_to_templates_of_the_other(
    world: World, run: Run, tiny: Tiny, cache: Path, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    place, tower = world.workspace.path, f"two-tower:{tmp_path / 'tower'}"
    options = ("--base", f"hf:{tiny('clip')}", "--steps", 2, "--dim", 4, "--workers", 1)
    assert run("condition", "two-tower", place, tmp_path / "tower", "--half", "train", *options).code == 0
    items_of(picture_lineage(tower), world.workspace)
    for half in ("train", "test"):
        items = select_half(read_catalog(world.workspace), half)["item"].unique().sort()
        write_templates(world.workspace, half, templates([int(item.removeprefix("item")) for item in items]), {})
    quick = ("--steps", 2, "--batch", 4)
    done = run("condition", "train", place, "--with", tower, "--on", "train", "--half", "train", *quick)
    assert done.code == 0, done.err
    items_of(read_model_lineage(place / "combiners" / "combiner", ""), world.workspace)
    asked = (
        "condition",
        "evaluate",
        place,
        "--with",
        tower,
        "--methods",
        "image+text,combiner",
        "--workers",
        1,
        "--json",
    )
    for half, learned in (("test", set()), ("train", {"image + text", "combiner"})):
        rows = json.loads(run(*asked, "--templates", half).out)
        assert {row["method"] for row in rows if row["learned"]} == learned


def test_captions_of_one_half_are_mined(world: World, run: Run, tmp_path: Path) -> None:
    pytest.importorskip("textblob")
    options = (
        "--concreteness",
        "none",
        "--min-images",
        1,
        "--min-objects",
        1,
        "--workers",
        1,
        "--output",
        tmp_path / "mined",
    )
    run("condition", "mine", world.workspace.path, *options, "--half", "train")
    images = set(pl.read_parquet(tmp_path / "mined" / "captions.parquet")["image"])
    assert images == set(select_half(read_catalog(world.workspace), "train")["image"])
    (tmp_path / "said.tsv").write_text("a red shoe on grass\ta.jpg\n")
    refused = run("condition", "mine", tmp_path / "said.tsv", *options, "--half", "train", "--force")
    assert refused.code == 2 and "has no items to divide" in refused.err


@pytest.mark.slow
def test_a_check_of_one_half_leaves_an_encoder_of_its_development_classes(world: World, run: Run) -> None:
    pytest.importorskip("torch")
    big = make_world(world.workspace.path.parent / "big", n_items=60)
    place = big.workspace.path
    options = (
        "--methods",
        "contrastive",
        "--trials",
        1,
        "--reruns",
        1,
        "--steps",
        20,
        "--workers",
        1,
        "--with",
        "colour",
    )
    done = run("train", "check", place, "--column", "item", "--half", "train", *options)
    assert done.code == 0, done.err
    encoder = place / "runs" / "check" / "encoder"
    found = items_of(read_model_lineage(encoder, ""), big.workspace)
    assert len(found) < len(set(select_half(read_catalog(big.workspace), "train")["item"]))
    assert run("encode", place, "--with", f"run:{encoder}").code == 0
    for column in ("item", "category"):
        told = json.loads(run("evaluate", place, "--classes", column, "--half", "test", "--json").out)
        assert "encoder" in {row["encoder"] for row in told["retrieval"]}
