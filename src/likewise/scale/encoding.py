"""Encoding as a Ray Data pipeline: the chunks of `encoders/running` go through pools of actors on the cluster.

An actor does with a chunk exactly what a worker process and the network's process do on one machine, with the same
batches and one thread each, so the vectors are the same bits; shards are still written by the one process that holds
the folder's lock.  Without a GPU one pool decodes and encodes; with GPUs a pool on the cores makes pictures ready and a
pool on the GPUs runs the networks.  Ray gives a killed actor's chunk to another one; what arrives out of order waits.
"""

import pickle
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from likewise.encoders.protocol import Encoder
from likewise.encoders.registry import get_encoder
from likewise.encoders.running.chunk import Chunk, encode_chunk
from likewise.encoders.running.pipeline import EncodedResults, PartlyEncoded, encode_with_networks, load_networks
from likewise.errors import LikewiseError
from likewise.scale.cluster import cluster, cluster_cores, to_likewise_error

CHUNKS_PER_CORE = 1024  # of one pipeline: bounds what waits in Ray's memory; a long catalog takes several in a row
CPUS_PER_ACTOR = 0.5  # as many actors as cores leave Ray room for its own tasks

Batch = dict[str, Any]


class Actor:
    """What runs on the cluster: pickled work in, pickled work out, one row at a time."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work

    def __call__(self, batch: Batch) -> Batch:
        done = [pickle.dumps(self.work(pickle.loads(each)), protocol=5) for each in batch["work"]]
        return {"place": batch["place"], "work": np.array([*done, b""], dtype=object)[:-1]}


def decode(chunk: Chunk) -> PartlyEncoded:
    """The part of a chunk that needs the pictures."""
    if not Path(chunk.root).is_dir():
        raise LikewiseError(f"{chunk.root} is not there on a worker: every machine must see the pictures at that path.")
    return encode_chunk(chunk)


def run_networks(half_done: PartlyEncoded, specs: tuple[str, ...]) -> EncodedResults:
    """The part that needs the weights, which this process loads once."""
    return encode_with_networks(half_done, {spec: get_encoder(spec) for spec in specs})


def decode_and_run(chunk: Chunk, specs: tuple[str, ...]) -> EncodedResults:
    return run_networks(decode(chunk), specs)


def run_on_ray(
    chunks: Iterable[Chunk], workers: int, networks: Mapping[str, Encoder], *, address: str | None = None
) -> Generator[EncodedResults, None, None]:
    """As `pipeline.run_locally`, on the cluster at `address`, or on `workers` cores of this machine."""
    load_networks(networks)  # decides here, once, which runtime they use; workers read the decision from the cache
    chunks = iter(chunks)
    first = next(chunks, None)
    if first is None:
        return
    with cluster(address, cores=workers) as ray, _quiet_data(ray):
        at_once = CHUNKS_PER_CORE * cluster_cores(ray)
        window = [first, *islice(chunks, at_once - 1)]
        while window:
            yield from _restore_order(_pipeline(ray, window, tuple(networks)), len(window))
            window = list(islice(chunks, at_once))


def _pipeline(ray: Any, chunks: list[Chunk], specs: tuple[str, ...]) -> Iterator[tuple[int, EncodedResults]]:
    """(place, result) of every chunk, in whatever order they are done."""
    rows = [{"place": place, "work": pickle.dumps(chunk, protocol=5)} for place, chunk in enumerate(chunks)]
    data = ray.data.from_items(rows, override_num_blocks=len(rows))
    cores, gpus = cluster_cores(ray), int(ray.cluster_resources().get("GPU", 0))

    def stage(data: Any, work: Callable[[Any], Any], actors: int, **resources: float) -> Any:
        pool = ray.data.ActorPoolStrategy(size=min(actors, len(rows)))
        return data.map_batches(Actor, fn_constructor_args=(work,), batch_size=1, compute=pool, **resources)

    if gpus and specs:
        data = stage(data, decode, cores, num_cpus=CPUS_PER_ACTOR)
        data = stage(data, partial(run_networks, specs=specs), gpus, num_gpus=1)
    else:
        data = stage(data, partial(decode_and_run, specs=specs), cores, num_cpus=CPUS_PER_ACTOR)
    try:
        for row in data.iter_rows():
            yield int(row["place"]), pickle.loads(row["work"])
    except ray.exceptions.RayError as error:
        raise to_likewise_error(error) from error


def _restore_order(found: Iterator[tuple[int, EncodedResults]], n_chunks: int) -> Iterator[EncodedResults]:
    early: dict[int, EncodedResults] = {}
    for place in range(n_chunks):
        while place not in early:
            number, done = next(found)
            early[number] = done
        yield early.pop(place)


@contextmanager
def _quiet_data(ray: Any) -> Iterator[None]:
    """Ray Data's own bars and log lines stay away from the command's output."""
    import logging

    from ray.data import DataContext

    context = DataContext.get_current()
    before = context.enable_progress_bars
    context.enable_progress_bars = False
    logger = logging.getLogger("ray.data")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        context.enable_progress_bars = before
        logger.setLevel(level)
