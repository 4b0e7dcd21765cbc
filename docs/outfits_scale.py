"""The table of outfits.md on very many outfits: `python docs/outfits_scale.py FOLDER` (about ten minutes of one core).

Every row is a process of its own: outfits of made items (vectors on disk, 20 categories, three to five random items),
read from a table, one epoch of `type-aware` in batches of 256. Memory is the peak of the whole process, with the
pages of the vectors' file that it looked at.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from marks import fill

PAGE = Path(__file__).with_name("outfits.md")
N_ITEMS, DIM, N_CATEGORIES = 200_000, 256, 20
SIZES = (10_000, 100_000, 1_000_000)
BATCH, N_NEGATIVES = 256, 1
BLOCK = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--one", type=int, help="Measure this number of outfits, and print JSON.")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.one:
        print(json.dumps(measure(given.folder, given.one)))
        return
    make_vectors(given.folder / "vectors.npy")
    found = []
    for n in SIZES:
        kept = given.folder / f"{n}.json"
        if not kept.exists():
            make_outfits(given.folder / f"{n}.parquet", n)
            words = [sys.executable, __file__, str(given.folder), "--one", str(n)]
            done = subprocess.run(words, check=True, capture_output=True, text=True)
            kept.write_text(done.stdout.splitlines()[-1])
        found.append(json.loads(kept.read_text()))
    fill(PAGE, {"outfits-scale": table(found)})


def make_vectors(path: Path) -> None:
    if path.exists():
        return
    rng = np.random.default_rng(0)
    vectors = np.lib.format.open_memmap(path, "w+", np.float32, (N_ITEMS, DIM))
    for start in range(0, N_ITEMS, BLOCK):
        vectors[start : start + BLOCK] = rng.normal(size=(BLOCK, DIM))
    vectors.flush()


def make_outfits(path: Path, n: int) -> None:
    """Item number i is of category i modulo 20; items of an outfit are neighbours in their numbers, so they recur."""
    if path.exists():
        return
    rng = np.random.default_rng(n)
    length = rng.integers(3, 6, n)
    outfit = np.repeat(np.arange(n), length)
    position = np.arange(len(outfit)) - np.repeat(np.cumsum(length) - length, length)
    first = rng.integers(N_ITEMS // N_CATEGORIES, size=n)[outfit]
    item = (first * N_CATEGORIES + 7 * position + np.repeat(rng.integers(N_CATEGORIES, size=n), length)) % N_ITEMS
    named = pl.DataFrame({"outfit": outfit, "item": item, "position": position + 1}).with_columns(
        category=pl.format("category {}", pl.col("item") % N_CATEGORIES),
        image=pl.format("{}.jpg", "item"),
        outfit=pl.format("o{}", "outfit"),
        item=pl.format("{}", "item"),
    )
    named.unique(["outfit", "item"], keep="first", maintain_order=True).write_parquet(path)


def measure(folder: Path, n: int) -> dict[str, float]:
    """Seconds and peak megabytes of reading and of one epoch."""
    import torch

    from likewise.outfits.models.feature_source import InMemoryFeatures
    from likewise.outfits.training.examples import examples_from_tables
    from likewise.outfits.training.presets import get_preset
    from likewise.outfits.training.trainer import TrainingJob, train_model
    from likewise.outfits.vectors import VectorLookup

    torch.set_num_threads(1)
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    lookup = VectorLookup("made", tuple(f"{number}.jpg" for number in range(N_ITEMS)), vectors)
    start = peak_megabytes()
    began = time.process_time()
    examples = examples_from_tables(pl.read_parquet(folder / f"{n}.parquet"))
    read, megabytes_read = time.process_time(), peak_megabytes()
    preset = replace(get_preset("type-aware", "quick"), batch_size=BATCH, n_negatives=N_NEGATIVES)
    job = TrainingJob("type-aware", "many", preset, "made")
    train_model(job, examples, InMemoryFeatures({"made": lookup}), folder / f"model-{n}", force=True)
    return {
        "n_outfits": n,
        "n_items": len(examples.categories_by_image()),
        "seconds_read": read - began,
        "seconds_trained": time.process_time() - read,
        "megabytes_before": start,
        "megabytes_read": megabytes_read,
        "megabytes": peak_megabytes(),
    }


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def table(found: list[dict[str, float]]) -> str:
    lines = ["| outfits | items | read and split | prepared, and one epoch | peak memory |", "|---|---|---|---|---|"]
    for row in found:
        lines.append(
            f"| {row['n_outfits']:,.0f} | {row['n_items']:,.0f} | {row['seconds_read']:.0f} s | "
            f"{row['seconds_trained']:.0f} s | {row['megabytes'] / 1024:.1f} GB |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
