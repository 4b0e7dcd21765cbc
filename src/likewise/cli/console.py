"""How commands talk: tables and sentences on standard output, progress on standard error, JSON when asked."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console
    from rich.progress import Progress

WorkspacePath = Annotated[Path, typer.Argument(metavar="WORKSPACE", help="The workspace folder.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the numbers as JSON and nothing else.")]
HalfOption = Annotated[
    str | None,
    typer.Option("--half", help="Only the items of one half: train or test, the same in every command."),
]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same files.")]

_on_screen: "list[Progress]" = []
SECONDS_BETWEEN_LINES = 10.0
SECONDS_OF_SPEED = 3600.0
SHORTEST_NAME, WIDTH_OF_NUMBERS = 20, 46  # of a line with a bar: what it says, and bar, count, speed and time left


AsOf = Annotated[
    str | None, typer.Option("--as-of", help="An earlier version of the catalog: its date (2026-09), name or number.")
]


def open_workspace(path: Path, as_of: str | None = None) -> WorkspaceFolder:
    """The workspace at `path`, which must exist; as it was in an earlier version of its catalog."""
    workspace = WorkspaceFolder(path)
    workspace.settings()
    if as_of is None:
        return workspace
    from likewise.catalog.versions import find_version

    return WorkspaceFolder(path, as_of=find_version(workspace, as_of))


def parse_names(text: str | None) -> list[str]:
    """A comma-separated list as the user typed it, each name once."""
    return list(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))


def console() -> "Console":
    """Standard output; bars on the screen make room first, and come back when work goes on."""
    from rich.console import Console

    for bars in _on_screen:
        if bars.live.is_started:
            bars.stop()
    return Console(highlight=False, soft_wrap=False)


def escape(value: object) -> str:
    """Something a user named, to stand in marked-up text as it is: `[old]` is no markup."""
    from rich import markup

    return markup.escape(str(value))


def echo(text: str) -> None:
    """A line for people, with rich markup."""
    console().print(text)


def echo_json(value: Any) -> None:
    """JSON for scripts, numbers unrounded."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def to_records(table: "pl.DataFrame") -> list[dict[str, Any]]:
    return table.to_dicts()


@contextmanager
def progress_bars(unit: str) -> Iterator[ProgressCallback]:
    """Show progress on standard error; call the yielded function with (what, done, total).

    A terminal gets bars with speed and time left, a log file one line every ten seconds.
    """
    from rich.console import Console

    errors = Console(stderr=True)
    with _terminal_bars(errors, unit) if errors.is_terminal else _log_lines(errors, unit) as update:
        yield update


@contextmanager
def single_progress_bar(unit: str) -> Iterator[ProgressCallback]:
    """The same with a single bar for all of the work: `what` says what is running at the moment."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    errors = Console(stderr=True)
    if not errors.is_terminal:
        with _log_lines(errors, unit, one=True) as update:
            yield update
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit))
    left = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    everything = Progress(
        *columns, *left, console=errors, transient=True, speed_estimate_period=SECONDS_OF_SPEED
    )  # one step may take minutes
    with everything as bar, _shown(bar):
        task = bar.add_task("starting", total=None)
        heard = False

        def update(what: str, done: int, total: int) -> None:
            nonlocal heard
            bar.start()
            if not heard:  # what an earlier run did is no speed of this one
                bar.reset(task, completed=done, total=total)
                heard = True
            bar.update(task, description=what, completed=done, total=total)

        yield update


@contextmanager
def _terminal_bars(errors: "Console", unit: str) -> Iterator[ProgressCallback]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
    from rich.table import Column

    of_names = max(SHORTEST_NAME, errors.width - WIDTH_OF_NUMBERS - len(unit))
    names = Column(no_wrap=True, overflow="ellipsis", min_width=min(SHORTEST_NAME, of_names), max_width=of_names)
    bar = Progress(
        TextColumn("{task.description}", table_column=names),
        BarColumn(table_column=Column(min_width=10)),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TextColumn(f"{unit}  {{task.fields[rate]}}", table_column=Column(no_wrap=True)),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
        console=errors,
        transient=True,
    )
    tasks: dict[str, TaskID] = {}

    def update(what: str, done: int, total: int) -> None:
        bar.start()
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total, completed=done, rate="")
        task = bar.tasks[bar.task_ids.index(tasks[what])]
        rate = f"{task.speed:,.0f}/s" if task.speed else ""
        bar.update(tasks[what], completed=done, total=total, rate=rate)

    with bar, _shown(bar):
        yield update


@contextmanager
def _shown(bars: "Progress") -> Iterator[None]:
    """Known to `console`, so that nothing is printed into bars."""
    _on_screen.append(bars)
    try:
        yield
    finally:
        _on_screen.remove(bars)


@contextmanager
def _log_lines(errors: "Console", unit: str, *, one: bool = False) -> Iterator[ProgressCallback]:
    spoken = time.monotonic()
    began: dict[str, tuple[float, int]] = {}

    def update(what: str, done: int, total: int) -> None:
        nonlocal spoken
        now = time.monotonic()
        started, done_before = began.setdefault("" if one else what, (now, done))
        if now - spoken >= SECONDS_BETWEEN_LINES:
            spoken = now
            ending = ""
            if done > done_before:
                speed = (done - done_before) / (now - started)
                ending = (
                    f", {speed:,.{0 if speed >= 10 else 1}f}/s, about {format_duration((total - done) / speed)} left"
                )
            errors.print(f"{what}: {done:,} of {total:,}{f' {unit}' if unit else ''}{ending}")

    yield update


def format_duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def format_hours(hours: float) -> str:
    """As a person says it: 12 s, 5 min, 3.4 h, 12 days."""
    if hours == 0.0:
        return "–"
    if hours < 1 / 60:
        return f"{3600 * hours:.0f} s" if hours >= 1 / 3600 else "< 1 s"
    if hours < 1:
        return f"{60 * hours:.0f} min"
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:,.0f} days"
