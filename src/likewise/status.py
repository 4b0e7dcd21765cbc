"""What a workspace holds, what is stale and what comes next: the one answer for commands, pages and Python.

    catalog -> vectors -> pool -> votes -> labels -> results -> report

Each part is looked at by the package that makes it; here they are put in a row, and the next command is chosen.
"""

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from likewise.catalog import read_catalog
from likewise.catalog.edits import edited_pictures
from likewise.catalog.readers.locations import list_images
from likewise.catalog.readers.reading import find_missing
from likewise.catalog.versions import catalog_version, read_versions
from likewise.chain import ChainPart
from likewise.discovery.step import pool_part
from likewise.encoders.storage.reading import vectors_parts
from likewise.evaluation.coverage import CatalogCoverage, catalog_coverage
from likewise.evaluation.measured_encoders import encoders_to_measure
from likewise.evaluation.over_time import read_over_time
from likewise.evaluation.stored import results_part
from likewise.labeling.state import labels_part, read_votes_or_reason, votes_part
from likewise.labeling.step import current_labels
from likewise.report.state import report_part
from likewise.workspace import FIRST_VERSION, WARDROBE, WorkspaceFolder, read_parquet


@dataclass(frozen=True)
class WorkspaceStatus:
    """Every part of the chain in its order, and the command to run next."""

    workspace: str
    source: str
    images: int
    left_out: int
    parts: tuple[ChainPart, ...]
    next: str
    version: int = 1
    missing_pictures: int = 0  # images of the catalog whose file is not there
    new_pictures: int = 0  # files of a folder that the catalog does not know
    edited_pictures: int = 0  # files that show another picture than the catalog and its vectors know
    coverage: CatalogCoverage | None = None  # of a catalog that was updated: what labels and pool speak for

    def part(self, name: str) -> ChainPart:
        return next(part for part in self.parts if part.name == name)

    @property
    def vectors(self) -> list[ChainPart]:
        return [part for part in self.parts if part.name.partition("/")[0] == "vectors"]

    @property
    def stale(self) -> list[str]:
        """The parts that are there and may not be shown as current."""
        return [part.name for part in self.parts if part.state not in ("missing", "current")]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"stale": self.stale}


def workspace_status(workspace: WorkspaceFolder) -> WorkspaceStatus:
    """Look at everything; nothing is changed."""
    settings, reading = workspace.settings(), read_votes_or_reason(workspace)
    pool, labels = pool_part(workspace), labels_part(workspace, reading)
    results = results_part(workspace, pool, labels)
    made = [labels, results, report_part(workspace, results)]
    if workspace.as_of is not None:
        made = _as_of_then(workspace, labels)
    parts = (*vectors_parts(workspace), pool, votes_part(workspace, reading), *made)
    source = str(settings["source"])
    version = next(each for each in read_versions(workspace) if each.version == catalog_version(workspace))
    n_missing, n_new = (0, 0) if workspace.as_of else count_file_changes(workspace, source)
    n_edited = 0 if workspace.as_of else len(edited_pictures(workspace))
    coverage = catalog_coverage(workspace) if version.version > FIRST_VERSION else None
    if workspace.as_of is not None:
        following = f"likewise evaluate {workspace.quoted} --as-of {version.version}"
    else:
        following = next_command(workspace, parts, drawn=source == WARDROBE)
    waits = coverage is not None and coverage.n_open_pairs and pool.state == "current" and not workspace.as_of
    if coverage is not None and waits and source != WARDROBE:
        following = f"likewise label serve {workspace.quoted} ({coverage.n_open_pairs:,} new pairs wait for a label)"
    if n_missing or n_new or n_edited:
        following = f"likewise update {workspace.quoted} {workspace.source or 'SOURCE'}"
        if source == WARDROBE:
            drawn = settings.get("source_settings") or {}
            options = "".join(f" --{name} {value}" for name, value in drawn.items())
            following = f"likewise new {workspace.quoted} --wardrobe{options} --replace"
    return WorkspaceStatus(
        str(workspace.path),
        source,
        version.images or settings["images"],
        settings["left_out"],
        parts,
        following,
        version.version,
        n_missing,
        n_new,
        n_edited,
        coverage,
    )


def _as_of_then(workspace: WorkspaceFolder, labels: ChainPart) -> list[ChainPart]:
    """Labels, results and report of an earlier version: what the votes of then say, and what was measured then."""
    measure = f"likewise evaluate {workspace.quoted} --as-of {workspace.as_of}"
    if labels.state != "missing":
        table = current_labels(workspace)
        n_similar = int((table["label"] == 1).sum())
        labels = ChainPart(labels.name, "current", f"{len(table):,} of the images of then, {n_similar:,} similar")
    history = read_over_time(workspace).filter(pl.col("version") == workspace.as_of)
    holds = f"{history['encoder'].n_unique()} models, measured then" if len(history) else ""
    results = ChainPart("results", "current" if holds else "missing", holds, command=measure)
    return [labels, results]


def count_file_changes(workspace: WorkspaceFolder, source: str) -> tuple[int, int]:
    """Images whose file is gone and, of a folder, files that are new; where the whole folder is away, none is new."""
    root, catalog = workspace.root, read_catalog(workspace)
    n_missing = find_missing(catalog["image"], root)[1]
    if source != "folder" or not root.is_dir():
        return len(n_missing), 0
    known = {*catalog["image"], *_left_out(workspace)}
    return len(n_missing), sum(picture.as_posix() not in known for picture in list_images(root))


def _left_out(workspace: WorkspaceFolder) -> list[str]:
    if not workspace.problems_file.exists():
        return []
    return read_parquet(workspace.problems_file, "likewise new").filter(~pl.col("kept"))["image"].to_list()


def _encode_all(workspace: WorkspaceFolder, first: ChainPart, early: list[ChainPart]) -> str:
    """The command of the first part; where that makes vectors, those of all encoders that lack some."""
    encode = f"likewise encode {workspace.quoted} --with "
    lacking = [part.command.removeprefix(encode) for part in early if part.command.startswith(encode)]
    names = [name for name in lacking if " " not in name]
    return encode + ",".join(names) if first.command.removeprefix(encode) in names else first.command


def next_command(workspace: WorkspaceFolder, parts: tuple[ChainPart, ...], *, drawn: bool) -> str:
    """The first command that brings the workspace further."""
    by_name = {part.name: part for part in parts}
    left_behind = set(workspace.encoders()) - set(encoders_to_measure(workspace))
    early = [
        part for part in parts if part.name.startswith("vectors") and part.name.partition("/")[2] not in left_behind
    ] + [by_name["pool"]]
    if first := next((part for part in early if not part.usable or part.state == "behind"), None):
        return _encode_all(workspace, first, early)
    labels, votes = by_name["labels"], by_name["votes"]
    if labels.state == "missing" and not labels.automatic:
        if votes.state == "unchecked":
            return votes.command
        if drawn:
            return f"likewise label simulate {workspace.quoted}"
        return f"likewise label serve {workspace.quoted} (a labelling site), or label sheet, then label import"
    if not labels.usable and not labels.automatic:
        return labels.command
    if all(by_name[name].state == "current" for name in ("results", "report")) and not labels.automatic:
        return f"look at {workspace.report_file}"
    return f"likewise report {workspace.quoted}"
