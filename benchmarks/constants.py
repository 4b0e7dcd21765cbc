"""Measure the constants of `likewise plan compute` anew: `python -m benchmarks.constants` writes them into the package.

The numbers of Ray and of the catalog's memory need `python -m benchmarks.ray`, which adds them to the same file.
"""

import sys
from dataclasses import asdict
from pathlib import Path

import polars as pl

from likewise.scale.cost_constants import PACKAGED_CONSTANTS, CostConstants, measure_constants, read_constants
from likewise.workspace import write_json

VECTORS, DIM, IMAGES = 50_000, 256, 96


def main() -> None:
    small = "small" in sys.argv
    found = asdict(measure_constants(*((5000, 32, 16) if small else (VECTORS, DIM, IMAGES))))
    found["catalog_bytes"] = catalog_bytes(20_000 if small else 1_000_000)
    before = asdict(read_constants())
    print(f"\nconstants of likewise plan, {found['machine']}: {found['how']}")
    for name, value in found.items():
        if isinstance(value, float):
            print(f"  {name:<24}{value:>14.4g}   before {before[name]:>12.4g}")
    if not small:
        write_constants(CostConstants(**found))


def catalog_bytes(n_images: int) -> float:
    """What a catalog of long keys takes as a table, a list of keys and a dictionary of items."""
    keys = [f"folder-{number // 1000:06d}/picture-{number:09d}.jpg" for number in range(n_images)]
    table = pl.DataFrame({"image": keys, "item": keys, "category": "thing", "digest": "0123456789abcdef"})
    listed = sum(sys.getsizeof(key) + 8 for key in keys)
    return (table.estimated_size() + 2 * listed) / n_images


def write_constants(constants: CostConstants, file: Path = PACKAGED_CONSTANTS) -> None:
    write_json(asdict(constants), file)


if __name__ == "__main__":
    main()
