"""`likewise label serve` and what its owner does from the command line: invite, revoke, look, pause, settle."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from likewise.cli.console import AsJson, WorkspacePath, echo, echo_json, open_workspace
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder, quoted

if TYPE_CHECKING:
    from sqlalchemy import Engine

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="LIKEWISE_DATABASE",
        help="Database of votes, postgresql://…; remembered without its password. votes.db by default.",
    ),
]
ExpertName = Annotated[str, typer.Option("--expert", "--name", help="The expert's name.")]


@contextmanager
def open_votes_database(workspace: WorkspaceFolder, database: str | None) -> "Iterator[Engine]":
    """The votes database, closed at the end; one that is named is where the votes are from now on."""
    from likewise.labeling.store import opened_votes, use_database

    use_database(workspace, database)
    with opened_votes(workspace) as engine:
        yield engine


def serve(
    workspace: WorkspacePath,
    host: Annotated[
        str, typer.Option(help="Address to listen on; with 127.0.0.1 only this machine can connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
    url: Annotated[str | None, typer.Option(help="The site's public address, e.g. https://label.example.org.")] = None,
    database: Database = None,
    password_file: Annotated[
        Path | None, typer.Option("--owner-password-file", help="A file with the owner's password.")
    ] = None,
    log_requests: Annotated[
        bool, typer.Option("--log-requests", help="Write a line of JSON for each request, without secrets.")
    ] = False,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(help="Address of a proxy in front of the site, which says where requests come from; repeatable."),
    ] = None,
    password: Annotated[str | None, typer.Option(envvar="LIKEWISE_OWNER_PASSWORD", hidden=True)] = None,
) -> None:
    """Start the labelling site.

    Example: `likewise label serve shoes --port 8000`
    """
    target = open_workspace(workspace)
    from likewise.labeling.store.experts import read_experts
    from likewise.status import workspace_status
    from likewise.web.serve import prepare, refuse_used_port
    from likewise.web.serve import serve as run
    from likewise.web.settings import SiteSettings, check_address

    refuse_used_port(host, port)
    if password_file is not None:
        password = password_file.read_text(encoding="utf-8").strip()
    for address in trusted_proxy or ():
        check_address(address)
    proxies = tuple(trusted_proxy or ())
    asked = SiteSettings(target, database, host, port, url, log_requests=log_requests, trusted_proxies=proxies)
    settings = prepare(asked, password)
    echo(f"the site: [bold]{settings.base_url}[/]  (Ctrl+C stops it; all answers are stored)")
    if settings.owner_key:
        typer.echo(f"owner's page (keep this link private): {settings.base_url}/owner/enter/{settings.owner_key}")
    else:
        echo(f"owner's page: {settings.base_url}/owner")
    with open_votes_database(target, database) as engine:
        if not target.pool_file.exists():
            step = workspace_status(target).next
            echo(f"there are no pairs to label yet: next is `{step}`; this site shows them as soon as there is a pool")
        if not any(expert.state == "active" for expert in read_experts(engine)):
            echo(f"no expert is invited yet: likewise label invite {quoted(workspace)} --name NAME")
    run(settings)
    echo("the site was stopped; every answer that it acknowledged is stored")


def invite(
    workspace: WorkspacePath,
    name: Annotated[str, typer.Option(help="The expert to invite.")],
    days: Annotated[float, typer.Option(help="Number of days the link is valid.")] = 30.0,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make an expert's invitation link; it is shown once and replaces an earlier one.

    Example: `likewise label invite shoes --name Anna`
    """
    from likewise.labeling.pool import sync_pool
    from likewise.labeling.store.experts import has_invitation
    from likewise.labeling.store.experts import invite_expert as make
    from likewise.labeling.store.project import read_project
    from likewise.web.settings import is_stopped

    target = open_workspace(workspace)
    with open_votes_database(target, database) as engine:
        sync_pool(engine, target)
        again = has_invitation(engine, name)
        site = read_project(engine).url
        link = f"{site}/i/{make(engine, name, days)}"
    stopped = is_stopped(site)
    if as_json:
        echo_json({"name": name, "link": link, "days": days, "site_answers": not stopped})
    else:
        typer.echo(f"invitation for {name}, valid for {days:g} days: {link}")
        if again:
            typer.echo(f"{name}'s earlier link no longer works; the votes are kept")
        if stopped:
            port = urlsplit(site).port or 80
            typer.echo(
                f"no site answers there now: start it with `likewise label serve {quoted(workspace)} --port {port}`"
            )


def revoke(workspace: WorkspacePath, expert: ExpertName, database: Database = None) -> None:
    """End an expert's invitation at once; the votes stay.

    Example: `likewise label revoke shoes --expert Anna`
    """
    from likewise.labeling.store.experts import revoke_expert as end

    with open_votes_database(open_workspace(workspace), database) as engine:
        end(engine, expert)
    typer.echo(f"{expert}'s link no longer works; the votes are kept")


def pause(workspace: WorkspacePath, database: Database = None) -> None:
    """Give experts no new pairs until `resume`; answers being sent are still stored.

    Example: `likewise label pause shoes`
    """
    _change_project(workspace, database, "The project was paused.", {"paused": True})
    echo("paused: experts get no new pairs")


