"""The tables of docs/scale.md: `python -m benchmarks.scale` measures and fills them in (hours on a small machine).

Finished parts are kept in the folder that `--work` names, so that a stopped run goes on; `--page` only fills in the
tables from what is there, and says what is not.
"""

import argparse
import json
import os
import platform
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import encode, index, ray
from benchmarks.constants import DIM, IMAGES, VECTORS, catalog_bytes, write_constants
from benchmarks.pages import DOCS, fill
from likewise.machine import usable_cores
from likewise.neighbours.index import KINDS
from likewise.scale.cost_constants import CostConstants, measure_constants, read_constants
from likewise.scale.plan import CatalogSize, estimate_deployments

PAGE = DOCS / "scale.md"
NOT_RUN = "*Not run yet.*"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--work", type=Path, default=Path("scale-results"), help="where finished parts are kept")
    asked.add_argument("--page", action="store_true", help="measure nothing, fill in the tables")
    asked.add_argument("--only", choices=sorted(PARTS), help="measure only this part")
    given = asked.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    if not given.page:
        for name, part in PARTS.items():
            if given.only in (None, name):
                part(given.work)
    fill(PAGE, blocks(given.work))
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


def blocks(work: Path) -> dict[str, str]:
    gigabytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    machine = f"{platform.system()} {platform.machine()}, {usable_cores()} cores, {gigabytes:.0f} GB"
    return {
        "scale-machine": f"Measured on {machine}.",
        "scale-ray": ray_table(work),
        "scale-index": index_table(work),
        "scale-encode": speed_table(work),
        "scale-memory": memory_table(work),
        "scale-plan": plan_table(),
        "scale-constants": constants_table(),
    }


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


if __name__ == "__main__":
    main()
