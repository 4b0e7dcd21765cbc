"""Labels that come without votes, put into a workspace: labels.parquet with a note of the file, and no invented votes.

The columns that count votes are there but empty, and labels.json says `imported` where a consensus rule would
stand, so that every later step and page can tell. A copy stays in labels.imported.parquet, so that labels made from
votes later, which take the place of labels.parquet, lose nothing. Where no pool was made, the labelled pairs become the
pool, so that labels from anywhere can be evaluated: their queries against the whole gallery, and no model fed it.
"""

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog import read_catalog, select
from likewise.chain import table_digest
from likewise.discovery.pool import POOL_SCHEMA, QueryGallery, sort_pool
from likewise.discovery.step import Pool, PoolSettings, read_pool, store_pool
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.labels_io import read_labels_file
from likewise.labeling.imports import refuse_unknown_images
from likewise.labeling.state import read_labels_note
from likewise.labeling.votes import PAIR
from likewise.workspace import WorkspaceFolder, read_parquet, write_json, write_parquet

IMPORTED = "imported"
NO_VOTES = "the labels were imported without votes"
VOTE_COLUMNS = {"similar": pl.Int64, "not_similar": pl.Int64, "cannot_tell": pl.Int64, "probability": pl.Float64}


@dataclass(frozen=True)
class ImportedLabels:
    """What an import did; `changed` is False if the very same labels were there."""

    n_labels: int
    n_similar: int
    n_repeated: int
    n_unjudged: int
    n_outside_pool: int | None  # None where the labelled pairs are the pool
    changed: bool

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def import_labels(
    workspace: WorkspaceFolder, path: Path, *, positive_from: int = 1, replace: bool = False, gallery: str | None = None
) -> ImportedLabels:
    """Make the labels of a file those of the workspace; labels already there give way only with `replace`.

    `gallery` is a rule such as `domain=shop` for the candidates, where there is no pool yet that says it.
    """
    images = set(read_catalog(workspace)["image"])
    read = read_labels_file(path, positive_from=positive_from, known=images)
    refuse_unknown_images(read.labels, images, f"{path} names")
    table = read.labels.with_columns(pl.lit(None, kind).alias(name) for name, kind in VOTE_COLUMNS.items())
    changed = _labels_changed(workspace, table)
    if changed and workspace.labels_file.exists() and not replace:
        raise LikewiseError(
            f"{workspace.labels_file} holds {_describe_labels(workspace)}: add `--replace` to put these in their place "
            "(votes are kept, and `likewise label consensus` brings their labels back)."
        )
    if changed:
        write_parquet(table, workspace.imported_labels_file)
        write_parquet(table, workspace.labels_file)
        write_json(_note(table, path, positive_from), workspace.labels_settings_file)
    outside = None
    if _has_proposals(workspace):
        if gallery is not None:
            raise LikewiseError("the pool of `likewise discover` says what the gallery is: leave --gallery out.")
        outside = read.labels.join(read_pool(workspace).rows, on=PAIR, how="anti").height
    else:
        store_pool(workspace, pool_from_labels(workspace, read.labels, gallery), replace=True)
    return ImportedLabels(
        n_labels=len(read.labels),
        n_similar=int(read.labels["label"].cast(pl.Int64).sum()),
        n_repeated=read.n_repeated,
        n_unjudged=read.n_unjudged,
        n_outside_pool=outside,
        changed=changed,
    )


def _has_proposals(workspace: WorkspaceFolder) -> bool:
    """Whether generators made the pool; labels imported before may have done."""
    return workspace.pool_file.exists() and bool(read_pool(workspace).settings.generators)


def pool_from_labels(workspace: WorkspaceFolder, labels: pl.DataFrame, gallery: str | None = None) -> Pool:
    """The labelled pairs as a pool that nobody proposed: its queries are theirs, its gallery what the rule selects."""
    catalog = read_catalog(workspace)
    candidates = select(catalog, gallery)["image"]
    outside = labels.filter(~pl.col("candidate").is_in(candidates.implode()))
    if len(outside):
        raise LikewiseError(
            f"{len(outside)} of {len(labels)} labels are about candidates outside the gallery {gallery!r} "
            f"(first: {outside['candidate'][0]}): choose the gallery they were labelled in."
        )
    rows = labels.select(*PAIR, generator=pl.lit(IMPORTED), rank=None, score=None, probability=None, round=None).cast(
        POOL_SCHEMA
    )
    max_per_query = max(labels.group_by("query").len()["len"].to_list())
    settings = PoolSettings((), k=max_per_query, n_queries=labels["query"].n_unique(), gallery=gallery, n_random=0)
    return Pool(sort_pool(rows), settings, QueryGallery.from_catalog(catalog, labels["query"].unique(), candidates))


def _labels_changed(workspace: WorkspaceFolder, labels: pl.DataFrame) -> bool:
    if not workspace.labels_file.exists() or not workspace.labels_settings_file.exists():
        return True
    there = read_parquet(workspace.labels_file, f"likewise label consensus {workspace.path}")
    return "imported" not in read_labels_note(workspace) or not there.equals(labels)


def _describe_labels(workspace: WorkspaceFolder) -> str:
    n = len(read_parquet(workspace.labels_file, f"likewise label consensus {workspace.path}"))
    note = read_labels_note(workspace) if workspace.labels_settings_file.exists() else {}
    if note.get("consensus", {}).get("rule") == IMPORTED:
        return f"{n} labels imported from another file"
    return f"{n} labels made from the votes of {note.get('agreement', {}).get('n_experts', 'several')} experts"


def _note(labels: pl.DataFrame, path: Path, positive_from: int) -> dict[str, Any]:
    """The note that every reader of labels.json understands: nothing is claimed about experts."""
    unknown = {"value": None, "n_pairs": 0, "reason": NO_VOTES}
    return {
        "rests_on": {},
        "labels": table_digest(labels),
        "consensus": {
            "rule": IMPORTED,
            "n_pairs": len(labels),
            "n_labelled": len(labels),
            "n_similar": int(labels["label"].cast(pl.Int64).sum()),
            "n_ties": 0,
            "n_unanswered": 0,
            "iterations": None,
            "converged": None,
        },
        "agreement": {
            "n_experts": 0,
            "n_pairs": 0,
            "n_votes": 0,
            "fleiss_kappa": unknown,
            "krippendorff_alpha": unknown,
            "experts": [],
        },
        "sources": [f"labels {path.name}"],
        "simulated": False,
        "imported": {
            "file": path.name,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "positive_from": positive_from,
        },
    }
