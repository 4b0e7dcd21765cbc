"""`likewise label add-pairs | remove-votes | export`: pairs in, votes out."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import (
    AsJson,
    Seed,
    WorkspacePath,
    echo,
    echo_json,
    open_workspace,
    parse_names,
    progress_bars,
)
from likewise.cli.exchange import Output, export_labels, refuse_existing
from likewise.cli.label_site import Database, ExpertName, open_votes_database
from likewise.errors import LikewiseError
from likewise.workspace import discard_result, quoted, write_atomically


def add_pairs(
    workspace: WorkspacePath,
    generators: Annotated[
        str | None, typer.Option("--with", help="New generators, comma-separated; they extend the pool.")
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(help="A file of pairs (query, candidate) to ask as well, such as results/next_pairs.parquet."),
    ] = None,
    by_rank: Annotated[
        str | None,
        typer.Option(
            help="Draw pairs from these bands of the generators' ranks, counted from 0: 0-5,6-19,20-99,100-499. Their "
            "labels judge no model; `evaluate --protocol bands` says how many are similar."
        ),
    ] = None,
    per_band: Annotated[int, typer.Option(min=1, help="With --by-rank: how many pairs of each band.")] = 100,
    seed: Seed = 0,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Add the pairs that new generators propose, or a file names, or that are drawn by rank; votes stay.

    Example: `likewise label add-pairs shoes --with hf:facebook/dinov2-small`

    Example: `likewise label add-pairs shoes --by-rank 0-5,6-19,20-99,100-499`
    """
    from likewise.catalog import read_catalog
    from likewise.discovery.proposals import pick_outside
    from likewise.discovery.rank_bands import bands_without_pairs, draw_rank_bands, parse_bands
    from likewise.discovery.step import extend_pool, store_pool
    from likewise.labeling.pairs_file import read_pairs_file
    from likewise.labeling.pool import sync_pool
    from likewise.labeling.store.assignment import assign_all_pairs
    from likewise.labeling.store.pairs import add_pairs as add

    target, names, outside = open_workspace(workspace), parse_names(generators), 0
    named = None if pairs is None else read_pairs_file(pairs, set(read_catalog(target)["image"]))
    with progress_bars("queries") as update:
        pool = extend_pool(target, names, update)
    with open_votes_database(target, database) as engine:
        left = sync_pool(engine, target)  # the pool as discover left it: not counted as new here
    stored = store_pool(target, pool, replace=True)
    drawn = None
    if by_rank is not None:
        with progress_bars("queries") as update:
            drawn = draw_rank_bands(target, pool, parse_bands(by_rank), per_band, seed, update)
    with open_votes_database(target, database) as engine:
        added = add(engine, pool.rows)
        if named is not None:
            added = dataclasses.replace(added, known=0)  # the pool's own pairs are not what was asked for
            if pool.settings.design != "eds":
                outside = pick_outside(target, pool.rows, named)
            added += add(engine, named)
        if drawn is not None:
            added += add(engine, drawn)
        sync_pool(engine, target)
        assign_all_pairs(engine)
    if names and not (stored or left.added or added.added or added.provenance_added):
        raise LikewiseError(f"{', '.join(names)} already contributed to this pool: name a new generator.")
    if as_json:
        counts = {"added": added.added, "known": added.known, "proposals_added": added.provenance_added}
        echo_json(counts | {"outside_design": outside, "left_by_discover": left.added - left.voted})
    else:
        echo(
            f"{added.added:,} new pairs, {added.known:,} already existed; {added.provenance_added:,} proposals recorded"
        )
        if by_rank is not None and drawn is not None:
            echo(f"{len(drawn):,} pairs were drawn by rank")
            for first, last in bands_without_pairs(parse_bands(by_rank), drawn):
                echo(f"[yellow]no list reaches ranks {first} to {last}[/]: the gallery is too small")
        if left.added > left.voted:
            n_left = left.added - left.voted
            echo(f"{n_left:,} pairs that discover had chosen were not in the project yet and are asked now as well")
        if left.voted:
            echo(f"{left.voted:,} pairs of the pool have votes from a file; experts who have not answered them may now")
        if outside:
            echo(
                f"{outside:,} of them the design {pool.settings.design} did not draw: their labels count for finding "
                "similar pairs, not for estimating"
            )


def remove_votes(
    workspace: WorkspacePath,
    expert: ExpertName,
    reason: Annotated[str, typer.Option(help="The reason, for the log.")],
    database: Database = None,
) -> None:
    """Exclude an expert's votes from the labels; they stay in the event log, with the reason.

    Example: `likewise label remove-votes shoes --expert Anna --reason "pressed one key throughout"`
    """
    from likewise.labeling.store.owner import remove_votes as remove

    with open_votes_database(open_workspace(workspace), database) as engine:
        count = remove(engine, expert, reason)
    typer.echo(
        f"{count:,} votes of {expert} no longer count; "
        f"`likewise report {quoted(workspace)}` updates labels, results and report"
    )


def export(
    workspace: WorkspacePath,
    output: Output,
    what: Annotated[
        str, typer.Option(help="labels, votes (as `label import` reads them), crowdkit (votes), or events (all).")
    ] = "labels",
    as_evaluated: Annotated[
        bool, typer.Option("--as-evaluated", help="Labels: leave out pairs that were only drawn at random.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite the file.")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write the labels (VSD .json, TREC .qrels and .prels, .csv, .tsv, .parquet), the votes, or the event log.

    Example: `likewise label export shoes shoes.qrels --as-evaluated`
    """
    from likewise.discovery.proposals import all_proposals
    from likewise.labeling.exports import export_votes
    from likewise.labeling.store import opened_votes, use_database

    target = open_workspace(workspace)
    if what not in ("labels", "votes", "crowdkit", "events"):
        raise LikewiseError(
            f"there is nothing called {what!r} to export: --what takes labels, votes, crowdkit, events."
        )
    refuse_existing(output, replace=replace)
    use_database(target, database)
    if what == "labels":
        export_labels(target, output, as_evaluated=as_evaluated, as_json=as_json)
        return
    with opened_votes(target) as engine:
        content = export_votes(engine, what, all_proposals(target))
    write_atomically(output, lambda file: discard_result(file.write(content)))
    if as_json:
        echo_json({"file": str(output), "bytes": len(content)})
    else:
        echo(f"{output}: {len(content):,} bytes")
