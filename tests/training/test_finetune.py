"""Fine-tuning: losses fall, a killed run ends with the same weights, and DINO's arithmetic is checked by hand."""

import subprocess
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
import torch

from likewise.catalog import read_catalog
from likewise.encoders import encode_catalog, get_encoder, read_vectors
from likewise.encoders.running import picture_reader
from likewise.errors import LikewiseError
from likewise.training.finetune.dino import DinoLearner, DinoSchedule, cosine_schedule, dino_loss, update_teacher
from likewise.training.finetune.step import FinetuneSettings, finetune, make_learner
from likewise.training.finetune.targets import class_targets
from likewise.training.network import load_trunk
from likewise.workspace import WorkspaceFolder
from tests.warm import warm

ENCODER = "small?size=24"
QUICK = {"encoder": ENCODER, "epochs": 3, "batch": 8, "rate": 3e-3}


def silent(what: str, done: int, total: int) -> None:
    """No progress."""


def weights(workspace: WorkspaceFolder, name: str) -> bytes:
    return (workspace.path / "runs" / name / "encoder.safetensors").read_bytes()


@pytest.mark.parametrize("task", ["id", "cat", "id+c"])
def test_the_loss_falls_and_the_backbone_becomes_an_encoder(workspace: WorkspaceFolder, task: str) -> None:
    settings = FinetuneSettings(task=task, **{**QUICK, "epochs": 6})  # type: ignore[arg-type]
    done = finetune(workspace, settings, f"tuned-{task[:2]}", on_progress=silent)
    losses = done.curve["loss"].to_list()
    assert len(losses) == 6 and losses[-1] < 0.9 * losses[0]
    assert (
        done.summary.n_classes
        == {
            "id": {"item": 12},
            "cat": {"category": 3},
            "id+c": {"item": 12, "category": 3},
        }[task]
    )
    assert done.run.dim == get_encoder(ENCODER).dim  # the backbone's output, not the logits
    encode_catalog(workspace, [f"run:{done.run.name}"], workers=1)
    images = read_catalog(workspace)["image"].to_list()
    assert read_vectors(workspace, done.run.name, images).shape == (24, 192)
    with pytest.raises(LikewiseError, match="give this run another --name"):
        finetune(workspace, settings, done.run.name, on_progress=silent)


