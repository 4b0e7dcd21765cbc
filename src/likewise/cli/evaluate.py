"""`likewise evaluate`: every model against the experts' labels."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import (
    AsJson,
    AsOf,
    HalfOption,
    Seed,
    console,
    echo,
    echo_json,
    escape,
    open_workspace,
    parse_names,
    progress_bars,
    to_records,
)
from likewise.cli.label_site import Database
from likewise.cli.status import print_stale
from likewise.errors import LikewiseError
from likewise.workspace import quoted

if TYPE_CHECKING:
    from likewise.evaluation.sampled_negatives import NegativeSampling
    from likewise.evaluation.step import Evaluated
    from likewise.evaluation.summary import EvaluationSummary
    from likewise.workspace import WorkspaceFolder

SECONDS_PER_PAIR, NEXT_PAIRS, GALLERY_SAMPLE, NEGATIVE_RANKS = 15.0, 200, 1000, "100-499"


def evaluate(
    workspace: Annotated[
        Path, typer.Argument(metavar="WORKSPACE|BUNDLE", help="A workspace, or a benchmark bundle.", show_default=False)
    ],
    encoders: Annotated[
        str | None, typer.Option("--with", help="Encoders, comma-separated; every one that has vectors by default.")
    ] = None,
    measures: Annotated[
        str | None,
        typer.Option(
            help='What to measure, by name: "P@5 nDCG@10 ROC_AUC bpref", or your own, "python:module:function". '
            "By default ROC_AUC against the gallery, by which models are ranked, ROC_AUC and AP over labelled pairs, "
            "and P, VSD_MRR, nDCG and Judged at each k."
        ),
    ] = None,
    ks: Annotated[
        str | None,
        typer.Option("--k", help="List lengths, comma-separated.", show_default="those of --measures, or 5,9"),
    ] = None,
    seed: Seed = 0,
    seconds_per_pair: Annotated[float, typer.Option(help="How long an expert needs for one pair.")] = SECONDS_PER_PAIR,
    next_pairs: Annotated[int, typer.Option(min=0, help="Number of pairs to suggest for labelling next.")] = NEXT_PAIRS,
    gallery_sample: Annotated[
        int,
        typer.Option(min=1, help="Items drawn from the gallery per query, for the ROC_AUC of the ranking."),
    ] = GALLERY_SAMPLE,
    negative_ranks: Annotated[
        str, typer.Option(help="Sampled negatives: drawn from these ranks of the generators' lists, counted from 0.")
    ] = NEGATIVE_RANKS,
    negatives_per_positive: Annotated[
        float | None,
        typer.Option(
            help="Sampled negatives: how many for each similar candidate of a query, at least one.", show_default="1"
        ),
    ] = None,
    negatives_per_query: Annotated[
        int | None,
        typer.Option(
            help="Sampled negatives: how many for each query instead; --protocol tables takes 4, as the VSD paper must "
            "have done.",
            show_default=False,
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(help="Count pairs by items or by images.", show_default="as the pool does, usually items"),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            help="What to print: discovery, leave-one-out, identification, incomplete, experts, recall, bands "
            "(similar pairs by rank), tables (those of the VSD paper), or all. "
            "Everything is computed in any case."
        ),
    ] = "discovery",
    classes: Annotated[
        str | None,
        typer.Option(
            help="Measure retrieval by class instead: images with the same value in this column are relevant."
        ),
    ] = None,
    clusters: Annotated[
        bool,
        typer.Option(
            "--clusters", help="With --classes: also NMI, AMI and F1 of k-means, compared with random vectors."
        ),
    ] = False,
    intervals_over: Annotated[
        str, typer.Option(help="With --classes: intervals over queries, or over whole classes (wider): query or class.")
    ] = "query",
    triplets: Annotated[
        Path | None, typer.Option(help='Measure agreement with answers to "which looks more like the anchor?" (a CSV).')
    ] = None,
    order: Annotated[
        str | None, typer.Option(help='With --triplets: its columns, "anchor close far" or "anchor far close".')
    ] = None,
    by: Annotated[str, typer.Option(help="With --triplets: the catalog column that the answers name.")] = "item",
    half: HalfOption = None,
    vectors: Annotated[
        list[str] | None, typer.Option(help="Bundle: vectors to measure, [NAME=]FILE.npy|npz|parquet|safetensors.")
    ] = None,
    keys: Annotated[Path | None, typer.Option(help="Bundle: the image keys of plain npy rows, one per line.")] = None,
    run: Annotated[list[str] | None, typer.Option(help="Bundle: a TREC run to measure, [NAME=]FILE.")] = None,
    output: Annotated[Path | None, typer.Option(help="Bundle: where to store the results (.parquet).")] = None,
    checksum: Annotated[str | None, typer.Option(help="Bundle: the checksum it must have.")] = None,
    missing: Annotated[
        str, typer.Option(help="Bundle: judged pairs that are not in a run: `undefined` (no ROC_AUC and AP) or `last`.")
    ] = "undefined",
    store: Annotated[
        bool,
        typer.Option(
            "--store", help="Store this evaluation for the report. With the default options it is always stored."
        ),
    ] = False,
    database: Database = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Measure every model against the labels (or classes, or triplets), with intervals.

    Example: `likewise evaluate shoes --protocol identification`, `likewise evaluate birds --classes category`, or
    `likewise evaluate bundle.zip --vectors mine.npy`
    """
    from likewise.cli.bundle import evaluate_bundle, is_bundle, read_command_line
    from likewise.cli.protocols import print_protocol, result_tables
    from likewise.discovery.unit import check_unit
    from likewise.evaluation.discovery import KS, default_measures
    from likewise.evaluation.measures import parse_measures
    from likewise.evaluation.step import evaluate as evaluate_all
    from likewise.evaluation.summary import EvaluationSettings
    from likewise.labeling.store import use_database
    from likewise.status import workspace_status

    wanted = _parse_protocols(protocol)
    chosen = parse_measures(measures) if measures is not None else None
    lengths = _parse_numbers(ks) if ks is not None else None
    if classes is not None or triplets is not None:
        _evaluate_without_labels(
            workspace,
            classes,
            triplets,
            order,
            by,
            encoders,
            intervals_over,
            clusters=clusters,
            half=half,
            seed=seed,
            as_json=as_json,
        )
        return
    if is_bundle(workspace):
        further = (seconds_per_pair, next_pairs, gallery_sample, negative_ranks)
        usual = (SECONDS_PER_PAIR, NEXT_PAIRS, GALLERY_SAMPLE, NEGATIVE_RANKS)
        drawn = negatives_per_positive is not None or negatives_per_query is not None
        if encoders or wanted != ["discovery"] or further != usual or drawn:
            raise LikewiseError(
                "a bundle is measured under the discovery protocol and on its own negatives, with the models of "
                "--vectors and --run: leave --with, --protocol, --seconds-per-pair, --next-pairs, --gallery-sample, "
                "--negative-ranks, --negatives-per-positive and --negatives-per-query out."
            )
        evaluate_bundle(
            workspace,
            vectors or [],
            keys=keys,
            runs=run,
            measures=chosen or default_measures(lengths or KS),
            missing=missing,
            checksum=checksum,
            out=output,
            as_json=as_json,
        )
        return
    if vectors or run or output or checksum or keys:
        raise LikewiseError(
            "--vectors, --keys, --run, --output and --checksum are for bundles; to add vectors to a workspace use "
            f"`likewise encode {quoted(workspace)} --import FILE`."
        )
    target = open_workspace(workspace, as_of)
    settings = replace(
        EvaluationSettings.of_measures(chosen, lengths),
        seed=seed,
        n_next_pairs=next_pairs,
        gallery_per_query=gallery_sample,
        unit=None if unit is None else check_unit(unit),
        seconds_per_pair=seconds_per_pair,
        half=half,
        negatives=_sampling(negative_ranks, negatives_per_positive, negatives_per_query, as_paper=wanted == ["tables"]),
    )
    use_database(target, database)
    if not as_json:
        print_stale(workspace_status(target), ("labels",))
    with progress_bars("models") as update:
        done = evaluate_all(
            target,
            parse_names(encoders) or None,
            settings,
            store=store or None,
            command=read_command_line(),
            on_progress=update,
        )
    if as_json:
        tables = {name: to_records(table) for name, table in done.tables.items() if name in result_tables(wanted)}
        echo_json(
            {
                "results": to_records(done.results),
                "summary": done.summary.to_dict(),
                "tables": tables,
                "stored": done.stored,
            }
        )
        return
    for name in wanted:
        if name == "discovery":
            print_results(done)
        else:
            print_protocol(name, done)
    _print_lineage(done.summary)
    _print_stored(done, target)


