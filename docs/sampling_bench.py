"""Campaigns on catalogs whose truth is known: draw pairs, take their labels from the truth, estimate every model.

Four or five descriptors feed the design; three further models feed nothing: one that sees the items' attributes under
noise and is better than all of them, one that sees `blend` under noise, and one that sees colour and shape together.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.discovery.designs.drawing import draw_pairs, inclusion_probabilities, split_evenly
from likewise.discovery.designs.sampled import LIST_DEPTH, sampled_weights
from likewise.evaluation.estimates.blocks import RankedBlock, best_per_unit, rank_block
from likewise.evaluation.estimates.catalog_measures import expected_measures
from likewise.evaluation.estimates.chances import pair_chances
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.estimate import MICRO_AUC, CatalogEstimates, estimate_catalog
from likewise.evaluation.micro_auc import micro_auc
from likewise.synthetic import ATTRIBUTE_NAMES, SIMILAR_AT, similarity

GENERATORS = ("colour", "layout", "shape", "texture", "blend")
NEW_MODELS = ("attributes", "noisy blend", "colour+shape")
KS = (5, 10)
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Bench:
    """Items with the vectors of their images, and which items are similar; the first image of an item is its query."""

    names: tuple[str, ...]
    vectors: list[Vectors]
    item_of_image: Ints
    query_image: Ints
    similar: NDArray[np.bool_]  # items x items

    @property
    def n_items(self) -> int:
        return len(self.similar)

    @property
    def generators(self) -> list[int]:
        return [place for place, name in enumerate(self.names) if name in GENERATORS]

    def block(self, queries: Ints) -> RankedBlock:
        """All items ranked by every model for these queries (numbers of items)."""
        rows = self.query_image[queries]
        scores = [best_per_unit(one[rows] @ one.T, self.item_of_image, self.n_items) for one in self.vectors]
        return rank_block(np.stack(scores), np.arange(self.n_items)[None, :] != queries[:, None])

    def truth(self, block: RankedBlock, queries: Ints) -> dict[str, Floats]:
        """Per measure and model its value when every label is known, and the number of positives per query."""
        label = (self.similar[queries] & block.admissible).astype(np.float64)
        none = np.empty(0, dtype=np.int64)
        positives, measures = expected_measures(block, pair_chances(label.copy(), none, none), KS)
        found = {
            name: np.array([one[name].numerator.value.sum() / one[name].denominator.value.sum() for one in measures])
            for name in measures[0]
        }
        every = label[block.admissible].astype(np.int64)
        areas = [micro_auc(scores[block.admissible].astype(np.float64), every)[0] for scores in block.scores]
        found[MICRO_AUC] = np.array(areas)
        return found | {"positives": positives.value}


def wardrobe_bench(workspace: Path) -> Bench:
    """From a workspace of drawn items that has the vectors of GENERATORS."""
    from likewise.catalog import read_catalog
    from likewise.encoders.storage.reading import read_vectors
    from likewise.workspace import WorkspaceFolder

    folder = WorkspaceFolder(workspace)
    catalog = read_catalog(folder).sort("image")
    items = catalog.unique("item", keep="first", maintain_order=True).sort("item")
    item_of_image = items["item"].search_sorted(catalog["item"]).to_numpy().astype(np.int64)
    images = catalog["image"].to_list()
    seen = {name: _unit(read_vectors(folder, name, images)) for name in GENERATORS}
    rng = np.random.default_rng(0)
    seen["attributes"] = _noisy(_one_hot(items)[item_of_image], 0.8, rng)
    seen["noisy blend"] = _noisy(seen["blend"], 1.0, rng)
    both = np.concatenate([seen[name] - seen[name].mean(axis=0) for name in ("colour", "shape")], axis=1)
    seen["colour+shape"] = _noisy(both, 0.3, rng)
    first = np.searchsorted(np.sort(item_of_image), np.arange(len(items)))
    query_image = np.argsort(item_of_image, kind="stable")[first]
    return Bench(tuple(seen), list(seen.values()), item_of_image, query_image, _similar(items))


def _similar(items: pl.DataFrame) -> NDArray[np.bool_]:
    """Similar by the wardrobe's own rule, item by item."""
    n = len(items)
    found = np.zeros((n, n), dtype=np.bool_)
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


