"""A local Ray cluster of two workers against the local engine with two processes: encoding and exact search.

`python -m benchmarks.ray` runs itself in a network namespace of its own (Linux, root), because Ray listens on the
network card; beside the clock it counts the CPU seconds of all processes in there.  Encoding is run over few and over
many pictures, which tells what starting costs from what a picture costs.  `keep` after it writes what Ray costs into
the constants of `likewise plan compute`.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event, Thread

import numpy as np

from benchmarks.constants import write_constants
from benchmarks.encode import make_workspace, photograph
from likewise.catalog.table import read_catalog
from likewise.discovery.engines import exact_search
from likewise.discovery.step import PoolSettings, make_pool
from likewise.encoders.running.encode import encode_catalog
from likewise.encoders.storage.importing import import_vectors
from likewise.scale.cluster import cluster
from likewise.scale.cost_constants import clustered_vectors, read_constants
from likewise.scale.encoding import run_on_ray
from likewise.scale.search import ray_engine
from likewise.scale.tasks import run_tasks
from likewise.workspace import WorkspaceFolder

FEW_IMAGES, IMAGES, VECTORS, DIM, QUERIES, WORKERS = 64, 1024, 52_000, 256, 2000, 2
ENCODER = "efficientnet-lite0"
ALONE = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]


@dataclass(frozen=True)
class Row:
    """One kind of work on both engines."""

    work: str
    local_seconds: float
    local_cpu: float
    ray_seconds: float
    ray_cpu: float


def main(small: bool = False) -> tuple[float, list[Row]]:
    if sys.platform != "linux" or os.geteuid() != 0:
        print("\nray: not run, it needs Linux and root for a network of its own")
        return 0.0, []
    shell = 'ip link set lo up && exec "$0" -m benchmarks.ray inside "$1"'
    words = [*ALONE, "sh", "-c", shell, sys.executable, "small" if small else "large"]
    ran = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    start, rows = json.loads(ran.stdout.splitlines()[-1])
    found = [Row(**row) for row in rows]
    print(f"\nray: {WORKERS} workers, ready after {start:.1f} s\n\n{table(found)}")
    return start, found


def table(rows: list[Row]) -> str:
    lines = ["| work | local, s | CPU s | Ray, s | CPU s | Ray / local, CPU |", "|---|--:|--:|--:|--:|--:|"]
    lines += [
        f"| {row.work} | {row.local_seconds:.1f} | {row.local_cpu:.1f} | {row.ray_seconds:.1f} | {row.ray_cpu:.1f} | "
        f"{row.ray_cpu / row.local_cpu:.2f} |"
        for row in rows
    ]
    return "\n".join(lines)


def inside(small: bool) -> None:
    sizes, n_vectors, n_queries = ((32, 64), 2000, 50) if small else ((FEW_IMAGES, IMAGES), VECTORS, QUERIES)
    with tempfile.TemporaryDirectory() as folder:
        pictures = []
        for n_images in sizes:
            (Path(folder) / str(n_images)).mkdir()
            pictures.append(make_workspace(Path(folder) / str(n_images), n_images, photograph, 64))
        vectors = workspace_of_vectors(Path(folder) / "vectors", n_vectors)
        settings = PoolSettings(("mine",), k=10, n_queries=n_queries, n_random=0)
        encode_catalog(pictures[0], [ENCODER], workers=WORKERS)  # the export is made
        local = [
            *(timed(partial(encode_catalog, each, [ENCODER], workers=WORKERS, force=True)) for each in pictures),
            timed(lambda: make_pool(vectors, settings, engine=exact_search)),
        ]
        started = time.monotonic()
        with cluster(cores=WORKERS):
            run_tasks(nothing, [0])
            start = time.monotonic() - started
            with ray_engine() as engine:
                encode = partial(encode_catalog, workers=WORKERS, force=True, engine=run_on_ray)
                on_ray = [
                    *(timed(partial(encode, each, [ENCODER])) for each in pictures),
                    timed(lambda: make_pool(vectors, settings, engine=engine)),
                ]
    works = (
        *(f"encode {n_images:,} photographs, {ENCODER}" for n_images in sizes),
        f"search {n_queries:,} × {n_vectors:,} × {DIM}",
    )
    rows = [Row(work, *here, *there) for work, here, there in zip(works, local, on_ray, strict=True)]
    print(json.dumps([start, [asdict(row) for row in rows]]))


def workspace_of_vectors(folder: Path, n_vectors: int) -> WorkspaceFolder:
    """A catalog whose vectors are imported; its pictures are names only."""
    folder.mkdir()
    workspace = make_workspace(folder, n_vectors, photograph, 1)
    np.save(folder / "mine.npy", clustered_vectors(n_vectors, DIM))
    (folder / "keys.csv").write_text("\n".join(["image", *read_catalog(workspace)["image"]]) + "\n")
    import_vectors(workspace, "mine", folder / "mine.npy", folder / "keys.csv", force=False)
    return workspace


def nothing(number: int) -> int:
    return number


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and CPU seconds of every process in this namespace, also of those that end meanwhile."""
    before, seen, done = ticks_by_process(), ticks_by_process(), Event()

    def look() -> None:
        while not done.wait(0.1):
            seen.update(ticks_by_process())

    looking = Thread(target=look)
    looking.start()
    clock = time.monotonic()
    work()
    seconds = time.monotonic() - clock
    done.set()
    looking.join()
    seen.update(ticks_by_process())
    ticks = sum(value - before.get(process, 0) for process, value in seen.items())
    return seconds, ticks / os.sysconf("SC_CLK_TCK")


def ticks_by_process() -> dict[str, int]:
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it ended just now
            continue
        found[f"{stat.parent.name} {fields[19]}"] = int(fields[11]) + int(fields[12])  # with its start: ids come again
    return found


def overhead(rows: list[Row]) -> float:
    """CPU seconds on Ray for one without, of the pictures beyond the few that both runs have: starting is no part."""
    few, many = rows[:2]
    return max(1.0, (many.ray_cpu - few.ray_cpu) / (many.local_cpu - few.local_cpu))


def keep(start: float, rows: list[Row]) -> None:
    """Write what Ray costs into the constants of `likewise plan compute`."""
    write_constants(replace(read_constants(), ray_start_seconds=start, ray_overhead=overhead(rows)))


if __name__ == "__main__":
    if "inside" in sys.argv:
        inside("small" in sys.argv)
    else:
        measured = main("small" in sys.argv)
        if "keep" in sys.argv and measured[1]:
            keep(*measured)
