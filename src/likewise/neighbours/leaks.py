"""Copies on both sides of a line: images a model learned from, and images it is measured on."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.catalog.perceptual_hash import COPY_BITS, as_words, read_hashes
from likewise.lineage.record import Lineage
from likewise.neighbours.copies import hash_pairs
from likewise.workspace import WorkspaceFolder, read_parquet, write_parquet

IGNORED = "ignored"
DECISION_SCHEMA = {"image": pl.String, "other": pl.String, "decision": pl.String}
MAX_NAMED = 3
MAX_COUNTED = 100_000


@dataclass(frozen=True)
class CopyLeak:
    """Images that are asked about, each with a copy of it that was learned from."""

    pairs: list[tuple[str, str]]

    @property
    def n_images(self) -> int:
        return len({asked for asked, _ in self.pairs})

    def sentence(self, who: str) -> str:
        named = ", ".join(f"{asked} is a copy of {learned}" for asked, learned in self.pairs[:MAX_NAMED])
        more = ", …" if len(self.pairs) > MAX_NAMED else ""
        images = "1 image" if self.n_images == 1 else f"{self.n_images:,} images"
        return f"{who} learned from copies of {images} that it is measured on ({named}{more}): see likewise explore"


def count_copies(workspace: WorkspaceFolder, catalog: pl.DataFrame) -> tuple[int, int]:
    """How many images have a copy, exact or near, and how many have one that is another item.

    Every picture is compared with every other, so of more than MAX_COUNTED only exact copies are counted.
    """
    if len(catalog) > MAX_COUNTED:
        same = catalog.with_columns(
            pl.len().over("digest").alias("n"), pl.col("item").n_unique().over("digest").alias("i")
        )
        return int((same["n"] > 1).sum()), int((same["i"] > 1).sum())
    found = hash_pairs(read_hashes(workspace, catalog), COPY_BITS)
    items = catalog["item"].to_numpy()
    across = items[found.first] != items[found.second]
    both = np.concatenate([found.first, found.second])
    return len(np.unique(both)), len(np.unique(both[np.tile(across, 2)]))


def count_copies_of_new(catalog: pl.DataFrame, hashes: pl.DataFrame, new: Collection[str]) -> tuple[int, int]:
    """How many of the `new` images have a copy in the catalog, exact or near, and how many one of another item."""
    is_new = pl.col("image").is_in(list(new))
    rows = catalog.join(hashes.select("image", "hash"), on="image").sort(is_new, "image")
    n_old = len(rows) - len(new)
    found = hash_pairs(as_words(rows["hash"].to_list()), COPY_BITS, new_from=n_old)
    items = rows["item"].to_numpy()
    across = items[found.first] != items[found.second]
    both, across = np.concatenate([found.first, found.second]), np.tile(across, 2)
    return len(np.unique(both[both >= n_old])), len(np.unique(both[across & (both >= n_old)]))


def find_leak(
    workspace: WorkspaceFolder, catalog: pl.DataFrame, learned: Collection[str], asked: Collection[str]
) -> CopyLeak:
    """Which of the images `asked` have a copy among those `learned` (of the same catalog), and are not learned."""
    learned_set = set(learned)
    both = catalog.filter(pl.col("image").is_in(sorted(learned_set | set(asked))))
    found = hash_pairs(read_hashes(workspace, both), COPY_BITS)
    images = both["image"].to_list()
    ignored = {frozenset(row[:2]) for row in read_decisions(workspace).iter_rows() if row[2] == IGNORED}
    pairs = []
    for first, second in zip(found.first.tolist(), found.second.tolist(), strict=True):
        for one, other in ((images[first], images[second]), (images[second], images[first])):
            if one not in learned_set and other in learned_set and frozenset((one, other)) not in ignored:
                pairs.append((one, other))
    return CopyLeak(sorted(pairs))


def lineage_leak(
    workspace: WorkspaceFolder, catalog: pl.DataFrame, lineage: Lineage, asked: Collection[str]
) -> CopyLeak:
    """The same for everything that a model learned from among the images of this catalog."""
    here = set(catalog["image"])
    learned = {image for lesson in lineage.lessons for image in lesson.examples.images["image"] if image in here}
    return find_leak(workspace, catalog, learned, asked) if learned else CopyLeak([])


def read_decisions(workspace: WorkspaceFolder) -> pl.DataFrame:
    """What somebody decided about pairs on the copies page: image, other, decision."""
    if not workspace.copies_file.exists():
        return pl.DataFrame(schema=DECISION_SCHEMA)
    return read_parquet(workspace.copies_file, f"likewise explore {workspace.quoted}")


def store_decisions(workspace: WorkspaceFolder, pairs: Collection[tuple[str, str]], decision: str | None) -> None:
    """Remember a decision on pairs, in place of an earlier one; None takes it back."""
    wanted = [tuple(sorted(pair)) for pair in pairs]
    new = pl.DataFrame([(*pair, decision) for pair in wanted], schema=DECISION_SCHEMA, orient="row").unique()
    others = read_decisions(workspace).join(new, on=["image", "other"], how="anti")
    kept = others if decision is None else pl.concat([others, new])
    write_parquet(kept.sort("image", "other"), workspace.copies_file)
