"""Test rows cannot be read before the final evaluation, and nothing of the search does."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.encoders.storage.files import shard_file, vectors_folder
from likewise.training import stage as stages
from likewise.training.guard import TestRowsRead
from likewise.training.plan import Trunk, plan_for
from likewise.training.search import search
from likewise.training.stage import FoldTask, Setting, open_stage, run_fold
from likewise.workspace import Workspace

from .check_toy import toy_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return toy_workspace(tmp_path)


def setting_of(workspace: Workspace, trunk: Trunk = "frozen") -> Setting:
    plan = plan_for("quick", trunk=trunk, trials=3, steps=10, evaluate_every=10, dim=8)
    return Setting(workspace.path, "kind", "toy" if trunk == "frozen" else "small", plan)


def here(function: Any, arguments: Sequence[Any]) -> list[Any]:
    return [function(each) for each in arguments]


def test_every_way_to_a_test_row_is_shut_until_it_is_opened(workspace: Workspace) -> None:
    trunks: tuple[Trunk, ...] = ("frozen", "small")
    for trunk in trunks:
        stage = open_stage(setting_of(workspace, trunk))
        test, some = stage.split.test, np.append(stage.split.development[:3], stage.split.test[-1])
        image = stage.split.images[test[0]]
        ways: list[Callable[[], object]] = [
            partial(stage.plain, some),
            partial(stage.augmented, some, np.random.default_rng(0)),
            partial(stage.door.vectors, "toy", [image]),
            partial(stage.door.picture, image, 8),
        ]
        for way in ways:
            with pytest.raises(TestRowsRead, match="belong to test classes"):
                way()
        stage.door.open_test()
        for way in ways:
            way()


def test_a_leak_of_test_classes_into_a_fold_is_caught(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def leaking(setting: Setting) -> stages.Stage:
        stage = open_stage(setting)
        fold = stage.split.folds[0]
        leak = replace(fold, train=np.append(fold.train, stage.split.test[:4]))
        return replace(stage, split=replace(stage.split, folds=(leak, *stage.split.folds[1:])))

    monkeypatch.setattr(stages, "_stage_here", leaking)
    task = FoldTask(setting_of(workspace), "triplet", {"margin": 0.1}, 0, seed=0)
    with pytest.raises(TestRowsRead):
        for seed in range(5):  # until a batch holds one of them
            run_fold(replace(task, seed=seed))


def test_a_search_is_the_same_when_the_test_rows_are_destroyed(workspace: Workspace) -> None:
    setting = setting_of(workspace)
    before = search(setting, "triplet", str(workspace.path / "a.db"), "a", 0, here)
    stage = open_stage(setting)
    path = shard_file(vectors_folder(workspace, "toy"), 0)
    vectors = np.load(path)
    rows = {image: row for row, image in enumerate(sorted(stage.split.images))}
    vectors[[rows[image] for image in stage.split.keys(stage.split.test)]] = np.nan
    np.save(path, vectors)
    for image in stage.split.keys(stage.split.test):
        (workspace.root / image).unlink()
    stages._stage_here.cache_clear()
    after = search(setting, "triplet", str(workspace.path / "b.db"), "a", 0, here)
    assert [replace(each, seconds=0.0) for each in before] == [replace(each, seconds=0.0) for each in after]
