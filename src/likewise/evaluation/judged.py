"""What models of a workspace are measured on: the encoders, labels, pool and judged pairs of one evaluation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from likewise.catalog import read_catalog
from likewise.discovery import QueryGallery
from likewise.discovery.proposals import drop_random_pairs, fed_by
from likewise.discovery.step import Pool, read_pool
from likewise.encoders.storage.reading import common_images, read_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.measured_encoders import encoders_to_measure
from likewise.evaluation.measurements import EncoderVectors
from likewise.evaluation.pairs import JudgedPairs, build_judged_pairs, refuse_queries_without_candidates
from likewise.evaluation.screening import pairs_among, screen_labels
from likewise.evaluation.summary import EvaluationSettings
from likewise.lineage.guard import Screening
from likewise.lineage.halves import select_half
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class StoredVectors(Mapping[str, EncoderVectors]):
    """Vectors of a workspace for the queries and gallery of judged pairs, read when an encoder is asked for."""

    workspace: WorkspaceFolder
    pairs: JudgedPairs

    def __getitem__(self, encoder: str) -> EncoderVectors:
        queries, gallery = self.pairs.queries, self.pairs.gallery
        return read_vectors(self.workspace, encoder, queries), read_vectors(self.workspace, encoder, gallery)

    def __iter__(self) -> Iterator[str]:
        return iter(self.workspace.encoders())

    def __len__(self) -> int:
        return len(self.workspace.encoders())


@dataclass(frozen=True)
class EvaluationInputs:
    """`pairs` judge the models; `labelled` are all labelled pairs, those that only chance proposed among them."""

    encoders: list[str]
    screening: Screening
    labels: pl.DataFrame
    pool: Pool
    pairs: JudgedPairs
    labelled: JudgedPairs

    @property
    def generators(self) -> tuple[str, ...]:
        return label_generators(self.labels, self.pool)


def read_inputs(
    workspace: WorkspaceFolder, labels: pl.DataFrame, encoders: Sequence[str] | None, settings: EvaluationSettings
) -> EvaluationInputs:
    """What an evaluation of all encoders, or of those named, on these labels rests on."""
    pool, there = read_pool(workspace), workspace.encoders()
    if settings.half is not None:
        chosen = select_half(read_catalog(workspace), settings.half)
        labels, pool = pairs_among(labels, chosen["image"]), _pool_among(pool, chosen)
    screening = screen_labels(workspace, encoders or encoders_to_measure(workspace), settings.half)
    names = screening.choose(encoders)
    generators = (name for name in label_generators(labels, pool) if name in there)
    pairs = _judged(workspace, [*names, *generators], labels, pool)
    labelled = build_judged_pairs(read_catalog(workspace), labels, pairs.queries, pairs.gallery)
    return EvaluationInputs(names, screening, labels, pool, pairs, labelled)


def label_generators(labels: pl.DataFrame, pool: Pool) -> tuple[str, ...]:
    """The models that proposed the labelled pairs of the pool's queries, for this pool or one before it.

    The pairs of a design that draws are its own, and all its generators stand behind them.
    """
    if pool.settings.design != "eds":
        return pool.settings.generators
    asked = pool.query_gallery
    return tuple(fed_by(labels.filter(pl.col("query").is_in(asked.queries) & pl.col("candidate").is_in(asked.gallery))))


def _pool_among(pool: Pool, catalog: pl.DataFrame) -> Pool:
    """The part of a pool that ranges over some images of the catalog."""
    images, asked = set(catalog["image"]), pool.query_gallery
    queries, gallery = ([image for image in each if image in images] for each in (asked.queries, asked.gallery))
    chosen = QueryGallery.from_catalog(catalog, queries, gallery)
    return replace(pool, rows=pairs_among(pool.rows, catalog["image"]), query_gallery=chosen)


def _judged(workspace: WorkspaceFolder, encoders: Sequence[str], labels: pl.DataFrame, pool: Pool) -> JudgedPairs:
    """Labels without the pairs that only chance proposed; images restricted to those every encoder has."""
    used = drop_random_pairs(labels)
    queries = common_images(workspace, encoders, pool.query_gallery.queries)
    gallery = common_images(workspace, encoders, pool.query_gallery.gallery)
    pairs = build_judged_pairs(read_catalog(workspace), used, queries, gallery)
    refuse_queries_without_candidates(pairs)
    if not len(pairs):
        raise LikewiseError(
            "none of the labels belongs to a query and candidate of the pool: "
            "label the pairs of `likewise label sheet`, or run `likewise discover` for the catalog they come from."
        )
    return pairs
