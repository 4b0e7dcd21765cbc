"""`hf:<model id or folder>`: image (and text) encoders through transformers, without torchvision."""

import json
import logging
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.encoders.digests import file_digest
from likewise.encoders.families.huggingface.hub import find_folder, weight_files
from likewise.encoders.families.huggingface.image_processor import load_recipe
from likewise.encoders.families.huggingface.pooling import (
    TWO_TOWER_TYPES,
    choose_pooling,
    count_prefix_tokens,
    pool,
    pooled_dim,
)
from likewise.encoders.networks.device import device, move_to_device, to_numpy
from likewise.encoders.networks.from_spec import build_network, frame_options
from likewise.encoders.networks.model import NetworkModel
from likewise.encoders.networks.recipe import Recipe
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Encoder, OpenEncoder, Vectors
from likewise.encoders.short_names import resolve_short_name
from likewise.encoders.spec import Spec
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional, require_installed, suppress_output

if TYPE_CHECKING:
    from torch import nn

TEXTS_PER_BATCH = 64


def open_huggingface(part: Spec, open_encoder: OpenEncoder) -> Encoder:
    size, frame = frame_options(part)
    target = resolve_short_name(part).target
    return build_network(part, huggingface_model(target, pooling=part.get("pooling"), size=size, frame=frame))


def huggingface_model(
    target: str, *, pooling: str | None = None, size: int | None = None, frame: str | None = None
) -> NetworkModel:
    """A transformers model by id or folder."""
    require_installed("transformers", f"hf:{target}")
    require_installed("torch", f"hf:{target}")
    folder = find_folder(target)
    config = read_config(folder)
    if "pretrained_cfg" in config:
        import_optional("timm", f"hf:{target}")
    rule = choose_pooling(config, pooling)
    recipe = load_recipe(folder, config, size, frame)
    resized = size is not None or frame is not None

    def digest() -> str:
        return f"{file_digest(folder / 'config.json', *_weights(folder))} {rule}"

    return NetworkModel(
        label=f"{Path(target).name}-{rule}",
        recipe=recipe,
        find_dim=lambda: _dim(folder, config, rule, recipe),
        find_digest=cache(digest),
        load=_loader(folder, config, rule, resized),
    )


def read_config(folder: Path) -> dict[str, Any]:
    """The model's config.json."""
    path = folder / "config.json"
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LikewiseError(f"{path} cannot be read ({error}): fetch the model again.") from error
    if "model_type" not in config and "architecture" not in config:
        raise LikewiseError(f"{path} names no model_type, so this is no transformers model: export it to ONNX instead.")
    return config


def _weights(folder: Path) -> list[Path]:
    files = weight_files(folder)
    if not files:
        raise LikewiseError(f"{folder} has no weights: put its model.safetensors (or pytorch_model.bin) there.")
    return files


def _dim(folder: Path, config: dict[str, Any], rule: str, recipe: Recipe) -> int:
    known = pooled_dim(config, rule)
    if known is not None:
        return known
    torch = import_optional("torch", f"hf:{folder}")
    with torch.inference_mode():
        return int(_loader(folder, config, rule, True)()(torch.zeros(1, 3, *recipe.side)).shape[1])


def load_network(folder: str) -> Any:
    """The whole model, both towers, on the CPU: a copy of its own, which may be moved and trained."""
    _weights(Path(folder))
    transformers = import_optional("transformers", f"hf:{folder}")
    logging.getLogger("transformers").setLevel(logging.ERROR)
    try:
        with suppress_output():
            return transformers.AutoModel.from_pretrained(folder, local_files_only=True, dtype="float32").eval()
    except Exception as error:  # a damaged file, an unknown architecture, a missing library
        first = next(iter(str(error).strip().split("\n")), type(error).__name__)
        raise LikewiseError(f"the model in {folder} cannot be loaded ({first}).") from error


def _loader(folder: Path, config: dict[str, Any], rule: str, resized: bool) -> "Callable[[], nn.Module]":
    family = str(config.get("model_type", ""))

    def load() -> "nn.Module":
        torch = import_optional("torch", f"hf:{folder}")
        network = load_network(str(folder))
        if family in TWO_TOWER_TYPES and rule != "image_embeds":
            network = network.vision_model
        if family == "vit_mae":
            network.config.mask_ratio = 0.0
        n_prefix = count_prefix_tokens(config, network)
        more = {"interpolate_pos_encoding": True} if resized and _interpolates(network) else {}

        class PooledTransformer(torch.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.network = network

            def forward(self, pixels: Any) -> Any:
                if rule == "image_embeds":
                    output = self.network.get_image_features(pixel_values=pixels, **more)
                    return getattr(output, "pooler_output", output)
                if family == "vit_mae":  # all patches, in their own order
                    more["noise"] = _identity_noise(pixels, self.network.config.patch_size)
                return pool(self.network(pixel_values=pixels, **more), rule, n_prefix)

        pooled: nn.Module = PooledTransformer().eval()
        return pooled

    return load


def _interpolates(network: Any) -> bool:
    from inspect import signature

    network = getattr(network, "vision_model", network)
    return "interpolate_pos_encoding" in signature(network.forward).parameters


def _identity_noise(pixels: Any, patch: int) -> Any:
    torch = import_optional("torch", "vit_mae")
    n_patches = (pixels.shape[2] // patch) * (pixels.shape[3] // patch)
    return torch.arange(n_patches, dtype=torch.float32, device=pixels.device).expand(pixels.shape[0], n_patches)


def has_text_tower(target: str) -> bool:
    """Whether a model, which must be on this machine, has a text tower."""
    return read_config(find_folder(target)).get("model_type") in TWO_TOWER_TYPES


def encode_texts(target: str, texts: Sequence[str], *, unit: bool = True) -> Vectors:
    """Vectors of texts in the space that a two-tower model's pictures live in, of length one unless told otherwise."""
    folder = find_folder(target)
    config = read_config(folder)
    if config.get("model_type") not in TWO_TOWER_TYPES:
        raise LikewiseError(f"{target} ({config.get('model_type')}) has no text side: use CLIP or SigLIP for texts.")
    torch = import_optional("torch", f"hf:{target}")
    network, tokenizer = _text_network(str(folder)), _tokenizer(str(folder))
    # SigLIP learned with texts padded to full length; CLIP reads its end token, wherever it is
    padding = "max_length" if str(config["model_type"]).startswith("siglip") else True
    longest = int((config.get("text_config") or {}).get("max_position_embeddings") or 0) or None
    rows = []
    with torch.inference_mode():
        for start in range(0, len(texts), TEXTS_PER_BATCH):
            part = list(texts[start : start + TEXTS_PER_BATCH])
            tokens = tokenizer(part, padding=padding, truncation=True, max_length=longest, return_tensors="pt")
            output = network.get_text_features(**tokens.to(device()))
            rows.append(to_numpy(getattr(output, "pooler_output", output).float()))
    dim = pooled_dim(config, "image_embeds") or 0
    if not rows:
        return np.empty((0, dim), np.float32)
    return unit_rows(np.concatenate(rows)) if unit else np.concatenate(rows)


@cache
def _text_network(folder: str) -> Any:
    return move_to_device(load_network(folder))


@cache
def _tokenizer(folder: str) -> Any:
    transformers = import_optional("transformers", f"hf:{folder}")
    try:
        with suppress_output():
            return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception as error:
        first = next(iter(str(error).strip().split("\n")), type(error).__name__)
        raise LikewiseError(f"the tokenizer in {folder} cannot be loaded ({first}).") from error
