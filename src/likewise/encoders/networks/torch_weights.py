"""Weights saved by torch, read without torch.

`torch.save` writes a pickle of names and shapes beside the raw numbers: since torch 1.6 both in one zip, before that
one after the other.  A pickle may run any code when it is read; here it may name tensors and the dictionary around
them, and a file that names anything else is refused.  What it names cannot be changed by the file either (a pickle
may set attributes): numbers are read only as a type of DTYPES, and no tensor is larger than the numbers it is of.
"""

import io
import math
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

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


class _Storage(NamedTuple):
    """Raw numbers of the file, by key."""

    key: str
    kind: str

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(DTYPES[self.kind])


class _Tensor(NamedTuple):
    """How a tensor looks at its storage; offset and strides count numbers, not bytes."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def array(self, raw: bytes) -> NDArray[Any]:
        """A copy in its own memory; NumPy refuses a view that leaves `raw`."""
        dtype = self.storage.dtype
        if math.prod(self.shape) * dtype.itemsize > len(raw):
            raise ValueError("a tensor is larger than the numbers it is of")
        strides = tuple(each * dtype.itemsize for each in self.strides)
        return np.ndarray(self.shape, dtype, raw, self.offset * dtype.itemsize, strides).copy()


class _Rebuild:
    """What torch names for a tensor; without attributes, which a pickle could set on a function."""

    __slots__ = ()

    def __call__(self, storage: Any, offset: Any, shape: Any, strides: Any, *ignored: object) -> _Tensor:
        if not isinstance(storage, _Storage):
            raise ValueError("a tensor has no numbers")
        return _Tensor(storage, int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


ALLOWED: dict[tuple[str, str], Callable[..., object]] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _Rebuild(),
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
        if kind not in DTYPES:
            raise ValueError(f"its numbers are of no known type ({kind})")
        return _Storage(str(key), str(kind))


def _read_zip(path: Path) -> Weights:
    with zipfile.ZipFile(path) as file:
        if any(part.compress_type != zipfile.ZIP_STORED for part in file.infolist()):
            raise ValueError("its parts are compressed, which torch does not do")
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
        sizes = {tensor.storage.key: tensor.storage.dtype.itemsize for tensor in described.values()}
        raw = {}
        for key in keys:
            n_numbers = int.from_bytes(file.read(8), "little")
            raw[key] = file.read(n_numbers * sizes[key])
    return _arrays(described, lambda storage: raw[storage.key])


def _arrays(described: Mapping[str, _Tensor], raw: Callable[[_Storage], bytes]) -> Weights:
    return {str(name): tensor.array(raw(tensor.storage)) for name, tensor in described.items()}
