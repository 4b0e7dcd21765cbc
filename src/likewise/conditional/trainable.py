"""Two-tower encoders that can be trained together with a Combiner: their inputs, their two sides, and where they go.

A two-tower encoder that `likewise` trained keeps its base network fixed and trains both sides on stored features; a
transformers model is trained whole, from pictures.
"""

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from likewise.conditional.two_tower import encode_base
from likewise.encoders.digests import file_digest
from likewise.encoders.families.two_tower import load_towers, text_inputs, write_two_tower
from likewise.encoders.networks.device import device, move_to_device, to_device, to_numpy
from likewise.encoders.networks.network import Network
from likewise.encoders.registry import get_encoder
from likewise.encoders.running.picture_reader import PictureReader, read_prepared
from likewise.encoders.short_names import resolve_short_name
from likewise.encoders.spec import parse_spec
from likewise.errors import LikewiseError
from likewise.files import StagedFiles
from likewise.lineage.files import lineage_file, write_lineage
from likewise.lineage.record import Lineage
from likewise.optional_dependencies import import_optional
from likewise.workspace import WorkspaceFolder

Inputs = NDArray[Any]


class TrainableEncoder(Protocol):
    """Both sides of an encoder as torch modules."""

    def image_inputs(self, workspace: WorkspaceFolder, images: Sequence[str]) -> "Inputs | PictureReader":
        """What the image side reads, one row per image; pictures are read from disk when their rows are asked for."""

    def image(self, inputs: Inputs) -> Any:
        """Rows of inputs to unscaled features."""

    def text(self, texts: Sequence[str]) -> Any:
        """Texts to unscaled features."""

    def parameters(self, side: str) -> list[Any]:
        """Of the side `image` or `text`."""

    def save(self, folder: Path, lineage: Lineage) -> str:
        """Write the trained encoder, with what it learned from, and return its spec."""


def load_trainable(spec: str) -> TrainableEncoder:
    """The trainable form of an encoder."""
    source = resolve_short_name(parse_spec(spec)[0])
    if source.family == "two-tower":
        return _TrainableTwoTower(Path(source.target))
    if source.family == "hf":
        return _TrainableTransformers(spec, source.target)
    raise LikewiseError(f"{spec} cannot be trained with a Combiner: train on its frozen features (without `--tune`).")


def save_trained(tower: TrainableEncoder, staged: StagedFiles, lineage: Lineage) -> str:
    """Write a trained encoder below a Combiner's folder, named after its weights: features of two never mix."""
    family, _, place = tower.save(staged.staging / "encoder", lineage).partition(":")
    digest = file_digest(*Path(place).glob("*.safetensors"))[:8]
    named = staged.folder / f"{staged.folder.name}-{digest}"
    Path(place).rename(staged.place(named))
    return f"{family}:{named}"


class _TrainableTwoTower:
    """A `two-tower:` encoder."""

    def __init__(self, folder: Path) -> None:
        self.torch = import_optional("torch", "training")
        head: Any
        self.shape, head, side = load_towers(folder)
        self.head, self.side = move_to_device(head), move_to_device(side)

    def image_inputs(self, workspace: WorkspaceFolder, images: Sequence[str]) -> Inputs:
        features = encode_base(workspace, self.shape.base, images, None, None)
        with self.torch.inference_mode():
            return to_numpy(self.head.reduce(to_device(features)))

    def image(self, inputs: Inputs) -> Any:
        return self.head.project(to_device(inputs))

    def text(self, texts: Sequence[str]) -> Any:
        return self.side(*map(to_device, text_inputs(self.shape, texts)))

    def parameters(self, side: str) -> list[Any]:
        return list((self.head if side == "image" else self.side).parameters())

    def save(self, folder: Path, lineage: Lineage) -> str:
        write_two_tower(folder, self.shape, self.head, self.side, lineage)
        return f"two-tower:{folder}"


class _TrainableTransformers:
    """A transformers model with two towers, read from pictures."""

    def __init__(self, spec: str, target: str) -> None:
        from transformers import AutoTokenizer

        from likewise.encoders.families.huggingface.hub import find_folder
        from likewise.encoders.families.huggingface.model import load_network

        self.torch = import_optional("torch", "training")
        self.folder = find_folder(target)
        encoder = get_encoder(spec)
        assert isinstance(encoder, Network)
        self.recipe = encoder.recipe
        self.network: Any = move_to_device(load_network(str(self.folder)))
        self.tokenizer: Any = AutoTokenizer.from_pretrained(str(self.folder), local_files_only=True)
        self.network.eval()

    def image_inputs(self, workspace: WorkspaceFolder, images: Sequence[str]) -> PictureReader:
        return PictureReader(images, partial(read_prepared, workspace.root, self.recipe))

    def image(self, inputs: Inputs) -> Any:
        output = self.network.get_image_features(pixel_values=to_device(self.recipe.tensor(inputs)))
        return getattr(output, "pooler_output", output)

    def text(self, texts: Sequence[str]) -> Any:
        config = self.network.config
        longest = int(config.text_config.max_position_embeddings)
        padding = "max_length" if str(config.model_type).startswith("siglip") else True
        tokens = self.tokenizer(list(texts), padding=padding, truncation=True, max_length=longest, return_tensors="pt")
        output = self.network.get_text_features(**tokens.to(device()))
        return getattr(output, "pooler_output", output)

    def parameters(self, side: str) -> list[Any]:
        words = ("vision", "visual") if side == "image" else ("text",)
        return [value for name, value in self.network.named_parameters() if name.startswith(words)]

    def save(self, folder: Path, lineage: Lineage) -> str:
        folder.mkdir(parents=True, exist_ok=True)
        for file in self.folder.iterdir():
            if file.is_file() and file.suffix not in (".safetensors", ".bin", ".h5"):
                shutil.copyfile(file, folder / file.name)
        weights = {name: value.cpu() for name, value in self.network.state_dict().items()}
        self.network.save_pretrained(folder, state_dict=weights)
        write_lineage(lineage, lineage_file(folder))
        return f"hf:{folder}"
