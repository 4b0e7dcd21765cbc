"""Catalogs whose truth is known, ranked once by eight models, for the campaigns of `sampling.md`, `stopping.md` and
`judges.md`.

Generators feed the designs; three models feed nothing. On the wardrobe these are one that sees the items' attributes
under noise and is better than all generators, one that sees `blend` under noise, and one that sees colour and shape.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog import read_catalog
from likewise.discovery.designs.pair_features import EncoderView, VectorView
from likewise.discovery.designs.units import CatalogUnits
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.estimates.blocks import RankedBlock, best_per_unit, rank_block
from likewise.evaluation.estimates.catalog_measures import expected_measures
from likewise.evaluation.estimates.chances import pair_chances
from likewise.evaluation.estimates.collected import MICRO_AUC
from likewise.evaluation.estimates.micro import score_edges, weighted_score_histogram
from likewise.evaluation.estimates.prediction import pair_features
from likewise.synthetic import ATTRIBUTE_NAMES, SIMILAR_AT, similarity
from likewise.workspace import WorkspaceFolder

DESCRIPTORS = ("colour", "layout", "shape", "texture", "blend")
WARDROBE_NEW = ("attributes", "noisy blend", "colour+shape")
MATERIALS_NEW = ("efficientnet-lite1", "efficientnet-lite2", "colour+shape")
KS = (5, 10)
MOST_KNOWN = 1000  # units whose similarities are all computed once
POSITIVES = "positives"
MEASURES_SHOWN = ("P@5", "Recall@5", "nDCG@5", "P@10", "Recall@10", "nDCG@10", "AP", "ROC_AUC", MICRO_AUC)
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Bench:
    """Every query there is, all units ranked for it by every model, and which of them are similar.

    Vectors are those of images; units are items, and the first image of an item is its query.
    """

    name: str
    title: str
    names: tuple[str, ...]
    n_generators: int  # the first of them
    vectors: list[Vectors]
    item_of_image: Ints
    query_image: Ints
    query_items: Ints
    similar: NDArray[np.bool_]  # queries x units

    @property
    def n_items(self) -> int:
        return int(self.similar.shape[1])

    @property
    def n_queries(self) -> int:
        return len(self.query_items)

    @property
    def generators(self) -> list[int]:
        return list(range(self.n_generators))

    @cached_property
    def ranked(self) -> RankedBlock:
        """All units for every query, by every model."""
        rows = self.query_image
        scores = [best_per_unit(one[rows] @ one.T, self.item_of_image, self.n_items) for one in self.vectors]
        return rank_block(np.stack(scores), np.arange(self.n_items)[None, :] != self.query_items[:, None])

    def block(self, queries: Ints) -> RankedBlock:
        """The units ranked for some queries."""
        every = self.ranked
        return RankedBlock(
            every.admissible[queries],
            every.scores[:, queries],
            every.order[:, queries],
            every.rank[:, queries],
            every.below[:, queries],
        )

    def units(self, queries: Ints) -> CatalogUnits:
        return CatalogUnits(self.item_of_image, np.arange(self.n_items), self.query_items[queries])

    def lists(self, queries: Ints, depth: int) -> list[Ints]:
        """The generators' lists of units for some queries."""
        kept = min(depth, self.n_items - 1)
        return [order[queries][:, :kept].astype(np.int64) for order in self.ranked.order[: self.n_generators]]

    def views(self, queries: Ints) -> Sequence[EncoderView]:
        """The generators' views of some queries."""
        return self.every_view(queries)[: self.n_generators]

    def every_view(self, queries: Ints) -> Sequence[EncoderView]:
        """Those of all models: what `VectorView` would say, from what is computed once where that is not too large."""
        if self.n_items > MOST_KNOWN:
            units = self.units(queries)
            return [VectorView.of(one[self.query_image[queries]], one, units) for one in self.vectors]
        return [
            KnownView(one[queries], units, between[np.ix_(queries, queries)])
            for one, (units, between) in zip(self.ranked.scores, self._similarities, strict=True)
        ]

    @cached_property
    def features(self) -> Vectors:
        """Of all pairs, as the estimates predict from them."""
        return pair_features(self.ranked)

    @cached_property
    def _similarities(self) -> list[tuple[Vectors, Vectors]]:
        """Of every model: units with each other, and queries with each other."""
        units = CatalogUnits(self.item_of_image, np.arange(self.n_items), self.query_items)
        views = [VectorView.of(one[self.query_image], one, units) for one in self.vectors]
        return [(view.units @ view.units.T, view.between_queries()) for view in views]

    def truth(self, queries: Ints | None = None) -> dict[str, Floats]:
        """Per measure its value for every model when all labels of these queries are known; of all, by default."""
        rows = np.arange(self.n_queries) if queries is None else queries
        per_query, (pairs, positives) = self._per_query
        found = {
            name: top[:, rows].sum(axis=1) / below[:, rows].sum(axis=1) for name, (top, below) in per_query.items()
        }
        areas = [
            _area(pairs[model][rows].sum(axis=0), positives[model][rows].sum(axis=0)) for model in range(len(pairs))
        ]
        return found | {MICRO_AUC: np.array(areas), POSITIVES: np.array([self.similar[rows].sum() / len(rows)])}

    @cached_property
    def _per_query(self) -> tuple[dict[str, tuple[Floats, Floats]], tuple[list[Floats], list[Floats]]]:
        """Numerators and denominators of every measure (models, queries), and counts per class of scores."""
        label = self.similar.astype(np.float64)
        none = np.empty(0, dtype=np.int64)
        parts: dict[str, list[tuple[Floats, Floats]]] = {}
        for start in range(0, self.n_queries, 100):
            rows = np.arange(start, min(start + 100, self.n_queries))
            _, by_model = expected_measures(self.block(rows), pair_chances(label[rows], none, none), KS)
            for name in by_model[0]:
                sums = [(one[name].numerator.value, one[name].denominator.value) for one in by_model]
                parts.setdefault(name, []).append((np.stack([s[0] for s in sums]), np.stack([s[1] for s in sums])))
        joined = {
            name: (np.concatenate([p[0] for p in some], axis=1), np.concatenate([p[1] for p in some], axis=1))
            for name, some in parts.items()
        }
        admissible = self.ranked.admissible
        counts = [
            weighted_score_histogram(scores, admissible, label, score_edges(scores[admissible][::7]), none, none)
            for scores in self.ranked.scores
        ]
        return joined, ([one.pairs for one in counts], [one.positives for one in counts])


