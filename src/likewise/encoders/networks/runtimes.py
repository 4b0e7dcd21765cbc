"""How a network runs: torch on a GPU where there is one; on a CPU onnxruntime, where it is faster and equal.

onnxruntime works on one thread per batch and on several batches at a time: no core waits for another, and the sums do
not depend on how many cores there are.
"""

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from likewise.encoders.networks.model import RunNetwork
from likewise.encoders.networks.recipe import Tensor
from likewise.encoders.protocol import Vectors
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional, installed_version

if TYPE_CHECKING:
    from torch import nn


def device() -> str:
    """`LIKEWISE_DEVICE`, or a GPU where torch sees one, or the CPU."""
    chosen = os.environ.get("LIKEWISE_DEVICE")
    if chosen:
        return chosen
    if installed_version("torch").endswith("+cpu"):
        return "cpu"  # known without the seconds that importing torch takes
    torch = import_optional("torch", "this encoder")
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def torch_runtime(module: "nn.Module") -> RunNetwork:
    torch = import_optional("torch", "this encoder")
    place = device()
    module = module.to(place)
    one_at_a_time = threading.Lock()  # torch divides a single batch over all cores itself

    def run(pixels: Tensor) -> Vectors:
        with one_at_a_time, torch.inference_mode():
            vectors: Vectors = module(torch.from_numpy(pixels).to(place)).float().cpu().numpy()
            return vectors

    return run


def onnx_runtime(path: Path, input_name: str | None = None, output_name: str | None = None) -> RunNetwork:
    session = onnx_session(path)
    input_name = _check_name(input_name, [each.name for each in session.get_inputs()], "input", path)
    output_name = _check_name(output_name, [each.name for each in session.get_outputs()], "output", path)

    def run(pixels: Tensor) -> Vectors:
        [features] = session.run([output_name], {input_name: np.ascontiguousarray(pixels)})
        return np.asarray(features, np.float32).reshape(len(pixels), -1)

    return run


def onnx_session(path: Path):  # type: ignore[no-untyped-def]  # onnxruntime has no types
    """An inference session on one thread."""
    runtime = import_optional("onnxruntime", f"onnx:{path}")
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: give the path of an ONNX file.")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return runtime.InferenceSession(str(path), options, providers=runtime.get_available_providers())
    except Exception as error:  # its exceptions have no common base
        first = str(error).split("\n")[0]
        raise LikewiseError(f"{path} cannot be opened as an ONNX model ({first}): export it again.") from error


def _check_name(name: str | None, names: list[str], what: str, path: Path) -> str:
    if name is None:
        return names[0]
    if name not in names:
        raise LikewiseError(f"{path} has no {what} {name!r}: it has {', '.join(names)}.")
    return name
