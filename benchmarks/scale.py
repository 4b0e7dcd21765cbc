"""Everything in docs/scale.md: `python -m benchmarks.scale` measures it (hours on a small machine) and writes the page.

Finished parts are kept in the folder that `--work` names, so that a stopped run goes on; `--page` only writes the page
from what is there, and says what is not.
"""

import argparse
import json
import os
import platform
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import Any

from benchmarks import encode, index, ray
from benchmarks.constants import DIM, IMAGES, VECTORS, catalog_bytes, write_constants
from likewise.machine import usable_cores
from likewise.neighbours.index import HNSW_M, KINDS
from likewise.scale.cost_constants import CostConstants, measure_constants, read_constants
from likewise.scale.plan import CatalogSize, estimate_deployments

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
NOT_RUN = "*Not run yet.*"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--work", type=Path, default=Path("scale-results"), help="where finished parts are kept")
    asked.add_argument("--page", action="store_true", help="measure nothing, write the page")
    asked.add_argument("--only", choices=sorted(PARTS), help="measure only this part")
    given = asked.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    if not given.page:
        for name, part in PARTS.items():
            if given.only in (None, name):
                part(given.work)
    PAGE.write_text(page(given.work), encoding="utf-8")
    print(f"{PAGE} written")


def kept(work: Path, name: str, make: Callable[[], Any]) -> Any:
    """What an earlier run left, or what `make` finds now."""
    file = work / f"{name}.json"
    if not file.exists():
        file.write_text(json.dumps(make(), indent=2) + "\n")
    return json.loads(file.read_text())


def constants(work: Path) -> None:
    """Measured here and put into the package."""

    def find() -> dict[str, Any]:
        return asdict(replace(measure_constants(VECTORS, DIM, IMAGES), catalog_bytes=catalog_bytes(1_000_000)))

    found = CostConstants(**kept(work, "constants", find))
    if (work / "ray.json").exists():
        start, rows = json.loads((work / "ray.json").read_text())
        overhead = ray.overhead([ray.Row(**row) for row in rows])
        how = f"{found.how}; Ray: {ray.IMAGES:,} photographs against {ray.FEW_IMAGES}"
        found = replace(found, how=how, ray_start_seconds=start, ray_overhead=overhead)
    write_constants(found)


def on_ray(work: Path) -> None:
    def find() -> Any:
        start, rows = ray.main()
        return [start, [asdict(row) for row in rows]]

    kept(work, "ray", find)


def speed(work: Path) -> None:
    kept(work, "encode", lambda: [asdict(row) for row in encode.speeds()])


def memory(work: Path) -> None:
    for n_images in encode.CATALOGS:
        kept(work, f"memory-{n_images}", partial(encode.peak_memory, n_images))


PARTS: dict[str, Callable[[Path], object]] = {
    "ray": on_ray,
    "constants": constants,
    "index": lambda work: index.all_rows(index.SIZES, work / "index.json"),
    "memory": memory,
    "encode": speed,
}


def page(work: Path) -> str:
    text = TEXT.format(
        machine=f"{platform.system()} {platform.machine()}, {usable_cores()} cores, "
        f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.0f} GB",
        index=index_table(work),
        ray=ray_table(work),
        speed=speed_table(work),
        memory=memory_table(work),
        constants=constants_table(),
        plan=plan_table(),
        network=encode.ENCODER,
        encoder=encode.SMALL,
        few_images=encode.FEW_IMAGES,
        queries=index.QUERIES - index.TUNED,
        links=HNSW_M,
    )
    parts = [part if part[:1] in "|#`" else "\n".join(wrap(" ".join(part.split()), 118)) for part in text.split("\n\n")]
    return "\n\n".join(parts).rstrip() + "\n"


def index_table(work: Path) -> str:
    file = work / "index.json"
    rows = [index.Row(**each) for each in json.loads(file.read_text())] if file.exists() else []
    ways = ("exact", *KINDS)
    rows.sort(key=lambda row: (row.vectors, ways.index(row.way)))
    there = {(row.way, row.vectors) for row in rows}
    missing = [f"{way} at {n:,}" for n in index.SIZES for way in ways if (way, n) not in there]
    said = [index.table(rows), index.slower_than_exact(rows)]
    said += [f"*Not run yet: {', '.join(missing)}.*"] if missing else []
    return "\n\n".join(filter(None, said))


def ray_table(work: Path) -> str:
    if not (work / "ray.json").exists():
        return NOT_RUN
    _, rows = json.loads((work / "ray.json").read_text())
    return ray.table([ray.Row(**row) for row in rows])


def speed_table(work: Path) -> str:
    file = work / "encode.json"
    return encode.table([encode.Speed(**row) for row in json.loads(file.read_text())]) if file.exists() else NOT_RUN


