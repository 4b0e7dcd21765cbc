"""Weights saved by torch, read without torch.

`torch.save` writes a pickle of names and shapes beside the raw numbers: since torch 1.6 both in one zip, before that
one after the other.  A pickle may run any code when it is read; here it may name tensors and the dictionary around
them, and a file that names anything else is refused.
"""

import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError

Weights = dict[str, NDArray[Any]]

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
DTYPES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "<i1",
    "ByteStorage": "<u1",
    "BoolStorage": "|b1",
}


def read_torch_weights(path: Path) -> Weights:
    """The tensors of a state dict by name."""
    try:
        tensors = _read_zip(path) if zipfile.is_zipfile(path) else _read_legacy(path)
    except LikewiseError:
        raise
    except Exception as error:  # a damaged pickle may raise anything
        raise LikewiseError(
            f"{path} cannot be read as weights that torch saved ({error}): install its package again."
        ) from error
    return tensors


@dataclass(frozen=True)
class _Storage:
    """Raw numbers of the file, by key."""

    key: str
    dtype: str


@dataclass(frozen=True)
class _Tensor:
    """How a tensor looks at its storage; offset and strides count numbers, not bytes."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def array(self, raw: bytes) -> NDArray[Any]:
        """A copy in its own memory; NumPy refuses a view that leaves `raw`."""
        dtype = np.dtype(self.storage.dtype)
        strides = tuple(each * dtype.itemsize for each in self.strides)
        return np.ndarray(self.shape, dtype, raw, self.offset * dtype.itemsize, strides).copy()


def _rebuild_tensor(
    storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *ignored: object
) -> _Tensor:
    return _Tensor(storage, offset, shape, strides)


ALLOWED: dict[tuple[str, str], Callable[..., object]] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
}


class _TensorUnpickler(pickle.Unpickler):
    """Knows tensors and nothing else."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        super().__init__(file, encoding="utf-8")
        self.path = path

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name in DTYPES:
            return name
        if (module, name) not in ALLOWED:
            raise LikewiseError(
                f"{self.path} holds more than tensors (it asks for {module}.{name}), so it was not read: "
                "use weights from a source you trust, saved as a state dict."
            )
        return ALLOWED[module, name]

    def persistent_load(self, pid: Any) -> _Storage:
        _, kind, key, *_ = pid  # "storage", its type, its key, and where it was
        return _Storage(str(key), DTYPES[kind])


def _read_zip(path: Path) -> Weights:
    with zipfile.ZipFile(path) as file:
        [index] = [name for name in file.namelist() if name.endswith("/data.pkl")]
        described = _TensorUnpickler(io.BytesIO(file.read(index)), path).load()
        folder = index.removesuffix("data.pkl")
        return _arrays(described, lambda storage: file.read(f"{folder}data/{storage.key}"))


def _read_legacy(path: Path) -> Weights:
    with path.open("rb") as file:
        magic, _, _ = (_TensorUnpickler(file, path).load() for _ in range(3))  # and the version, and the machine
        if magic != LEGACY_MAGIC:
            raise ValueError("it does not begin as such a file does")
        described = _TensorUnpickler(file, path).load()
        keys: list[str] = _TensorUnpickler(file, path).load()
        sizes = {tensor.storage.key: np.dtype(tensor.storage.dtype).itemsize for tensor in described.values()}
        raw = {}
        for key in keys:
            n_numbers = int.from_bytes(file.read(8), "little")
            raw[key] = file.read(n_numbers * sizes[key])
    return _arrays(described, lambda storage: raw[storage.key])


def _arrays(described: Mapping[str, _Tensor], raw: Callable[[_Storage], bytes]) -> Weights:
    return {str(name): tensor.array(raw(tensor.storage)) for name, tensor in described.items()}
