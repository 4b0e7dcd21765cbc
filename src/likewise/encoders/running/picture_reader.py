"""Pictures for training, streamed from disk by worker processes: as many as there are, in memory that does not grow.

Training asks for rows a batch ahead (`request`), works on the batch before, and then takes them (`take`). What was
decoded stays in memory up to a limit, so a small catalog is decoded once; of a large one the rest is decoded again in
every epoch. Few pictures are decoded in this process: starting others would take longer.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from likewise.catalog.images import load_image
from likewise.encoders.networks.device import device
from likewise.encoders.networks.recipe import Recipe
from likewise.encoders.protocol import Prepared
from likewise.errors import LikewiseError
from likewise.machine import usable_cores
from likewise.worker_processes import WorkerProcesses

MAX_CACHE_BYTES = 1 << 30
MIN_STREAMED = 2_000
"""Of fewer pictures than this the processes would cost more than they save on a CPU."""
PICTURES_PER_TASK = 16
BATCHES_AHEAD = 2

ReadPicture = Callable[[str], Prepared]
"""The name of an image to its pixels; it is sent to other processes."""
Rows = Sequence[int] | NDArray[np.int64]


class PictureReader:
    """Decoded pictures of `images` by row."""

    def __init__(
        self,
        images: Sequence[str],
        read: ReadPicture,
        *,
        workers: int | None = None,
        max_cache_bytes: int | None = None,
    ) -> None:
        self.images, self.read = images, read
        self.max_cache_bytes = MAX_CACHE_BYTES if max_cache_bytes is None else max_cache_bytes
        if workers is None:
            workers = usable_cores() if len(images) >= MIN_STREAMED or device() != "cpu" else 1
        self.workers = workers
        self._cache: dict[int, Prepared] = {}
        self._cache_bytes = 0
        self._coming: dict[int, tuple[Future[list[Prepared]], int]] = {}
        """Of rows under way the task that decodes them, and their place in it."""
        self._pool: WorkerProcesses | None = None

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, rows: NDArray[np.int64] | slice) -> Prepared:
        """Pictures of one size as one array."""
        return np.stack(self.take(np.arange(len(self))[rows]))

    def ahead(self, batches: Iterable[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
        """The same batches, each requested while earlier ones are worked on."""
        waiting: deque[NDArray[np.int64]] = deque()
        for rows in batches:
            self.request(rows)
            waiting.append(rows)
            if len(waiting) > BATCHES_AHEAD:
                yield waiting.popleft()
        yield from waiting

    def request(self, rows: Rows) -> None:
        """Have pictures decoded that will be taken soon."""
        if self.workers <= 1:
            return
        missing = [row for row in dict.fromkeys(map(int, rows)) if row not in self._cache and row not in self._coming]
        for start in range(0, len(missing), PICTURES_PER_TASK):
            part = missing[start : start + PICTURES_PER_TASK]
            task = self._started().submit(_read_all, self.read, [self.images[row] for row in part])
            self._coming |= {row: (task, place) for place, row in enumerate(part)}

    def take(self, rows: Rows) -> list[Prepared]:
        """The pictures, waited for where they are still under way."""
        self.request(rows)
        found = {row: self._picture(row) for row in dict.fromkeys(map(int, rows))}
        return [found[int(row)] for row in rows]

    def _picture(self, row: int) -> Prepared:
        if row in self._cache:
            return self._cache[row]
        if row in self._coming:
            task, place = self._coming.pop(row)
            picture = self._result(task)[place]
        else:
            picture = _read_one(self.read, self.images[row])
        if self._cache_bytes + picture.nbytes <= self.max_cache_bytes:
            self._cache[row] = picture
            self._cache_bytes += picture.nbytes
        return picture

    def _started(self) -> WorkerProcesses:
        if self._pool is None:
            self._pool = WorkerProcesses(self.workers)
        return self._pool

    def _result(self, task: "Future[list[Prepared]]") -> list[Prepared]:
        try:
            return task.result()
        except BrokenProcessPool as error:
            raise LikewiseError(
                "a process that decodes pictures ended unexpectedly (killed, or out of memory): run the same command "
                "again, it goes on where it stopped."
            ) from error

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def __del__(self) -> None:
        self.close()


def read_prepared(root: Path, recipe: Recipe, image: str) -> Prepared:
    """A picture as a network's own preparation leaves it."""
    return recipe.prepare(load_image(root / image, at_least=recipe.pixels))


def _read_all(read: ReadPicture, images: Sequence[str]) -> list[Prepared]:
    return [_read_one(read, image) for image in images]


def _read_one(read: ReadPicture, image: str) -> Prepared:
    try:
        return read(image)
    except (OSError, ValueError, SyntaxError) as error:  # what decoders throw at a damaged file
        raise LikewiseError(
            f"{image} cannot be read as a picture ({error}): mend it, or make the catalog again without it."
        ) from None
