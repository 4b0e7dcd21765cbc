"""The work of one worker process: a few pictures, decoded, prepared and encoded.

Chunks are small so that progress is smooth and workers share the load; because a vector does not depend on its
batch, their size leaves no trace in the result.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path

import numpy as np
from PIL import Image

from likewise.catalog.images import load_image
from likewise.encoders.files import LeftOut
from likewise.encoders.protocol import Combination, Encoder, Prepared, Vectors
from likewise.encoders.registry import get_encoder
from likewise.errors import LikewiseError

THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


@dataclass(frozen=True)
class Chunk:
    """Some images of one shard, to be encoded together, each decoded and prepared once for all encoders."""

    encoders: tuple[str, ...]
    root: Path
    images: tuple[str, ...]


@dataclass(frozen=True)
class EncodedChunk:
    """One encoder's vectors of the images that could be read, and why the others could not."""

    images: tuple[str, ...]
    vectors: Vectors
    left_out: tuple[LeftOut, ...]


def encode_chunk(chunk: Chunk) -> dict[str, EncodedChunk]:
    """The chunk as every one of its encoders sees it."""
    encoders = [get_encoder(spec) for spec in chunk.encoders]
    prepared: dict[str, list[Prepared]] = {encoder.name: [] for encoder in encoders}
    images: dict[str, list[str]] = {encoder.name: [] for encoder in encoders}
    left_out: dict[str, list[LeftOut]] = {encoder.name: [] for encoder in encoders}
    for image in chunk.images:
        pictures: dict[int, Image.Image] = {}
        ready: dict[str, Prepared] = {}
        for encoder in encoders:
            try:
                if encoder.pixels not in pictures:
                    pictures[encoder.pixels] = load_image(chunk.root / image, at_least=encoder.pixels)
            except Exception as error:  # whatever a decoder throws at a bad file, the others go on
                left_out[encoder.name].append(LeftOut(image, reason(error, chunk.root)))
                continue
            if encoder.preparation not in ready:
                ready[encoder.preparation] = encoder.prepare(pictures[encoder.pixels])
            prepared[encoder.name].append(ready[encoder.preparation])
            images[encoder.name].append(image)
    vectors: dict[str, Vectors] = {}
    for encoder in sorted(encoders, key=lambda encoder: isinstance(encoder, Combination)):  # parts first
        vectors[encoder.name] = checked(
            encoder, _encode(encoder, prepared[encoder.name], vectors), images[encoder.name]
        )
    return {name: EncodedChunk(tuple(images[name]), vectors[name], tuple(left_out[name])) for name in chunk.encoders}


def _encode(encoder: Encoder, batch: list[Prepared], done: dict[str, Vectors]) -> Vectors:
    """Encode a batch, from the vectors of its parts where the chunk has them already."""
    if not batch:
        return np.empty((0, encoder.dim), np.float32)
    if isinstance(encoder, Combination) and all(part in done for part in encoder.parts):
        return encoder.combine([done[part] for part in encoder.parts])
    return encoder.encode(batch)


def checked(encoder: Encoder, vectors: Vectors, images: list[str]) -> Vectors:
    """The vectors, if they are what the encoder promised."""
    if vectors.shape != (len(images), encoder.dim) or vectors.dtype != np.float32:
        raise LikewiseError(
            f"the encoder {encoder.name} gave {vectors.dtype} {vectors.shape} for {len(images)} pictures, "
            f"not float32 {(len(images), encoder.dim)}: correct its `encode` or its `dim`."
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise LikewiseError(
            f"the encoder {encoder.name} gave {images[bad[0]]} a value that is not a number: correct it."
        )
    return vectors


def reason(error: Exception, root: Path) -> str:
    """One line without the place of the pictures, so that a moved catalog gives the same files."""
    text = " ".join(str(error).split()).replace(f"{root}{os.sep}", "")
    return text or type(error).__name__


def start_worker() -> None:
    """In a fresh worker process: end with the parent, however it ends, instead of waiting forever for work."""
    parent = parent_process()
    if parent is None:
        return

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Processes started in here use one thread: as many processes as cores are already all the machine can do."""
    before = {name: os.environ.get(name) for name in THREAD_SETTINGS}
    os.environ.update(dict.fromkeys(THREAD_SETTINGS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