def memory_table(work: Path) -> str:
    lines = ["| images | all processes, MB |", "|--:|--:|"]
    for n_images in encode.CATALOGS:
        file = work / f"memory-{n_images}.json"
        lines.append(f"| {n_images:,} | {f'{json.loads(file.read_text()):,.0f}' if file.exists() else NOT_RUN} |")
    return "\n".join(lines)


def constants_table() -> str:
    found = asdict(read_constants())
    rows = [f"| `{name}` | {value:.3g} |" for name, value in found.items() if isinstance(value, float)]
    return "\n".join(["| constant | value |", "|---|--:|", *rows]) + f"\n\n{found['machine']}: {found['how']}."


def plan_table() -> str:
    size, cores, workers = CatalogSize(100_000_000, 768, 6), 64, (16, 64)
    ways = estimate_deployments(
        size,
        read_constants(),
        cores=cores,
        memory_gb=512,
        workers=workers,
        cores_per_worker=16,
        price_per_core_hour=0.05,
    )
    lines = [
        "| way | cores | GB memory | GB disk | encode, h | build, h | search, h | cost |",
        "|---" + "|--:" * 7 + "|",
    ]
    for way in ways:
        hours = " | ".join(f"{value:,.1f}" for value in (way.encode_hours, way.build_hours, way.search_hours))
        lines.append(
            f"| {way.name} | {way.cores} | {way.memory_gb:,.0f} | {way.disk_gb:,.0f} | {hours} | {way.cost:,.0f} |"
        )
    return "\n".join(lines)


TEXT = """# More than one machine, and large catalogs

Written by `python -m benchmarks.scale` on {machine}. Other programs were running beside it, so times are CPU seconds
of all processes, unless they say otherwise.

## On a Ray cluster

`likewise encode shoes --engine ray --address HOST:PORT` and `likewise discover shoes --engine ray --address HOST:PORT`
do the same work on a cluster; without `--address` they use the cores of this machine. Every machine needs the same
version of likewise (`pip install 'likewise[ray]'`) and sees the pictures and the workspace under the same paths.
A cluster is started with `ray start --head` on one machine and `ray start --address HOST:6379` on the others. Whoever
can reach it can run programs on it: keep it in a network of its own, and set `RAY_AUTH_MODE=token` with a token from
`ray get-auth-token --generate` on every machine.

Encoding is a Ray Data pipeline: actors decode and encode the same chunks that worker processes do on one machine, and
the process that holds the workspace's lock writes the shards. Search cuts the gallery into parts; workers read their
part of the vectors, search it exactly, and the best of all parts are merged by (score, key). Scores are exact numbers,
so the pool is the same file, byte for byte. A worker that dies costs the time of its piece of work: it is given to
another one. Networks that run through onnxruntime give the same bytes as on one machine of the same kind; with torch,
or on other processors, vectors agree to about 1e-5.

What Ray costs, with two workers against two local processes:

{ray}

Everything includes the start of actors, which is what a small catalog costs; what each further picture costs is the
difference between the first two rows. Ray pays off with more machines, not on one.

## An index

`likewise discover shoes --index ivf` (or `hnsw`) searches through a FAISS index instead of comparing with every vector.
An index misses some neighbours, so its recall is measured against exact search each time, on up to 200 queries that
were not used to set how hard it looks, and stands beside the result: on the screen, in `pool.json`, in the report. The
scores are exact in any case. The index is kept beside the vectors and used again. Building one costs more than a
few thousand exact queries do, so it pays where many queries are asked of one gallery. Both kinds keep eight bits of
every number; ivf has 2√n cells, hnsw {links} links for each vector and FAISS's usual effort when it is built.

Clustered random vectors, recall over {queries} queries, tuned to reach 98 % (hnsw gives up at an effort of 4,096):

{index}

## Encoding on one machine

JPEG photographs of 640 × 480 through `{network}`. The bound is what all cores could do if decoding a picture and
running the network on a ready tensor, each measured alone, were all the work there is. Starting the command and its
processes and loading the weights happen once; the last row of the command leaves that out by comparing with a catalog
of {few_images} pictures. On a machine that does other things, too, the clock says little: look at the CPU time.

{speed}

## Memory while encoding

`likewise encode --with '{encoder}'`, all its processes together; pictures and vectors must not pile up,
only the table of their names may grow:

{memory}

## A plan

`likewise plan compute --images 100M --dim 768 --encoders 6` states memory, time and cost before anything is bought. For
a machine of 64 cores and 512 GB, Ray workers of 16 cores, and 0.05 a core and hour:

{plan}

It multiplies constants, which `likewise plan compute --measure` measures on your machine; those of the package:

{constants}
"""

if __name__ == "__main__":
    main()
