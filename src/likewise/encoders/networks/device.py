"""Where networks run: the one place that decides it, and what everything with a network goes through.

`LIKEWISE_DEVICE` names a device of torch (`cuda`, `cuda:1`, `mps`, `cpu`); without it the first of CUDA, MPS and the
CPU that is there. A network goes to it with `move_to_device`, its inputs with `to_device`, what it says comes back with
`to_numpy`. Networks train in bfloat16 where the device has fast arithmetic for it (`mixed_precision`); vectors are
always computed in float32, because they are kept and compared.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional, installed_version

if TYPE_CHECKING:
    from torch import nn

    Module = TypeVar("Module", bound=nn.Module)

VARIABLE, PRECISION_VARIABLE = "LIKEWISE_DEVICE", "LIKEWISE_PRECISION"
PRECISIONS = ("float32", "bfloat16")
OUT_OF_MEMORY = ("out of memory", "not enough memory", "can't allocate memory")  # as CUDA, MPS and CPU say it


def device() -> str:
    """The device of this process."""
    wanted = os.environ.get(VARIABLE, "").strip()
    if wanted == "cpu" or (not wanted and not _may_have_accelerator()):
        return "cpu"  # known without the seconds that importing torch takes
    torch = import_optional("torch", f"{VARIABLE}={wanted}" if wanted else "this network")
    if wanted:
        return _check(torch, wanted)
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _may_have_accelerator() -> bool:
    version = installed_version("torch")
    return bool(version) and not version.endswith("+cpu")


def _check(torch: Any, wanted: str) -> str:
    """The device that the user asked for, if it is there."""
    try:
        asked = torch.device(wanted)
    except RuntimeError:
        raise LikewiseError(
            f"{VARIABLE}={wanted} names no device of torch: use cuda, cuda:1, mps or cpu, or unset it."
        ) from None
    n_there = _count(torch, asked.type)
    if n_there == 0:
        raise LikewiseError(
            f"{VARIABLE}={wanted} asks for a device that torch {torch.__version__} does not see here: install a build "
            f"of torch for it, or unset {VARIABLE} to use what is there."
        )
    if asked.index is not None and asked.index >= n_there:
        raise LikewiseError(
            f"{VARIABLE}={wanted} asks for number {asked.index}, and there is {n_there}, counted from 0: "
            f"use {asked.type}:{n_there - 1} or less."
        )
    return wanted


def _count(torch: Any, kind: str) -> int:
    """How many devices of a kind are there."""
    if kind == "cpu":
        return 1
    if kind == "mps":
        return int(torch.backends.mps.is_available())
    module = getattr(torch, kind, None)
    return int(module.device_count()) if module is not None and module.is_available() else 0


def move_to_device(module: "Module") -> "Module":
    """A network on the device; with pictures in the order of memory that convolutions are fastest in."""
    torch = import_optional("torch", "this network")
    module.to(device())
    if any(isinstance(part, torch.nn.Conv2d) for part in module.modules()):
        module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return module


def to_device(values: NDArray[Any]) -> Any:
    """An array as a tensor on the device; pictures as `move_to_device` wants them."""
    torch = import_optional("torch", "this network")
    tensor = torch.from_numpy(np.ascontiguousarray(values)).to(device())
    return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor


def to_numpy(tensor: Any) -> NDArray[Any]:
    """What a network said, in the memory of this process."""
    values: NDArray[Any] = tensor.detach().cpu().numpy()
    return values


def mixed_precision() -> AbstractContextManager[Any]:
    """Around the forward pass of a training step: bfloat16 where that is fast, or what LIKEWISE_PRECISION says."""
    wanted = os.environ.get(PRECISION_VARIABLE, "").strip()
    if wanted and wanted not in PRECISIONS:
        raise LikewiseError(f"{PRECISION_VARIABLE}={wanted} is unknown: use {' or '.join(PRECISIONS)}, or unset it.")
    kind = device().split(":")[0]
    torch = import_optional("torch", "training")
    fast = kind == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    if wanted == "float32" or not (wanted or fast):
        return nullcontext()
    autocast: AbstractContextManager[Any] = torch.autocast(kind, dtype=torch.bfloat16)
    return autocast


class FittingBatches:
    """Runs batches that fit: one for which the device has no memory is halved, and later ones are no larger."""

    def __init__(self) -> None:
        self.largest: int | None = None

    def run(self, function: Callable[[slice], Any], n: int, restart: Callable[[], None] | None = None) -> list[Any]:
        """`function` of parts of 0..n, in order, as large as fits.

        With `restart` what was done before a part that did not fit is undone, and all of it is done again.
        """
        done: list[Any] = []
        start = 0
        while start < n:
            size = min(n - start, self.largest or n)
            try:
                done.append(function(slice(start, start + size)))
            except (RuntimeError, MemoryError) as error:
                if size == 1 or not _is_out_of_memory(error):
                    raise
                self.largest = size // 2
                _free()
                if restart:
                    restart()
                    start, done = 0, []
                continue
            start += size
        return done


def _is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in OUT_OF_MEMORY)


def _free() -> None:
    torch = import_optional("torch", "this network")
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


@contextmanager
def memory_explained(advice: str) -> Iterator[None]:
    """Where a batch cannot be divided: a device without enough memory is a sentence with what to do."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if _is_out_of_memory(error):
            raise LikewiseError(f"{device()} has not enough memory for one batch: {advice}.") from error
        raise


@contextmanager
def repeatable_kernels() -> Iterator[None]:
    """Let training with one seed give the same weights each time, also on several threads.

    Sums that threads share are added in one order, by torch's deterministic kernels (a device without one of them says
    so). Another number of threads, another device or another torch still rounds differently.
    """
    torch = import_optional("torch", "training")
    before, only_warned = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=only_warned)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Torch computes on one thread: for results that must not depend on their number, and for the time of one core."""
    torch = import_optional("torch", "a network")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
