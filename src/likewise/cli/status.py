"""`likewise status`: what a workspace holds and what to do next."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from likewise.cli.console import AsJson, AsOf, WorkspacePath, echo, echo_json, escape, open_workspace
from likewise.cli.label_site import Database

if TYPE_CHECKING:
    from likewise.chain import ChainPart
    from likewise.evaluation.coverage import CatalogCoverage
    from likewise.status import WorkspaceStatus


def status(workspace: WorkspacePath, database: Database = None, as_of: AsOf = None, as_json: AsJson = False) -> None:
    """Show what is there, what is stale, and the next command.

    Example: `likewise status shoes`
    """
    from likewise.labeling.store import use_database
    from likewise.status import workspace_status

    target = open_workspace(workspace, as_of)
    use_database(target, database)
    found = workspace_status(target)
    if as_json:
        echo_json(found.to_dict())
        return
    echo(
        f"[bold]{escape(workspace)}[/]: {found.images:,} images from {found.source}, {found.left_out} left out"
        + (f", version {found.version}" if found.version > 1 else "")
    )
    if found.missing_pictures or found.new_pictures or found.edited_pictures:
        echo(
            f"  [red]pictures:[/] {found.missing_pictures:,} of the catalog are gone, {found.new_pictures:,} are new, "
            f"{found.edited_pictures:,} were edited: bring it up to date with `{escape(found.next)}`"
        )
    current = [part.name.partition("/")[2] for part in found.vectors if part.state == "current"]
    if current:
        echo(f"  vectors: {escape(', '.join(current))}")
    for part in found.parts:
        if part not in found.vectors or part.state != "current":
            echo(f"  {escape(part.name)}: {escape(describe(part))}")
    if found.coverage is not None and (found.coverage.share_of_images < 1 or found.coverage.share_of_pairs < 1):
        echo(f"  {escape(describe_coverage(found.coverage))}")
    echo(f"next: [bold]{escape(found.next)}[/]")


def describe_coverage(coverage: "CatalogCoverage") -> str:
    """What the labels cannot speak for yet."""
    off = ", ".join(f"{name} {100 * share:.1f}" for name, share in coverage.off_by.items())
    return (
        f"labels cover {100 * coverage.share_of_pairs:.0f} % of the pool's pairs, the pool "
        f"{coverage.n_covered_images:,} of today's {coverage.n_images:,} images"
        + (f"; P@{coverage.k} may be off by at most (points): {off}" if off else "")
    )


def describe(part: "ChainPart") -> str:
    """One line: what is there, and why that is not current."""
    if part.state == "missing" and not part.automatic:
        return "none"
    state = {"current": "", "missing": "none", "unchecked": "not checked"}.get(part.state, part.state)
    return "; ".join(filter(None, (part.holds, ": ".join(filter(None, (state, part.why))))))


def print_stale(found: "WorkspaceStatus", names: Sequence[str]) -> None:
    """Say what is about to be made again, and what could not be checked; without labels nothing will be."""
    labels = found.part("labels")
    if labels.state == "missing" and not labels.automatic:
        return
    for part in found.parts:
        if part.name in names and part.automatic:
            what = "made now" if part.state == "missing" else "made again"
            echo(f"[dim]{escape(part.name)}: {escape(part.why)}; {what}[/]")
        elif part.name in names and part.state == "unchecked":
            echo(f"[bold]{escape(part.name)} not checked:[/] {escape(part.why)}")
