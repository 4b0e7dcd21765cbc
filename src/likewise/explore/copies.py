"""Copies in a catalog, for a page with a slider: every pair that might be one, with its cosine and its bits.

The pairs are found once per encoder and kept in memory; where the line is drawn is decided by whoever looks.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from likewise.catalog.perceptual_hash import BITS, COPY_BITS, read_hashes
from likewise.explore.gallery import Gallery
from likewise.lineage.halves import select_half
from likewise.neighbours.copies import connected_groups, cosine_pairs, hash_pairs
from likewise.neighbours.leaks import read_decisions
from likewise.neighbours.scores import Rows
from likewise.progress import ProgressCallback

COPY_COSINE = 0.92
"""Pictures whose vectors under a deep encoder are nearer than this are called copies; measured in docs/explore.md."""
COSINE_FLOOR = 0.8
MAX_BITS = 64
MAX_SENT = 50_000
PAIR_SCHEMA = {
    "first": pl.UInt32,
    "second": pl.UInt32,
    "cosine": pl.Float64,
    "bits": pl.UInt16,
    "exact": pl.Boolean,
}


@dataclass(frozen=True)
class CopyPairs:
    """Pairs of rows of the catalog, nearest first; below `floor` no cosine was kept."""

    encoder: str
    pairs: pl.DataFrame
    floor: float

    def chosen(self, cosine: float, bits: int) -> pl.DataFrame:
        """The pairs that two thresholds call copies."""
        near = (pl.col("cosine") >= cosine) | (pl.col("bits") <= bits) | pl.col("exact")
        return self.pairs.filter(near)


def find_copies(gallery: Gallery, encoder: str, on_progress: ProgressCallback | None = None) -> CopyPairs:
    """Every pair that is near under an encoder, or by its perceptual hash."""
    there = gallery.vectors(encoder)
    near = cosine_pairs(there.vectors, COSINE_FLOOR, max_pairs=MAX_SENT, on_progress=on_progress)
    hashes = read_hashes(gallery.workspace, gallery.catalog, on_progress)
    alike = hash_pairs(hashes, MAX_BITS, max_pairs=MAX_SENT, on_progress=on_progress)
    rows = np.unique(
        np.concatenate(
            [
                np.stack([there.rows[near.first], there.rows[near.second]], axis=1),
                np.stack([alike.first, alike.second], axis=1),
            ]
        ),
        axis=0,
    )
    first, second = rows[:, 0], rows[:, 1]
    digests = gallery.catalog["digest"].to_numpy()
    table = pl.DataFrame(
        {
            "first": first,
            "second": second,
            "cosine": _cosines(gallery, encoder, first, second),
            "bits": _bits(hashes, first, second),
            "exact": digests[first] == digests[second],
        },
        schema=PAIR_SCHEMA,
        strict=False,
    )
    return CopyPairs(encoder, table.sort("cosine", "bits", descending=[True, False], nulls_last=True), near.floor)


def _cosines(gallery: Gallery, encoder: str, first: Rows, second: Rows) -> list[float | None]:
    there = gallery.vectors(encoder)
    position = np.full(len(gallery.images), -1, dtype=np.int64)
    position[there.rows] = np.arange(len(there.rows))
    a, b = position[first], position[second]
    cosines = np.einsum("nd,nd->n", there.vectors[a], there.vectors[b])
    return [float(value) if both else None for value, both in zip(cosines, (a >= 0) & (b >= 0), strict=True)]


def _bits(hashes: np.ndarray[tuple[int, int], np.dtype[np.uint64]], first: Rows, second: Rows) -> Rows:
    words = hashes.shape[1] // 2
    plain, mirrored = hashes[:, :words], hashes[:, words:]
    straight = np.bitwise_count(plain[first] ^ plain[second]).sum(axis=1)
    turned = np.bitwise_count(plain[first] ^ mirrored[second]).sum(axis=1)
    blank = ~plain[first].any(axis=1) | ~plain[second].any(axis=1)
    return np.where(blank, BITS, np.minimum(straight, turned)).astype(np.int64)


@dataclass(frozen=True)
class Boundaries:
    """What copies must not cross: items, the catalog's own splits, the two halves that models learn from."""

    catalog: pl.DataFrame

    @cached_property
    def columns(self) -> dict[str, list[str]]:
        """For each line the side of every row."""
        sides = {"item": self.catalog["item"].to_list()}
        for name in ("split", "phase"):
            if name in self.catalog.columns:
                sides[name] = self.catalog[name].cast(pl.String).fill_null("").to_list()
        if self.catalog["item"].n_unique() > 1:
            train = set(select_half(self.catalog, "train")["image"])
            sides["half"] = ["train" if image in train else "test" for image in self.catalog["image"]]
        return sides

    def crossed(self, first: int, second: int) -> list[str]:
        """The lines that lie between two rows, in words."""
        between = ((name, side[first], side[second]) for name, side in self.columns.items())
        return [name if name == "item" else f"{name} {one}/{other}" for name, one, other in between if one != other]


def copies_table(
    gallery: Gallery, found: CopyPairs, cosine: float = COPY_COSINE, bits: int = COPY_BITS
) -> pl.DataFrame:
    """The pairs that are called copies, with their group, what they cross and what was decided: to export."""
    chosen = found.chosen(cosine, bits)
    first, second = chosen["first"].to_numpy().astype(np.int64), chosen["second"].to_numpy().astype(np.int64)
    group = connected_groups(len(gallery.images), first, second)[first]
    lines = Boundaries(gallery.catalog)
    rows = zip(first.tolist(), second.tolist(), strict=True)
    images = pl.Series(gallery.images)
    table = chosen.select(
        pl.Series("group", images.gather(group)),
        pl.Series("image", images.gather(first)),
        pl.Series("other", images.gather(second)),
        "cosine",
        "bits",
        "exact",
        pl.Series("crosses", ["; ".join(lines.crossed(*pair)) for pair in rows], pl.String),
    )
    decided = table.join(read_decisions(gallery.workspace), on=["image", "other"], how="left", maintain_order="left")
    return decided.sort("group", "image", "other")