def _unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def _noisy(vectors: Vectors, noise: float, rng: np.random.Generator) -> Vectors:
    """Centred, at unit length, plus noise of a given length."""
    added = _unit(rng.standard_normal(vectors.shape).astype(np.float32))
    return _unit(_unit(vectors - vectors.mean(axis=0)) + np.float32(noise) * added)


def draw_sampled(
    bench: Bench, block: RankedBlock, queries: Ints, n_labels: int, rng: np.random.Generator
) -> LabelledDraw:
    """The sampled design over the generators' lists, labelled by the truth."""
    items = np.arange(bench.n_items)
    depth = min(LIST_DEPTH, bench.n_items - 1)
    lists = [block.order[place][:, :depth].astype(np.int64) for place in bench.generators]
    sizes = split_evenly(n_labels, block.admissible.sum(axis=1), rng)
    weights, unlisted = sampled_weights(lists, queries, items, sizes)
    drawn = draw_pairs(weights, inclusion_probabilities(weights, sizes), unlisted, rng)
    label = bench.similar[queries[drawn.query], drawn.candidate].astype(np.float64)
    return LabelledDraw.of_rounds(np.arange(len(queries)), drawn.query, drawn.candidate, drawn.probability, label)


def estimate(bench: Bench, block: RankedBlock, drawn: LabelledDraw, seed: int) -> CatalogEstimates:
    """Every measure of every model from drawn labels."""
    rows = np.arange(drawn.n_queries)
    return estimate_catalog(lambda: [(rows, block)], bench.names, drawn, KS, seed)


def eds_orders(bench: Bench, block: RankedBlock, queries: Ints, k: int) -> dict[str, Floats]:
    """What an EDS pool of the generators' k best says of every model, on its own labelled pairs.

    ROC_AUC and AP over labelled pairs; the chance that a labelled positive scores above another item of the gallery;
    P@10 with unlabelled candidates as misses.
    """
    pooled = (block.rank[bench.generators] < k).any(axis=0) & block.admissible
    similar = bench.similar[queries] & pooled
    found: dict[str, list[float]] = {"ROC_AUC": [], "AP": [], "gallery": [], "P@10": []}
    for rank in block.rank:
        inside, outside, precise = [], [], []
        for query in range(len(queries)):
            mine = np.argsort(np.where(pooled[query], rank[query], np.iinfo(np.int32).max))[: int(pooled[query].sum())]
            label = similar[query][mine]
            n_positive, n = int(label.sum()), len(label)
            if not n_positive:
                continue
            places = np.flatnonzero(label)
            everywhere = rank[query][similar[query]]
            others = int(block.admissible[query].sum()) - n_positive
            outside.append(1.0 - (np.sort(everywhere) - np.arange(n_positive)).mean() / others)
            precise.append((np.arange(1, n_positive + 1) / (places + 1)).mean())
            if n_positive < n:
                inside.append(1.0 - (places - np.arange(n_positive)).mean() / (n - n_positive))
        found["ROC_AUC"].append(float(np.mean(inside)))
        found["AP"].append(float(np.mean(precise)))
        found["gallery"].append(float(np.mean(outside)))
        found["P@10"].append(float((similar & (rank < 10)).sum() / (10.0 * len(queries))))
    return {name: np.array(values) for name, values in found.items()}


def eds_k(bench: Bench, block: RankedBlock, n_labels: int) -> int:
    """The k at which an EDS pool asks for about so many labels."""
    best = block.rank[bench.generators].min(axis=0)
    counts = [int(((best < k) & block.admissible).sum()) for k in range(1, 60)]
    return int(np.argmin(np.abs(np.array(counts) - n_labels))) + 1
