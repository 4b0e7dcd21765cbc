"""`onnx:<file>`: any ONNX model from (n, 3, height, width) to one vector per picture.

How pictures are prepared stands in `<file>.json` beside it, as `likewise bundle encoder` writes it, or in the spec:
`onnx:model.onnx?size=224&mean=0.5/0.5/0.5&std=0.5/0.5/0.5`.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from likewise.encoders.digests import file_digest
from likewise.encoders.networks.from_spec import build_network, frame_options
from likewise.encoders.networks.model import NetworkModel
from likewise.encoders.networks.recipe import IMAGENET_MEAN, IMAGENET_STD, Recipe
from likewise.encoders.networks.runtimes import onnx_runtime, onnx_session
from likewise.encoders.protocol import Encoder, OpenEncoder
from likewise.encoders.spec import Spec
from likewise.errors import LikewiseError
from likewise.workspace import read_json

RECIPE_FIELDS = ("resize", "cut", "resample", "scale", "mean", "std", "pad", "crop")
SIDECAR_FIELDS = {*RECIPE_FIELDS, "label", "dim", "input", "output", "size"}


def open_onnx(part: Spec, open_encoder: OpenEncoder) -> Encoder:
    return build_network(part, onnx_model(part))


def onnx_model(part: Spec) -> NetworkModel:
    """The model of an `onnx:` spec."""
    path = Path(part.target).expanduser()
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: give the path of an ONNX file as onnx:FILE.")
    values = _sidecar(path)
    names = (part.get("input") or values.get("input"), part.get("output") or values.get("output"))
    recipe = _recipe(path, part, values, names[0])
    numbers = {"mean": part.floats("mean"), "std": part.floats("std")}
    recipe = replace(recipe, **{key: value for key, value in numbers.items() if value})  # type: ignore[arg-type]
    if len(recipe.mean) != 3 or len(recipe.std) != 3 or 0.0 in recipe.std:
        raise LikewiseError(f"{part.text!r}: mean and std must be three numbers each, std without zeros.")

    def dim() -> int:
        return int(onnx_runtime(path, *names)(np.zeros((1, 3, *recipe.side), np.float32)).shape[1])

    def digest() -> str:
        return f"{file_digest(path)} {names}"

    return NetworkModel(path.stem, recipe, dim, digest, open_onnx=lambda: onnx_runtime(path, *names))


def _sidecar(path: Path) -> dict[str, Any]:
    for beside in (path.with_name(path.name + ".json"), path.with_suffix(".json")):
        if beside.is_file():
            values = read_json(beside)
            if not isinstance(values, dict) or set(values) - SIDECAR_FIELDS:
                raise LikewiseError(
                    f"{beside} does not describe a preparation: its keys may be {sorted(SIDECAR_FIELDS)}."
                )
            return values
    return {}


def _recipe(path: Path, part: Spec, values: dict[str, Any], input_name: str | None) -> Recipe:
    size, frame = frame_options(part)
    if "resize" in values:
        try:
            known = {key: _tuple(values[key]) for key in RECIPE_FIELDS if key in values}
            return Recipe(**{"cut": None, **known}).with_frame(size, frame)
        except TypeError as error:
            raise LikewiseError(f"{path}.json does not describe a preparation ({error}).") from error
    size = size or values.get("size") or _size_in(path, input_name)
    if not size:
        raise LikewiseError(
            f"{path} does not say how large its pictures are: add ?size=224 (and mean, std), or put {path.name}.json "
            "with size, mean and std beside it."
        )
    usual = Recipe(size, (size, size), Image.Resampling.BICUBIC, mean=IMAGENET_MEAN, std=IMAGENET_STD)
    given = {key: _tuple(values[key]) for key in RECIPE_FIELDS if key in values}
    return replace(usual, **given).with_frame(None, frame)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _size_in(path: Path, input_name: str | None) -> int | None:
    """The size of the model's own input, where it is fixed."""
    inputs = onnx_session(path).get_inputs()
    shape = next((each.shape for each in inputs if each.name == input_name), inputs[0].shape)
    if len(shape) != 4 or (shape[1] not in (3, None) and not isinstance(shape[1], str)):
        raise LikewiseError(f"{path} takes {shape}, not (pictures, 3, height, width): export it in that layout.")
    return shape[2] if isinstance(shape[2], int) and shape[2] == shape[3] else None
