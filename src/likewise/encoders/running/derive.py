"""Vectors made from vectors that are stored already: several encoders side by side, principal components, whitening.

No picture is opened again, and the parts stay in the workspace under their own names.
"""

import hashlib
import time
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from likewise.catalog.table import read_catalog, select_catalog_rows
from likewise.encoders.families.derivation import Derivation, derivation_of
from likewise.encoders.families.joined import concatenate_vectors
from likewise.encoders.families.projection import Projection, fit_projection
from likewise.encoders.families.run_files import apply_layers, read_layers
from likewise.encoders.lineage import derived_lineage
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.files import (
    EncodedChunk,
    EncodingResult,
    LeftOutImage,
    VectorsMeta,
    portable_spec,
    read_meta,
    resolve_stored_spec,
    vectors_folder,
)
from likewise.encoders.storage.reading import read_checked_meta, read_vectors
from likewise.encoders.storage.writing import ShardWriter
from likewise.errors import LikewiseError
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder


def order_by_dependency(workspace: WorkspaceFolder, specs: Sequence[str]) -> tuple[list[str], list[str]]:
    """The encoders to run over pictures, and then the vectors to make from those, each after its parts."""
    from_pictures: dict[str, None] = {}
    from_vectors: dict[str, None] = {}

    def visit(spec: str) -> None:
        derivation = derivation_of(spec)
        if derivation is None:
            from_pictures[spec] = None
            return
        for part in derivation.parts:
            visit(resolve_stored_spec(workspace, part))
        from_vectors[spec] = None

    for spec in specs:
        visit(spec)
    return list(from_pictures), list(from_vectors)


def derive_vectors(
    workspace: WorkspaceFolder, spec: str, shard_rows: int, on_progress: ProgressCallback | None, *, force: bool = False
) -> EncodingResult:
    """Make the vectors of a derived spec, going on where an earlier run stopped."""
    started = time.monotonic()
    derivation = derivation_of(spec)
    assert derivation is not None
    catalog = read_catalog(workspace)
    images = catalog["image"].to_list()
    metas = [read_checked_meta(workspace, part) for part in derivation.parts]
    left_out = {each.image: each for meta in reversed(metas) for each in meta.left_out}
    dim = derivation.run.dim if derivation.run else derivation.components or sum(meta.dim for meta in metas)
    meta = VectorsMeta(
        derivation.name,
        _version(derivation, metas),
        dim,
        0,
        shard_rows,
        complete=False,
        dtype=derivation.dtype,
        spec=portable_spec(workspace, spec),
        rests_on={part.encoder: part.digest for part in metas},
    )
    lineage = derived_lineage(workspace, derivation)
    stored = read_meta(vectors_folder(workspace, derivation.name))
    if stored is not None and stored.complete and stored.version == meta.version:
        force = force or stored.rests_on != meta.rests_on  # cheap to make again, and a projection may be another one
    again = _has_vectors_now(left_out)
    with ShardWriter(workspace, meta, images, lineage, force=force, try_again=again) as writer:
        projection = None
        if writer.missing and derivation.components:
            projection = _fit(workspace, derivation, catalog, left_out, metas[0].dim)
        new = sum(len(writer.images_of(shard)) for shard in writer.missing)
        done = len(images) - new
        if writer.missing:
            writer.start()
        for shard in writer.missing:
            rows = writer.images_of(shard)
            chunk = _derive_chunk(workspace, derivation, rows, left_out, projection, dim)
            writer.write_shard(shard, [chunk])
            done += len(rows)
            if on_progress:
                on_progress(derivation.name, done, len(images))
        finished = writer.finish()
    return EncodingResult.of(finished, len(images), new, time.monotonic() - started)


def _has_vectors_now(left_out: Container[str]) -> Callable[[LeftOutImage], bool]:
    return lambda each: each.image not in left_out


def _version(derivation: Derivation, metas: Sequence[VectorsMeta]) -> str:
    trained = derivation.run.digest() if derivation.run else ""
    what = f"{[meta.version for meta in metas]} {replace(derivation, name='', parts=())}{trained}"
    return f"{derivation.name}@{hashlib.blake2b(what.encode(), digest_size=6).hexdigest()}"


def refit_projection(workspace: WorkspaceFolder, spec: str) -> tuple[str, Projection] | None:
    """Of principal components or whitening: the encoder below, and the projection that its vectors went through.

    It is fitted on the same vectors in the same order, so it is the one that made the stored vectors.
    """
    derivation = derivation_of(spec)
    if derivation is None or not derivation.components:
        return None
    [part] = derivation.parts
    meta = read_checked_meta(workspace, part)
    left_out = {each.image for each in meta.left_out}
    return part, _fit(workspace, derivation, read_catalog(workspace), left_out, meta.dim)


def _fit(
    workspace: WorkspaceFolder, derivation: Derivation, catalog: pl.DataFrame, left_out: Container[str], dim: int
) -> Projection:
    fitted_on = None if derivation.fitted_on in (None, "all") else str(derivation.fitted_on).replace(":", "=")
    images = [image for image in select_catalog_rows(catalog, fitted_on)["image"] if image not in left_out]
    components = derivation.components or 0
    if components > min(dim, len(images) - 1):
        raise LikewiseError(
            f"{derivation.name} asks for {components} components, but {len(images)} images with {dim} dimensions "
            f"({derivation.fitted_on}) give at most {max(0, min(dim, len(images) - 1))}: ask for fewer."
        )

    def blocks() -> Iterator[Vectors]:
        for start in range(0, len(images), 4096):
            yield read_vectors(workspace, derivation.parts[0], images[start : start + 4096])

    return fit_projection(blocks, components, whiten=derivation.whiten)


def _derive_chunk(
    workspace: WorkspaceFolder,
    derivation: Derivation,
    images: Sequence[str],
    left_out: dict[str, LeftOutImage],
    projection: Projection | None,
    dim: int,
) -> EncodedChunk:
    kept = [image for image in images if image not in left_out]
    parts = [read_vectors(workspace, part, kept) for part in derivation.parts]
    if derivation.run:
        vectors = apply_layers(parts, read_layers(derivation.run.weights()), derivation.run.groups)
    else:
        vectors = projection.apply(parts[0]) if projection else concatenate_vectors(parts, derivation.weights)
    vectors = unit_rows(vectors) if len(kept) else np.empty((0, dim), np.float32)
    return EncodedChunk(tuple(kept), vectors, tuple(left_out[image] for image in images if image in left_out))
