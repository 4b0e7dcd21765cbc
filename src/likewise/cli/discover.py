"""`likewise discover` and `likewise plan labels`: which pairs to show the experts, and what that costs."""

from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import (
    AsJson,
    Seed,
    WorkspacePath,
    console,
    echo,
    echo_json,
    escape,
    open_workspace,
    parse_names,
    progress_bars,
    to_records,
)
from likewise.cli.engines import Address, Engine, on_ray
from likewise.errors import LikewiseError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from likewise.discovery.engines import SearchEngine
    from likewise.discovery.prevalence import Prevalence
    from likewise.discovery.step import Pool
    from likewise.workspace import WorkspaceFolder

With = Annotated[
    str | None, typer.Option("--with", help="Generators, comma-separated; every encoder that has vectors by default.")
]
Queries = Annotated[int, typer.Option("--n-queries", help="Number of query images to draw.")]
QueryRule = Annotated[
    str | None,
    typer.Option(
        "--queries",
        help="Restrict the queries: domain=wild, or a CSV with a column image. The gallery's images by default.",
    ),
]
GalleryRule = Annotated[str | None, typer.Option("--gallery", help="Restrict the candidates, e.g. domain=shop.")]
ByCategory = Annotated[bool, typer.Option("--by-category", help="Draw queries in proportion to the categories.")]
Seconds = Annotated[float, typer.Option("--seconds-per-pair", help="How long an expert needs for one pair.")]


DEFAULT_K = 6
LARGEST_USEFUL_ERROR = 0.1  # of a prevalence: above, the sentence about it says nothing


