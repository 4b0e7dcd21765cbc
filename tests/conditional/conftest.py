"""A tiny CLIP in the real format, a small drawn wardrobe, and features of one by the other."""

import shutil
from pathlib import Path

import pytest

from likewise.catalog import make_catalog
from likewise.conditional.towers import TwoTower
from likewise.synthetic import build_wardrobe
from likewise.workspace import WARDROBE, WorkspaceFolder
from tests.conditional.small_tower import learned, small_tower
from tests.encoders.conftest import Tiny, cache, tiny

__all__ = ["cache", "learned", "small_tower", "tiny"]

ITEMS = 240


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceFolder:
    """A wardrobe of one picture per item; tests add files under names of their own.

    It is drawn once for all folders of tests; each gets its own copy.
    """
    folder = tmp_path_factory.getbasetemp() / "wardrobe-of-conditions"
    if not folder.exists():
        rows = build_wardrobe(folder / "pictures", n_items=ITEMS, views_per_item=1, seed=5, workers=1)
        make_catalog(WorkspaceFolder(folder / "wardrobe"), rows, folder / "pictures", WARDROBE)
    return WorkspaceFolder(shutil.copytree(folder / "wardrobe", tmp_path_factory.mktemp("conditions") / "wardrobe"))


@pytest.fixture(scope="session")
def tower(drawn: WorkspaceFolder, tiny: Tiny, cache: Path) -> TwoTower:
    """A tiny CLIP that has been through the wardrobe."""
    found = TwoTower.from_spec(f"hf:{tiny('clip')}")
    found.encode(drawn, workers=1)
    return found
