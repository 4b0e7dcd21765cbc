"""The winner as an encoder: `run:FOLDER` for `likewise encode`, and an ONNX file of the same network.

The encoder is the concatenated embedding: the models of all folds side by side.  Over stored vectors these are four
heads; a trunk that was trained whole is kept four times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.encoders.families.run_files import SETTINGS, TRUNK, TrainedRun, read_layers, read_run, write_run
from likewise.encoders.families.trained_run import trunks_model
from likewise.encoders.lineage import encoder_lineage
from likewise.encoders.networks.model import NetworkModel
from likewise.encoders.networks.network import Network
from likewise.encoders.networks.onnx_export import export_to_onnx
from likewise.encoders.registry import get_encoder
from likewise.encoders.storage.files import resolve_stored_spec
from likewise.errors import LikewiseError
from likewise.lineage.files import read_model_lineage, sidecar_file, write_lineage
from likewise.lineage.record import lesson_from_workspace
from likewise.optional_dependencies import import_optional
from likewise.training.context import TrainingContext
from likewise.training.network import trunk_recipe
from likewise.training.runs import RunFolder
from likewise.training.trainer import TrainedFold, Weights

if TYPE_CHECKING:
    from torch import nn


def export_winner(
    context: TrainingContext, run: RunFolder, method: str, rerun: int, folds: Sequence[TrainedFold]
) -> None:
    """Write one rerun of the winner: the first as `encoder/` of the run, the others beside their values."""
    there = read_run(run.encoder_folder).about if (run.encoder_folder / SETTINGS).exists() else {"rerun": rerun}
    folder = run.encoder_folder if there["rerun"] == rerun else run.rerun_encoder_folder(method, rerun)
    export_encoder(context, folder, {"run": run.name, "method": method, "rerun": rerun}, folds)


def winner_encoders(run: RunFolder, n_reruns: int) -> list[TrainedRun]:
    """Every rerun of the winner, that of `encoder/` first; none where there is no winner."""
    if not (run.encoder_folder / SETTINGS).exists():
        return []
    first = read_run(run.encoder_folder)
    folders = [run.rerun_encoder_folder(first.about["method"], rerun) for rerun in range(n_reruns)]
    return [first, *(read_run(folder) for folder in folders if (folder / SETTINGS).exists())]


def export_encoder(
    context: TrainingContext, folder: Path, named: Mapping[str, Any], folds: Sequence[TrainedFold]
) -> TrainedRun:
    """The models of all folds as one encoder."""
    models = [trained.weights or {} for trained in folds]
    plan = context.config.plan
    about: dict[str, Any] = {**named, "trunk": plan.trunk, "column": context.config.column}
    dim = plan.dim * len(models)
    split, workspace = context.split, context.guard.workspace
    learned = split.keys(split.development)
    lesson = lesson_from_workspace(workspace, "classes", "train check", learned, half=context.config.half or "")
    lineage = encoder_lineage(workspace, context.config.encoder or "").with_lesson(lesson)
    if plan.trunk == "frozen":
        base = resolve_stored_spec(workspace, context.config.encoder or "")
        layer = stack_heads(models, float(context.trunk_dim) ** 0.5)
        return write_run(folder, "adapter", [base], [layer], dim=dim, lineage=lineage, about=about, groups=len(models))
    base = context.config.encoder or ""
    about["recipe"] = asdict(trunk_recipe(base))
    return write_run(
        folder,
        "trunks",
        [base],
        [],
        dim=dim,
        lineage=lineage,
        more=number_weights(models),
        about=about,
        groups=len(models),
    )


def stack_heads(models: Sequence[Weights], scale: float) -> tuple[Any, Any]:
    """Four heads as one matrix, with the scale of stored vectors in it."""
    matrix = np.concatenate([model["head.weight"].T * scale for model in models], axis=1)
    return matrix.astype(np.float32), np.concatenate([model["head.bias"] for model in models])


def number_weights(models: Sequence[Weights]) -> Weights:
    """The weights of every model under its number, a head as matrix and offset."""
    named: Weights = {}
    for number, model in enumerate(models):
        for name, value in model.items():
            if name.startswith(TRUNK):
                named[f"model{number}.{name}"] = value
        named[f"model{number}.matrix"] = model["head.weight"].T
        named[f"model{number}.offset"] = model["head.bias"]
    return named


def export_onnx(encoder: TrainedRun) -> str:
    """Write `encoder/model.onnx`, checked against the original; empty, or a sentence why there is none."""
    try:
        model = trunks_model(encoder, get_encoder) if encoder.kind == "trunks" else build_heads_model(encoder)
        target = encoder.folder / "model.onnx"
        export_to_onnx(model, target)
        write_lineage(read_model_lineage(encoder.folder, encoder.name), sidecar_file(target))
    except LikewiseError as error:
        return str(error)
    return ""


def build_heads_model(encoder: TrainedRun) -> NetworkModel:
    """The base network and the heads over its unit vectors as one."""
    try:
        base = get_encoder(encoder.bases[0])
    except LikewiseError:
        raise LikewiseError(f"the vectors of {encoder.bases[0]} were imported without their network.") from None
    if not isinstance(base, Network) or base.model.load is None or base.flip or base.box:
        raise LikewiseError(f"{encoder.bases[0]} is no plain torch network, so there is no ONNX file.")
    load_base = base.model.load

    def load() -> "nn.Module":
        torch = import_optional("torch", encoder.name)
        [(matrix, offset)] = read_layers(encoder.weights())
        trunk, head = load_base(), torch.nn.Linear(*matrix.shape)
        head.load_state_dict({"weight": torch.from_numpy(matrix.T.copy()), "bias": torch.from_numpy(offset.copy())})

        class Heads(torch.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.trunk, self.head = trunk, head

            def forward(self, pixels: Any) -> Any:
                unit = torch.nn.functional.normalize(self.trunk(pixels))
                parts = self.head(unit).chunk(encoder.groups, dim=1)
                return torch.cat([torch.nn.functional.normalize(part) for part in parts], dim=1)

        module: nn.Module = Heads().eval()
        return module

    return NetworkModel(encoder.name, base.model.recipe, lambda: encoder.dim, encoder.digest, load)