def discover(
    workspace: WorkspacePath,
    generators: With = None,
    k: Annotated[int, typer.Option("--k", help="Candidates per query and generator.")] = DEFAULT_K,
    n_queries: Annotated[
        int | None, typer.Option(help="Number of query images to draw.", show_default="what --hours allows, up to 100")
    ] = None,
    queries: QueryRule = None,
    gallery: GalleryRule = None,
    by_category: ByCategory = False,
    unit: Annotated[
        str,
        typer.Option(help="items: list the best image of each and count pairs by item; images: every image (Eq. 1)."),
    ] = "items",
    per_query: Annotated[int | None, typer.Option(help="Maximum number of pairs per query.")] = None,
    total: Annotated[int | None, typer.Option(help="Maximum number of pairs in total.")] = None,
    hours: Annotated[
        float | None,
        typer.Option(
            help="As many queries, up to --n-queries, as one expert can label in so many hours.",
            show_default="1, if no other option says how many pairs",
        ),
    ] = None,
    n_random: Annotated[int, typer.Option("--random", help="Random pairs for the prevalence estimate.")] = 500,
    design: Annotated[
        str,
        typer.Option(
            help="How pairs are chosen: eds, every generator's k best; sampled, drawn with known probabilities from "
            "all pairs, so that models can be measured against the whole catalog; or adaptive, the same in rounds, "
            "each drawn where the labels before it leave most open (run discover again for the next one)."
        ),
    ] = "eds",
    labels: Annotated[
        int | None, typer.Option(help="Designs that draw: pairs to draw in all.", show_default="25 a query")
    ] = None,
    rounds: Annotated[int, typer.Option(help="With --design adaptive: the rounds they are spread over.")] = 5,
    purpose: Annotated[
        str, typer.Option("--for", help="With --design adaptive: finding similar pairs, or comparing models.")
    ] = "comparing",
    index: Annotated[
        str | None,
        typer.Option("--index", help="Search a large gallery through an index, ivf or hnsw; its recall is measured."),
    ] = None,
    engine: Engine = "local",
    address: Address = None,
    seed: Seed = 0,
    seconds_per_pair: Seconds = 15.0,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a pool made with other settings.")] = False,
    as_json: AsJson = False,
) -> None:
    """Pool the candidates of several encoders: the pairs that experts will label.

    After `likewise update` the pool grows by its own settings: only pairs that new images bring into play are added.

    Example: `likewise discover shoes --hours 1`

    Example: `likewise discover shoes --engine ray --address ray-head:6379`
    """
    from contextlib import nullcontext
    from dataclasses import asdict

    from likewise.discovery import RANDOM, duplicate_share, overlap_table, prevalence
    from likewise.discovery.asked_again import asks_nothing_new, waits_for_next_round
    from likewise.discovery.hours import DEFAULT_HOURS, N_QUERIES, settings_within
    from likewise.discovery.pool import choosing_pairs
    from likewise.discovery.prevalence import bounded_error
    from likewise.discovery.step import PoolSettings, make_pool, pool_part, store_pool
    from likewise.discovery.unit import check_unit
    from likewise.labeling.pool import project_follows

    target = open_workspace(workspace)
    if on_ray(engine, address) and index:
        raise LikewiseError(
            "an index is made of the whole gallery on one machine, and one for each part of it would propose other "
            "candidates: choose either --index or --engine ray, which searches all parts exactly."
        )
    settings = PoolSettings(
        generators=tuple(parse_names(generators) or target.encoders()),
        k=k,
        n_queries=N_QUERIES if n_queries is None else n_queries,
        seed=seed,
        queries=queries,
        gallery=gallery,
        by_category=by_category,
        unit=check_unit(unit),
        per_query_budget=per_query,
        total_budget=total,
        n_random=n_random,
        index=index,
        design=design,  # type: ignore[arg-type]
        n_labels=labels,
        n_rounds=rounds if design == "adaptive" else 1,
        purpose=purpose if design == "adaptive" else None,  # type: ignore[arg-type]
    )
    if not replace and pool_part(target).state == "behind":
        _grow(target, labels, seconds_per_pair, as_json)
        return
    if not replace and waits_for_next_round(target, settings):
        _next_round(target, seconds_per_pair, as_json)
        return
    by_default = all(each is None for each in (hours, n_queries, labels, per_query, total))
    chosen = PoolSettings(settings.generators, n_queries=N_QUERIES) != settings or generators is not None
    if not replace and asks_nothing_new(target, settings, by_default=by_default and not chosen):
        _say_nothing_new(target, seconds_per_pair, as_json)
        return
    budget_hours = DEFAULT_HOURS if by_default else hours
    with choosing_pairs(target):
        with progress_bars("queries") as update, _ray(address) if on_ray(engine, address) else nullcontext() as cluster:
            if budget_hours is not None:
                settings = settings_within(target, settings, budget_hours, seconds_per_pair, engine=cluster)
            pool = make_pool(target, settings, update, cluster)
        cost = prevalence(pool.rows, None, pool.counter, seconds_per_pair)
        if not as_json:
            _print_cost(pool, cost, seconds_per_pair, by_default)
            if n_queries and budget_hours and len(pool.query_gallery.queries) == settings.n_queries < n_queries:
                unit_of_time = "hour" if budget_hours == 1 else "hours"
                fit = f"{settings.n_queries} fit into {budget_hours:g} {unit_of_time} (--hours)"
                echo(f"  {n_queries} queries were asked for; {fit}")
        written = store_pool(target, pool, replace=replace)
        change = project_follows(target)
    overlap = overlap_table(pool.rows, len(pool.query_gallery.queries), k)
    if as_json:
        found = {"cost": cost.to_dict(), "overlap": to_records(overlap), "duplicate_share": duplicate_share(pool.rows)}
        found["project"] = asdict(change)
        if pool.recalls:
            found["index"] = {generator: asdict(recall) for generator, recall in pool.recalls.items()}
        echo_json(found)
        return
    if not written:
        echo("  this pool already existed")
    if change.withdrawn:
        echo(f"in the labelling project {change.sentence}; a running site asks the new pairs at once")
    if pool.settings.design != "eds":
        return
    n_random_drawn = pool.rows.filter(pool.rows["generator"] == RANDOM).height
    if len(overlap):
        echo(
            f"  generators share {100 * sum(overlap['share']) / len(overlap):.0f} % of their candidates on average "
            f"({', '.join(settings.generators)})"
        )
    if (error := bounded_error(n_random_drawn)) and error < LARGEST_USEFUL_ERROR:
        echo(
            f"  {n_random_drawn:,} random pairs estimate a prevalence below {100 * error:.2g} % to within "
            f"{100 * error:.2g} % in 95 of 100 cases; `likewise plan labels --error` says how many a better one needs"
        )
    for generator, recall in pool.recalls.items():
        echo(f"  {escape(generator)}: {recall}")