def _evaluate_without_labels(
    workspace: Path,
    classes: str | None,
    triplets: Path | None,
    order: str | None,
    by: str,
    encoders: str | None,
    intervals_over: str,
    *,
    clusters: bool,
    half: str | None,
    seed: int,
    as_json: bool,
) -> None:
    from likewise.cli.retrieval import evaluate_classes, evaluate_triplets

    if classes is not None and triplets is not None:
        raise LikewiseError("--classes and --triplets are two questions: ask one at a time.")
    if intervals_over not in ("query", "class"):
        raise LikewiseError(f"--intervals-over takes query or class, not {intervals_over!r}.")
    if classes is not None:
        over = intervals_over, clusters, half
        evaluate_classes(workspace, classes, encoders, *over, seed, as_json)  # type: ignore[arg-type]
        return
    if triplets is None or order is None:
        raise LikewiseError('--triplets needs --order "anchor close far" (or "anchor far close"), as its columns are.')
    evaluate_triplets(workspace, triplets, order, by, encoders, half, as_json)


def _print_lineage(summary: "EvaluationSummary") -> None:
    """Encoders that know what they would be asked, or might."""
    for note in summary.lineage.notes:
        echo(escape(note))


def _print_stored(done: "Evaluated", target: "WorkspaceFolder") -> None:
    """Whether the report will show this evaluation."""
    if not done.stored and target.as_of is not None:
        echo("[dim]not stored: the report shows today's catalog[/]")
        return
    if not done.stored:
        echo("[dim]not stored: add --store (and leave --with out) to show this evaluation in the report[/]")
        return
    before = ""
    if done.replaced is not None:
        before = f", in place of one with {' '.join(done.replaced.command_options()) or 'the default options'}"
    echo(f"[dim]stored in {escape(target.results_folder)} for the report{escape(before)}[/]")


