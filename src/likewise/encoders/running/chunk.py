"""The work of one worker process: a few pictures, decoded, prepared and, by the built-in descriptors, encoded.

Chunks are small so that progress is smooth and workers share the load; they are also the batches of networks, whose
prepared pictures go back to the process that holds the weights.  A descriptor's vector does not depend on its batch,
so there the size of a chunk leaves no trace in the result.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

from likewise.catalog.images import load_image
from likewise.encoders.digests import content_digest
from likewise.encoders.protocol import CombinedEncoder, Encoder, Prepared, Vectors
from likewise.encoders.registry import get_encoder
from likewise.encoders.running.boxes import Box, crop_box, pixels_for_box
from likewise.encoders.storage.files import EncodedChunk, LeftOutImage
from likewise.errors import LikewiseError
from likewise.machine import keep_freed_memory


@dataclass(frozen=True)
class Preparer:
    """What a worker needs to make pictures ready for one encoder."""

    spec: str
    pixels: int
    preparation: str
    prepare: Callable[[Image.Image], Prepared]
    box: bool

    @classmethod
    def of(cls, spec: str, encoder: Encoder) -> "Preparer":
        recipe = getattr(encoder, "recipe", encoder)  # a recipe travels lighter than a network
        box = bool(getattr(encoder, "box", False))
        return cls(spec, encoder.pixels, encoder.preparation, recipe.prepare, box)


@dataclass(frozen=True)
class Chunk:
    """Some images of one shard, to be encoded together, each decoded and prepared once for all encoders."""

    encoders: tuple[str, ...]
    root: Path
    images: tuple[str, ...]
    networks: tuple[Preparer, ...] = ()
    boxes: tuple[Box | None, ...] = ()


@dataclass
class PreparedChunk:
    """Pictures ready for one encoder, and those that could not be read."""

    images: list[str] = field(default_factory=list)
    batch: list[Prepared] = field(default_factory=list)
    stack: Prepared | None = None
    """Instead of `batch` while travelling between processes."""
    left_out: list[LeftOutImage] = field(default_factory=list)


def encode_chunk(chunk: Chunk) -> dict[str, EncodedChunk | PreparedChunk]:
    """The chunk as every one of its encoders sees it: vectors of the descriptors, pictures ready for the networks."""
    keep_freed_memory()
    encoders = {spec: get_encoder(spec) for spec in chunk.encoders}
    preparers = [Preparer.of(spec, encoder) for spec, encoder in encoders.items()]
    prepared = prepare_chunk(chunk, [*preparers, *chunk.networks])
    done: dict[str, EncodedChunk] = {}
    for spec in sorted(encoders, key=lambda spec: isinstance(encoders[spec], CombinedEncoder)):  # parts first
        done[spec] = encode_prepared(encoders[spec], prepared[spec], done)
    return done | {each.spec: stack_batch(prepared[each.spec]) for each in chunk.networks}


def prepare_chunk(chunk: Chunk, preparers: list[Preparer]) -> dict[str, PreparedChunk]:
    """Every picture decoded once per size and prepared once per way of preparing."""
    prepared = {each.spec: PreparedChunk() for each in preparers}
    boxes = chunk.boxes or (None,) * len(chunk.images)
    of_networks = {each.spec for each in chunk.networks}
    for image, box in zip(chunk.images, boxes, strict=True):
        pictures: dict[tuple[int, bool], Image.Image] = {}
        ready: dict[tuple[str, bool], Prepared] = {}
        for each in preparers:
            cut = box if each.box else None
            size, way = (each.pixels, each.box), (each.preparation, each.box)
            try:
                if size not in pictures:
                    picture = load_image(chunk.root / image, at_least=pixels_for_box(each.pixels, cut))
                    pictures[size] = crop_box(picture, cut) if cut else picture
                if way not in ready and each.spec in of_networks:
                    ready[way] = each.prepare(pictures[size])
            except Exception as error:  # whatever a decoder throws at a bad file, the others go on
                prepared[each.spec].left_out.append(
                    LeftOutImage(image, error_reason(error, chunk.root), content_digest(chunk.root / image))
                )
                continue
            if way not in ready:
                ready[way] = each.prepare(pictures[size])
            prepared[each.spec].batch.append(ready[way])
            prepared[each.spec].images.append(image)
    return prepared


def stack_batch(prepared: PreparedChunk) -> PreparedChunk:
    """Pictures of one shape as one array, which travels faster."""
    if len({(each.shape, each.dtype) for each in prepared.batch}) == 1:
        prepared.stack, prepared.batch = np.stack(prepared.batch), []
    return prepared


def encode_prepared(
    encoder: Encoder, prepared: PreparedChunk, done: dict[str, EncodedChunk] | None = None
) -> EncodedChunk:
    """Prepared pictures to vectors, from the vectors of their parts where the chunk has them already."""
    done = done or {}
    batch = list(prepared.stack) if prepared.stack is not None else prepared.batch
    if not batch:
        vectors = np.empty((0, encoder.dim), np.float32)
    elif isinstance(encoder, CombinedEncoder) and all(part in done for part in encoder.parts):
        vectors = encoder.combine([done[part].vectors for part in encoder.parts])
    else:
        vectors = encoder.encode(batch)
    return EncodedChunk(
        tuple(prepared.images), check_vectors(encoder, vectors, prepared.images), tuple(prepared.left_out)
    )


def check_vectors(encoder: Encoder, vectors: Vectors, images: list[str]) -> Vectors:
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


def error_reason(error: Exception, root: Path) -> str:
    """One line without the place of the pictures, so that a moved catalog gives the same files."""
    text = " ".join(str(error).split()).replace(f"{root}{os.sep}", "")
    return text or type(error).__name__
