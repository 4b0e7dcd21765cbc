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
    """How far one encoder is."""

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
        n_chunks = sum(len(in_chunks(writer, shard)) for writer in writers for shard in writer.missing)
        root = workspace.root
        chunks = (
            Chunk(writer.meta.encoder, root, tuple(part))
            for writer in writers
            for shard in writer.missing
            for part in in_chunks(writer, shard)
        )
        results = opened.enter_context(closing(run(chunks, min(workers or usable_cores(), n_chunks))))
        return [encode_one(writer, results, on_progress) for writer in writers]


def encode_one(
    writer: ShardWriter,
    results: Iterator[EncodedChunk],
    on_progress: Callable[[Progress], None] | None,
) -> Encoded:
    """Write the missing shards of one encoder, taking their chunks from the stream of results."""
    started = time.monotonic()
    new = sum(len(writer.images_of(shard)) for shard in writer.missing)
    done = len(writer.images) - new

    def tell() -> None:
        if on_progress:
            seconds = time.monotonic() - started
            on_progress(Progress(writer.meta.encoder, done, len(writer.images), seconds))

    tell()
    writer.start()
    for shard in writer.missing:
        encoded = []
        for part in in_chunks(writer, shard):
            encoded.append(next(results))
            done += len(part)
            tell()
        writer.write_shard(shard, encoded)
    meta = writer.finish()
    seconds = time.monotonic() - started
    return Encoded(meta.encoder, meta.dim, meta.rows, len(meta.left_out), new, seconds)


def in_chunks(writer: ShardWriter, shard: int) -> list[Sequence[str]]:
    images = writer.images_of(shard)
    return [images[start : start + CHUNK_IMAGES] for start in range(0, len(images), CHUNK_IMAGES)]


def run(chunks: Iterable[Chunk], workers: int) -> Generator[EncodedChunk, None, None]:
    """Encode chunks, here or in worker processes; results come in the order of the chunks."""
    if workers <= 1:
        yield from map(encode_chunk, chunks)
        return
    with one_thread_each():
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=start_worker)
        under_way: deque[Future[EncodedChunk]] = deque()
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