def _grow(workspace: "WorkspaceFolder", n_labels: int | None, seconds_per_pair: float, as_json: bool) -> None:
    from likewise.discovery.grow import grow_pool
    from likewise.discovery.step import store_pool
    from likewise.labeling.step import read_labels_if_any

    labels = read_labels_if_any(workspace)
    with progress_bars("queries") as update:
        grown = grow_pool(workspace, n_labels, update, labels=labels)
    store_pool(workspace, grown.pool, replace=True)
    n_open = grown.n_new_pairs - grown.n_labelled(labels)
    if as_json:
        echo_json(
            {"round": grown.round, "new_pairs": n_open, "new_queries": grown.n_new_queries}
            | {"versions": list(grown.pool.versions), "queries": len(grown.pool.query_gallery.queries)}
        )
        return
    echo(
        f"[bold]{n_open:,} new pairs[/] to label for version {grown.pool.versions[-1]} of the catalog "
        f"({n_open * seconds_per_pair / 3600:,.1f} hours of an expert at {seconds_per_pair:g} s per pair): "
        f"{len(grown.pool.query_gallery.queries)} queries, {grown.n_new_queries} of them new"
    )
    echo("  what was labelled before stays; the pool's own settings decide (--replace makes another one)")


def _say_nothing_new(workspace: "WorkspaceFolder", seconds_per_pair: float, as_json: bool) -> None:
    """The pool is that of today's catalog; an adaptive one may have a round to come."""
    from likewise.discovery.step import pool_part, read_pool

    pool = read_pool(workspace)
    if pool.settings.design == "adaptive":
        _next_round(workspace, seconds_per_pair, as_json)
        return
    if as_json:
        rounds = {"round": pool.rows["round"].max(), "new_pairs": 0, "new_queries": 0}
        echo_json(rounds | {"versions": list(pool.versions), "queries": len(pool.query_gallery.queries)})
        return
    echo(
        f"nothing new to ask: the pool, {pool_part(workspace).holds} (design {pool.settings.design}), is of today's "
        "catalog; --replace makes another one"
    )


def _next_round(target: "WorkspaceFolder", seconds_per_pair: float, as_json: bool) -> None:
    """Draw another round of the design that is here, where the last one is answered."""
    from likewise.labeling.rounds import next_round

    with progress_bars("queries") as update:
        found = next_round(target, update)
    n_new = found.pool.rows.filter(found.pool.rows["round"] == found.number).height
    n_rounds = found.pool.settings.n_rounds
    if as_json:
        echo_json({"state": found.state, "round": found.number, "rounds": n_rounds, "n_open": found.n_open})
    elif found.state == "drawn":
        echo(
            f"round {found.number} of {n_rounds}: [bold]{n_new:,} pairs[/] more to label, "
            f"{n_new * seconds_per_pair / 3600:,.1f} hours at {seconds_per_pair:g} s a pair"
        )
    elif found.state == "open":
        echo(f"round {found.number} of {n_rounds}: {found.n_open:,} of its {n_new:,} pairs wait for an answer")
    else:
        echo(f"all {n_rounds} rounds are drawn and answered: --rounds and --labels with --replace start a new design")


def _print_cost(pool: "Pool", cost: "Prevalence", seconds_per_pair: float, by_default: bool) -> None:
    """What the pairs ask of an expert, said before any of them is written."""
    from likewise.discovery import RANDOM
    from likewise.discovery.hours import DEFAULT_HOURS
    from likewise.discovery.unit import UNIT_NAMES
    from likewise.intervals import MIN_QUERIES

    n_queries = len(pool.query_gallery.queries)
    drawn = pool.settings.design != "eds"
    n_pairs = cost.n_pool_pairs if drawn else cost.n_questions
    echo(
        f"[bold]{n_pairs:,} pairs[/] to label for {n_queries} queries: {cost.hours_pool:,.1f} hours of an expert at "
        f"{seconds_per_pair:g} s per pair"
    )
    if n_queries < MIN_QUERIES and n_queries == pool.settings.n_queries:
        enough = cost.hours_pool * (MIN_QUERIES + 0.5) / n_queries
        echo(
            f"  [bold]intervals over fewer than {MIN_QUERIES} queries are a rough guide[/]: about {enough:.1f} hours "
            f"(--hours) bring {MIN_QUERIES}"
        )
    if by_default:
        echo(f"  chosen for {DEFAULT_HOURS:g} hour by default; more hours (--hours) or --n-queries bring more queries")
    if not drawn:
        fewer = f": {cost.speed_up:,.0f}x fewer" if cost.speed_up >= 1.5 else ""
        echo(
            f"  all {cost.n_all_pairs:,} {UNIT_NAMES[cost.unit]} pairs would take "
            f"{cost.hours_brute_force:,.1f} hours{fewer}; "
            f"{pool.rows.filter(pool.rows['generator'] == RANDOM).height} of them are drawn at random"
        )
        return
    certain = pool.rows.filter(pool.rows["probability"] == 1.0).height
    echo(
        f"  {n_pairs / n_queries:.1f} a query, {certain:,} of them for certain; the least likely one stands for "
        f"{1.0 / pool.rows['probability'].min():,.0f} others"  # type: ignore[operator]
    )
    if pool.settings.n_rounds > 1:
        echo(
            f"  round 1 of {pool.settings.n_rounds}, for {pool.settings.purpose}: the labelling site deals the next "
            "one when it is answered, and so does `likewise discover`, run again"
        )


