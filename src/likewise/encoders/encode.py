"""Run encoders over a catalog: shards in catalog order, many processes, nothing done twice.

A shard is written in one piece when all its images are through, so a killed run leaves finished shards and no
others, and the next run starts with the first shard that is missing.  The files are the same bytes whatever the
number of workers and however often the run was stopped.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing
from dataclasses import dataclass
from multiprocessing import get_context

from likewise.catalog.table import catalog_fingerprint, read_catalog
from likewise.encoders.chunk import Chunk, EncodedChunk, encode_chunk, one_thread_each, start_worker
from likewise.encoders.files import Meta
from likewise.encoders.registry import get_encoder
from likewise.encoders.writing import ShardWriter
from likewise.errors import LikewiseError
from likewise.workspace import Workspace

CHUNK_IMAGES = 32
CHUNKS_IN_FLIGHT = 4  # per worker: enough to keep all busy, few enough to bound the memory


@dataclass(frozen=True)
class Progress:
    """How far the encoders that run side by side are."""

    encoder: str
    done_images: int
    total_images: int
    seconds: float


@dataclass(frozen=True)
class Encoded:
    """What one encoder left in the workspace."""

    encoder: str
    dim: int
    images: int
    left_out: int
    new_images: int
    """How many images this run went through; 0 when everything was there already."""
    seconds: float
    """Of the encoders that ran side by side with it, together."""


def encode_catalog(
    workspace: Workspace,
    specs: Sequence[str],
    *,
    workers: int | None = None,
    shard_rows: int = 512,
    force: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Encoded]:
    """Encode every image of the catalog with every encoder, going on where an earlier run stopped.

    `workers` defaults to the number of usable cores; 1 works in this process.  `force` discards vectors that
    exist and makes them again.  From a script, call this under `if __name__ == "__main__":` (processes are
    spawned), or with `workers=1`.
    """
    if shard_rows < 1 or (workers is not None and workers < 1):
        raise LikewiseError("the number of workers and of rows per shard must be at least 1.")
    catalog = read_catalog(workspace)
    fingerprint, images = catalog_fingerprint(catalog), catalog["image"].to_list()
    with ExitStack() as opened:
        writers = []
        for spec in dict.fromkeys(specs):  # all are checked before the first picture is opened
            encoder = get_encoder(spec)
            meta = Meta(encoder.name, encoder.version, encoder.dim, 0, shard_rows, fingerprint, complete=False)
            writers.append(opened.enter_context(ShardWriter(workspace, meta, images, force=force)))
        groups = together(writers)
        n_chunks = sum(len(in_chunks(group[0], shard)) for group in groups for shard in group[0].missing)
        root = workspace.root
        chunks = (
            Chunk(tuple(writer.meta.encoder for writer in group), root, tuple(part))
            for group in groups
            for shard in group[0].missing
            for part in in_chunks(group[0], shard)
        )
        results = opened.enter_context(closing(run(chunks, min(workers or usable_cores(), n_chunks))))
        done = {each.encoder: each for group in groups for each in encode_group(group, results, on_progress)}
        return [done[writer.meta.encoder] for writer in writers]


def together(writers: Sequence[ShardWriter]) -> list[list[ShardWriter]]:
    """Encoders that still need the same shards go through the pictures side by side, which decodes each once."""
    groups: dict[tuple[int, ...], list[ShardWriter]] = {}
    for writer in writers:
        groups.setdefault((writer.meta.shard_rows, *writer.missing), []).append(writer)
    return list(groups.values())


def encode_group(
    group: Sequence[ShardWriter],
    results: Iterator[dict[str, EncodedChunk]],
    on_progress: Callable[[Progress], None] | None,
) -> list[Encoded]:
    """Write the missing shards of encoders that need the same ones, taking their chunks from the stream of results."""
    started = time.monotonic()
    first = group[0]
    names = ", ".join(writer.meta.encoder for writer in group)
    new = sum(len(first.images_of(shard)) for shard in first.missing)
    done = len(first.images) - new

    def tell() -> None:
        if on_progress:
            on_progress(Progress(names, done, len(first.images), time.monotonic() - started))

    tell()
    for writer in group:
        writer.start()
    for shard in first.missing:
        encoded = []
        for part in in_chunks(first, shard):
            encoded.append(next(results))
            done += len(part)
            tell()
        for writer in group:
            writer.write_shard(shard, [chunk[writer.meta.encoder] for chunk in encoded])
    metas = [writer.finish() for writer in group]
    seconds = time.monotonic() - started
    return [Encoded(meta.encoder, meta.dim, meta.rows, len(meta.left_out), new, seconds) for meta in metas]


def in_chunks(writer: ShardWriter, shard: int) -> list[Sequence[str]]:
    images = writer.images_of(shard)
    return [images[start : start + CHUNK_IMAGES] for start in range(0, len(images), CHUNK_IMAGES)]


def run(chunks: Iterable[Chunk], workers: int) -> Generator[dict[str, EncodedChunk], None, None]:
    """Encode chunks, here or in worker processes; results come in the order of the chunks."""
    if workers <= 1:
        yield from map(encode_chunk, chunks)
        return
    with one_thread_each():
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=start_worker)
        under_way: deque[Future[dict[str, EncodedChunk]]] = deque()
        try:
            for chunk in chunks:
                under_way.append(pool.submit(encode_chunk, chunk))
                if len(under_way) >= workers * CHUNKS_IN_FLIGHT:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        except BrokenProcessPool as error:
            raise LikewiseError(
                "a worker process ended unexpectedly (killed, out of memory, or started from a script without "
                '`if __name__ == "__main__":`): finished shards are kept and running again continues.'
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def usable_cores() -> int:
    """Cores this process may run on, which in a container is often fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