def resume(workspace: WorkspacePath, database: Database = None) -> None:
    """Continue after `pause`.

    Example: `likewise label resume shoes`
    """
    _change_project(workspace, database, "The project was resumed.", {"paused": False})
    echo("resumed")


def settings(
    workspace: WorkspacePath,
    name: Annotated[str | None, typer.Option(help="The project's name, as experts see it.")] = None,
    guidelines: Annotated[Path | None, typer.Option(help="A text file; an empty line starts a paragraph.")] = None,
    grouped: Annotated[
        bool | None, typer.Option("--grouped/--mixed", help="Ask a query's candidates together, or in mixed order.")
    ] = None,
    graded: Annotated[
        bool | None,
        typer.Option(
            "--graded/--yes-or-no",
            help="Ask for exact, similar, substitute or different, or for similar or not; votes of both kinds count.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every expert's random order.")] = None,
    experts_per_pair: Annotated[
        int | None, typer.Option(help="Number of experts who get each pair (0: every expert gets every pair).")
    ] = None,
    shares: Annotated[int | None, typer.Option(help="Number of experts among whom the pairs are divided.")] = None,
    repeats: Annotated[float | None, typer.Option(help="Share of the pairs that are asked twice, unannounced.")] = None,
    examples: Annotated[Path | None, typer.Option(help="CSV of examples: query,candidate,answer,note.")] = None,
    practice: Annotated[Path | None, typer.Option(help="CSV of practice pairs, same columns.")] = None,
    catch: Annotated[Path | None, typer.Option(help="CSV of hidden control pairs whose answer you know.")] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show or change the settings of the labelling project. Pairs already assigned are not reassigned.

    Example: `likewise label settings shoes --name Shoes --grouped --repeats 0.05`
    """
    from dataclasses import asdict

    from likewise.catalog import read_catalog
    from likewise.labeling.gold_file import read_gold_file
    from likewise.labeling.store.gold_pairs import set_gold_pairs
    from likewise.labeling.store.project import read_project

    changes: dict[str, Any] = {
        "name": name,
        "guidelines": guidelines.read_text(encoding="utf-8") if guidelines else None,
        "grouped_by_query": grouped,
        "graded": graded,
        "order_seed": seed,
        "n_shares": shares,
        "repeat_share": repeats,
    }
    changes = {key: value for key, value in changes.items() if value is not None}
    if experts_per_pair is not None:
        changes["experts_per_pair"] = experts_per_pair or None
    target = open_workspace(workspace)
    images = set(read_catalog(target)["image"])
    known = {
        use: read_gold_file(file, images)
        for use, file in (("example", examples), ("practice", practice), ("catch", catch))
        if file is not None
    }
    if changes:
        _change_project(workspace, database, f"Settings were changed: {', '.join(sorted(changes))}.", changes)
    with open_votes_database(target, database) as engine:
        for use, pairs in known.items():
            set_gold_pairs(engine, use, pairs)
        stored = asdict(read_project(engine))
    if as_json:
        echo_json(stored)
    else:
        for key, value in stored.items():
            words = (
                {None: "all", True: "yes", False: "no"}.get(value, value) if isinstance(value, bool | None) else value
            )
            typer.echo(f"{key.replace('_', ' ')}: {words}")


def status(workspace: WorkspacePath, database: Database = None, as_json: AsJson = False) -> None:
    """Progress, pace, agreement, self-consistency and cost, and whether the goal is settled, as on the owner's page.

    Example: `likewise label status shoes`
    """
    from dataclasses import asdict

    from likewise.catalog import read_catalog
    from likewise.discovery.proposals import random_pairs
    from likewise.discovery.stored_pool import read_stored_pool
    from likewise.evaluation.ranking_stability import ranking_stability
    from likewise.evaluation.stopping.step import goal_status
    from likewise.labeling.dashboard import read_dashboard

    target = open_workspace(workspace)
    if database is None and not target.votes_file.exists():
        raise LikewiseError(f"{workspace} holds no votes yet: start with `likewise label serve {quoted(workspace)}`.")
    pool = read_stored_pool(target)
    n_all = None if pool is None else pool.n_all_pairs
    with open_votes_database(target, database) as engine:
        dashboard = read_dashboard(engine, n_all, random_pairs(target), read_catalog(target)["image"])
    stability = ranking_stability(target)
    goal = goal_status(target, dashboard.cost.hours_per_label)
    if as_json:
        echo_json(dashboard.to_dict() | {"stability": asdict(stability), "goal": goal.to_dict()})
        return
    from likewise.cli.label_dashboard import print_dashboard
    from likewise.cli.label_goal import print_goal
    from likewise.labeling.consensus import TIES
    from likewise.labeling.step import current_rule

    print_dashboard(dashboard, stability.sentence, TIES[current_rule(target)])
    print_goal(goal)


def _change_project(workspace: Path, database: str | None, why: str, changes: dict[str, Any]) -> None:
    from likewise.labeling.store.project import change_project

    with open_votes_database(open_workspace(workspace), database) as engine:
        change_project(engine, why, **changes)
