"""Where the full truth is known: what a pool finds of it, and whether it orders the models as the truth would.

For every subset of generators and every k the pool is labelled with the truth, every model gets its gallery ROC-AUC by
those labels, and the order is compared (Spearman) with its order by the truth about *all* items.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.discovery.budget import generator_subsets, proposals_of
from likewise.discovery.pool import QueryGallery, pairs_to_label
from likewise.discovery.unit import ITEMS, Unit
from likewise.evaluation.auc import Floats, Ints, mean_ranks, sort_pairs
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.rank_correlation import spearman
from likewise.neighbours import pair_scores
from likewise.neighbours.scores import Floats as Vectors
from likewise.progress import ProgressCallback

VectorsByEncoder = Mapping[str, tuple[Vectors, Vectors]]  # of queries and gallery


@dataclass(frozen=True)
class GroundTruth:
    """Every admissible pair of a query gallery with its true label."""

    query: Ints
    candidate: Ints
    label: NDArray[np.int8]


@dataclass(frozen=True)
class TruthCoverage:
    """What share of the truly similar pairs was labelled similar, and what share of all pairs experts were asked."""

    unit: Unit
    similar: int
    found: int
    recall: float | None  # None where nothing is truly similar
    cost: float

    def to_dict(self) -> dict[str, str | float | int | None]:
        return asdict(self)


def admissible_pairs(query_gallery: QueryGallery) -> tuple[Ints, Ints]:
    """All (query row, gallery row) of different items; for catalogs small enough to know the truth of."""
    query, candidate = np.nonzero(query_gallery.query_items[:, None] != query_gallery.gallery_items[None, :])
    return query.astype(np.int64), candidate.astype(np.int64)


def truth_coverage(
    query_gallery: QueryGallery, truth: GroundTruth, pool: pl.DataFrame, labels: pl.DataFrame, unit: Unit = ITEMS
) -> TruthCoverage:
    """Truly similar pairs that the pool asked for and the experts confirmed, against all there are."""
    counter = query_gallery.counter(unit)
    confirmed = labels.filter(pl.col("label") == 1).join(pool, on=["query", "candidate"], how="semi")
    positive = truth.label == 1
    similar = pl.DataFrame(
        {
            "query": pl.Series(query_gallery.queries).gather(truth.query[positive]),
            "candidate": pl.Series(query_gallery.gallery).gather(truth.candidate[positive]),
        }
    )
    true = counter.distinct(similar)
    # An image that experts confirmed shows a truly similar item, or they were wrong.
    right = counter.distinct(confirmed.select("query", "candidate").join(similar, on=["query", "candidate"]))
    return TruthCoverage(
        unit=unit,
        similar=len(true),
        found=len(right),
        recall=len(right) / len(true) if len(true) else None,
        cost=pairs_to_label(pool).height / counter.n_all_pairs,
    )


@dataclass(frozen=True)
class ItemTruth:
    """Every query with every item of others, by rising `cell` (query * n_items + item), and whether it is similar."""

    n_queries: int
    n_items: int
    cell: Ints
    label: NDArray[np.int8]
    pairs: GroundTruth  # of images
    cell_of_pair: Ints  # the row here of each of them

    @classmethod
    def of(cls, query_gallery: QueryGallery, truth: GroundTruth) -> "ItemTruth":
        n_items = int(query_gallery.gallery_items.max()) + 1
        every = truth.query * n_items + query_gallery.gallery_items[truth.candidate]
        cell, inverse = np.unique(every, return_inverse=True)
        label = np.zeros(len(cell), np.int8)
        np.maximum.at(label, inverse, truth.label)
        return cls(len(query_gallery.queries), n_items, cell, label, truth, inverse)

    @property
    def query(self) -> Ints:
        return self.cell // self.n_items

    @property
    def n_similar(self) -> int:
        return int(self.label.sum())

    def below(self, queries: Vectors, gallery: Vectors) -> Floats:
        """For each query and item how many items of the query score lower, by their best images; ties one half."""
        best = np.full(len(self.cell), -np.inf)
        np.maximum.at(best, self.cell_of_pair, pair_scores(queries, gallery, self.pairs.query, self.pairs.candidate))
        ranked = sort_pairs(self.query, best, self.label, self.n_queries)
        below = np.empty(len(best))
        below[ranked.order] = mean_ranks(ranked)
        return below

    def macro_auc(self, below: Floats, positive: Ints) -> float:
        """The mean over queries of ROC-AUC where these rows are the positives and all others negatives."""
        query = self.query[positive]
        n_positive = np.bincount(query, minlength=self.n_queries)
        n_negative = np.bincount(self.query, minlength=self.n_queries) - n_positive
        lower = np.bincount(query, below[positive], self.n_queries) - n_positive * (n_positive - 1) / 2.0
        with np.errstate(invalid="ignore", divide="ignore"):
            return QuerySums.mean_of(lower / (n_positive * n_negative)).value()


def fidelity_table(
    pool: pl.DataFrame,
    query_gallery: QueryGallery,
    truth: GroundTruth,
    vectors: VectorsByEncoder,
    on_progress: ProgressCallback | None = None,
) -> pl.DataFrame:
    """For every subset of generators and k: Spearman with the order under the full truth, and recall of similar items.

    `pool` should reach to the largest k of interest.
    """
    proposals = proposals_of(pool)
    query_of = {image: row for row, image in enumerate(query_gallery.queries)}
    candidate_of = {image: row for row, image in enumerate(query_gallery.gallery)}
    query = np.array([query_of[image] for image in proposals.pairs["query"]], dtype=np.int64)
    candidate = np.array([candidate_of[image] for image in proposals.pairs["candidate"]], dtype=np.int64)
    items = ItemTruth.of(query_gallery, truth)
    row = np.searchsorted(items.cell, query * items.n_items + query_gallery.gallery_items[candidate])
    below = [items.below(*each) for each in vectors.values()]
    full = np.array([items.macro_auc(each, np.flatnonzero(items.label == 1)) for each in below])
    rows = []
    subsets = list(generator_subsets(proposals.generators))
    for done, subset in enumerate(subsets):
        if on_progress:
            on_progress("order of the models", done, len(subsets))
        best_rank = proposals.ranks[:, subset].min(axis=1)
        for k in range(1, proposals.k_max + 1):
            inside = best_rank < k
            positive = np.unique(row[inside & (items.label[row] == 1)])
            auc = np.array([items.macro_auc(each, positive) for each in below])
            names = "+".join(proposals.generators[g] for g in subset)
            recall = len(positive) / max(1, items.n_similar)
            rows.append((names, len(subset), k, int(inside.sum()), recall, spearman(auc, full)))
    return pl.DataFrame(
        rows,
        schema={
            "generators": pl.String,
            "n_generators": pl.Int64,
            "k": pl.Int64,
            "n_pairs": pl.Int64,
            "recall": pl.Float64,
            "spearman": pl.Float64,
        },
        orient="row",
    ).with_columns(pl.col("spearman").fill_nan(None))