def _parse_protocols(protocol: str) -> list[str]:
    from likewise.cli.protocols import PROTOCOLS

    if protocol != "all" and protocol not in PROTOCOLS:
        raise LikewiseError(f"there is no protocol {protocol!r}: choose one of {', '.join(PROTOCOLS)}, or all.")
    return list(PROTOCOLS) if protocol == "all" else [protocol]


def _parse_numbers(text: str) -> list[int]:
    if not parse_names(text) or not all(part.isdecimal() and int(part) for part in parse_names(text)):
        raise LikewiseError(f"--k takes whole numbers from 1, separated by commas, not {text!r}.")
    return sorted({int(part) for part in parse_names(text)})


def _sampling(ranks: str, per_positive: float | None, per_query: int | None, *, as_paper: bool) -> "NegativeSampling":
    """Where sampled negatives come from, and how many; the paper's tables have the paper's number unless told."""
    from likewise.evaluation.sampled_negatives import DEFAULT_SAMPLING, VSD_SAMPLING, NegativeSampling

    if per_positive is not None and per_query is not None:
        raise LikewiseError("sampled negatives are counted per positive or per query: give one of the two options.")
    if per_positive is None and per_query is None and as_paper:
        per_query = VSD_SAMPLING.per_query
    default = DEFAULT_SAMPLING.per_positive
    return NegativeSampling(*_parse_ranks(ranks), default if per_positive is None else per_positive, per_query)


