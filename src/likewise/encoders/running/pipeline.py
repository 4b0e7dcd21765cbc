"""Chunks in, vectors out, in order: worker processes decode while this process runs the networks.

Every queue has an end: a worker that is too fast waits, so the memory does not depend on the catalog.  Networks run in
threads, one batch per core at a time; whatever a core does not need for them, the workers use.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing

from likewise.encoders.networks.network import Network
from likewise.encoders.protocol import Encoder
from likewise.encoders.running.chunk import Chunk, PreparedChunk, encode_chunk, encode_prepared
from likewise.encoders.storage.files import EncodedChunk
from likewise.errors import LikewiseError
from likewise.machine import usable_cores
from likewise.worker_processes import WorkerProcesses, single_threaded_children

CHUNKS_IN_FLIGHT = 4  # per worker: enough to keep all busy, few enough to bound the memory

PartlyEncoded = dict[str, EncodedChunk | PreparedChunk]
EncodedResults = dict[str, EncodedChunk]
EncodingEngine = Callable[[Iterable[Chunk], int, Mapping[str, Encoder]], Generator[EncodedResults, None, None]]
"""Whatever goes through chunks as `run_locally` does."""


def run_locally(
    chunks: Iterable[Chunk], workers: int, networks: Mapping[str, Encoder]
) -> Generator[EncodedResults, None, None]:
    """Encode chunks, here or in worker processes; results come in the order of the chunks."""
    if workers <= 1:
        for chunk in chunks:
            yield encode_with_networks(encode_chunk(chunk), networks)
        return
    with closing(run_in_processes(chunks, workers)) as half_done:
        if not networks:
            for each in half_done:
                yield encode_with_networks(each, networks)
            return
        at_once = usable_cores()
        pool = ThreadPoolExecutor(at_once)
        try:
            loading = pool.submit(load_networks, networks)  # while the workers start
            under_way: deque[Future[EncodedResults]] = deque()
            for each in half_done:
                loading.result()
                under_way.append(pool.submit(encode_with_networks, each, networks))
                if len(under_way) > at_once:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def load_networks(networks: Mapping[str, Encoder]) -> None:
    for network in networks.values():
        if isinstance(network, Network):
            network.load()


def encode_with_networks(half_done: PartlyEncoded, networks: Mapping[str, Encoder]) -> EncodedResults:
    """Run the networks on what the worker made ready for them."""
    return {
        spec: encode_prepared(networks[spec], each) if isinstance(each, PreparedChunk) else each
        for spec, each in half_done.items()
    }


def run_in_processes(chunks: Iterable[Chunk], workers: int) -> Generator[PartlyEncoded, None, None]:
    under_way: deque[Future[PartlyEncoded]] = deque()
    with single_threaded_children():
        try:
            with WorkerProcesses(workers) as pool:
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
