"""A perceptual hash: 256 bits that stay nearly the same when a picture is scaled, compressed or brightened.

The grey picture at 64 x 64 pixels is transformed by a discrete cosine transform (DCT-II); each of the 16 x 16 lowest
frequencies gives one bit, whether it is above their median (Zauner, "Implementation and benchmarking of perceptual
image hash functions", 2010). The hash of the mirrored picture follows from the same coefficients: mirroring changes
the sign of every odd horizontal frequency.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image

from likewise.catalog.images import load_image
from likewise.machine import usable_cores
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_parquet, write_parquet

SIDE, LOW = 64, 16
BITS = LOW * LOW
NO_HASH = "0" * (BITS // 2)  # of what is no picture, or gone
WORDS = BITS // 64
COPY_BITS = 32
"""Pictures whose hashes differ in at most so many bits are called copies; measured in docs/explore.md."""
Hashes = NDArray[np.uint64]
"""Rows of eight words: four of the picture, four of its mirror image."""

HASH_SCHEMA = {"image": pl.String, "digest": pl.String, "hash": pl.String}


def perceptual_hash(picture: Image.Image) -> str:
    """The hash of a picture and of its mirror image, as hexadecimal digits."""
    grey = np.asarray(picture.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX), dtype=np.float64)
    low = _cosines() @ grey @ _cosines().T
    return _bits(low) + _bits(low * np.where(np.arange(LOW) % 2, -1.0, 1.0))


def _bits(coefficients: NDArray[np.float64]) -> str:
    flat = coefficients.ravel()
    above = flat > np.median(flat[1:])  # the first is the mean brightness, which says nothing
    above[0] = False
    return np.packbits(above).tobytes().hex()


@cache
def _cosines() -> NDArray[np.float64]:
    places, frequencies = np.arange(SIDE), np.arange(LOW)
    return np.cos(np.pi * (places + 0.5) * frequencies[:, None] / SIDE)


def store_hashes(workspace: WorkspaceFolder, table: pl.DataFrame) -> None:
    """Keep the hashes (image, digest, hash) of a catalog's pictures."""
    write_parquet(table.select(*HASH_SCHEMA).sort("image"), workspace.hashes_file)


def read_hashes(
    workspace: WorkspaceFolder, catalog: pl.DataFrame, on_progress: ProgressCallback | None = None
) -> Hashes:
    """The hashes of every row; those that are not stored yet are made and stored. A picture that is gone has zeros."""
    stored = pl.DataFrame(schema=HASH_SCHEMA)
    if workspace.hashes_file.exists():
        stored = read_parquet(workspace.hashes_file, f"likewise explore {workspace.quoted}")
    wanted = catalog.select("image", "digest")
    missing = wanted.join(stored, on=["image", "digest"], how="anti")
    if len(missing):
        made = _hash_files(workspace.root, missing["image"].to_list(), on_progress)
        others = stored.join(missing, on="image", how="anti")
        stored = pl.concat([others, missing.with_columns(pl.Series("hash", made, pl.String))])
        store_hashes(workspace, stored)
    known = wanted.join(stored, on=["image", "digest"], how="left", maintain_order="left")
    return as_words(known["hash"].to_list())


def as_words(hashes: list[str]) -> Hashes:
    """Hexadecimal hashes as rows of 64-bit words."""
    content = bytes.fromhex("".join(one or NO_HASH for one in hashes))
    return np.frombuffer(content, dtype=">u8").astype(np.uint64).reshape(len(hashes), 2 * WORDS)


def _hash_files(root: Path, images: list[str], on_progress: ProgressCallback | None) -> list[str]:
    made = []
    with ThreadPoolExecutor(usable_cores()) as pool:
        for done, one in enumerate(pool.map(partial(_hash_file, root), images), 1):
            made.append(one)
            if on_progress:
                on_progress("hashing", done, len(images))
    return made


def _hash_file(root: Path, image: str) -> str:
    try:
        return perceptual_hash(load_image(root / image, at_least=SIDE))
    except Exception:  # whatever a decoder throws at a file that was damaged since the catalog was made
        return NO_HASH
