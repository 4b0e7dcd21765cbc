"""`likewise discover` and `likewise budget`: which pairs to show the experts, and what that costs."""

from typing import Annotated

import typer

from likewise.cli.console import AsJson, Seed, WorkspacePath, console, names, opened, progress, records, say, say_json

With = Annotated[
    str | None, typer.Option("--with", help="Generators, comma-separated; every encoder that has vectors by default.")
]
Queries = Annotated[int, typer.Option("--n-queries", help="How many query images to draw.")]
QueryRule = Annotated[
    str | None, typer.Option("--queries", help="Only such queries, e.g. domain=wild; the gallery's images by default.")
]
GalleryRule = Annotated[str | None, typer.Option("--gallery", help="Only such candidates, e.g. domain=shop.")]
ByCategory = Annotated[bool, typer.Option("--by-category", help="Draw queries in proportion to the categories.")]
Seconds = Annotated[float, typer.Option("--seconds-per-pair", help="How long an expert needs for one pair.")]


def discover(
    workspace: WorkspacePath,
    generators: With = None,
    k: Annotated[int, typer.Option("--k", help="Candidates per query and generator.")] = 6,
    n_queries: Queries = 100,
    queries: QueryRule = None,
    gallery: GalleryRule = None,
    by_category: ByCategory = False,
    every_image: Annotated[
        bool, typer.Option("--every-image", help="Rank images (Eq. 1) instead of the best image of each item.")
    ] = False,
    per_query: Annotated[int | None, typer.Option(help="At most so many pairs per query.")] = None,
    total: Annotated[int | None, typer.Option(help="At most so many pairs in all.")] = None,
    n_random: Annotated[int, typer.Option("--random", help="Random pairs for the prevalence estimate.")] = 500,
    seed: Seed = 0,
    seconds_per_pair: Seconds = 15.0,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a pool made with other settings.")] = False,
    as_json: AsJson = False,
) -> None:
    """Pool the candidates of several encoders: the pairs that experts will label.

    Example: `likewise discover shoes --k 6 --n-queries 200`
    """
    from likewise.discovery import RANDOM, duplicate_share, overlap_table, prevalence
    from likewise.discovery.step import PoolSettings, make_pool, store_pool

    target = opened(workspace)
    settings = PoolSettings(
        generators=tuple(names(generators) or target.encoders()),
        k=k,
        n_queries=n_queries,
        seed=seed,
        queries=queries,
        gallery=gallery,
        by_category=by_category,
        one_per_item=not every_image,
        per_query_budget=per_query,
        total_budget=total,
        n_random=n_random,
    )
    with progress("queries") as update:
        pool = make_pool(target, settings, update)
    written = store_pool(target, pool, replace=replace)
    cost = prevalence(pool.rows, None, pool.arena.n_pairs, seconds_per_pair)
    overlap = overlap_table(pool.rows, len(pool.arena.queries), k)
    if as_json:
        say_json({"cost": cost.to_dict(), "overlap": records(overlap), "duplicate_share": duplicate_share(pool.rows)})
        return
    n_random_drawn = pool.rows.filter(pool.rows["generator"] == RANDOM).height
    say(
        f"[bold]{cost.n_pool_pairs:,} pairs[/] to label for {len(pool.arena.queries)} queries "
        f"({cost.n_pool_pairs / len(pool.arena.queries):.1f} a query) and {n_random_drawn} random ones"
        f"{'' if written else ' (the same pool was already there)'}"
    )
    say(
        f"  all {cost.n_all_pairs:,} pairs would take an expert {cost.hours_brute_force:,.0f} hours, "
        f"these {cost.hours_pool:,.1f} at {seconds_per_pair:g} s a pair: "
        f"{cost.hours_brute_force / cost.hours_pool:,.0f}x fewer"
    )
    if len(overlap):
        say(
            f"  generators share {100 * sum(overlap['share']) / len(overlap):.0f} % of their candidates on average "
            f"({', '.join(settings.generators)})"
        )


def budget(
    workspace: WorkspacePath,
    generators: With = None,
    k: Annotated[int, typer.Option("--k", help="The largest k to look at.")] = 12,
    n_queries: Queries = 100,
    queries: QueryRule = None,
    gallery: GalleryRule = None,
    by_category: ByCategory = False,
    seed: Seed = 0,
    seconds_per_pair: Seconds = 15.0,
    as_json: AsJson = False,
) -> None:
    """Compare every k and every set of generators by pairs, hours and expected positives, before paying for labels.

    Example: `likewise budget shoes --k 12 --seconds-per-pair 8`
    """
    from likewise.discovery.step import PoolSettings
    from likewise.evaluation.truth import budget as budget_of

    target = opened(workspace)
    settings = PoolSettings(
        generators=tuple(names(generators) or target.encoders()),
        k=k,
        n_queries=n_queries,
        seed=seed,
        queries=queries,
        gallery=gallery,
        by_category=by_category,
        n_random=0,
    )
    with progress("steps") as update:
        table = budget_of(target, settings, seconds_per_pair, update)
    if as_json:
        say_json(records(table))
        return
    from likewise.cli.tables import best_sets_table, budget_by_k_table

    console().print(budget_by_k_table(table))
    console().print(best_sets_table(table))
    say(f"for {n_queries} queries, random pairs not counted; all {len(table)} choices: results/budget.parquet")
