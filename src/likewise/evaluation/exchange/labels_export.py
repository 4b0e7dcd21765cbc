"""The labels of a workspace for others: one function for the command, the owner's download and everything else."""

from dataclasses import dataclass

import polars as pl

from likewise.discovery.proposals import drop_random_pairs
from likewise.discovery.step import read_pool
from likewise.evaluation.estimates.draw import as_one_round
from likewise.evaluation.exchange.design_columns import with_design
from likewise.evaluation.exchange.labels_io import PRELS, QRELS_ENDINGS, labels_content
from likewise.evaluation.exchange.trec import trec_grades
from likewise.labeling.grades import GRADE
from likewise.labeling.step import current_labels
from likewise.workspace import WorkspaceFolder

WITH_DESIGN = (".parquet", ".csv", ".tsv", ".prels")  # forms with a place for inclusion probabilities


@dataclass(frozen=True)
class ExportedLabels:
    """A file of labels; `n_random` of all labels are of pairs that only chance proposed.

    `n_drawn` pairs of a design are in the file with their inclusion probabilities, judged or not; None where the pool
    was not drawn, or the file has no place for them.
    """

    content: bytes
    n_labels: int
    n_random: int
    n_drawn: int | None = None
    positive_from: int | None = None  # of a TREC file with grades: which of them are similar, to read it back


def export_labels(
    workspace: WorkspaceFolder, ending: str, *, as_evaluated: bool = False, name: str = ""
) -> ExportedLabels:
    """The labels under their rule, as a file with this ending; `as_evaluated` leaves random pairs out."""
    labels = current_labels(workspace)
    used = drop_random_pairs(labels)
    chosen = used if as_evaluated else labels
    pool = read_pool(workspace) if workspace.pool_file.exists() else None
    n_drawn, rows = None, chosen
    if pool is not None and pool.settings.design != "eds" and ending in WITH_DESIGN:
        n_drawn, rows = len(pool.rows), with_design(chosen, as_one_round(pool.rows, pool.update_rounds))
    content, n_random = labels_content(rows, ending, name), len(labels) - len(used)
    return ExportedLabels(content, len(chosen), n_random, n_drawn, _similar_from(chosen, ending))


def _similar_from(labels: pl.DataFrame, ending: str) -> int | None:
    """The lowest grade that is similar, as a TREC file writes it."""
    if GRADE not in labels.columns or ending not in (*QRELS_ENDINGS, PRELS):
        return None
    similar = labels.filter(pl.col("label") == 1)
    return min((int(grade) for grade in trec_grades(similar)), default=None) if len(similar) else None


def evaluated_labels(workspace: WorkspaceFolder) -> pl.DataFrame:
    """The labels that models are measured on: not those of pairs that only chance proposed."""
    return drop_random_pairs(current_labels(workspace))
