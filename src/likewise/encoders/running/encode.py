"""Run encoders over a catalog: shards in catalog order, many processes, nothing done twice.

A shard is written in one piece when all its images are through, so a killed run leaves finished shards and no
others, and the next run starts with the first shard that is missing.  The files of the built-in descriptors are the
same bytes whatever the number of workers and however often the run was stopped.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from likewise.catalog.file_cards import FILES, is_no_picture
from likewise.catalog.table import read_catalog
from likewise.encoders.digests import content_digest
from likewise.encoders.lineage import picture_lineage
from likewise.encoders.model_cards import BUILT_IN
from likewise.encoders.protocol import Encoder
from likewise.encoders.registry import get_encoder
from likewise.encoders.running.boxes import catalog_boxes
from likewise.encoders.running.chunk import Chunk, Preparer
from likewise.encoders.running.derive import derive_vectors, order_by_dependency
from likewise.encoders.running.pipeline import EncodingEngine, run_locally
from likewise.encoders.spec import parse_spec, spec_name
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
from likewise.encoders.storage.reading import has_imported_vectors, read_checked_meta
from likewise.encoders.storage.writing import ShardWriter
from likewise.errors import LikewiseError
from likewise.machine import usable_cores
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

CHUNK_IMAGES = 32  # also the batch of a network
SHARD_ROWS = 512


def encode_catalog(
    workspace: WorkspaceFolder,
    specs: Sequence[str],
    *,
    workers: int | None = None,
    shard_rows: int = SHARD_ROWS,
    force: bool = False,
    on_progress: ProgressCallback | None = None,
    engine: EncodingEngine = run_locally,
) -> list[EncodingResult]:
    """Encode every image of the catalog with every encoder, going on where an earlier run stopped.

    `workers` defaults to the number of usable cores; 1 works in this process.  `force` discards vectors that
    exist and makes them again; `engine` is what goes through the pictures, this machine by default.  From a
    script, call this under `if __name__ == "__main__":` (processes are spawned), or with `workers=1`.
    """
    if shard_rows < 1 or (workers is not None and workers < 1):
        raise LikewiseError("the number of workers and of rows per shard must be at least 1.")
    asked = [resolve_stored_spec(workspace, spec) for spec in dict.fromkeys(specs)]
    for spec in asked:
        if (name := spec_name(spec)) in BUILT_IN and spec != name:
            raise LikewiseError(f"{spec}: {name} is the name of a built-in encoder: choose another with `name=`.")
    from_pictures, from_vectors = order_by_dependency(workspace, asked)
    there = {spec: found for spec in from_pictures if (found := find_imported(workspace, spec))}
    needed = [spec for spec in from_pictures if spec not in there]
    if needed and workspace.settings()["source"] == FILES and all_no_pictures(workspace):
        raise LikewiseError(
            f"{needed[0]} looks at pictures, and the files of {workspace.path} are none: bring vectors along with "
            f"`likewise encode {workspace.quoted} --import FILE`."
        )
    done = there | _encode_images(
        workspace,
        needed,
        workers,
        shard_rows,
        on_progress,
        force=asked if force else (),
        engine=engine,
    )
    for spec in from_vectors:
        done[spec] = derive_vectors(workspace, spec, shard_rows, on_progress, force=force and spec in asked)
    return [done[spec] for spec in dict.fromkeys(asked)]


def all_no_pictures(workspace: WorkspaceFolder) -> bool:
    """Whether no file of the catalog is a picture."""
    return all(is_no_picture(Path(image)) for image in read_catalog(workspace)["image"])


def find_imported(workspace: WorkspaceFolder, spec: str) -> EncodingResult | None:
    """Vectors that were brought in under a name that no encoder has."""
    if any(sign in spec for sign in ":?/\\"):
        return None
    meta = read_meta(vectors_folder(workspace, spec))
    if meta is None or not has_imported_vectors(spec, meta):
        return None
    return EncodingResult.of(read_checked_meta(workspace, spec), len(read_catalog(workspace)), 0, 0.0)


@dataclass(frozen=True)
class EncodingJob:
    """One encoder and the files it fills."""

    spec: str
    encoder: Encoder
    writer: ShardWriter
    in_worker: bool


def _encode_images(
    workspace: WorkspaceFolder,
    specs: Sequence[str],
    workers: int | None,
    shard_rows: int,
    on_progress: ProgressCallback | None,
    *,
    force: Sequence[str],
    engine: EncodingEngine,
) -> dict[str, EncodingResult]:
    catalog = read_catalog(workspace)
    images = catalog["image"].to_list()
    with ExitStack() as opened:  # all are checked before the first picture is opened
        jobs = [_open_job(opened, workspace, spec, images, shard_rows, force=spec in force) for spec in specs]
        boxed = any(getattr(job.encoder, "box", False) for job in jobs)
        boxes = dict(zip(images, catalog_boxes(catalog), strict=True)) if boxed else {}
        root = workspace.root
        groups = group_by_missing_shards(jobs)
        chunks = (
            Chunk(
                tuple(job.spec for job in group if job.in_worker),
                root,
                tuple(some),
                tuple(Preparer.of(job.spec, job.encoder) for job in group if not job.in_worker),
                tuple(boxes[image] for image in some) if boxes else (),
            )
            for group in groups
            for shard in group[0].writer.missing
            for some in shard_chunks(group[0].writer, shard)
        )
        n_chunks = sum(
            len(shard_chunks(group[0].writer, shard)) for group in groups for shard in group[0].writer.missing
        )
        networks = {job.spec: job.encoder for job in jobs if not job.in_worker and job.writer.missing}
        results = opened.enter_context(closing(engine(chunks, min(workers or usable_cores(), n_chunks), networks)))
        return {spec: each for group in groups for spec, each in encode_group(group, results, on_progress).items()}


def _open_job(
    opened: ExitStack, workspace: WorkspaceFolder, spec: str, images: Sequence[str], shard_rows: int, *, force: bool
) -> EncodingJob:
    """An encoder and its files, which are closed with `opened`."""
    encoder, dtype = get_encoder(spec), parse_spec(spec)[0].get("dtype") or "float32"
    if getattr(encoder, "unscaled", False):
        if workspace.vectors_folder == WorkspaceFolder(workspace.path).vectors_folder:
            raise LikewiseError(f"{spec}: vectors have length one; leave `unscaled` out.")
        if dtype != "float32":
            raise LikewiseError(f"{spec}: features that keep their length are float32; leave `dtype` out.")
    meta = VectorsMeta(
        encoder.name,
        encoder.version,
        encoder.dim,
        0,
        shard_rows,
        complete=False,
        dtype=dtype,
        spec="" if spec == encoder.name else portable_spec(workspace, spec),
    )
    try_again = partial(image_file_changed, workspace.root)
    writer = ShardWriter(workspace, meta, images, picture_lineage(spec), force=force, try_again=try_again)
    return EncodingJob(spec, encoder, opened.enter_context(writer), in_worker=not hasattr(encoder, "load"))


def image_file_changed(root: Path, left_out: LeftOutImage) -> bool:
    """Whether an image that could not be read is another file now."""
    return content_digest(root / left_out.image) != left_out.file


def group_by_missing_shards(jobs: Sequence[EncodingJob]) -> list[list[EncodingJob]]:
    """Encoders that still need the same shards go through the pictures side by side, which decodes each once."""
    groups: list[list[EncodingJob]] = []
    for job in jobs:
        same = next((group for group in groups if group[0].writer.parts == job.writer.parts), None)
        if same is None:
            groups.append([job])
        else:
            same.append(job)
    return groups


def encode_group(
    group: Sequence[EncodingJob], results: Iterator[dict[str, EncodedChunk]], on_progress: ProgressCallback | None
) -> dict[str, EncodingResult]:
    """Write the missing shards of encoders that need the same ones, taking their chunks from the stream of results."""
    started = time.monotonic()
    first = group[0].writer
    names = ", ".join(job.encoder.name for job in group)
    new = sum(len(first.images_of(shard)) for shard in first.missing)
    done = len(first.images) - new

    def report() -> None:
        if on_progress:
            on_progress(names, done, len(first.images))

    report()
    for job in group:
        job.writer.start()
    for shard in first.missing:
        encoded = []
        for some in shard_chunks(first, shard):
            encoded.append(next(results))
            done += len(some)
            report()
        for job in group:
            job.writer.write_shard(shard, [chunk[job.spec] for chunk in encoded])
    metas = {job.spec: job.writer.finish() for job in group}
    seconds = time.monotonic() - started
    return {spec: EncodingResult.of(meta, len(first.images), new, seconds) for spec, meta in metas.items()}


def shard_chunks(writer: ShardWriter, shard: int) -> list[Sequence[str]]:
    """The images of a shard, a chunk at a time."""
    images = writer.images_of(shard)
    return [images[start : start + CHUNK_IMAGES] for start in range(0, len(images), CHUNK_IMAGES)]