@pytest.mark.parametrize("task", ["cat", "dino"])
def test_pictures_that_worker_processes_decode_give_the_same_weights(
    workspace: WorkspaceFolder, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = FinetuneSettings(task=task, n_local=1, **{**QUICK, "epochs": 1})  # type: ignore[arg-type]
    finetune(workspace, settings, "here", on_progress=silent)
    monkeypatch.setattr(picture_reader, "MIN_STREAMED", 0)
    monkeypatch.setattr(picture_reader, "MAX_CACHE_BYTES", 0)
    finetune(workspace, settings, "streamed", on_progress=silent)
    assert weights(workspace, "here") == weights(workspace, "streamed")


@pytest.mark.parametrize("task", ["id+c", "dino"])
def test_a_stopped_run_goes_on_to_the_same_weights(workspace: WorkspaceFolder, task: str) -> None:
    settings = FinetuneSettings(task=task, n_local=2, **QUICK)  # type: ignore[arg-type]
    finetune(workspace, settings, "whole", on_progress=silent)

    def stop(what: str, done: int, total: int) -> None:
        if done == 5:  # in the second of three epochs of three batches
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        finetune(workspace, settings, "stopped", on_progress=stop)
    assert not (workspace.path / "runs" / "stopped" / "encoder.json").exists()
    with pytest.raises(LikewiseError, match="was begun with another rate"):
        changed = FinetuneSettings(task=task, n_local=2, **{**QUICK, "rate": 1e-3})  # type: ignore[arg-type]
        finetune(workspace, changed, "stopped", on_progress=silent)
    seen: list[int] = []
    finetune(workspace, settings, "stopped", on_progress=lambda what, done, total: seen.append(done))
    assert seen == [4, 5, 6, 7, 8, 9]
    assert weights(workspace, "stopped") == weights(workspace, "whole")
    other = FinetuneSettings(task=task, n_local=2, seed=1, **QUICK)  # type: ignore[arg-type]
    finetune(workspace, other, "other", on_progress=silent)
    assert weights(workspace, "other") != weights(workspace, "whole")


def test_a_killed_process_loses_one_epoch_at_most(workspace: WorkspaceFolder) -> None:
    settings = FinetuneSettings(task="cat", **QUICK)  # type: ignore[arg-type]
    finetune(workspace, settings, "whole", on_progress=silent)
    code = f"""
import os, signal, torch
torch.set_num_threads(1)  # as in this process: sums of floats depend on it
from pathlib import Path
from likewise.training.finetune.step import FinetuneSettings, finetune
from likewise.workspace import WorkspaceFolder
def die(what, done, total):
    if done == 8:
        os.kill(os.getpid(), signal.SIGKILL)
finetune(WorkspaceFolder(Path({str(workspace.path)!r})), {settings!r}, "killed", on_progress=die)
"""
    ran = subprocess.run(warm("-c", code), capture_output=True, check=False)
    assert ran.returncode == -9, ran.stderr.decode()
    finetune(workspace, settings, "killed", on_progress=silent)
    assert weights(workspace, "killed") == weights(workspace, "whole")


def test_the_teacher_is_the_moving_average_of_the_student() -> None:
    student, teacher = torch.nn.Linear(1, 2), torch.nn.Linear(1, 2)
    with torch.no_grad():
        student.weight.copy_(torch.tensor([[1.0], [2.0]]))
        teacher.weight.copy_(torch.tensor([[0.0], [4.0]]))
    update_teacher(teacher, student, 0.75)
    assert teacher.weight.tolist() == [[0.25], [3.5]]  # 3/4 of itself and 1/4 of the student
    update_teacher(teacher, student, 0.75)
    assert teacher.weight.tolist() == [[0.4375], [3.125]]
    update_teacher(teacher, student, 1.0)
    assert teacher.weight.tolist() == [[0.4375], [3.125]]


def test_the_loss_by_hand() -> None:
    """Two outputs; the teacher's second view is sure of the first, its first view undecided after centring."""
    centre = torch.tensor([[0.0, 0.04]])
    teacher = [torch.tensor([[0.0, 0.04]]), torch.tensor([[4.0, 0.0]])]
    student = [torch.tensor([[0.1, 0.0]]), torch.tensor([[0.0, 0.0]])]
    half = float(np.log(2.0))  # the second student view is undecided: ln 2 against any target
    sure = float(np.log1p(np.exp(-1.0)))  # of the first student view: softmax(0.1 / 0.1) against a certain target
    assert float(dino_loss(student, teacher, centre)) == pytest.approx((half + sure) / 2.0, abs=1e-6)


def test_schedules_rise_and_fall_as_they_say() -> None:
    schedule = DinoSchedule(rate=1.0, weight_decay=(0.1, 0.5), momentum=0.9, n_steps=101)
    rate, decay, momentum = zip(*(schedule.at(step) for step in range(101)), strict=True)
    assert rate[0] == pytest.approx(0.1) and rate[9] == pytest.approx(1.0) and rate[100] < 0.02
    assert max(rate) == pytest.approx(1.0)
    assert (decay[0], decay[100]) == (pytest.approx(0.1), pytest.approx(0.5))
    assert momentum[0] == pytest.approx(0.9) and momentum[100] == pytest.approx(1.0)
    assert momentum[50] == pytest.approx(0.95) == cosine_schedule(0.9, 1.0, 0.5)


def make_dino(workspace: WorkspaceFolder, rate: float = 2e-3) -> DinoLearner:
    settings = FinetuneSettings(ENCODER, "dino", epochs=10, batch=12, rate=rate, n_local=2, momentum=0.99)
    torch.manual_seed(0)
    made = make_learner(workspace, settings, class_targets(read_catalog(workspace), "dino"), *load_trunk(ENCODER))
    assert isinstance(made, DinoLearner)
    return made


def test_dino_learns_to_agree_with_itself_without_collapsing(workspace: WorkspaceFolder) -> None:
    learner = make_dino(workspace)
    rows = [learner.train_epoch(number, np.random.default_rng(number), silent) for number in range(10)]
    assert np.mean([row["loss"] for row in rows[-3:]]) < 0.96 * rows[0]["loss"]
    assert np.mean([row["disagreement"] for row in rows[-3:]]) < 0.7 * rows[0]["disagreement"]
    assert rows[-1]["teacher_entropy"] > 0.5  # it has not chosen one output for everything
    before = learner.centre.clone()
    views = [torch.zeros(4, 3, 24, 24) for _ in range(2)]
    with torch.no_grad():
        outputs = learner.teacher(torch.cat(views)).mean(0)
    learner.step(views, 30)
    assert torch.allclose(learner.centre[0], 0.9 * before[0] + 0.1 * outputs, atol=1e-6)


def test_images_and_classes_are_those_asked_for(workspace: WorkspaceFolder) -> None:
    catalog = read_catalog(workspace)
    targets = class_targets(catalog, "cat", where="domain=shop", leave_out=["circle"])
    assert len(targets.images) == 8 and targets.n_classes == {"category": 2}
    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: class_targets(catalog, "id", where="domain=shop"), "every one of the 12 images is an item of its own"),
        (lambda: class_targets(catalog, "cat", leave_out=["shoe"]), "no image has the category 'shoe'"),
        (lambda: class_targets(catalog.with_columns(category=pl.lit("one")), "cat"), "at least two values of category"),
        (lambda: class_targets(catalog, "ids"), "there is no task 'ids'"),  # type: ignore[arg-type]
    ]
    for refuse, why in refused:
        with pytest.raises(LikewiseError, match=why):
            refuse()
