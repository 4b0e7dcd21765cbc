"""A torch network as an ONNX file, checked against the original before anybody uses it.

On a CPU onnxruntime is usually several times faster.  The first run of an encoder exports it into the cache, compares
the two on pictures in batches of two sizes, times both, and writes down which to use; later runs read that.
"""

import hashlib
import logging
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from likewise.encoders.cache import cache_folder
from likewise.encoders.networks.device import one_torch_thread
from likewise.encoders.networks.model import NetworkModel, RunNetwork
from likewise.encoders.networks.recipe import Tensor
from likewise.encoders.networks.runtimes import onnx_runtime, torch_runtime
from likewise.encoders.normalization import unit_rows
from likewise.errors import LikewiseError
from likewise.files import new_file
from likewise.optional_dependencies import import_optional, installed_version, require_installed, suppress_output
from likewise.workspace import read_json, write_json

if TYPE_CHECKING:
    from torch import nn

MAX_DIFFERENCE = 1e-5  # between unit vectors
BATCHES = (4, 3, 1)  # exported with the first, checked with all
TIMED_ROUNDS = 3


@dataclass(frozen=True)
class ExportCheck:
    """What was found out about one export."""

    max_difference: float
    torch_images_per_second: float
    onnx_images_per_second: float
    problem: str = ""

    @property
    def equal(self) -> bool:
        return not self.problem and self.max_difference <= MAX_DIFFERENCE

    @property
    def better(self) -> bool:
        return self.equal and self.onnx_images_per_second > self.torch_images_per_second


def export_to_onnx(model: NetworkModel, target: Path) -> ExportCheck:
    """Write `target` and a JSON file with its preparation beside it; raise when it differs from the original."""
    if model.load is None:
        raise LikewiseError(f"{model.label} is no torch network: only those can be exported.")
    target.parent.mkdir(parents=True, exist_ok=True)
    result = _export_and_check(model, model.load(), target)
    if not result.equal:
        target.unlink(missing_ok=True)
        why = result.problem or f"its vectors differ by {result.max_difference:.1e}"
        raise LikewiseError(f"{model.label} cannot be exported to ONNX ({why}): use it with torch.")
    write_json(onnx_sidecar(model), sidecar_file(target))
    return result


def sidecar_file(model_file: Path) -> Path:
    return model_file.with_name(model_file.name + ".json")


def onnx_sidecar(model: NetworkModel) -> dict[str, object]:
    """What somebody needs to know to feed the file."""
    values = {"label": model.label, "dim": model.find_dim(), "input": "pixels", "output": "features"}
    return values | asdict(model.recipe)


def cached_export(model: NetworkModel, *, insist: bool = False) -> Path | None:
    """The exported file if it is the better way to run the model on this machine, made once."""
    require_installed("torch", model.label)
    if not (installed_version("onnx") and installed_version("onnxruntime")):
        return None
    folder = cache_folder() / "onnx"
    target = folder / f"{_key(model)}.onnx"
    notes = target.with_suffix(".json")
    result = _read(notes)
    if result and result.equal and not target.exists():
        result = None  # somebody removed the file
    if result is None:
        assert model.load is not None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            result = _export_and_check(model, model.load(), target)
            if not result.equal:
                target.unlink(missing_ok=True)
            write_json(asdict(result), notes)
        except OSError:
            return None  # no place for a cache: torch does as well
    usable = target.exists() and (result.better or (insist and result.equal))
    if insist and not usable:
        raise LikewiseError(f"{model.label} cannot run as ONNX ({result.problem or result.max_difference}).")
    return target if usable else None


def _key(model: NetworkModel) -> str:
    libraries = [installed_version(name) for name in ("torch", "transformers", "onnxruntime")]
    what = f"{model.find_digest()} {model.recipe.side} {libraries} {platform.machine()} {platform.processor()}"
    label = "".join(sign if sign.isalnum() or sign in "-._" else "-" for sign in model.label)
    return f"{label}-{hashlib.blake2b(what.encode(), digest_size=6).hexdigest()}"


def _read(notes: Path) -> ExportCheck | None:
    try:
        return ExportCheck(**read_json(notes))
    except (LikewiseError, OSError, TypeError):
        return None


def _export_and_check(model: NetworkModel, module: "nn.Module", target: Path) -> ExportCheck:
    pixels = sample_pictures(model, BATCHES[0])
    try:
        with new_file(target) as (temporary, _):
            _write_onnx(module, pixels, temporary)
            original, exported = torch_runtime(module), onnx_runtime(temporary)
            difference = max(_difference(original, exported, pixels[:batch]) for batch in BATCHES)
            with one_torch_thread():
                slow, fast = _speed(original, pixels), _speed(exported, pixels)
        return ExportCheck(difference, slow, fast)
    except LikewiseError:
        raise
    except Exception as error:  # a network the exporter or onnxruntime cannot do: torch still can
        first = next(iter(str(error).strip().split("\n")), "") or type(error).__name__
        return ExportCheck(float("inf"), 0.0, 0.0, first[:200])


def _write_onnx(module: "nn.Module", pixels: Tensor, target: Path) -> None:
    torch = import_optional("torch", "export")
    import_optional("onnx", "export")
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with suppress_output(), torch.inference_mode():
        torch.onnx.export(
            module.cpu(),  # a file is for every device
            (torch.from_numpy(pixels),),
            str(target),
            dynamo=False,
            input_names=["pixels"],
            output_names=["features"],
            dynamic_axes={"pixels": {0: "batch"}, "features": {0: "batch"}},
        )


def sample_pictures(model: NetworkModel, n_pictures: int) -> Tensor:
    """Smooth random pictures, prepared: nearer to photographs than noise is."""
    from PIL import Image

    rng = np.random.default_rng(0)
    height, width = model.recipe.side
    coarse = rng.integers(0, 256, (n_pictures, 8, 8, 3), dtype=np.uint8)
    pictures = [Image.fromarray(each).resize((width, height), Image.Resampling.BICUBIC) for each in coarse]
    return model.recipe.tensor(np.stack([np.asarray(picture).transpose(2, 0, 1) for picture in pictures]))


def _difference(original: RunNetwork, exported: RunNetwork, pixels: Tensor) -> float:
    return float(np.abs(unit_rows(original(pixels)) - unit_rows(exported(pixels))).max())


def _speed(run: RunNetwork, pixels: Tensor) -> float:
    """Images per second of one core, the best of a few rounds."""
    seconds = []
    for _ in range(TIMED_ROUNDS):
        started = time.perf_counter()
        run(pixels)
        seconds.append(time.perf_counter() - started)
    return len(pixels) / min(seconds)
