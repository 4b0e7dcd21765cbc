"""A two-tower encoder that has learned a little from the small drawn wardrobe, once per session."""

from pathlib import Path

import pytest

from likewise.conditional.towers import TwoTower
from likewise.conditional.two_tower import TwoTowerSettings, TwoTowerTrainingResult, train_two_tower
from likewise.workspace import WorkspaceFolder

QUICK = TwoTowerSettings(steps=200, batch=64, dim=32)


@pytest.fixture(scope="session")
def learned(drawn: WorkspaceFolder, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> TwoTowerTrainingResult:
    pytest.importorskip("torch")
    return train_two_tower(drawn, tmp_path_factory.mktemp("towers") / "small", QUICK, workers=1)


@pytest.fixture(scope="session")
def small_tower(drawn: WorkspaceFolder, learned: TwoTowerTrainingResult) -> TwoTower:
    """It, with the features of the whole wardrobe."""
    tower = TwoTower.from_spec(f"two-tower:{learned.folder}")
    tower.encode(drawn, workers=1)
    return tower
