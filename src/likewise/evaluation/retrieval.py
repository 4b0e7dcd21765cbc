"""Class-based retrieval (Metric Learning Reality Check, sec. 3.1): do images of one class find each other?

With R = the other gallery images of the query's class and rel(i) = 1 if the i-th neighbour is one of them:

    P@1         = rel(1)
    R_Precision = (1/R) sum of rel(i), i = 1..R
    MAP@R       = (1/R) sum of rel(i) P(i), i = 1..R,  P(i) = (1/i) sum of rel(j), j = 1..i
    MRR         = 1 / rank of the first of them, over the whole gallery
    Success@k   = 1 if one of them is among the first k

and the mean over queries. Neighbours are ordered by cosine, equal scores by gallery row; the query itself is
excluded by its key. A query whose class has no other image is left out and counted; it stays in the gallery.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.evaluation.auc import Floats, Ints
from likewise.evaluation.class_ranks import rank_same_class
from likewise.evaluation.measures import MRR, MAP_at_R, Measure, P, R_Precision, Success, parse_measure
from likewise.evaluation.measures.recall import SuccessAtK
from likewise.evaluation.query_sums import QuerySums
from likewise.intervals import interval_of
from likewise.neighbours import NO_INDEX, as_unit
from likewise.progress import ProgressCallback

MEASURES: tuple[Measure, ...] = (P @ 1, R_Precision, MAP_at_R, MRR)
Labels = Sequence[Hashable] | NDArray[Any] | pl.Series
IntervalUnit = Literal["query", "class"]
RETRIEVAL_SCHEMA = pl.Schema(
    {
        "encoder": pl.String,
        "measure": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "n_queries": pl.Int64,
        "n_queries_total": pl.Int64,
    }
)


@dataclass(frozen=True)
class Retrieval:
    """Per query: its class (a number), R, the rank of the first same-class image (1 is best), R_Precision, MAP@R.

    A query whose class has no other image has R = 0, rank 0, and NaN. Without `whole_rank` a rank beyond R is R + 1,
    and there is no MRR.
    """

    label: Ints
    n_same_class: Ints
    first_rank: Ints
    r_precision: Floats
    average_precision: Floats
    whole_rank: bool = True

    @property
    def n_queries(self) -> int:
        """Queries with R > 0, on which every number rests."""
        return int((self.n_same_class > 0).sum())

    @property
    def n_excluded(self) -> int:
        return len(self.n_same_class) - self.n_queries

    def per_query(self, measure: Measure | str) -> Floats:
        """One value per query, NaN where it is left out; `measure` is one of MEASURES or `Success@k`."""
        measure = parse_measure(measure) if isinstance(measure, str) else measure
        if measure == R_Precision:
            return self.r_precision
        if measure == MAP_at_R:
            return self.average_precision
        if measure not in (P @ 1, MRR) and not (isinstance(measure, SuccessAtK) and measure.k):
            raise LikewiseError(
                f"{measure} is not known of classes: choose among {', '.join(map(str, MEASURES))}, Success@k."
            )
        if not self.whole_rank and measure not in (P @ 1, Success @ 1):
            raise LikewiseError(f"{measure} needs the rank in the whole gallery: measure with whole_rank=True.")
        rank = np.where(self.n_same_class > 0, self.first_rank, np.nan)
        if measure == MRR:
            return np.asarray(1.0 / rank)
        return np.where(np.isnan(rank), np.nan, rank <= (measure.cutoff or 1))

    def value(self, measure: Measure | str) -> float:
        """The mean over the queries with R > 0; NaN if there is none."""
        return QuerySums.mean_of(self.per_query(measure)).value()


def retrieval(
    vectors: NDArray[np.floating[Any]],
    labels: Labels,
    *,
    query_vectors: NDArray[np.floating[Any]] | None = None,
    query_labels: Labels | None = None,
    images: Sequence[str] | None = None,
    query_images: Sequence[str] | None = None,
    whole_rank: bool = True,
    on_progress: ProgressCallback | None = None,
) -> Retrieval:
    """Measure one encoder; without `query_vectors` every image of the gallery is a query.

    P@1, R_Precision and MAP@R need only the first R neighbours: where these are all that is wanted, `whole_rank=False`
    is faster.
    For queries from another set, `images` and `query_images` say which gallery row, if any, is the query itself.
    """
    gallery = as_unit(vectors, "gallery vectors")
    if (query_vectors is None) != (query_labels is None):
        raise LikewiseError("queries of another set need both query_vectors and query_labels.")
    if query_vectors is None or query_labels is None:
        queries, query_labels, own_row = gallery, labels, np.arange(len(gallery))
    else:
        queries = as_unit(query_vectors, "query vectors")
        own_row = _own_rows(len(queries), query_images, images)
    for what, rows, named in (("gallery", gallery, labels), ("query", queries, query_labels)):
        if len(rows) != len(named):
            raise LikewiseError(f"there are {len(rows)} {what} vectors but {len(named)} {what} labels.")
    if queries.shape[1] != gallery.shape[1]:
        raise LikewiseError(f"queries have {queries.shape[1]} dimensions, the gallery {gallery.shape[1]}.")
    number: dict[Hashable, int] = {}
    gallery_classes, query_classes = (
        encode_labels(labels, "gallery", number),
        encode_labels(query_labels, "query", number),
    )
    ranks = rank_same_class(
        queries, gallery, query_classes, gallery_classes, own_row, on_progress, whole_rank=whole_rank
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        return Retrieval(
            query_classes,
            ranks.n_same_class,
            ranks.first_rank,
            ranks.hits / ranks.n_same_class,
            ranks.precision_sum / ranks.n_same_class,
            whole_rank,
        )


def retrieval_table(
    measured: Mapping[str, Retrieval], *, ks: Sequence[int] = (), unit: IntervalUnit = "query"
) -> pl.DataFrame:
    """One row per encoder and measure with its interval.

    With `unit="class"` it is over whole classes, whose images succeed and fail together: wider, and more careful.
    """
    if len({len(one.label) for one in measured.values()}) > 1:
        raise LikewiseError("encoders can only be compared on the same queries: give each the same rows.")
    rows = []
    for encoder, one in measured.items():
        counted = one.n_queries, one.n_queries + one.n_excluded
        for measure in (*MEASURES, *(Success @ k for k in ks)):
            sums = _sums(one, measure, unit)
            rows.append((encoder, str(measure), sums.value(), *interval_of(sums), *counted))
    table = pl.DataFrame(rows, schema=RETRIEVAL_SCHEMA, orient="row")
    return table.with_columns(pl.col("value", "low", "high").fill_nan(None))


def _sums(one: Retrieval, measure: Measure, unit: IntervalUnit) -> QuerySums:
    sums = QuerySums.mean_of(one.per_query(measure))
    if unit == "query":
        return sums
    parts = (np.bincount(one.label, part).astype(np.float64) for part in (sums.numerator, sums.denominator))
    return QuerySums(*parts)


def encode_labels(labels: Labels, what: str = "image", number: dict[Hashable, int] | None = None) -> Ints:
    """Labels of any kind as whole numbers 0, 1, ...; `number` remembers which, so that two sets get the same."""
    number = {} if number is None else number
    values = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    missing = [row for row, label in enumerate(values) if label is None or label != label]
    if missing:
        raise LikewiseError(f"{len(missing)} {what} labels are missing, the first in row {missing[0]}: fill them.")
    return np.fromiter((number.setdefault(label, len(number)) for label in values), np.int64, len(values))


def _own_rows(n_queries: int, query_images: Sequence[str] | None, images: Sequence[str] | None) -> Ints:
    if query_images is None or images is None:
        if query_images is not None or images is not None:
            raise LikewiseError("to leave each query itself out, give both images and query_images.")
        return np.full(n_queries, NO_INDEX, np.int64)
    row_of = {image: row for row, image in enumerate(images)}
    return np.array([row_of.get(image, NO_INDEX) for image in query_images], np.int64).reshape(n_queries)
