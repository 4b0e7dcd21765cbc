"""Votes and labels as parts of the chain: labels rest on the votes, the rule, the pool and the catalog.

Whether the labels are still those of the votes is asked here and nowhere else; making them again is cheap, so every
step that reads labels does it (`step.read_labels`).
"""

from dataclasses import dataclass
from typing import Any

import polars as pl

from likewise.catalog import read_catalog
from likewise.catalog.versions import catalog_version, key_changes, read_history, read_versions, rename_keys
from likewise.chain import ChainPart, changed_digests, digest_of, in_words, table_digest
from likewise.discovery.proposals import proposals_digest
from likewise.labeling.store import StoreError, opened_votes, read_sourced_votes
from likewise.labeling.store.location import remembered_database
from likewise.labeling.votes import PAIR, VOTE_KEY
from likewise.workspace import WorkspaceFolder, read_note, read_parquet

VOTES, LABELS = "votes", "labels"
CHANGES = {
    "votes": "other votes stand now than when they were made",
    "pool": "the pool has changed since they were made",
    "catalog": "the catalog was updated since they were made",
}
VOTES_ASIDE = "rests on votes about images that are not in the catalog any more"
OTHER_CATALOG = "was made for another catalog (move the votes away if they are about other pictures)"


def read_stored_votes(workspace: WorkspaceFolder) -> pl.DataFrame | None:
    """Every vote that stands on images of the catalog, with its source; None where there is no database of votes."""
    if remembered_database(workspace) is None and not workspace.votes_file.exists():
        return None
    with opened_votes(workspace) as engine:
        return _as_called_in(workspace, read_sourced_votes(engine))


def _as_called_in(workspace: WorkspaceFolder, votes: pl.DataFrame) -> pl.DataFrame:
    """Votes on images of the catalog (of the version it is looked at in), by the names that they have there."""
    if workspace.as_of is not None:
        latest = read_versions(workspace)[-1].version
        votes = rename_keys(votes, key_changes(read_history(workspace), latest, workspace.as_of), *PAIR).sort(VOTE_KEY)
    images = read_catalog(workspace)["image"].implode()
    return votes.filter(pl.col("query").is_in(images) & pl.col("candidate").is_in(images))


def read_votes_behind_labels(workspace: WorkspaceFolder) -> pl.DataFrame | None:
    """The same; where their database does not answer, the copy that was kept with the labels."""
    try:
        return read_stored_votes(workspace)
    except StoreError:
        if not workspace.votes_copy_file.exists():
            raise
        return read_parquet(workspace.votes_copy_file, f"likewise label consensus {workspace.quoted} --database URL")


def labels_basis(workspace: WorkspaceFolder, rule: str, votes: pl.DataFrame) -> dict[str, str]:
    """What labels made now would rest on."""
    return {
        "votes": table_digest(votes.drop("time")),
        "rule": rule,
        "pool": proposals_digest(workspace),
        "catalog": str(catalog_version(workspace)),
    }


def labels_digest(workspace: WorkspaceFolder) -> str:
    """Of the stored labels and everything that is noted about them; empty where there are none."""
    return digest_of(read_labels_note(workspace)) if workspace.labels_settings_file.exists() else ""


def read_labels_note(workspace: WorkspaceFolder) -> dict[str, Any]:
    """Rule, agreement and sources of the labels, and what they rest on."""
    return read_note(workspace.labels_settings_file, {"consensus": {"rule": str}})


@dataclass(frozen=True)
class VotesReading:
    """The votes that stand, None where they cannot be read, and why not."""

    votes: pl.DataFrame | None
    problem: str = ""

    @property
    def there(self) -> bool:
        return self.votes is not None and not self.votes.is_empty()

    def __len__(self) -> int:
        return 0 if self.votes is None else len(self.votes)


def read_votes_or_reason(workspace: WorkspaceFolder) -> VotesReading:
    """The votes for a look at the chain: a database that does not answer is no error."""
    try:
        votes = read_stored_votes(workspace)
    except StoreError as error:
        return VotesReading(None, str(error).rstrip("."))
    return VotesReading(votes, "" if votes is not None and len(votes) else "there are no votes")


