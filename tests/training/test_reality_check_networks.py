"""Networks of the registry under the check: trained whole by the paper's preset, or frozen with heads that export."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from likewise.catalog.images import load_image
from likewise.encoders import encode_catalog, get_encoder
from likewise.training.context import CheckConfig, FoldTask, run_fold
from likewise.training.network import load_trunk
from likewise.training.plan import make_plan
from likewise.workspace import WorkspaceFolder
from tests.encoders.tiny import make_model

from .check_toy import Check, measured_again, rerun_of, toy_workspace

LITE = "efficientnet-lite0?size=32"
TINY = ("--trials", "1", "--reruns", "1", "--steps", "4", "--evaluate-every", "2", "--lr", "1e-3")


def compare_onnx(workspace: WorkspaceFolder, spec: str) -> None:
    """The exported file gives what the encoder gives, for several pictures at once."""
    model = workspace.path / "runs" / "check" / "encoder" / "model.onnx"
    one, other = get_encoder(spec), get_encoder(f"onnx:{model}")
    dataset = [load_image(workspace.root / f"{number:02d}-0.png") for number in range(5)]
    first, second = (each.encode([each.prepare(picture) for picture in dataset]) for each in (one, other))
    assert np.allclose(first, second, atol=1e-5)


@pytest.mark.parametrize("batch_norm", ["frozen", "statistics"])
def test_frozen_batch_norms_of_a_real_network_do_not_move(batch_norm: str, tmp_path: Path) -> None:
    plan = make_plan("paper", steps=4, evaluate_every=2, lr=1e-4, dim=8, batch_norm=batch_norm)
    assert make_plan("paper").batch_norm == "frozen"
    config = CheckConfig(toy_workspace(tmp_path, n_classes=16).path, "kind", LITE, plan)
    folds = [run_fold(FoldTask(config, "triplet", {"margin": 0.1}, fold, 0, keep_weights=True)) for fold in range(2)]
    trunk = load_trunk(LITE)[0]
    start = {name: value.numpy() for name, value in trunk.state_dict().items()}
    norms = [name for name, part in trunk.named_modules() if "BatchNorm" in type(part).__name__]
    affine = {f"{name}.{which}" for name in norms for which in ("weight", "bias")}
    trained = max(folds, key=lambda fold: fold.step)
    assert trained.step > 0 and trained.weights is not None
    changed = {name for name, value in start.items() if not np.array_equal(trained.weights[f"trunk.{name}"], value)}
    fixed = ("running", "num_batches", "_fc.")  # the last is its old classifier, which no vector passes through
    free = {name for name in start if not any(word in name for word in fixed)}
    assert len(affine) == 2 * 49 and affine < free
    assert changed == (free - affine if batch_norm == "frozen" else free)


@pytest.mark.parametrize("family", [pytest.param("efficientnet", marks=pytest.mark.slow), "vit"])
def test_the_papers_preset_trains_a_network_whole(
    family: str, tmp_path: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))
    workspace = toy_workspace(tmp_path, n_classes=16)
    encoder = LITE if family == "efficientnet" else f"hf:{make_model('vit', tmp_path / 'tiny')}"
    found = check(workspace, "triplet", "--preset", "paper", "--with", encoder, *TINY)
    assert (found["trunk"], found["encoder"], found["plan"]["patience_steps"]) == ("whole", encoder, 900)
    made = found["encoder_made"]
    assert made["no_onnx_because"] == "" and made["dim"] == 32
    plan = make_plan("paper", trials=1, reruns=1, steps=4, evaluate_every=2, lr=1e-3, dim=8)
    again = measured_again(workspace, made["spec"], CheckConfig(workspace.path, "kind", encoder, plan))
    assert np.allclose(again.to_numpy(), rerun_of(workspace, "triplet").to_numpy(), atol=1e-6)
    compare_onnx(workspace, made["spec"])


def test_heads_over_a_frozen_torch_encoder_become_one_onnx_file(
    tmp_path: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))
    workspace = toy_workspace(tmp_path, n_classes=16)
    encode_catalog(workspace, [LITE], workers=1)
    found = check(workspace, "triplet,normalized-softmax", "--preset", "standard", "--with", LITE, *TINY)
    made = found["encoder_made"]
    assert (found["plan"]["preset"], found["trunk"], found["trunk_dim"]) == ("standard", "frozen", 1280)
    assert made["no_onnx_because"] == "" and made["dim"] == 32
    compare_onnx(workspace, made["spec"])
    plan = replace(make_plan("standard"), dim=8)
    again = measured_again(workspace, made["spec"], CheckConfig(workspace.path, "kind", LITE, plan))
    assert np.allclose(again.to_numpy(), rerun_of(workspace, found["winner"]).to_numpy(), atol=1e-6)
