"""The label step of a workspace: votes become labels.parquet, with a note of the rule and the experts behind them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import polars as pl

from likewise.catalog import catalog_fingerprint, read_catalog
from likewise.errors import LikewiseError
from likewise.labeling.agreement import InterAnnotatorAgreement, agreement
from likewise.labeling.consensus import Consensus, Rule, consensus
from likewise.labeling.imports import check_votes, read_votes_file
from likewise.labeling.store import AddedVotes, add_votes, count_votes_by_source, open_votes, read_votes
from likewise.labeling.store.owner import ADJUDICATOR_NAME
from likewise.workspace import WorkspaceFolder, read_json, read_parquet, write_json, write_parquet

SIMULATED = "simulated"


@dataclass(frozen=True)
class LabelingResult:
    """The consensus over all stored votes and how far the experts agree."""

    consensus: Consensus
    agreement: InterAnnotatorAgreement
    replaced_imported: Path | None = None  # where imported labels that these took the place of are kept


@dataclass(frozen=True)
class ImportedVotes:
    """What became of a file of votes."""

    added: AddedVotes
    n_blank: int
    n_pairs_outside_pool: int | None


def import_votes_file(
    workspace: WorkspaceFolder, path: Path, database: str | None = None, *, replace: bool = False
) -> ImportedVotes:
    """Check a file of votes against the catalog and store them; a pair's other answer stays unless `replace`."""
    read = read_votes_file(path)
    pool = read_parquet(workspace.pool_file, "") if workspace.pool_file.exists() else None
    checked = check_votes(read.votes, set(read_catalog(workspace)["image"]), pool)
    engine = open_votes(database or workspace)
    added = add_votes(engine, read.votes, f"import {path.name}", replace=replace)
    engine.dispose()
    return ImportedVotes(added, read.n_blank, checked.n_pairs_outside_pool)


def update_labels(workspace: WorkspaceFolder, rule: Rule | None = None, database: str | None = None) -> LabelingResult:
    """Rebuild labels.parquet from every stored vote (of votes.db, or of a database URL).

    Without a rule the one of the present labels stays, or `majority` for the first.
    """
    rule = rule or current_rule(workspace)
    if database is None and not workspace.votes_file.exists():
        raise LikewiseError(
            f"{workspace.path} holds no votes yet: import some with `likewise label import {workspace.path} VOTES.csv`."
        )
    engine = open_votes(database or workspace)
    votes, sources = read_votes(engine), count_votes_by_source(engine)
    engine.dispose()
    if votes.is_empty():
        raise LikewiseError(f"nobody has voted in {workspace.path} yet: there is nothing to make labels from.")
    # An adjudicator speaks only where the others are divided: counted in the labels, not in how far they agree.
    experts_only = votes.filter(pl.col("expert") != ADJUDICATOR_NAME)
    agreed, how_far = consensus(votes, rule), agreement(experts_only)
    imported = _imported_labels(workspace)
    workspace.labels_settings_file.unlink(missing_ok=True)  # written last: without it, labels.parquet does not count
    write_parquet(agreed.labels, workspace.labels_file)
    note = {
        "catalog": catalog_fingerprint(read_catalog(workspace)),
        "consensus": agreed.summary.to_dict(),
        "agreement": how_far.to_dict(),
        "sources": sources["source"].to_list(),
        "simulated": any(source.startswith(SIMULATED) for source in sources["source"]),
    }
    if database is None:
        workspace.votes_copy_file.unlink(missing_ok=True)
    else:
        write_parquet(votes, workspace.votes_copy_file)
    write_json(note, workspace.labels_settings_file)
    return LabelingResult(agreed, how_far, imported)


def read_stored_votes(workspace: WorkspaceFolder) -> pl.DataFrame | None:
    """Every vote behind the labels (of another database: as they were then), or None where labels came without."""
    if workspace.votes_copy_file.exists():
        return read_parquet(workspace.votes_copy_file, f"likewise label consensus {workspace.path} --database URL")
    if not workspace.votes_file.exists():
        return None
    engine = open_votes(workspace)
    votes = read_votes(engine)
    engine.dispose()
    return votes


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
    """The consensus labels (query, candidate, label, ...), which must belong to the workspace's catalog."""
    if workspace.labels_file.exists() and not workspace.labels_settings_file.exists():
        raise LikewiseError(
            f"{workspace.labels_file} was only half written: run `likewise label consensus {workspace.path}` again."
        )
    if workspace.labels_settings_file.exists():
        made_for = read_labels_note(workspace).get("catalog")
        if made_for is not None and made_for != catalog_fingerprint(read_catalog(workspace)):
            raise LikewiseError(
                f"{workspace.labels_file} was made for another catalog: move votes.db away if its votes are about "
                f"other pictures, or run `likewise label consensus {workspace.path}` if they are about these."
            )
    return read_parquet(workspace.labels_file, f"likewise label import {workspace.path} VOTES.csv")


def read_labels_note(workspace: WorkspaceFolder) -> dict[str, Any]:
    """Rule, agreement and sources of the labels."""
    note: dict[str, Any] = read_json(workspace.labels_settings_file)
    return note
