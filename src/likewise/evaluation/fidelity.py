"""Where the full truth is known: what a pool finds of it, and whether it orders the models as the truth would.

For every subset of generators and every k the pool is labelled with the truth, every model gets its gallery ROC-AUC by
those labels, and the order is compared (Spearman) with the order by macro ROC-AUC over *all* pairs.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.discovery.budget import generator_subsets, proposals_of
from likewise.discovery.pool import QueryGallery, pairs_to_label
from likewise.discovery.unit import ITEMS, Unit
from likewise.evaluation.auc import Floats, Ints, mean_ranks, roc_auc, sort_pairs
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


def full_truth_auc(query_gallery: QueryGallery, truth: GroundTruth, vectors: VectorsByEncoder) -> dict[str, float]:
    """Macro ROC-AUC of every encoder over all admissible pairs."""
    result = {}
    for encoder, (queries, gallery) in vectors.items():
        scores = pair_scores(queries, gallery, truth.query, truth.candidate)
        result[encoder] = _macro(truth.query, scores, truth.label, len(query_gallery.queries))
    return result


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
    width, n_items = len(query_gallery.gallery), int(query_gallery.gallery_items.max()) + 1
    n_queries = len(query_gallery.queries)
    similar = truth.query[truth.label == 1] * n_items + query_gallery.gallery_items[truth.candidate[truth.label == 1]]
    pair_item = query * n_items + query_gallery.gallery_items[candidate]
    found = np.isin(pair_item, similar)
    standings = [Standing.of(truth, query * width + candidate, width, n_queries, *each) for each in vectors.values()]
    full = np.array(list(full_truth_auc(query_gallery, truth, vectors).values()))
    rows = []
    subsets = list(generator_subsets(proposals.generators))
    for done, subset in enumerate(subsets):
        if on_progress:
            on_progress("order of the models", done, len(subsets))
        best_rank = proposals.ranks[:, subset].min(axis=1)
        for k in range(1, proposals.k_max + 1):
            inside = best_rank < k
            positive = np.flatnonzero(inside & found)
            taken = np.isin(similar, pair_item[positive])
            auc = np.array([one.gallery_auc(positive, query[positive], taken) for one in standings])
            recall = len(np.unique(pair_item[positive])) / max(1, len(np.unique(similar)))
            names = "+".join(proposals.generators[g] for g in subset)
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


@dataclass(frozen=True)
class Standing:
    """One model's scores, ready for the gallery ROC-AUC of any choice of labelled positives."""

    below: Floats  # of each pair of the widest pool: gallery images of its query that score lower
    score: Floats  # of each of these pairs
    similar_query: Ints
    similar_score: Floats  # of every truly similar pair: an image of a labelled item is no negative
    n_gallery: Ints  # admissible images of each query

    @classmethod
    def of(
        cls, truth: GroundTruth, cells: Ints, width: int, n_queries: int, queries: Vectors, gallery: Vectors
    ) -> "Standing":
        scores = pair_scores(queries, gallery, truth.query, truth.candidate)
        ranked = sort_pairs(truth.query, scores, truth.label, n_queries)
        below = np.empty(len(scores))
        below[ranked.order] = mean_ranks(ranked)
        at = np.searchsorted(truth.query * width + truth.candidate, cells)  # the truth is in the order of its cells
        similar = truth.label == 1
        n_gallery = np.bincount(truth.query, minlength=n_queries)
        return cls(below[at], scores[at], truth.query[similar], scores[similar], n_gallery)

    def gallery_auc(self, positive: Ints, query: Ints, taken: NDArray[np.bool_]) -> float:
        """The mean over queries for these pairs of the pool; `taken`: similar pairs of the items they show."""
        n_queries = len(self.n_gallery)
        taken_query, taken_score = self.similar_query[taken], self.similar_score[taken]
        both = sort_pairs(
            np.concatenate([query, taken_query]),
            np.concatenate([self.score[positive], taken_score]),
            np.concatenate([np.ones(len(query), np.int8), np.zeros(len(taken_query), np.int8)]),
            n_queries,
        )
        n_positive = np.bincount(query, minlength=n_queries)
        n_taken = np.bincount(taken_query, minlength=n_queries)
        n_negative = self.n_gallery - n_taken
        # Of the images that score lower, those that are no negatives; each positive ties with itself among them.
        inside = (roc_auc(both) * n_taken - 0.5) * n_positive
        with np.errstate(invalid="ignore", divide="ignore"):
            lower = np.bincount(query, self.below[positive], n_queries) - inside
            return QuerySums.mean_of(lower / (n_positive * n_negative)).value()


def _macro(query: Ints, scores: Floats, label: NDArray[np.int8], n_queries: int) -> float:
    return QuerySums.mean_of(roc_auc(sort_pairs(query, scores, label, n_queries))).value()
