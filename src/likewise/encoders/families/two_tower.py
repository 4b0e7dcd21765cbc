"""`two-tower:FOLDER`: an image and a text encoder in one space that `likewise condition two-tower` trained.

    image side   the base network's features, standardised, their principal components (not trained), then two layers
                 and a straight line past them
    text side    hashed words, pairs and pieces of words, averaged, then two layers; or the vector of a pre-trained
                 sentence encoder (`sentences.py`, not trained), then two layers and a straight line past them

The folder holds `two_tower.json` (the base, the sizes, how it was made), `two_tower.safetensors` and `lineage.parquet`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.digests import file_digest
from likewise.encoders.families.sentences import encode_sentences, sentence_dim
from likewise.encoders.families.text_features import BUCKETS, bag_of_ngrams
from likewise.encoders.networks.device import move_to_device, to_device, to_numpy
from likewise.encoders.networks.from_spec import build_network, with_frame_options
from likewise.encoders.networks.model import NetworkModel
from likewise.encoders.networks.network import Network
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Encoder, OpenEncoder, Vectors
from likewise.encoders.spec import Spec
from likewise.encoders.stored_specs import check_stored_spec
from likewise.errors import LikewiseError
from likewise.files import finish_writing
from likewise.lineage.files import lineage_file, write_lineage
from likewise.lineage.record import Lineage
from likewise.optional_dependencies import import_optional
from likewise.workspace import discard_result, read_json, write_atomically, write_json

if TYPE_CHECKING:
    from torch import nn

FORMAT = 1
SETTINGS, WEIGHTS = "two_tower.json", "two_tower.safetensors"
TEXTS_PER_BATCH = 1024


@dataclass(frozen=True)
class TwoTowerConfig:
    """What the two sides are made of."""

    base: str
    """The network whose features the image side reads, as a spec."""
    base_dim: int
    components: int
    """Principal components of the base's features that the image side learns from."""
    dim: int = 128
    hidden: int = 512
    buckets: int = BUCKETS
    word_dim: int = 64
    sentences: str = ""
    """The sentence encoder below the text side; none for hashed words."""
    about: dict[str, Any] = field(default_factory=dict, compare=False, hash=False)


def image_head(shape: TwoTowerConfig) -> "nn.Module":
    """Features of the base to the common space, in two steps: `reduce`, set from the images, and `project`, trained."""
    torch = import_optional("torch", "a two-tower encoder")

    class ImageHead(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(shape.base_dim))
            self.register_buffer("spread", torch.ones(shape.base_dim))
            self.register_buffer("basis", torch.zeros(shape.base_dim, shape.components))
            self.dropout = torch.nn.Dropout(0.1)
            self.inner = torch.nn.Linear(shape.components, shape.hidden)
            self.outer = torch.nn.Linear(shape.hidden, shape.dim)
            self.past = torch.nn.Linear(shape.components, shape.dim, bias=False)

        def fit_components(self, features: Any) -> None:
            """Choose mean, spread and components after the training images."""
            self.mean.copy_(features.mean(0))
            self.spread.copy_(features.std(0).clamp_min(1e-3))
            even = ((features - self.mean) / self.spread).clamp(-6.0, 6.0)
            _, sizes, directions = torch.svd_lowrank(even, q=shape.components, niter=2)
            largest = float(sizes[0]) / len(features) ** 0.5
            self.basis.copy_(directions * (4.0 / largest))

        def reduce(self, features: Any) -> Any:
            return ((features - self.mean) / self.spread).clamp(-6.0, 6.0) @ self.basis

        def project(self, reduced: Any) -> Any:
            x = self.dropout(reduced)
            return self.outer(torch.nn.functional.gelu(self.inner(x))) + self.past(x)

        def forward(self, features: Any) -> Any:
            return self.project(self.reduce(features))

    head: nn.Module = ImageHead()
    return head


