"""The folder of a trained model: weights in safetensors, everything else in JSON, what it learned from in Parquet.

card.json               kind, preset, encoders, types, vocabulary, what it was trained on and how it went
model.safetensors       weights of the chosen epoch
epochs/0003.safetensors weights of every epoch, to choose by another rule
lineage.parquet         what it and its encoders learned from
curves.parquet          epoch, name, value
"""

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.stored_specs import check_stored_spec
from likewise.errors import LikewiseError
from likewise.outfits.training.presets import Preset
from likewise.workspace import WorkspaceFolder, discard_result, read_json, write_atomically, write_json

FORMAT = 2  # 1: the first layer whitened vectors
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class OutfitTrainingSummary:
    """How a model was trained; a kind without epochs leaves those fields empty."""

    seed: int | None = None
    preset: Preset | None = None
    n_outfits: int = 0
    n_left_out: int | None = None
    n_validation: int | None = None
    n_items: int = 0
    n_users: int | None = None
    epoch: int | None = None
    """The chosen one."""
    validation_accuracy: float | None = None
    n_weights: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """What is known, with the keys of `card.json`."""
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        known["preset"] = self.preset.as_dict() if self.preset else None
        return {name: value for name, value in known.items() if value is not None}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "OutfitTrainingSummary":
        known = {each.name: values[each.name] for each in fields(cls) if each.name in values}
        return cls(**known | ({"preset": Preset.from_dict(values["preset"])} if "preset" in values else {}))


@dataclass(frozen=True)
class OutfitModelCard:
    """What a model's folder says about it."""

    name: str
    kind: str
    trunk: str = "vectors"
    encoders: str = ""
    versions: str = ""
    n_inputs: int = 0
    types: tuple[str, ...] = ()
    """Categories in the order of their numbers; the first stands for those that training did not show."""
    n_users: int = 1
    vocabulary: tuple[str, ...] = ()
    n_caption_words: int = 0
    """How many words the first layer guesses, where it is `words`."""
    visual_semantic: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    training: OutfitTrainingSummary = OutfitTrainingSummary()
    notes: dict[str, Any] = field(default_factory=dict)


def models_folder(workspace: WorkspaceFolder) -> Path:
    """Where the models of a workspace live."""
    return workspace.path / "outfit_models"


def weights_file(folder: Path, epoch: int | None = None) -> Path:
    return folder / "model.safetensors" if epoch is None else folder / "epochs" / f"{epoch:04d}.safetensors"


def write_model_card(card: OutfitModelCard, folder: Path) -> None:
    values = asdict(card)
    del values["training"]
    write_json({"format": FORMAT, **values, "trained": card.training.as_dict()}, folder / "card.json")


def read_model_card(folder: Path) -> OutfitModelCard:
    path = folder / "card.json"
    if not path.exists():
        raise LikewiseError(f"{folder} holds no trained model (no card.json): train one with `likewise outfits train`.")
    values = read_json(path)
    try:
        if values.pop("format") != FORMAT:
            raise LikewiseError(f"{path} is of another format: train the model again with this version.")
        for name in ("types", "vocabulary"):
            values[name] = tuple(values[name])
        values["training"] = OutfitTrainingSummary.from_dict(values.pop("trained"))
        card = OutfitModelCard(**values)
        for spec in (card.encoders, card.trunk):
            check_stored_spec(str(spec), path)
        return card
    except (AttributeError, KeyError, TypeError) as error:
        raise LikewiseError(f"{path} does not describe a model ({error}): train it again.") from error


def write_arrays(arrays: Arrays, path: Path) -> None:
    """Arrays by name, the same bytes for the same arrays."""
    from safetensors.numpy import save

    content = save({name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)})
    write_atomically(path, lambda file: discard_result(file.write(content)))


def read_arrays(path: Path) -> Arrays:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    if not path.exists():
        raise LikewiseError(f"{path} does not exist: train the model again, or name an epoch that was kept.")
    try:
        return dict(load(path.read_bytes()))
    except (SafetensorError, ValueError) as error:
        raise LikewiseError(f"{path} is damaged ({error}): train the model again.") from error
