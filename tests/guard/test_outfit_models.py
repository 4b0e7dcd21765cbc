"""Outfit models keep what they and their encoders learned from, and no test chooses among what it has taught."""

from pathlib import Path

import polars as pl
import pytest

from likewise.catalog import read_catalog
from likewise.lineage.halves import select_half
from likewise.outfits.bundle import write_test
from likewise.outfits.models.feature_source import WorkspaceFeatures
from likewise.outfits.models.registry import load_model
from likewise.outfits.protocol import OutfitQuestion
from likewise.outfits.screening import model_lineage
from likewise.outfits.training.step import TrainingRequest, train_outfit_model
from tests.cli.conftest import Run, run
from tests.guard.world import World, make_world
from tests.outfits.toy_outfits import ITEMS, outfit, trained

__all__ = ["run"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("outfits"))


def outfits_table(world: World, path: Path) -> Path:
    """Many outfits of three items of three kinds."""
    catalog = read_catalog(world.workspace).unique("item", maintain_order=True)
    kinds = [part["item"].to_list() for part in catalog.sort("item").partition_by("category")]
    rows = [
        (f"o{a}{b}{c}", item)
        for a in range(5) for b in range(5) for c in range(5)
        for item in (kinds[0][a], kinds[1][b], kinds[2][c])
    ]  # fmt: skip
    pl.DataFrame(rows, schema=["outfit", "item"], orient="row").write_csv(path)
    return path


def test_a_model_learned_what_its_encoders_learned(world: World, tmp_path: Path) -> None:
    table = outfits_table(world, tmp_path / "outfits.csv")
    request = TrainingRequest("popular", "worn", "colour+taught", outfits=table)
    train_outfit_model(world.workspace, request)
    model = load_model(world.workspace.path / "outfit_models" / "worn", WorkspaceFeatures(world.workspace))
    lessons = [(lesson.task, lesson.step) for lesson in model_lineage(model).lessons]
    assert ("labels", "train perceptual") in lessons and lessons[-1] == ("outfits", "outfits train")


def test_half_keeps_the_other_items_out(world: World, tmp_path: Path) -> None:
    table = outfits_table(world, tmp_path / "outfits.csv")
    request = TrainingRequest("popular", "half", "colour", outfits=table, half="train")
    train_outfit_model(world.workspace, request)
    model = load_model(world.workspace.path / "outfit_models" / "half", WorkspaceFeatures(world.workspace))
    [lesson] = model_lineage(model).lessons
    assert lesson.half == "train"
    assert set(lesson.examples.images["item"]) <= set(select_half(read_catalog(world.workspace), "train")["item"])


def test_outfits_checkpoints_refuses_a_test_that_it_was_trained_on(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    trained("type-aware", tmp_path / "m", epochs=1)
    unseen, seen = outfit(11), outfit(3)
    for name, choice in (("fair", ITEMS[10]), ("unfair", seen.items[0])):
        question = OutfitQuestion(
            "q", "AAT", unseen.items[1:], (unseen.items[0], choice), 0, "Color", "warm tone", right=0
        )
        write_test(tmp_path / f"{name}.zip", [question], lambda image: image.encode(), title=name, licence="CC0-1.0")
    refused = run("outfits", "checkpoints", tmp_path / "m", tmp_path / "unfair.zip")
    assert refused.code == 2 and "m learned from 1 of its images" in refused.err
    reported = run(
        "outfits", "checkpoints", tmp_path / "m", tmp_path / "fair.zip", "--report-on", tmp_path / "unfair.zip"
    )
    assert reported.code == 2 and "m learned from 1 of its images" in reported.err
    fair = run("outfits", "checkpoints", tmp_path / "m", tmp_path / "fair.zip")
    assert "learned from" not in fair.err  # its toy pictures cannot be encoded, which is another matter