@dataclass(frozen=True)
class KnownView:
    """An encoder's view of some queries, from similarities that are computed already."""

    of_queries: Vectors
    of_units: Vectors
    queries: Vectors

    def scores(self, query: int, unit: Ints) -> Vectors:
        return np.asarray(self.of_queries[query, unit])

    def between(self, unit: Ints, others: Ints) -> Vectors:
        return np.asarray(self.of_units[unit][:, others])

    def between_queries(self) -> Vectors:
        return self.queries


def _area(pairs: Floats, positive: Floats) -> float:
    """ROC-AUC from counts in classes of rising scores."""
    negative = pairs - positive
    below = np.cumsum(negative) - negative / 2.0
    return float(positive @ below / (positive.sum() * negative.sum()))


def make_bench(
    name: str,
    title: str,
    seen: dict[str, Vectors],
    n_generators: int,
    item_of_image: Ints,
    similar: NDArray[np.bool_],
    n_queries: int,
) -> Bench:
    """Queries are the first images of items, all of them or so many drawn once."""
    n_items = len(similar)
    first = np.searchsorted(np.sort(item_of_image), np.arange(n_items))
    images = np.argsort(item_of_image, kind="stable")[first]
    items = np.sort(np.random.default_rng(5).permutation(n_items)[:n_queries])
    vectors = [_unit(one) for one in seen.values()]
    return Bench(name, title, tuple(seen), n_generators, vectors, item_of_image, images[items], items, similar[items])


def drawn_wardrobe(work: Path, n_items: int, views: int, seed: int = 0) -> Bench:
    """A wardrobe that is drawn and encoded once, with at most 600 queries."""
    name = f"wardrobe-{n_items}" if seed == 0 else f"tuning-{n_items}"
    folder = work / name
    if not (folder / "catalog.parquet").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        _likewise("new", folder, "--wardrobe", "--items", n_items, "--views", views, "--seed", seed)
    _encode(folder, DESCRIPTORS)
    return wardrobe_bench(folder, 600)


