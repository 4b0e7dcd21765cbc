"""How a network runs: torch on a GPU where there is one; on a CPU onnxruntime, where it is faster and equal.

onnxruntime works on one thread per batch and on several batches at a time: no core waits for another, and the sums do
not depend on how many cores there are.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from likewise.encoders.cache import cache_folder
from likewise.encoders.networks.device import FittingBatches, move_to_device, to_device, to_numpy
from likewise.encoders.networks.model import RunNetwork
from likewise.encoders.networks.recipe import Tensor
from likewise.encoders.protocol import Vectors
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional
from likewise.workspace import discard_result, write_atomically

if TYPE_CHECKING:
    from torch import nn


def torch_runtime(module: "nn.Module") -> RunNetwork:
    """The network on its device; a batch that is too large for it is divided."""
    torch = import_optional("torch", "this encoder")
    module, batches = move_to_device(module), FittingBatches()
    one_at_a_time = threading.Lock()  # torch divides a single batch over all cores itself

    def run(pixels: Tensor) -> Vectors:
        with one_at_a_time, torch.inference_mode():
            parts = batches.run(lambda part: to_numpy(module(to_device(pixels[part])).float()), len(pixels))
        return np.concatenate(parts)

    return run


def onnx_runtime(model: Path | bytes, input_name: str | None = None, output_name: str | None = None) -> RunNetwork:
    """A file, or what would stand in one."""
    session = onnx_session(model)
    input_name = _check_name(input_name, [each.name for each in session.get_inputs()], "input", model)
    output_name = _check_name(output_name, [each.name for each in session.get_outputs()], "output", model)

    def run(pixels: Tensor) -> Vectors:
        try:
            [features] = session.run([output_name], {input_name: np.ascontiguousarray(pixels)})
            return np.asarray(features, np.float32).reshape(len(pixels), -1)
        except Exception as error:  # its exceptions have no common base
            first = str(error).split("\n")[0][:200]
            raise LikewiseError(
                f"{_place(model)} opens and fails when it is run on {len(pixels)} pictures ({first}): export it again."
            ) from error

    return run


def cached_onnx_runtime(name: str, build: Callable[[], bytes]) -> RunNetwork:
    """An ONNX model that is built once and kept in the cache under a name that says what it was built from."""
    path = cache_folder() / "onnx" / name
    if path.is_file():
        try:
            return onnx_runtime(path)
        except LikewiseError:  # damaged
            path.unlink(missing_ok=True)
    model = build()
    try:
        write_atomically(path, lambda file: discard_result(file.write(model)))
    except OSError:  # no place for a cache
        return onnx_runtime(model)
    return onnx_runtime(path)


def onnx_session(model: Path | bytes):  # type: ignore[no-untyped-def]  # onnxruntime has no types
    """An inference session on one thread."""
    runtime = import_optional("onnxruntime", "an ONNX model")
    if isinstance(model, Path) and not model.is_file():
        raise LikewiseError(f"{model} does not exist: give the path of an ONNX file.")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    source = model if isinstance(model, bytes) else str(model)
    try:
        return runtime.InferenceSession(source, options, providers=runtime.get_available_providers())
    except Exception as error:  # its exceptions have no common base
        first = str(error).split("\n")[0]
        raise LikewiseError(f"{_place(model)} cannot be opened as an ONNX model ({first}): export it again.") from error


def _check_name(name: str | None, names: list[str], what: str, model: Path | bytes) -> str:
    if name is None:
        return names[0]
    if name not in names:
        raise LikewiseError(f"{_place(model)} has no {what} {name!r}: it has {', '.join(names)}.")
    return name


def _place(model: Path | bytes) -> str:
    return str(model) if isinstance(model, Path) else "a network in memory"
