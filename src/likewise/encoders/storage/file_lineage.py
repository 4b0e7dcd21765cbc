"""What a model learned from, carried by a file of its vectors: inside npz, Parquet and safetensors, beside npy.

A copy of a file keeps what is inside of it; a record beside it (`FILE.lineage.parquet`) has to be copied along.
"""

from base64 import b64decode, b64encode
from pathlib import Path

import numpy as np
import polars as pl

from likewise.encoders.storage.files import meta_file
from likewise.errors import LikewiseError
from likewise.lineage.files import from_bytes, lineage_file, read_lineage, sidecar_file, to_bytes
from likewise.lineage.record import Lineage
from likewise.untrusted.archives import read_npz

KEY = "lineage"


def read_file_lineage(path: Path) -> Lineage | None:
    """The record inside of a file, beside it, or beside the shard of a workspace; None where there is none."""
    beside = read_lineage(sidecar_file(path))
    if beside is not None:
        return beside
    reader = {".npz": _npz, ".parquet": _parquet, ".safetensors": _safetensors}.get(path.suffix.lower())
    try:
        content = reader(path) if reader else None
    except LikewiseError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # every format has exceptions of its own
        why = next(iter(str(error).splitlines()), type(error).__name__)[:200]
        raise LikewiseError(f"{path} does not say what a model learned from ({why}): write it again.") from error
    if content is not None:
        return from_bytes(content, str(path))
    return read_lineage(lineage_file(path.parent)) if meta_file(path.parent).exists() else None


def as_text(lineage: Lineage) -> str:
    """For formats whose metadata are text."""
    return b64encode(to_bytes(lineage)).decode()


def as_array(lineage: Lineage) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """For formats that hold arrays only."""
    return np.frombuffer(to_bytes(lineage), np.uint8)


def _npz(path: Path) -> bytes | None:
    found = read_npz(path, (KEY,))
    return found[KEY].tobytes() if found else None


def _parquet(path: Path) -> bytes | None:
    text = pl.read_parquet_metadata(path).get(KEY)
    return None if text is None else b64decode(text, validate=True)


def _safetensors(path: Path) -> bytes | None:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        text = (file.metadata() or {}).get(KEY)
    return None if text is None else b64decode(text, validate=True)
