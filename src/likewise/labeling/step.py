"""The label step of a workspace: votes become labels.parquet, with a note of the rule and the experts behind them."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import polars as pl

from likewise.catalog import read_catalog
from likewise.chain import table_digest
from likewise.discovery.proposals import (
    GENERATORS,
    all_proposals,
    random_pairs,
    remember_proposals,
    with_generators,
)
from likewise.errors import LikewiseError
from likewise.labeling.agreement import InterAnnotatorAgreement, agreement
from likewise.labeling.consensus import Consensus, Rule, consensus
from likewise.labeling.imports import check_votes, read_votes_file
from likewise.labeling.quality import HASTY_SECONDS, is_hasty
from likewise.labeling.sheet import reveal_names
from likewise.labeling.state import labels_basis, labels_part, read_labels_note, read_stored_votes, read_votes_or_reason
from likewise.labeling.store import AddedVotes, add_votes, opened_votes, read_answer_times
from likewise.labeling.store.location import remembered_database
from likewise.labeling.store.owner import ADJUDICATOR_NAME
from likewise.workspace import WorkspaceFolder, read_parquet, staged_workspace, write_json, write_parquet

SIMULATED = "simulated"


@dataclass(frozen=True)
class LabelingResult:
    """The consensus over all stored votes and how far the experts agree."""

    consensus: Consensus
    agreement: InterAnnotatorAgreement
    replaced_imported: Path | None = None  # where imported labels that these took the place of are kept
    hasty: tuple[str, ...] = ()  # experts who answered faster than anybody can look


@dataclass(frozen=True)
class ImportedVotes:
    """What became of a file of votes."""

    added: AddedVotes
    n_blank: int
    n_pairs_outside_pool: int | None
    n_adjudicated: int = 0  # votes under the adjudicator's name, which count in labels and not in agreement


def import_votes_file(workspace: WorkspaceFolder, path: Path, *, replace: bool = False) -> ImportedVotes:
    """Check a file of votes against the catalog and store them; a pair's other answer stays unless `replace`."""
    read = read_votes_file(path)
    pool = read_parquet(workspace.pool_file, "") if workspace.pool_file.exists() else None
    images = set(read_catalog(workspace)["image"])
    votes, repeats = reveal_names(read.votes, images), reveal_names(read.repeats, images)
    checked = check_votes(pl.concat([votes, repeats]), images, pool)
    with opened_votes(workspace) as engine:
        added = add_votes(engine, votes, f"import {path.name}", replace=replace, repeats=repeats)
    if read.proposals is not None:
        remember_proposals(workspace, read.proposals)
    n_adjudicated = len(votes.filter(pl.col("expert") == ADJUDICATOR_NAME))
    return ImportedVotes(added, read.n_blank, checked.n_pairs_outside_pool, n_adjudicated)


def update_labels(workspace: WorkspaceFolder, rule: Rule | None = None) -> LabelingResult:
    """Rebuild labels.parquet from every stored vote (of votes.db, or of another database).

    Without a rule the one of the present labels stays, or `majority` for the first.
    """
    rule = rule or current_rule(workspace)
    votes = read_stored_votes(workspace)
    if votes is None:
        raise LikewiseError(
            f"{workspace.path} holds no votes yet: "
            f"import some with `likewise label import {workspace.quoted} VOTES.csv`."
        )
    if votes.is_empty():
        raise LikewiseError(f"nobody has voted in {workspace.path} yet: there is nothing to make labels from.")
    # An adjudicator speaks only where the others are divided: counted in the labels, not in how far they agree.
    experts_only = votes.filter(pl.col("expert") != ADJUDICATOR_NAME)
    agreed = _consensus(workspace, votes, rule)
    how_far = agreement(experts_only, random_pairs(workspace))
    imported = _imported_labels(workspace)
    sources = votes["source"].unique().sort().to_list()
    note = {
        "rests_on": labels_basis(workspace, rule, votes),
        "labels": table_digest(agreed.labels),
        "n_votes": len(votes),
        "consensus": agreed.summary.to_dict(),
        "agreement": how_far.to_dict(),
        "sources": sources,
        "simulated": any(source.startswith(SIMULATED) for source in sources),
    }
    hasty = _hasty_experts(workspace, votes)
    if hasty:
        note["hasty"] = hasty
    if agreed.threshold is not None:
        note["grades"] = agreed.threshold.to_dict()
    with staged_workspace(workspace) as (staged, files):
        if remembered_database(workspace) is not None:
            write_parquet(votes, staged.votes_copy_file)
        elif workspace.votes_copy_file.exists():
            files.remove(workspace.votes_copy_file)
        write_parquet(agreed.labels, staged.labels_file)
        write_json(note, staged.labels_settings_file)
    return LabelingResult(agreed, how_far, imported, tuple(hasty))


def _hasty_experts(workspace: WorkspaceFolder, votes: pl.DataFrame) -> list[str]:
    """Of those whose votes count."""
    counted = set(votes["expert"])
    with opened_votes(workspace) as engine:
        times = read_answer_times(engine, round(1000 * HASTY_SECONDS))
    return [name for name, n_timed, n_quick in times if name in counted and is_hasty(n_timed, n_quick)]


def _consensus(workspace: WorkspaceFolder, votes: pl.DataFrame, rule: Rule) -> Consensus:
    """Labels with the generators of each pair."""
    agreed = consensus(votes, rule)
    return dataclasses.replace(agreed, labels=with_generators(agreed.labels, all_proposals(workspace)))


def _imported_labels(workspace: WorkspaceFolder) -> Path | None:
    """Where the copy of the present labels is, if they were imported."""
    if not workspace.labels_settings_file.exists() or "imported" not in read_labels_note(workspace):
        return None
    return workspace.imported_labels_file if workspace.imported_labels_file.exists() else None


def current_rule(workspace: WorkspaceFolder) -> Rule:
    """The rule of the present labels, or `majority` where there are none."""
    if not workspace.labels_settings_file.exists():
        return "majority"
    rule = read_labels_note(workspace)["consensus"]["rule"]
    return rule if rule in get_args(Rule) else "majority"


def read_labels(workspace: WorkspaceFolder) -> pl.DataFrame:
    """The labels (query, candidate, label, ...) of this catalog, made again first where votes or pool have changed."""
    if workspace.as_of is not None:
        return current_labels(workspace)
    part = labels_part(workspace, read_votes_or_reason(workspace))
    if part.automatic:
        update_labels(workspace)
    else:
        part.refuse_unless_usable(workspace.labels_file)
    return _stored_labels(workspace, part.command)


def _stored_labels(workspace: WorkspaceFolder, made_by: str) -> pl.DataFrame:
    labels = read_parquet(workspace.labels_file, made_by)
    return labels if GENERATORS in labels.columns else with_generators(labels, all_proposals(workspace))


def current_labels(workspace: WorkspaceFolder) -> pl.DataFrame:
    """The same labels, for whoever only looks: nothing is written."""
    reading = read_votes_or_reason(workspace)
    part = labels_part(workspace, reading)
    if part.automatic and reading.votes is not None:
        return _consensus(workspace, reading.votes, current_rule(workspace)).labels
    part.refuse_unless_usable(workspace.labels_file)
    return _stored_labels(workspace, part.command)


def read_labels_if_any(workspace: WorkspaceFolder) -> pl.DataFrame | None:
    """The labels, None where there are neither labels nor votes to make them from."""
    part = labels_part(workspace, read_votes_or_reason(workspace))
    return None if part.state == "missing" and not part.automatic else read_labels(workspace)
