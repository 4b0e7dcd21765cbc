"""Copies on both sides: whoever trains on one half and measures on the other is told which pictures are in both."""

import json
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from likewise.catalog import read_catalog
from likewise.lineage.halves import select_half
from likewise.synthetic import build_wardrobe
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run
from tests.conftest import draw_shape

from .check_toy import Check, Told, toy_workspace

__all__ = ["run"]


@pytest.fixture
def crossing(tmp_path: Path, run: Run) -> WorkspaceFolder:
    """A drawn wardrobe in which ten pictures are there a second time, smaller, as items of their own."""
    folder = tmp_path / "pictures"
    rows = build_wardrobe(folder, n_items=30, views_per_item=1, seed=0)
    for number, image in enumerate(rows["image"][:10]):
        with Image.open(folder / image) as picture:
            picture.resize((picture.width // 2, picture.height // 2)).save(folder / f"again-{number}.png")
    again = [(f"again-{number}.png", f"again {number}", rows["category"][number]) for number in range(10)]
    every = [*rows.select("image", "item", "category").iter_rows(), *again]
    pl.DataFrame(every, schema=["image", "item", "category"], orient="row").write_csv(folder / "catalog.csv")
    made = run("new", tmp_path / "ws", folder / "catalog.csv")
    assert made.code == 0 and "20 images have a copy, exact or near, of another item" in made.out
    return WorkspaceFolder(tmp_path / "ws")


def test_evaluate_names_images_whose_copies_were_learned(crossing: WorkspaceFolder, run: Run) -> None:
    place, catalog = crossing.path, read_catalog(crossing)
    train = set(select_half(catalog, "train")["image"])
    assert not train >= {f"again-{number}.png" for number in range(10)}
    tune = ("--with", "small?size=16", "--task", "cat", "--name", "tuned", "--epochs", 1, "--batch", 8)
    assert run("train", "finetune", place, *tune, "--half", "train").code == 0
    assert run("encode", place, "--with", "colour,run:tuned", "--workers", 1).code == 0
    on_test = run("evaluate", place, "--classes", "category", "--half", "test")
    assert "tuned learned from copies of" in on_test.out and "see likewise explore" in on_test.out
    assert "colour learned from copies" not in on_test.out
    notes = json.loads(run("evaluate", place, "--classes", "category", "--half", "test", "--json").out)["notes"]
    [said] = [note for note in notes if note.startswith("tuned")]
    assert " is a copy of " in said


def test_evaluate_against_labels_names_them_too(crossing: WorkspaceFolder, run: Run, tmp_path: Path) -> None:
    place = crossing.path
    tune = ("--with", "small?size=16", "--task", "cat", "--name", "tuned", "--epochs", 1, "--batch", 8)
    assert run("train", "finetune", place, *tune, "--half", "train").code == 0
    assert run("encode", place, "--with", "colour,run:tuned", "--workers", 1).code == 0
    assert run("discover", place, "--with", "colour", "--k", 4, "--random", 0).code == 0
    kind = dict(read_catalog(crossing).select("image", "category").iter_rows())
    pairs = pl.read_parquet(crossing.pool_file).select("query", "candidate").unique(maintain_order=True).rows()
    votes = [(q, c, "anna", "similar" if kind[q] == kind[c] else "not similar") for q, c in pairs]
    pl.DataFrame(votes, schema=["query", "candidate", "expert", "answer"], orient="row").write_csv(tmp_path / "v.csv")
    assert run("label", "import", place, tmp_path / "v.csv").code == 0
    told = run("evaluate", place, "--half", "test")
    assert told.code == 0 and "tuned learned from copies of" in told.out


def test_a_check_names_test_images_with_a_copy_in_training(tmp_path: Path, check: Check, told: Told) -> None:
    workspace = toy_workspace(tmp_path)
    drawn = draw_shape("square", "blue", 1).convert("RGB")
    drawn.resize((64, 64)).save(workspace.root / "01-0.png")  # classes 0 to 31 are learned from, 32 to 63 are the test
    drawn.resize((48, 48)).save(workspace.root / "40-0.png")
    workspace.hashes_file.unlink(missing_ok=True)  # those of the pictures that were there before
    found = check(workspace, "triplet")
    assert "40-0.png is a copy of 01-0.png" in found["copies"]
    assert "40-0.png is a copy of 01-0.png" in " ".join(told(workspace, "triplet").split())