def wardrobe_bench(folder: Path, n_queries: int | None = None) -> Bench:
    """From a workspace of drawn items that has the vectors of DESCRIPTORS; similar is the wardrobe's own rule."""
    items, item_of_image, seen = _read(folder, DESCRIPTORS)
    rng = np.random.default_rng(0)
    seen["attributes"] = _noisy(_one_hot(items)[item_of_image], 0.8, rng)
    seen["noisy blend"] = _noisy(seen["blend"], 1.0, rng)
    seen["colour+shape"] = _noisy(_both(seen), 0.3, rng)
    title, n_kept = f"the wardrobe of {len(items):,} items", min(n_queries or len(items), len(items))
    return make_bench(folder.name, title, seen, len(DESCRIPTORS), item_of_image, _similar(items), n_kept)


def materials_bench(work: Path, data: Path) -> Bench:
    """100 materials under two lights; what is similar comes from people's answers (`sampling_materials`)."""
    from sampling_materials import peoples_similarity

    folder, kept = work / "materials", work / "materials-similar.npy"
    generators = ("efficientnet-lite0", "colour", "layout", "shape", "texture")
    if not (folder / "catalog.parquet").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        _likewise("new", folder, data / "materials" / "catalog.csv", "--root", data / "materials")
    _encode(folder, (*generators, *MATERIALS_NEW[:2]))
    items, item_of_image, seen = _read(folder, (*generators, *MATERIALS_NEW[:2]))
    if not kept.exists():
        people = peoples_similarity(data / "materials" / "triplets.csv")
        assert people.names == items["item"].to_list()
        np.save(kept, people.similar)
    seen["colour+shape"] = _noisy(_both(seen), 0.3, np.random.default_rng(0))
    return make_bench("materials", "100 materials", seen, len(generators), item_of_image, np.load(kept), len(items))


def _read(folder: Path, encoders: tuple[str, ...]) -> tuple[pl.DataFrame, Ints, dict[str, Vectors]]:
    """Items, the item of every image, and unit vectors of images."""
    workspace = WorkspaceFolder(folder)
    catalog = read_catalog(workspace).sort("image")
    items = catalog.unique("item", keep="first", maintain_order=True).sort("item")
    item_of_image = items["item"].search_sorted(catalog["item"]).to_numpy().astype(np.int64)
    images = catalog["image"].to_list()
    return items, item_of_image, {name: _unit(read_vectors(workspace, name, images)) for name in encoders}


def _similar(items: pl.DataFrame) -> NDArray[np.bool_]:
    """Similar by the wardrobe's own rule, item by item."""
    found = np.zeros((len(items), len(items)), dtype=np.bool_)
    numbered = items.with_row_index("number")
    for [_], own in numbered.group_by("category", maintain_order=True):
        numbers = own["number"].to_numpy().astype(np.int64)
        first, second = (side.ravel() for side in np.meshgrid(numbers, numbers, indexing="ij"))
        found[first, second] = similarity(items, first, second) >= np.float32(SIMILAR_AT)
    np.fill_diagonal(found, False)
    return found


def _one_hot(items: pl.DataFrame) -> Vectors:
    columns = [items[name].fill_null("").to_dummies().to_numpy() for name in ATTRIBUTE_NAMES if name in items.columns]
    category = 3.0 * items["category"].to_dummies().to_numpy()
    return np.concatenate([*columns, category], axis=1).astype(np.float32)


def _both(seen: dict[str, Vectors]) -> Vectors:
    return np.concatenate([seen[name] - seen[name].mean(axis=0) for name in ("colour", "shape")], axis=1)


def _unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def _noisy(vectors: Vectors, noise: float, rng: np.random.Generator) -> Vectors:
    """Centred, at unit length, plus noise of a given length."""
    added = _unit(rng.standard_normal(vectors.shape).astype(np.float32))
    return _unit(_unit(vectors - vectors.mean(axis=0)) + np.float32(noise) * added)


def _encode(folder: Path, encoders: tuple[str, ...]) -> None:
    missing = [name for name in encoders if name not in WorkspaceFolder(folder).encoders()]
    if missing:
        _likewise("encode", folder, "--with", ",".join(missing))


def _likewise(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "likewise", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)
