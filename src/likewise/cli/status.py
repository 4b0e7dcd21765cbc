"""`likewise status`: what a workspace holds and what to do next."""

from dataclasses import asdict, dataclass, replace

from likewise.cli.console import AsJson, WorkspacePath, echo, echo_json, escape, open_workspace
from likewise.workspace import WARDROBE, WorkspaceFolder, read_json, read_parquet


@dataclass(frozen=True)
class WorkspaceStatus:
    """What a workspace holds; None for a step that was not run."""

    images: int
    left_out: int
    source: str
    encoders: list[str]
    unfinished: list[str]  # encoders that were started
    pool: str | None
    labels: str | None
    results: str | None
    stale: bool  # the results are older than what they rest on
    report: str | None
    next: str


def status(workspace: WorkspacePath, as_json: AsJson = False) -> None:
    """Show what is there and the next command.

    Example: `likewise status shoes`
    """
    found = read_status(open_workspace(workspace))
    if as_json:
        echo_json(asdict(found))
        return
    echo(f"[bold]{escape(workspace)}[/]: {found.images:,} images from {found.source}, {found.left_out} left out")
    echo(f"  vectors: {', '.join(found.encoders) or 'none'}")
    if found.unfinished:
        echo(f"  unfinished: {', '.join(found.unfinished)}")
    stale = ", older than what they rest on" if found.stale else ""
    echo(f"  pool: {escape(found.pool or 'none')}")
    echo(f"  labels: {escape(found.labels or 'none')}")
    echo(f"  results: {escape(found.results or 'none')}{stale}")
    echo(f"  report: {escape(found.report or 'none')}")
    echo(f"next: [bold]{escape(found.next)}[/]")


def read_status(target: WorkspaceFolder) -> WorkspaceStatus:
    from likewise.evaluation.stored import results_are_current

    settings = target.settings()
    complete = target.encoders()
    started = sorted(meta.parent.name for meta in target.vectors_folder.glob("*/meta.json"))
    results = target.results_folder / "discovery.parquet"
    found = WorkspaceStatus(
        images=settings["images"],
        left_out=settings["left_out"],
        source=settings["source"],
        encoders=complete,
        unfinished=[name for name in started if name not in complete],
        pool=_describe_pool(target),
        labels=_describe_labels(target),
        results=str(results) if results.exists() else None,
        stale=results.exists() and not results_are_current(target),
        report=str(target.report_file) if target.report_file.exists() else None,
        next="",
    )
    return replace(found, next=_next_command(target, found))


def _describe_pool(target: WorkspaceFolder) -> str | None:
    if not target.pool_settings_file.exists():
        return None
    pool = read_parquet(target.pool_file, f"likewise discover {target.path} --replace")
    pairs = pool.select("query", "candidate").unique().height
    chosen = read_json(target.pool_settings_file)["settings"]
    who = f"by {', '.join(chosen['generators'])}, k = {chosen['k']}" if chosen["generators"] else "of imported labels"
    return f"{pairs:,} pairs {who}"


def _describe_labels(target: WorkspaceFolder) -> str | None:
    if not target.labels_settings_file.exists():
        return None
    summary = read_json(target.labels_settings_file)["consensus"]
    return f"{summary['n_labelled']:,} by {summary['rule']}, {summary['n_similar']:,} similar"


def _next_command(target: WorkspaceFolder, found: WorkspaceStatus) -> str:
    if found.unfinished:
        return f"likewise encode {target.path} --with {','.join(found.unfinished)}"
    if not found.encoders:
        return f"likewise encode {target.path}"
    if not found.pool:
        return f"likewise discover {target.path}"
    if not found.labels and found.source == WARDROBE:
        return f"likewise label simulate {target.path}"
    if not found.labels:
        return f"likewise label serve {target.path} (a labelling site), or label sheet, then label import"
    if not found.results or found.stale:
        return f"likewise evaluate {target.path}"
    if found.report:
        return f"look at {found.report}; `likewise report {target.path}` renews it"
    return f"likewise report {target.path}"
