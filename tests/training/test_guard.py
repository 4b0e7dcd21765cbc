"""Test rows cannot be read before the final evaluation, and nothing of the search does."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.encoders.storage.files import shard_file, vectors_folder
from likewise.training import context as contexts
from likewise.training.context import CheckConfig, FoldTask, open_context, run_fold
from likewise.training.guard import TestSetAccessError
from likewise.training.hyperparameter_search import search_hyperparameters
from likewise.training.plan import TrunkMode, make_plan
from likewise.workspace import WorkspaceFolder, read_json, write_json

from .check_toy import toy_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFolder:
    return toy_workspace(tmp_path)


def make_config(workspace: WorkspaceFolder, trunk: TrunkMode = "frozen") -> CheckConfig:
    plan = make_plan("quick", trunk=trunk, trials=3, steps=10, evaluate_every=10, dim=8)
    return CheckConfig(workspace.path, "kind", "toy" if trunk == "frozen" else "small", plan)


def here(function: Any, arguments: Sequence[Any]) -> list[Any]:
    return [function(each) for each in arguments]


def test_every_access_to_a_test_row_is_refused_until_it_is_unlocked(workspace: WorkspaceFolder) -> None:
    trunks: tuple[TrunkMode, ...] = ("frozen", "small")
    for trunk in trunks:
        context = open_context(make_config(workspace, trunk))
        test, some = context.split.test, np.append(context.split.development[:3], context.split.test[-1])
        image = context.split.images[test[0]]
        accesses: list[Callable[[], object]] = [
            partial(context.eval_inputs, some),
            partial(context.train_inputs, some, np.random.default_rng(0)),
            partial(context.guard.vectors, "toy", [image]),
            partial(context.guard.load_image, image, 8),
        ]
        for access in accesses:
            with pytest.raises(TestSetAccessError, match="belong to test classes"):
                access()
        context.guard.unlock()
        for access in accesses:
            access()


def test_a_leak_of_test_classes_into_a_fold_is_caught(
    workspace: WorkspaceFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaking(config: CheckConfig) -> contexts.TrainingContext:
        context = open_context(config)
        fold = context.split.folds[0]
        leak = replace(fold, train=np.append(fold.train, context.split.test[:4]))
        return replace(context, split=replace(context.split, folds=(leak, *context.split.folds[1:])))

    monkeypatch.setattr(contexts, "_cached_context", leaking)
    task = FoldTask(make_config(workspace), "triplet", {"margin": 0.1}, 0, seed=0)
    with pytest.raises(TestSetAccessError):
        for seed in range(5):  # until a batch holds one of them
            run_fold(replace(task, seed=seed))


def test_a_search_is_the_same_when_the_test_rows_are_destroyed(workspace: WorkspaceFolder) -> None:
    config = make_config(workspace)
    before = search_hyperparameters(config, "triplet", str(workspace.path / "a.db"), "a", 0, here)
    context = open_context(config)
    path = shard_file(vectors_folder(workspace, "toy"), 0)
    vectors = np.load(path)
    rows = {image: row for row, image in enumerate(sorted(context.split.images))}
    vectors[[rows[image] for image in context.split.keys(context.split.test)]] = np.nan
    np.save(path, vectors)
    meta = vectors_folder(workspace, "toy") / "meta.json"
    write_json(read_json(meta) | {"shards": {}}, meta)  # without checksums nobody notices but who reads them
    for image in context.split.keys(context.split.test):
        (workspace.root / image).unlink()
    contexts._cached_context.cache_clear()
    after = search_hyperparameters(config, "triplet", str(workspace.path / "b.db"), "a", 0, here)
    assert before == after