def votes_part(workspace: WorkspaceFolder, reading: VotesReading) -> ChainPart:
    """How many votes stand, and where they are."""
    if reading.votes is None and remembered_database(workspace) is not None:
        command = f"likewise status {workspace.quoted} --database URL"
        return ChainPart(VOTES, "unchecked", why=reading.problem, command=command)
    if reading.votes is None or not reading.there:
        return ChainPart(VOTES, "missing", why=reading.problem, command=f"likewise label serve {workspace.quoted}")
    n_experts, n_pairs = reading.votes["expert"].n_unique(), reading.votes.select("query", "candidate").n_unique()
    holds = f"{len(reading):,} of {n_experts} expert{'s' if n_experts > 1 else ''} on {n_pairs:,} pairs"
    return ChainPart(
        VOTES, "current", holds=f"{holds}, in {remembered_database(workspace) or workspace.votes_file.name}"
    )


def _first_command(workspace: WorkspaceFolder) -> str:
    """What leads to the first label from here."""
    if not workspace.encoders():
        return f"likewise encode {workspace.quoted}"
    if not workspace.pool_file.exists():
        return f"likewise discover {workspace.quoted}"
    return f"likewise label serve {workspace.quoted}` or `likewise label import {workspace.quoted} FILE"


def labels_part(workspace: WorkspaceFolder, reading: VotesReading) -> ChainPart:
    """Whether the labels are those of the votes, the rule, the pool and the catalog of now."""
    again = f"likewise label consensus {workspace.quoted}"
    there = workspace.labels_file.exists()
    if not there or not workspace.labels_settings_file.exists():
        if reading.there:
            why = f"{len(reading):,} votes are there, and no labels have been made from them yet"
            return ChainPart(LABELS, "missing", why=why, command=again, automatic=True)
        if there:
            return ChainPart(LABELS, "unfinished", why="is incomplete", command=again)
        return ChainPart(LABELS, "missing", why="does not exist yet", command=_first_command(workspace))
    note = read_labels_note(workspace)
    holds, imported = _describe(note), "imported" in note
    if table_digest(read_parquet(workspace.labels_file, again)) != note.get("labels"):
        why = "is not the table that labels.json describes"
        if imported:
            again = f"likewise label import {workspace.quoted} {workspace.imported_labels_file} --replace"
        return ChainPart(LABELS, "stale", holds, why, again, automatic=reading.there and not imported)
    if imported:
        why = "the votes that are here are not in these labels, which were imported" if reading.there else ""
        return ChainPart(LABELS, "current", holds, why, again if reading.there else "")
    return _labels_from_votes(workspace, reading, note, holds)


def _labels_from_votes(
    workspace: WorkspaceFolder, reading: VotesReading, note: dict[str, Any], holds: str
) -> ChainPart:
    again = f"likewise label consensus {workspace.quoted}"
    rested = note.get("rests_on", {})
    if rested.get("catalog") not in [str(each.version) for each in read_versions(workspace)]:
        return ChainPart(LABELS, "stale", holds, OTHER_CATALOG, again)
    if reading.votes is not None and not reading.there and rested.get("catalog") != str(catalog_version(workspace)):
        return ChainPart(LABELS, "stale", holds, VOTES_ASIDE, f"likewise discover {workspace.quoted}")
    if reading.votes is None or not reading.there:
        why = f"they cannot be compared with the votes they were made from: {reading.problem}"
        return ChainPart(LABELS, "unchecked", holds, why, f"{again} --database URL")
    different = changed_digests(rested, labels_basis(workspace, note["consensus"]["rule"], reading.votes))
    if not different:
        return ChainPart(LABELS, "current", holds)
    why = in_words(CHANGES.get(name, name) for name in different)
    if "votes" in different:
        why += f" ({note.get('n_votes', 0):,} votes then, {len(reading):,} now)"
    return ChainPart(LABELS, "stale", holds, why, again, automatic=True)


def _describe(note: dict[str, Any]) -> str:
    made = note["consensus"]
    return f"{made['n_labelled']:,} by {made['rule']}, {made['n_similar']:,} similar"