def text_tower(shape: TwoTowerConfig) -> "nn.Module":
    """What `text_inputs` gives to the common space."""
    torch = import_optional("torch", "a two-tower encoder")
    gelu = torch.nn.functional.gelu

    class WordsTower(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.words = torch.nn.EmbeddingBag(shape.buckets, shape.word_dim, mode="mean")
            torch.nn.init.normal_(self.words.weight, std=0.5)
            self.norm = torch.nn.LayerNorm(shape.word_dim)
            self.inner = torch.nn.Linear(shape.word_dim, shape.hidden)
            self.outer = torch.nn.Linear(shape.hidden, shape.dim)

        def forward(self, buckets: Any, starts: Any) -> Any:
            x = self.norm(self.words(buckets, starts))
            return self.outer(gelu(self.inner(x)))

    class SentenceTower(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            width = sentence_dim(shape.sentences)
            self.dropout = torch.nn.Dropout(0.1)
            self.inner = torch.nn.Linear(width, shape.hidden)
            self.outer = torch.nn.Linear(shape.hidden, shape.dim)
            self.past = torch.nn.Linear(width, shape.dim, bias=False)

        def forward(self, sentences: Any) -> Any:
            x = self.dropout(sentences * sentences.shape[1] ** 0.5)  # numbers of about one
            return self.outer(gelu(self.inner(x))) + self.past(x)

    side: nn.Module = SentenceTower() if shape.sentences else WordsTower()
    return side


def text_inputs(shape: TwoTowerConfig, texts: Sequence[str]) -> tuple[NDArray[Any], ...]:
    """What the text side reads."""
    if shape.sentences:
        return (encode_sentences(shape.sentences, texts),)
    return bag_of_ngrams(texts, shape.buckets)


def write_two_tower(
    folder: Path, shape: TwoTowerConfig, head: "nn.Module", text: "nn.Module", lineage: Lineage
) -> None:
    """Weights, lineage and description, into a folder where they wait for what belongs to them."""
    from safetensors.numpy import save

    tensors: dict[str, NDArray[Any]] = {}
    for prefix, module in (("image.", head), ("text.", text)):
        for name, value in module.state_dict().items():
            tensors[prefix + name] = np.ascontiguousarray(value.detach().cpu().numpy())
    write_atomically(folder / WEIGHTS, lambda file: discard_result(file.write(save(tensors))))
    write_lineage(lineage, lineage_file(folder))
    write_json({"format": FORMAT, **asdict(shape)}, folder / SETTINGS)


def read_two_tower_config(folder: Path) -> TwoTowerConfig:
    finish_writing(folder)
    path = folder / SETTINGS
    if not path.is_file() or not (folder / WEIGHTS).is_file():
        raise LikewiseError(
            f"{folder} holds no two-tower encoder (no {SETTINGS}): train one with `likewise condition two-tower`."
        )
    values = read_json(path)
    if values.pop("format", None) != FORMAT:
        raise LikewiseError(f"{path} is of a format this version does not read: train the encoder again.")
    try:
        config = TwoTowerConfig(**values)
    except TypeError as error:
        raise LikewiseError(f"{path} describes no two-tower encoder ({error}): train it again.") from error
    check_stored_spec(config.base, path)
    return config


def load_towers(folder: Path) -> "tuple[TwoTowerConfig, nn.Module, nn.Module]":
    """Both sides with their weights, ready to run."""
    torch = import_optional("torch", f"two-tower:{folder}")
    from safetensors.numpy import load_file

    shape = read_two_tower_config(folder)
    weights: Mapping[str, NDArray[Any]] = load_file(folder / WEIGHTS)
    sides = []
    for prefix, module in (("image.", image_head(shape)), ("text.", text_tower(shape))):
        state = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
        module.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in state.items()})
        sides.append(module.eval())
    return shape, sides[0], sides[1]


def open_two_tower(part: Spec, open_encoder: OpenEncoder) -> Encoder:
    return build_network(part, with_frame_options(part, two_tower_model(part, open_encoder)))


def base_network(base: str, open_encoder: OpenEncoder) -> Network:
    """The network below an image side."""
    encoder = open_encoder(base)
    if not isinstance(encoder, Network) or encoder.model.load is None:
        raise LikewiseError(f"{base} cannot be the base of a two-tower encoder: use a torch network.")
    return encoder


def two_tower_model(part: Spec, open_encoder: OpenEncoder) -> NetworkModel:
    """The image side of a `two-tower:` spec."""
    folder = Path(part.target)
    shape = read_two_tower_config(folder)
    base = base_network(shape.base, open_encoder)
    assert base.model.load is not None
    return NetworkModel(
        label=folder.name,
        recipe=base.model.recipe,
        find_dim=lambda: shape.dim,
        find_digest=cache(lambda: f"{file_digest(folder / WEIGHTS)} of {base.model.find_digest()}"),
        load=_loader(folder, base.model.load),
    )


def _loader(folder: Path, load_base: "Callable[[], nn.Module]") -> "Callable[[], nn.Module]":
    def load() -> "nn.Module":
        torch = import_optional("torch", f"two-tower:{folder}")
        module: nn.Module = torch.nn.Sequential(load_base(), load_towers(folder)[1]).eval()
        return module

    return load


def encode_texts(target: str, texts: Sequence[str], *, unit: bool = True) -> Vectors:
    """Texts in the space of the image side, of length one unless told otherwise."""
    torch = import_optional("torch", f"two-tower:{target}")
    folder = Path(target)
    shape, _, side = _loaded(folder, _written(folder / SETTINGS, folder / WEIGHTS) if folder.is_dir() else ())
    rows = [np.empty((0, shape.dim), np.float32)]
    with torch.inference_mode():
        for start in range(0, len(texts), TEXTS_PER_BATCH):
            inputs = text_inputs(shape, texts[start : start + TEXTS_PER_BATCH])
            rows.append(to_numpy(side(*map(to_device, inputs)).float()))
    found = np.concatenate(rows)
    return unit_rows(found) if unit and len(found) else found


def _written(*paths: Path) -> tuple[tuple[int, int, int], ...]:
    """Differs when a file was written again, without reading it: a digest of the weights takes longer than a text."""
    stats = [path.stat() for path in paths if path.exists()]
    return tuple((each.st_ino, each.st_size, each.st_mtime_ns) for each in stats)


@cache
def _loaded(folder: Path, written: object) -> "tuple[TwoTowerConfig, nn.Module, nn.Module]":
    """On their device; `written` makes a folder that was trained again another one."""
    shape, head, text = load_towers(folder)
    return shape, head, move_to_device(text)
