"""`likewise status`: what a workspace holds and what to do next."""

from typing import Any

from likewise.cli.console import AsJson, WorkspacePath, opened, plain, say, say_json
from likewise.workspace import Workspace, read_json, read_parquet


def status(workspace: WorkspacePath, as_json: AsJson = False) -> None:
    """Show what is there and the next command.

    Example: `likewise status shoes`
    """
    target = opened(workspace)
    facts = _facts(target)
    if as_json:
        say_json(facts)
        return
    say(f"[bold]{plain(workspace)}[/]: {facts['images']:,} images from {facts['source']}, {facts['left_out']} left out")
    say(f"  vectors: {', '.join(facts['encoders']) or 'none'}")
    if facts["unfinished"]:
        say(f"  unfinished: {', '.join(facts['unfinished'])}")
    for step in ("pool", "labels", "results", "report"):
        stale = ", older than what they rest on" if step == "results" and facts["stale"] else ""
        say(f"  {step}: {plain(facts[step] or 'none')}{stale}")
    say(f"next: [bold]{plain(facts['next'])}[/]")


def _facts(target: Workspace) -> dict[str, Any]:
    from likewise.evaluation.stored import results_are_current

    settings = target.settings()
    complete = target.encoders()
    started = sorted(meta.parent.name for meta in target.vectors_folder.glob("*/meta.json"))
    facts: dict[str, Any] = {
        "images": settings["images"],
        "left_out": settings["left_out"],
        "source": settings["source"],
        "encoders": complete,
        "unfinished": [name for name in started if name not in complete],
        "pool": None,
        "labels": None,
        "results": None,
        "stale": False,
        "report": str(target.report_file) if target.report_file.exists() else None,
    }
    if target.pool_settings_file.exists():
        pool = read_parquet(target.pool_file, f"likewise discover {target.path} --replace")
        pairs = pool.select("query", "candidate").unique().height
        chosen = read_json(target.pool_settings_file)["settings"]
        who = (
            f"by {', '.join(chosen['generators'])}, k = {chosen['k']}" if chosen["generators"] else "of imported labels"
        )
        facts["pool"] = f"{pairs:,} pairs {who}"
    if target.labels_settings_file.exists():
        summary = read_json(target.labels_settings_file)["consensus"]
        facts["labels"] = f"{summary['n_labelled']:,} by {summary['rule']}, {summary['n_similar']:,} similar"
    if (target.results_folder / "discovery.parquet").exists():
        facts["results"] = str(target.results_folder / "discovery.parquet")
        facts["stale"] = not results_are_current(target)
    facts["next"] = _next(target, facts)
    return facts


def _next(target: Workspace, facts: dict[str, Any]) -> str:
    if facts["unfinished"]:
        return f"likewise encode {target.path} --with {','.join(facts['unfinished'])}"
    if not facts["encoders"]:
        return f"likewise encode {target.path}"
    if not facts["pool"]:
        return f"likewise discover {target.path}"
    if not facts["labels"] and target.knows_truth:
        return f"likewise simulate {target.path}"
    if not facts["labels"]:
        return f"likewise label serve {target.path} (a labelling site), or label sheet, then label import"
    if not facts["results"] or facts["stale"]:
        return f"likewise evaluate {target.path}"
    if facts["report"]:
        return f"look at {facts['report']}; `likewise report {target.path}` renews it"
    return f"likewise report {target.path}"
