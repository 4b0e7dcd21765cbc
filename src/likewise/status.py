"""What a workspace holds, what is stale and what comes next: the one answer for commands, pages and Python.

    catalog -> vectors -> pool -> votes -> labels -> results -> report

Each part is looked at by the package that makes it; here they are put in a row, and the next command is chosen.
"""

from dataclasses import asdict, dataclass
from typing import Any

from likewise.chain import ChainPart
from likewise.discovery.step import pool_part
from likewise.encoders.storage.reading import vectors_parts
from likewise.evaluation.stored import results_part
from likewise.labeling.state import labels_part, read_votes_or_reason, votes_part
from likewise.report.state import report_part
from likewise.workspace import WARDROBE, WorkspaceFolder


@dataclass(frozen=True)
class WorkspaceStatus:
    """Every part of the chain in its order, and the command to run next."""

    workspace: str
    source: str
    images: int
    left_out: int
    parts: tuple[ChainPart, ...]
    next: str

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
    parts = (
        *vectors_parts(workspace),
        pool,
        votes_part(workspace, reading),
        labels,
        results,
        report_part(workspace, results),
    )
    source = str(settings["source"])
    return WorkspaceStatus(
        str(workspace.path),
        source,
        settings["images"],
        settings["left_out"],
        parts,
        next_command(workspace, parts, drawn=source == WARDROBE),
    )


def next_command(workspace: WorkspaceFolder, parts: tuple[ChainPart, ...], *, drawn: bool) -> str:
    """The first command that brings the workspace further."""
    by_name = {part.name: part for part in parts}
    early = [part for part in parts if part.name.startswith("vectors")] + [by_name["pool"]]
    if first := next((part for part in early if not part.usable), None):
        return first.command
    labels, votes = by_name["labels"], by_name["votes"]
    if labels.state == "missing" and not labels.automatic:
        if votes.state == "unchecked":
            return votes.command
        if drawn:
            return f"likewise label simulate {workspace.path}"
        return f"likewise label serve {workspace.path} (a labelling site), or label sheet, then label import"
    if not labels.usable and not labels.automatic:
        return labels.command
    if all(by_name[name].state == "current" for name in ("results", "report")) and not labels.automatic:
        return f"look at {workspace.report_file}"
    return f"likewise report {workspace.path}"
