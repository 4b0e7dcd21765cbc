"""`likewise demo`: the whole road on the drawn wardrobe, with the commands a reader would type."""

import time
from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import Seed, echo, escape
from likewise.errors import LikewiseError
from likewise.workspace import quoted


def demo(
    workspace: Annotated[Path, typer.Argument(metavar="[WORKSPACE]", help="Where to put it.")] = Path("demo"),
    items: Annotated[int, typer.Option(help="Number of items to draw (three shop images each).")] = 600,
    n_queries: Annotated[int, typer.Option("--n-queries", help="Number of queries.")] = 100,
    seed: Seed = 0,
) -> None:
    """Run every step on the built-in wardrobe: draw, encode, discover, label, evaluate, report.

    Example: `likewise demo`
    """
    from likewise.cli.discover import budget, discover
    from likewise.cli.encode import encode
    from likewise.cli.evaluate import evaluate
    from likewise.cli.new import new
    from likewise.cli.report import report
    from likewise.cli.simulate import simulate
    from likewise.workspace import WARDROBE, WorkspaceFolder

    started = time.perf_counter()
    drawn = {"items": items, "views": 3, "wild": 0.0, "seed": seed}
    target = WorkspaceFolder(workspace)
    if target.settings_file.exists():
        there = target.settings()
        if there["source"] != WARDROBE or there["source_settings"] != drawn:
            raise LikewiseError(
                f"{workspace} holds a different workspace: choose another folder, `likewise demo {workspace}-2`."
            )
    else:
        _announce(f"likewise new {quoted(workspace)} --wardrobe --items {items} --seed {seed}")
        new(workspace, wardrobe=True, items=items, seed=seed)
    _announce(f"likewise encode {quoted(workspace)}")
    encode(workspace)
    _announce(f"likewise discover {quoted(workspace)} --k 6 --n-queries {n_queries} --by-category --seed {seed}")
    discover(workspace, k=6, n_queries=n_queries, by_category=True, seed=seed, replace=True)
    _announce(f"likewise label simulate {quoted(workspace)} --experts 3 --seed {seed}")
    simulate(workspace, experts=3, seed=seed)
    _announce(f"likewise plan labels {quoted(workspace)} --k 12 --n-queries {n_queries} --by-category --seed {seed}")
    budget(workspace, k=12, n_queries=n_queries, by_category=True, seed=seed)
    _announce(f"likewise evaluate {quoted(workspace)}")
    evaluate(workspace)
    _announce(f"likewise report {quoted(workspace)}")
    report(workspace)
    echo(f"[dim]{time.perf_counter() - started:.0f} s in all[/]")


def _announce(command: str) -> None:
    echo(f"\n[bold cyan]$ {escape(command)}[/]")