def _parse_ranks(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if not dash or not first.strip().isdecimal() or not last.strip().isdecimal():
        raise LikewiseError(f"--negative-ranks takes two ranks such as 100-499, not {text!r}.")
    return int(first), int(last)


def print_results(done: "Evaluated") -> None:
    """The leaderboard and, under it, what it rests on."""
    from likewise.cli.catalog_table import print_catalog
    from likewise.cli.label import rule_text
    from likewise.cli.tables import leaderboard, own_pairs_table, percent, print_few_queries, times_interval
    from likewise.discovery.prevalence import MIN_LABELLED_SHARE
    from likewise.discovery.unit import UNIT_NAMES
    from likewise.evaluation.different_generators import no_rank_note
    from likewise.evaluation.ranking import MAIN, measure_is

    if done.summary.catalog is not None:
        print_catalog(done.tables["catalog"], done.summary.catalog)
    elif done.design == "eds":
        echo(
            "[dim]The labels are of an EDS pool: the numbers describe its pairs, not the whole catalog "
            "(`likewise discover --design sampled` draws pairs that do)[/]"
        )
    no_rank = no_rank_note(done.summary.pool.n_different)
    console().print(leaderboard(done.results, done.tables["differences"], with_places=no_rank is None))
    if no_rank is not None:
        echo(f"[bold]{escape(no_rank)}[/]")
    main = done.results.filter(measure_is(MAIN)).row(0, named=True)
    labels = done.summary.labels
    rule, n_experts = labels.consensus.rule, labels.agreement.n_experts
    kind = "simulated expert" if labels.simulated else "expert"
    basis = f"labels by {rule_text(rule, n_experts, kind)}" if n_experts else "labels imported"
    others = " (the others have no similar item)" if main["n_queries"] < main["n_queries_total"] else ""
    half = done.summary.settings.half_note
    echo(
        f"[dim]{f'{escape(half)}: ' if half else ''}{main['n_queries']} of {main['n_queries_total']} queries{others}, "
        f"{len(done.pairs):,} labelled pairs, {basis}; intervals: 95 %, over queries. Ranked by gallery ROC_AUC: "
        "how often an item labelled similar scores above an item drawn from the whole gallery, each by its best image. "
        "Compare the other columns within a group only: labelled negatives are mostly candidates that contributing "
        "models rank high, and measures @k count unlabelled ones as misses.[/]"
    )
    if not done.tables["own_pairs"].is_empty():
        console().print(own_pairs_table(done.tables["own_pairs"]))
    if shared := done.summary.shared_items_note:
        echo(f"[dim]{shared}[/]")
    print_few_queries(main["n_queries"])
    if outside := done.summary.n_labels_outside:
        echo(f"[dim]{outside:,} labels are about other queries or images, or a query's own item, and are left out[/]")
    if n_sampled := done.summary.sampled_negatives:
        echo(f"[dim]{n_sampled:,} sampled negatives: from {escape(str(done.summary.settings.negatives))}[/]")
    if why := done.summary.no_sampled_negatives:
        echo(f"[dim]no sampled negatives: {why}[/]")
    cost = done.summary.prevalence
    if cost.gain_over_random is not None and cost.p_estimate is not None:
        gain = times_interval(cost.gain_over_random, cost.gain_low, cost.gain_high)
        echo(
            f"similar {UNIT_NAMES[cost.unit]} pairs: {percent(cost.p_pool, 0)} % of the pool, about "
            f"{percent(cost.p_estimate, 2)} % of all ({percent(cost.p_low, 2)}–{percent(cost.p_high, 2)}; "
            f"Chebyshev ± {percent(cost.chebyshev_95, 2)}); {gain} as frequent in the pool as at random"
        )
    elif cost.n_random_drawn and not cost.n_random:
        echo(
            f"[dim]how rare similar pairs are is not estimated: fewer than {100 * MIN_LABELLED_SHARE:.0f} % of the "
            f"{cost.n_random_drawn:,} random pairs have a label[/]"
        )
    truth = done.summary.truth
    if truth and truth.recall is not None:
        who = "The EDS pool and its experts" if done.design == "eds" else "The labels"
        echo(
            f"[bold]{who} found {100 * truth.recall:.0f} % of all truly "
            "similar pairs[/] "
            f"({truth.found:,} of {truth.similar:,} {UNIT_NAMES[truth.unit]} pairs) "
            f"at {100 * truth.cost:.1f} % of the brute-force cost ({cost.speed_up:,.0f}x fewer pairs)"
        )