def _ray(address: str | None) -> "AbstractContextManager[SearchEngine]":
    from likewise.scale.search import ray_engine

    return ray_engine(address)


def budget(
    workspace: WorkspacePath,
    generators: With = None,
    k: Annotated[int, typer.Option("--k", help="The largest k to compare.")] = 12,
    n_queries: Annotated[int | None, typer.Option("--n-queries", help="Number of query images to draw.")] = None,
    queries: QueryRule = None,
    gallery: GalleryRule = None,
    by_category: Annotated[
        bool | None,
        typer.Option("--by-category/--not-by-category", help="Draw queries in proportion to the categories."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed gives the same table.")] = None,
    seconds_per_pair: Seconds = 15.0,
    error: Annotated[
        float, typer.Option(help="How far off an estimate of the prevalence from random pairs may be, as a share.")
    ] = 0.01,
    probability: Annotated[float, typer.Option(help="How often it may be further off than that.")] = 0.05,
    as_json: AsJson = False,
) -> None:
    """Compare every k and every set of generators by pairs, hours and expected positives, before paying for labels.

    If a pool is stored, its generators, queries, gallery and seed are used by default, so that its labels count;
    otherwise the defaults of `likewise discover`.

    Example: `likewise plan labels shoes --k 12 --seconds-per-pair 8`
    """
    import polars as pl

    from likewise.discovery.hours import queries_an_hour
    from likewise.discovery.prevalence import random_pairs_needed
    from likewise.discovery.stored_pool import budget_settings
    from likewise.discovery.unit import UNIT_NAMES
    from likewise.evaluation.budget import write_budget
    from likewise.report.formatting import plural

    n_random = random_pairs_needed(error, probability)
    target = open_workspace(workspace)
    settings = budget_settings(
        target,
        k,
        generators=tuple(parse_names(generators)) or None,
        n_queries=n_queries,
        queries=queries,
        gallery=gallery,
        by_category=by_category,
        seed=seed,
    )
    with progress_bars("steps") as update:
        table = write_budget(target, settings, seconds_per_pair, update)
    if as_json:
        echo_json({"choices": to_records(table), "random_pairs_needed": n_random})
        return
    from likewise.cli.tables import best_sets_table, budget_by_k_table

    console().print(budget_by_k_table(table))
    console().print(best_sets_table(table))
    labelled = table["expected_positives"].null_count() < len(table)
    found = (
        f"positives are {UNIT_NAMES[settings.unit]} pairs"
        if labelled
        else "which set finds more similar pairs is known once some are labelled"
    )
    first_candidates = table.filter((pl.col("n_generators") == 1) & (pl.col("k") == 1))
    n_asked = int(first_candidates["n_pairs"].max())  # type: ignore[arg-type]
    echo(
        f"for {plural(n_asked, 'query', 'queries')}, random pairs not counted; {found}; all {len(table)} choices: "
        "results/budget.parquet"
    )
    echo(
        f"a prevalence below {100 * error:g} % is estimated to within {100 * error:g} %, except with probability "
        f"{100 * probability:g} %, from {n_random:,} random pairs ({n_random * seconds_per_pair / 3600:,.1f} hours): "
        f"`likewise discover --random {n_random}`"
    )
    chosen = table.sort("n_generators").filter(pl.col("k") == min(DEFAULT_K, k)).tail(1)
    each_hour = queries_an_hour(chosen["n_pairs"][0] / n_asked, seconds_per_pair)
    if not target.pool_file.exists() and each_hour:
        echo(
            f"[dim]next: likewise discover {escape(target.quoted)} --hours HOURS: an hour of one expert is enough for "
            f"about {plural(each_hour, 'query', 'queries')} at k = {min(DEFAULT_K, k)}[/]"
        )
