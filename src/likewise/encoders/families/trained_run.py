"""`run:FOLDER`: an encoder that `likewise train` left in a workspace (`run_files.py` says what lies there)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from likewise.encoders.families.joined import JoinedEncoder, join_encoders
from likewise.encoders.families.run_files import TRUNK, Array, Layer, TrainedRun, apply_layers, read_layers, read_run
from likewise.encoders.networks.from_spec import build_network, with_frame_options
from likewise.encoders.networks.model import NetworkModel
from likewise.encoders.networks.network import Network
from likewise.encoders.networks.recipe import Recipe
from likewise.encoders.protocol import Encoder, OpenEncoder, Prepared, Vectors
from likewise.encoders.spec import Spec, parse_spec
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class AdapterEncoder:
    """Trained layers over the vectors of other encoders."""

    name: str
    run: TrainedRun
    open_encoder: OpenEncoder = field(repr=False, compare=False)

    @cached_property
    def joined(self) -> JoinedEncoder:
        return join_encoders([parse_spec(base)[0] for base in self.run.bases], self.open_encoder)

    @cached_property
    def layers(self) -> list[Layer]:
        return read_layers(self.run.weights())

    @property
    def version(self) -> str:
        return f"{self.run.name}@{self.run.digest()[:12]} of {self.joined.version}"

    @property
    def dim(self) -> int:
        return self.run.dim

    @property
    def pixels(self) -> int:
        return self.joined.pixels

    @property
    def preparation(self) -> str:
        return self.joined.preparation

    def prepare(self, image: Image.Image) -> Prepared:
        return self.joined.prepare(image)

    def encode(self, batch: Sequence[Prepared]) -> Vectors:
        parts = [encoder.encode([each[i] for each in batch]) for i, encoder in enumerate(self.joined.encoders)]
        return apply_layers(parts, self.layers, self.run.groups)


def open_run(part: Spec, open_encoder: OpenEncoder) -> Encoder:
    """The encoder of a `run:` spec."""
    run = read_run(Path(part.target))
    if run.kind == "adapter":
        for option, _ in part.options:
            if option not in ("name", "dtype", "weight"):
                raise LikewiseError(f"{part.text!r}: an adapter has no option {option!r}; its bases had theirs.")
        return AdapterEncoder(part.name, run, open_encoder)
    model = trunk_model(run, open_encoder) if run.kind == "trunk" else trunks_model(run, open_encoder)
    return build_network(part, with_frame_options(part, model), unscaled=False)


def trunk_model(run: TrainedRun, open_encoder: OpenEncoder) -> NetworkModel:
    """The base's network with the trained weights, and the layers behind it."""
    base, load_base = _base_of(run, open_encoder)
    return NetworkModel(run.name, base.recipe, lambda: run.dim, run.digest, _loader(run, load_base))


def trunks_model(run: TrainedRun, open_encoder: OpenEncoder) -> NetworkModel:
    """Several trained copies of the base side by side, with the preparation they were trained with."""
    _, load_base = _base_of(run, open_encoder)
    stored: dict[str, Any] = run.about["recipe"]
    values: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in stored.items()}

    def load() -> "nn.Module":
        torch = import_optional("torch", run.name)
        models = [_one_of(torch, load_base(), run.weights(), f"model{number}.") for number in range(run.groups)]
        together: nn.Module = _side_by_side(torch, models).eval()
        return together

    return NetworkModel(run.name, Recipe(**values), lambda: run.dim, run.digest, load)


def _base_of(run: TrainedRun, open_encoder: OpenEncoder) -> "tuple[NetworkModel, Callable[[], nn.Module]]":
    """The network that training started from, and how to load it."""
    base = open_encoder(run.bases[0])
    if not isinstance(base, Network) or base.model.load is None:
        raise LikewiseError(f"{run.folder} was trained from {run.bases[0]}, which is no torch network here.")
    return base.model, base.model.load


def _one_of(torch: Any, trunk: "nn.Module", weights: "dict[str, Array]", prefix: str) -> "nn.Module":
    state = {
        name.removeprefix(prefix + TRUNK): torch.from_numpy(value.copy())
        for name, value in weights.items()
        if name.startswith(prefix + TRUNK)
    }
    trunk.load_state_dict(state)
    matrix, offset = weights[f"{prefix}matrix"], weights[f"{prefix}offset"]
    head = torch.nn.Linear(*matrix.shape)
    head.load_state_dict({"weight": torch.from_numpy(matrix.T.copy()), "bias": torch.from_numpy(offset.copy())})
    model: nn.Module = torch.nn.Sequential(trunk, head)
    return model


def _side_by_side(torch: Any, models: "list[nn.Module]") -> "nn.Module":
    class Together(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.models = torch.nn.ModuleList(models)

        def forward(self, pixels: Any) -> Any:
            return torch.cat([torch.nn.functional.normalize(model(pixels)) for model in self.models], dim=1)

    together: nn.Module = Together()
    return together


def _loader(run: TrainedRun, load_base: "Callable[[], nn.Module]") -> "Callable[[], nn.Module]":
    def load() -> "nn.Module":
        torch = import_optional("torch", run.name)
        weights = run.weights()
        trunk = load_base()
        state = {name.removeprefix(TRUNK): value for name, value in weights.items() if name.startswith(TRUNK)}
        trunk.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in state.items()})
        parts: list[nn.Module] = [trunk]
        for number, (matrix, offset) in enumerate(read_layers(weights)):
            if number:
                parts.append(torch.nn.ReLU())
            linear = torch.nn.Linear(*matrix.shape)
            linear.load_state_dict({"weight": torch.from_numpy(matrix.T.copy()), "bias": torch.from_numpy(offset)})
            parts.append(linear)
        module: nn.Module = torch.nn.Sequential(*parts).eval()
        return module

    return load
