"""Where the full truth is known: what a pool finds of it, and whether it orders the models as the truth would.

For every subset of generators and every k the pool is labelled with the truth, every model gets its macro ROC-AUC on
those labels, and the order is compared (Spearman) with the order by macro ROC-AUC over *all* pairs.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.discovery.budget import generator_subsets, proposals_of
from likewise.discovery.pool import QueryGallery, pairs_to_label
from likewise.evaluation.auc import Floats, Ints, roc_auc, sort_pairs
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
    """What share of the truly similar pairs was labelled similar, counted by (query, item) and by (query, image)."""

    similar_items: int
    similar_items_found: int
    item_recall: float | None  # None where nothing is truly similar
    item_cost: float
    similar_images: int
    similar_images_found: int
    image_recall: float | None
    image_cost: float

    def to_dict(self) -> dict[str, float | int | None]:
        return asdict(self)


def admissible_pairs(query_gallery: QueryGallery) -> tuple[Ints, Ints]:
    """All (query row, gallery row) of different items; for catalogs small enough to know the truth of."""
    query, candidate = np.nonzero(query_gallery.query_items[:, None] != query_gallery.gallery_items[None, :])
    return query.astype(np.int64), candidate.astype(np.int64)


def truth_coverage(
    query_gallery: QueryGallery, truth: GroundTruth, pool: pl.DataFrame, labels: pl.DataFrame
) -> TruthCoverage:
    """Truly similar pairs that the pool asked for and the experts confirmed, against all there are."""
    query_of = {image: row for row, image in enumerate(query_gallery.queries)}
    candidate_of = {image: row for row, image in enumerate(query_gallery.gallery)}
    confirmed = labels.filter(pl.col("label") == 1).join(pool, on=["query", "candidate"], how="semi")
    width = len(query_gallery.gallery)
    found = {query_of[q] * width + candidate_of[c] for q, c in confirmed.select("query", "candidate").iter_rows()}
    positive = truth.label == 1
    images = truth.query[positive] * width + truth.candidate[positive]
    n_items = int(query_gallery.gallery_items.max()) + 1
    items = truth.query[positive] * n_items + query_gallery.gallery_items[truth.candidate[positive]]
    hit = np.isin(images, np.fromiter(found, np.int64, len(found)))
    n_asked = pairs_to_label(pool).height
    n_items_all, n_items_found = len(np.unique(items)), len(np.unique(items[hit]))
    return TruthCoverage(
        similar_items=n_items_all,
        similar_items_found=n_items_found,
        item_recall=n_items_found / n_items_all if n_items_all else None,
        item_cost=n_asked / query_gallery.n_item_pairs,
        similar_images=len(images),
        similar_images_found=int(hit.sum()),
        image_recall=float(hit.mean()) if len(hit) else None,
        image_cost=n_asked / query_gallery.n_pairs,
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
    all_labels = np.zeros(n_queries * width, dtype=np.int8)
    all_labels[truth.query * width + truth.candidate] = truth.label
    label = all_labels[query * width + candidate]
    similar = np.unique((truth.query * n_items + query_gallery.gallery_items[truth.candidate])[truth.label == 1])
    pair_item = query * n_items + query_gallery.gallery_items[candidate]
    scores = {name: pair_scores(q, g, query, candidate) for name, (q, g) in vectors.items()}
    full = full_truth_auc(query_gallery, truth, vectors)
    rows = []
    subsets = list(generator_subsets(proposals.generators))
    for done, subset in enumerate(subsets):
        if on_progress:
            on_progress("order of the models", done, len(subsets))
        best_rank = proposals.ranks[:, subset].min(axis=1)
        for k in range(1, proposals.k_max + 1):
            inside = best_rank < k
            auc = [_macro(query[inside], scores[name][inside], label[inside], n_queries) for name in vectors]
            order = spearman(np.array(auc), np.array([full[name] for name in vectors]))
            recall = len(np.unique(pair_item[inside & (label == 1)])) / max(1, len(similar))
            names = "+".join(proposals.generators[g] for g in subset)
            rows.append((names, len(subset), k, int(inside.sum()), recall, order))
    return pl.DataFrame(
        rows,
        schema={
            "generators": pl.String,
            "n_generators": pl.Int64,
            "k": pl.Int64,
            "n_pairs": pl.Int64,
            "item_recall": pl.Float64,
            "spearman": pl.Float64,
        },
        orient="row",
    ).with_columns(pl.col("spearman").fill_nan(None))


def _macro(query: Ints, scores: Floats, label: NDArray[np.int8], n_queries: int) -> float:
    return QuerySums.mean_of(roc_auc(sort_pairs(query, scores, label, n_queries))).value()
