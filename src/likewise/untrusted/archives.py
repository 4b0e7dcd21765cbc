"""Zip archives of somebody else, such as the arrays of an .npz.

What would become more than a machine holds is refused before it is unpacked.
"""

import zipfile
import zlib
from collections.abc import Sequence
from lzma import LZMAError
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError

UNREADABLE_ZIP = (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, OSError, ValueError, RuntimeError)
"""What a zip raises that is damaged, encrypted, packed in an unknown way (NotImplementedError) or of another time."""
MAX_UNPACKED_BYTES = 2_000_000_000
MAX_PACKING = 50  # a larger file may become so many times its size


def refuse_large_archive(archive: zipfile.ZipFile, path: Path) -> None:
    """Before a part of it is read; no part becomes more than the archive says."""
    n_bytes = sum(part.file_size for part in archive.infolist())
    if n_bytes > max(MAX_UNPACKED_BYTES, MAX_PACKING * path.stat().st_size):
        raise LikewiseError(f"{path} becomes {n_bytes >> 20:,} MB: that is too much for one file, so split it.")


def read_npz(path: Path, names: Sequence[str] = ()) -> dict[str, NDArray[Any]]:
    """Its arrays, or of those that are named the ones that are there."""
    try:
        with zipfile.ZipFile(path) as archive:
            refuse_large_archive(archive, path)
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in names or stored.files if name in stored.files}
    except LikewiseError:
        raise
    except Exception as error:  # numpy parses a header as Python: damaged, it raises nearly anything
        why = next(iter(str(error).splitlines()), type(error).__name__)
        raise LikewiseError(f"{path} cannot be read as npz ({why}): write it again with `numpy.savez`.") from error
