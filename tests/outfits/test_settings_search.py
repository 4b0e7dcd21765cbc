"""A search over settings trains what it says, keeps the best, goes on where it stopped, and is the same on Ray."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.outfits.models.card import models_folder, read_arrays, read_model_card, weights_file
from likewise.outfits.training.presets import get_preset
from likewise.outfits.training.settings_search import run_here, sample_training_requests, search_settings
from likewise.outfits.training.step import TrainingRequest, train_outfit_model
from likewise.workspace import WorkspaceFolder
from tests.guard.test_outfit_models import outfits_table
from tests.guard.world import World, make_world
from tests.scale.namespace import run_alone
from tests.warm import warm

pytest.importorskip("torch")
HERE = partial(run_here, None)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("settings"))


def asked(table: Path) -> TrainingRequest:
    return TrainingRequest("type-aware", "", "colour", preset="quick", outfits=table)


def test_settings_are_drawn_around_the_preset_which_is_the_first() -> None:
    request, preset = TrainingRequest("sce-net", seed=3), get_preset("sce-net", "usual")
    first, *others = sample_training_requests(request, 40)
    assert first == replace(request, name="trials/sce-net/1")
    rates = [one.learning_rate for one in others]
    assert all(rate is not None and 0.1 <= rate / preset.learning_rate <= 10 for rate in rates)
    assert len(set(rates)) == 39 and {one.width for one in others} == {32, 64, 128}
    assert sample_training_requests(request, 40) == [first, *others]
    fixed = sample_training_requests(replace(request, width=7, near_share=0.5), 5)[1:]
    assert {(one.width, one.near_share) for one in fixed} == {(7, 0.5)}


def test_the_best_of_the_trials_is_the_model_and_nothing_is_trained_twice(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = asked(outfits_table(world, tmp_path / "outfits.csv"))
    done = search_settings(world.workspace, request, 3, HERE)
    folder = models_folder(world.workspace)
    cards = [read_model_card(folder / "trials" / "type-aware" / str(number)) for number in (1, 2, 3)]
    assert done.trials["accuracy"].to_list() == [card.training.validation_accuracy for card in cards]
    best = int(done.trials["accuracy"].arg_max() or 0)
    assert done.best.name == "" and done.best.learning_rate == sample_training_requests(request, 3)[best].learning_rate
    train_outfit_model(world.workspace, done.best)
    kept, trial = (
        read_arrays(weights_file(place)) for place in (folder / "type-aware", folder / f"trials/type-aware/{best + 1}")
    )
    assert kept.keys() == trial.keys() and all((kept[name] == trial[name]).all() for name in kept)
    monkeypatch.setattr("likewise.outfits.training.trainer._epoch", pytest.fail)
    again = search_settings(world.workspace, request, 3, HERE)
    assert again.trials.equals(done.trials)
    stored = pl.read_parquet(folder / "trials" / "type-aware" / "trials.parquet")
    assert stored.equals(done.trials)


def test_what_cannot_be_searched_is_said(world: World) -> None:
    with pytest.raises(LikewiseError, match="no settings to search"):
        search_settings(world.workspace, TrainingRequest("popular"), 4, HERE)
    with pytest.raises(LikewiseError, match="at least two trials"):
        search_settings(world.workspace, TrainingRequest("fhn"), 1, HERE)
    command = [*warm("-m", "likewise"), "outfits", "train", str(world.workspace.path), "--engine", "ray"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "--trials 16" in refused.stderr


def search_command(workspace: WorkspaceFolder, table: Path, *more: str) -> list[str]:
    words = ["outfits", "train", str(workspace.path), "--model", "type-aware", "--with", "colour", "--preset", "quick"]
    return [sys.executable, "-m", "likewise", *words, "--outfits", str(table), "--trials", "3", "--json", *more]


def on_the_cluster(folder: Path) -> list[dict[str, float]]:
    """Runs inside the namespace: the command as a user types it."""
    command = search_command(WorkspaceFolder(folder / "ray"), folder / "outfits.csv", "--engine", "ray")
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found: list[dict[str, float]] = json.loads(ran.stdout)["trials"]
    return found


@pytest.mark.slow
def test_the_same_trials_on_ray(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    shutil.copytree(world.workspace.path, tmp_path / "ray")
    table = outfits_table(world, tmp_path / "outfits.csv")
    there = run_alone("tests.outfits.test_settings_search:on_the_cluster", tmp_path)
    here = subprocess.run(search_command(world.workspace, table), capture_output=True, text=True, check=True)
    assert json.loads(here.stdout)["trials"] == there
    assert len(there) == 3
    assert models_folder(WorkspaceFolder(tmp_path / "ray")).joinpath("type-aware/card.json").exists()
