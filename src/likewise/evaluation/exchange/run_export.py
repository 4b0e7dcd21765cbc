"""A workspace's model as a TREC run: its lists over the pool's queries and gallery, or its scores of judged pairs."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.catalog import read_catalog
from likewise.discovery.step import read_pool
from likewise.encoders.lineage import encoder_lineage
from likewise.encoders.storage.reading import read_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.labels_export import evaluated_labels
from likewise.evaluation.exchange.labels_io import LABEL_SCHEMA
from likewise.evaluation.exchange.run_models import (
    BY_IMAGE,
    BY_ITEM,
    DEPTH,
    JUDGED,
    list_judged,
    list_run_candidates,
    run_tag,
)
from likewise.evaluation.exchange.trec import write_run
from likewise.evaluation.gallery_negatives import draw_gallery_negatives
from likewise.evaluation.pairs import build_judged_pairs
from likewise.files import written_together
from likewise.labeling.step import read_labels
from likewise.lineage.files import sidecar_file, write_lineage
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class ExportedRun:
    """What was written: lines in all, queries with any, and the tag of every line."""

    n_lines: int
    n_queries: int
    tag: str


def export_run(
    workspace: WorkspaceFolder, encoder: str, path: Path, *, candidates: str = BY_ITEM, depth: int = DEPTH
) -> ExportedRun:
    """Write one encoder's run; `candidates` is best-image-per-item, every-image or judged-pairs.

    What the encoder learned from is written beside it.
    """
    if candidates not in (BY_ITEM, BY_IMAGE, JUDGED):
        raise LikewiseError(f"a run lists {BY_ITEM}, {BY_IMAGE} or {JUDGED}, not {candidates!r}.")
    if depth < 1:
        raise LikewiseError(f"a run needs a depth of at least 1, not {depth}.")
    pool = read_pool(workspace)
    labels = pl.DataFrame(schema=LABEL_SCHEMA)
    if candidates == JUDGED:
        labels = evaluated_labels(workspace)
    catalog, queries, gallery = read_catalog(workspace), pool.query_gallery.queries, pool.query_gallery.gallery
    pairs = build_judged_pairs(catalog, labels, queries, gallery)
    vectors = [read_vectors(workspace, encoder, images) for images in (pairs.queries, pairs.gallery)]
    if candidates == JUDGED:
        labelled = build_judged_pairs(catalog, read_labels(workspace), queries, gallery)
        rows = list_judged(pairs, *vectors, drawn=draw_gallery_negatives(pairs, seed=0, labelled=labelled))
    else:
        rows = list_run_candidates(pairs, *vectors, depth=depth, one_per_item=candidates == BY_ITEM)
    if rows.is_empty():
        raise LikewiseError("no query has a candidate to list: the gallery shows only the queries' own items.")
    tag = run_tag(encoder, candidates)
    with written_together(path.parent) as staged:
        write_run(rows, staged.place(path), tag)
        write_lineage(encoder_lineage(workspace, encoder), sidecar_file(staged.place(path)))
    return ExportedRun(len(rows), rows["query"].n_unique(), tag)
