"""The tables of outfits.md on very many outfits: `python docs/outfits_scale.py FOLDER` (about ten minutes of one core).

Every row is a process of its own: outfits of made items (vectors on disk, three to five random items), read from a
table, one epoch of `type-aware` in batches of 256. Memory is the peak of the whole process, with the pages of the
vectors' file that it looked at. The first table has 20 categories and one negative at random for every item; the second
(`--only near`, three minutes) eight categories, which are large enough for an index, vectors in clusters, and one near
negative as well. Another process looks for the near negatives of one whole category twice, by the index and exactly.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from marks import fill, paragraph

PAGE = Path(__file__).with_name("outfits.md")
N_ITEMS, DIM = 200_000, 256
N_CENTRES, SPREAD = 2_000, 0.7
BATCH, BLOCK = 256, 20_000


@dataclass(frozen=True)
class Setting:
    """Of one table; half of the negatives are near ones, in whole numbers."""

    name: str
    n_categories: int
    n_negatives: int
    clustered: bool
    sizes: tuple[int, ...]


RANDOM = Setting("random", 20, 1, False, (10_000, 100_000, 1_000_000))
NEAR = Setting("near", 8, 2, True, (10_000, 100_000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=[RANDOM.name, NEAR.name], help="only this table")
    parser.add_argument("--one", type=int, help="measure this number of outfits (0: the index), and print JSON")
    given = parser.parse_args()
    chosen = [setting for setting in (RANDOM, NEAR) if given.only in (None, setting.name)]
    if given.one is not None:
        [setting], folder = chosen, given.folder / given.only
        print(json.dumps(measure(setting, folder, given.one) if given.one else measure_index(setting, folder)))
        return
    for setting in chosen:
        (given.folder / setting.name).mkdir(parents=True, exist_ok=True)
        make_vectors(given.folder / setting.name / "vectors.npy", clustered=setting.clustered)
        rows = table([measured(setting, given.folder, n) for n in setting.sizes])
        if setting is RANDOM:
            fill(PAGE, {"outfits-scale": rows})
        else:
            index = index_sentence(measured(setting, given.folder, 0))
            fill(PAGE, {"outfits-scale-near": rows, "outfits-scale-index": index})


def measured(setting: Setting, folder: Path, n: int) -> dict[str, float]:
    """By a process of its own, or from what it wrote before."""
    kept = folder / setting.name / f"{n}.json"
    if not kept.exists():
        if n:
            make_outfits(folder / setting.name / f"{n}.parquet", n, setting.n_categories)
        words = [sys.executable, __file__, str(folder), "--only", setting.name, "--one", str(n)]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        kept.write_text(done.stdout.splitlines()[-1])
    found: dict[str, float] = json.loads(kept.read_text())
    return found


def make_vectors(path: Path, *, clustered: bool) -> None:
    if path.exists():
        return
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(N_CENTRES, DIM)) if clustered else np.zeros((1, DIM))
    vectors = np.lib.format.open_memmap(path, "w+", np.float32, (N_ITEMS, DIM))
    for start in range(0, N_ITEMS, BLOCK):
        own = centres[rng.integers(len(centres), size=BLOCK)]
        vectors[start : start + BLOCK] = own + (SPREAD if clustered else 1.0) * rng.normal(size=(BLOCK, DIM))
    vectors.flush()


def make_outfits(path: Path, n: int, n_categories: int) -> None:
    """Item i is of category i modulo their number; items of an outfit are neighbours in number, so they recur."""
    if path.exists():
        return
    rng = np.random.default_rng(n)
    length = rng.integers(3, 6, n)
    outfit = np.repeat(np.arange(n), length)
    position = np.arange(len(outfit)) - np.repeat(np.cumsum(length) - length, length)
    first = rng.integers(N_ITEMS // n_categories, size=n)[outfit]
    item = (first * n_categories + 7 * position + np.repeat(rng.integers(n_categories, size=n), length)) % N_ITEMS
    named = pl.DataFrame({"outfit": outfit, "item": item, "position": position + 1}).with_columns(
        category=pl.format("category {}", pl.col("item") % n_categories),
        image=pl.format("{}.jpg", "item"),
        outfit=pl.format("o{}", "outfit"),
        item=pl.format("{}", "item"),
    )
    named.unique(["outfit", "item"], keep="first", maintain_order=True).write_parquet(path)


def measure(setting: Setting, folder: Path, n: int) -> dict[str, float]:
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
    preset = replace(get_preset("type-aware", "quick"), batch_size=BATCH, n_negatives=setting.n_negatives)
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


def measure_index(setting: Setting, folder: Path) -> dict[str, float]:
    """The near negatives of one category, by the index and exactly: seconds, and the share of the exact ones."""
    from likewise.outfits.training import negatives

    items = np.arange(0, N_ITEMS, setting.n_categories)
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")[items]
    types = np.zeros(len(items), np.int64)
    began = time.process_time()
    indexed = negatives.nearest_of_type(vectors, types, items)
    middle = time.process_time()
    negatives.MIN_INDEXED = N_ITEMS
    exact = negatives.nearest_of_type(vectors, types, items)
    ended = time.process_time()
    found = np.mean([len(np.intersect1d(one, other)) / len(other) for one, other in zip(indexed, exact, strict=True)])
    return {
        "n_items": len(items),
        "n_near": exact.shape[1],
        "seconds_index": middle - began,
        "seconds_exact": ended - middle,
        "found": float(found),
    }


def index_sentence(index: dict[str, float]) -> str:
    return paragraph(
        f"Of one category of {index['n_items']:,.0f} items the index found {100 * index['found']:.1f} % of the "
        f"{index['n_near']:.0f} items most alike of each, in {index['seconds_index']:.0f} s; an exact search took "
        f"{index['seconds_exact']:.0f} s."
    )


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
