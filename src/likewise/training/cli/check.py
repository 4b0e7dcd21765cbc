"""`likewise train check`: twelve losses under one fair protocol, on the user's own images."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import (
    AsJson,
    HalfOption,
    Seed,
    WorkspacePath,
    console,
    echo,
    echo_json,
    escape,
    open_workspace,
    parse_names,
    single_progress_bar,
    to_records,
)
from likewise.cli.engines import Address, Engine, on_ray

if TYPE_CHECKING:
    from rich.table import Table

    from likewise.training.context import TaskRunner
    from likewise.training.reality_check import RealityCheckResult

SHORT = {"R_Precision": "RP"}  # as in the paper's tables


def check(
    workspace: WorkspacePath,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated: all (the paper's twelve), CircleLoss?m=0..1, triplet+BatchHardMiner (any miner of "
            "pytorch-metric-learning), my_module:my_loss, ...",
            show_default="all; contrastive with --ablate",
        ),
    ] = None,
    ablate: Annotated[
        str | None,
        typer.Option(
            help="What else changes accuracy? Change these one at a time instead: crops, optimiser, batch-norm, "
            "batch-size, miner, embedding-size."
        ),
    ] = None,
    preset: Annotated[str, typer.Option(help="paper, standard or quick.")] = "quick",
    trunk: Annotated[
        str | None, typer.Option(help="frozen (a head on stored vectors), whole, or small (a small network).")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option("--with", help="The vectors of a frozen trunk, or the network to train whole.")
    ] = None,
    column: Annotated[str, typer.Option(help="The catalog column whose equal values are one class.")] = "item",
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of the run: runs/NAME; the same name continues it.", show_default="check; ablation with --ablate"
        ),
    ] = None,
    trials: Annotated[int | None, typer.Option(help="Trials per method, instead of the preset's.")] = None,
    reruns: Annotated[int | None, typer.Option(help="Reruns with the best values, instead of the preset's.")] = None,
    steps: Annotated[int | None, typer.Option(help="Maximum number of steps per model.")] = None,
    evaluate_every: Annotated[int | None, typer.Option(help="Steps between two validations.")] = None,
    patience: Annotated[int | None, typer.Option(help="Number of steps without improvement before stopping.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate of trunk and head, the same for all methods.")] = None,
    dim: Annotated[int | None, typer.Option(help="Dimensions of an embedding; 128 as in the paper.")] = None,
    batch_norm: Annotated[
        str | None,
        typer.Option(
            help="Of a trunk that is trained: frozen (statistics and weights, as in the paper; the default of --trunk "
            "whole), statistics (only those; the default of --trunk small), or trained (nothing is frozen)."
        ),
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Images per batch; 32 as in the paper.", min=2)] = None,
    crops: Annotated[
        str | None,
        typer.Option(help="Of a trunk that is trained: resized (as in the paper), simple (one size), or central."),
    ] = None,
    optimiser: Annotated[str | None, typer.Option(help="rmsprop (as in the paper), adam, adamw or sgd.")] = None,
    sampling: Annotated[
        str | None,
        typer.Option(help="Batches: class (4 images of each class), item (of 4 items of each class), or image (any)."),
    ] = None,
    schedule: Annotated[str | None, typer.Option(help="Learning rate: constant (as in the paper) or cosine.")] = None,
    warmup: Annotated[int | None, typer.Option(help="Steps in which the learning rate grows to its value.")] = None,
    miner: Annotated[
        str | None,
        typer.Option(
            help="A miner of pytorch-metric-learning for every embedding loss without one: TripletMarginMiner?margin=.1"
        ),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; one per core, at most one per fold.")] = None,
    storage: Annotated[
        str | None, typer.Option(help="Database of trials: a file or a PostgreSQL URL, shared by workers.")
    ] = None,
    search_only: Annotated[
        bool, typer.Option("--search-only", help="Only run trials for another worker of the same run.")
    ] = False,
    claims: Annotated[
        Path | None, typer.Option(help="A CSV of published claims to show on the page (docs/training.md).")
    ] = None,
    compare_with: Annotated[
        str | None, typer.Option(help="Folders of checks on other data, whose best hyper-parameters are shown as well.")
    ] = None,
    half: HalfOption = None,
    engine: Engine = "local",
    address: Address = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare losses fairly: class-disjoint folds, a Bayesian search each, reruns with intervals, paired tests.

    The first half of the classes is for the search, the second half is read only by the final evaluation; at
    least 16 classes are needed. The same command continues an interrupted run.

    Example: `likewise train check birds --column category --with efficientnet-lite0 --preset quick`

    Example: `likewise train check birds --column category --trunk small --ablate crops,optimiser,batch-norm`
    """
    from likewise.training.ablation import run_ablation
    from likewise.training.cli.ablation import print_ablation
    from likewise.training.plan import make_plan
    from likewise.training.reality_check import prepare_run, run_reality_check, search_all_methods
    from likewise.training.report.check import write_check_page

    target = open_workspace(workspace)
    plan = make_plan(
        preset,
        trunk=trunk,
        trials=trials,
        reruns=reruns,
        steps=steps,
        evaluate_every=evaluate_every,
        patience=patience,
        lr=lr,
        dim=dim,
        batch=batch,
        batch_norm=batch_norm,
        crops=crops,
        optimiser=optimiser,
        sampling=sampling,
        schedule=schedule,
        warmup=warmup,
        miner=miner,
    )
    ray = on_ray(engine, address)
    losses = parse_names(methods or ("contrastive" if ablate else "all"))
    name = name or ("ablation" if ablate else "check")
    if ablate is not None:
        with single_progress_bar("reruns") as update, _runner(workers, plan.n_folds, ray, address) as runner:
            ablation = run_ablation(
                target,
                losses,
                plan,
                parse_names(ablate),
                runner,
                column=column,
                encoder=encoder,
                name=name,
                seed=seed,
                half=half,
                storage=storage,
                on_progress=update,
            )
        print_ablation(ablation, workspace.name, as_json=as_json)
        return
    with single_progress_bar("trials and reruns") as update, _runner(workers, plan.n_folds, ray, address) as runner:
        if search_only:
            config, run, chosen = prepare_run(target, losses, plan, column, encoder, name, seed, half)
            search_all_methods(config, run, chosen, seed, storage, runner, update)
            return
        done = run_reality_check(
            target,
            losses,
            plan,
            runner,
            column=column,
            encoder=encoder,
            name=name,
            seed=seed,
            half=half,
            storage=storage,
            claims=claims,
            other_runs=[Path(each) for each in parse_names(compare_with)],
            on_progress=update,
        )
    page = write_check_page(done.run.path)
    if as_json:
        echo_json(
            {
                "accuracy": to_records(done.accuracy),
                "differences": to_records(done.differences),
                "discovery_of_losses": to_records(done.discovery),
                **done.summary.to_dict(),
            }
        )
        return
    console().print(_accuracy_table(done))
    _print_summary(done)
    echo(f"everything is in [bold]{escape(done.run.path)}[/]; look at [bold]{escape(page)}[/]")


@contextmanager
def _runner(workers: int | None, n_folds: int, ray: bool, address: str | None) -> "Iterator[TaskRunner]":
    from likewise.machine import usable_cores
    from likewise.training.workers import training_processes

    if ray:
        from likewise.scale.cluster import cluster
        from likewise.scale.tasks import run_tasks

        with cluster(address):  # started once for all trials
            yield run_tasks
        return
    with training_processes(workers or min(usable_cores(), n_folds)) as runner:
        yield runner


def _accuracy_table(done: "RealityCheckResult") -> "Table":
    """The paper's table: one row per method, concatenated and separated."""
    from rich.box import SIMPLE
    from rich.table import Table

    from likewise.cli.tables import percent

    summary = done.summary
    dim, folds = summary.plan.dim, summary.plan.n_folds
    title = f"Accuracy on {summary.n_test_classes:,} test classes of {summary.workspace} (%)"
    shown = Table(title=title, title_justify="left", box=SIMPLE)
    shown.add_column("method", no_wrap=True)
    cells = {(row["method"], row["embedding"], row["measure"]): row for row in done.accuracy.iter_rows(named=True)}
    measures = done.accuracy["measure"].unique(maintain_order=True).to_list()
    for embedding, size in (("concatenated", folds * dim), ("separated", dim)):
        for measure in measures:
            heading = f"{SHORT.get(measure, measure)}\n{embedding[:4]}.\n{size}"
            shown.add_column(heading, justify="right", no_wrap=True)
    for method in done.accuracy["method"].unique(maintain_order=True):
        values = []
        for embedding in ("concatenated", "separated"):
            for measure in measures:
                row = cells[method, embedding, measure]
                margin = "" if row["low"] is None else f"\n[dim]±{percent((row['high'] - row['low']) / 2)}[/]"
                values.append(f"{percent(row['value'])}{margin}")
        shown.add_row(escape(summary.methods[method].title if method in summary.methods else method), *values)
    return shown


def _print_summary(done: "RealityCheckResult") -> None:
    from likewise.training.report.check_sentences import describe_failed_reruns

    summary, accuracy = done.summary, done.accuracy
    row = accuracy.row(0, named=True)
    trunk = summary.encoder or "a small network"
    echo(
        f"[dim]{row['n_queries']:,} of {row['n_queries_total']:,} test images have another one of their class; "
        f"mean and half of the 95 % interval over {summary.plan.n_reruns} reruns; the trunk is {trunk} "
        f"({summary.trunk}), the paper's is {summary.papers_trunk}; conc.: the embeddings of all "
        f"{summary.plan.n_folds} folds side by side, sepa.: each alone[/]"
    )
    _print_best(done)
    _print_discovery(done)
    for name, method in summary.methods.items():
        if method.n_failed:
            echo(f"[yellow]{escape(name)}[/]: {method.n_failed} of {method.n_trials} trials failed")
    for sentence in [*describe_failed_reruns(summary), *filter(None, [summary.copies])]:
        echo(f"[yellow]{escape(sentence)}[/]")


def _print_discovery(done: "RealityCheckResult") -> None:
    """Whether the losses change what experts' labels ask: how many are better, and how many worse, than the trunk."""
    from likewise.training.final_evaluation import PRETRAINED

    rows = done.discovery.filter(queries="all")
    losses = rows.filter(rows["method"] != PRETRAINED)
    if losses.is_empty():
        return
    better = losses.filter(significant=True).filter(losses.filter(significant=True)["difference"] > 0).height
    worse = losses.filter(significant=True).height - better
    values = losses["value"].drop_nulls()
    trunk = float(rows.filter(method=PRETRAINED)["value"][0])
    echo(
        f"by experts' labels (gallery ROC_AUC, {losses['n_queries'][0]} queries): {100 * float(values.min()):.1f} to "  # type: ignore[arg-type]
        f"{100 * float(values.max()):.1f} %, without training {100 * trunk:.1f} %; significantly better: {better}, "  # type: ignore[arg-type]
        f"worse: {worse} of {len(losses)} (discovery.parquet)"
    )


def _print_best(done: "RealityCheckResult") -> None:
    """The highest MAP@R beside that of the trunk without training, and what the tests say of it."""
    from likewise.training.differences import check_verdict
    from likewise.training.final_evaluation import PRETRAINED
    from likewise.training.report.check_sentences import describe_power

    main = done.accuracy.filter(measure="MAP@R", embedding="concatenated").sort("value", descending=True)
    untrained = float(main.filter(method=PRETRAINED)["value"][0])
    if len(main) == 1:
        echo("[yellow]no loss could be trained[/]: the trials say why (trials.parquet, column failure)")
        return
    best = main.filter(main["method"] != PRETRAINED).row(0, named=True)
    title = done.summary.methods[best["method"]].title
    echo(
        f"highest concatenated MAP@R: {escape(title)}, {100 * best['value']:.1f} %; without training "
        f"{100 * untrained:.1f} %"
    )
    if best["value"] <= untrained:
        echo(
            "[yellow]no loss is better than the trunk without training[/]: train longer (--steps), with another "
            "learning rate (--lr), or on more classes"
        )
    verdict = check_verdict(done.accuracy, done.differences)
    titles = {name: method.title for name, method in done.summary.methods.items()} | {PRETRAINED: "without training"}
    others = ", ".join(titles[name] for name in verdict.not_different)
    if verdict.n_pairs:
        alike = (
            f"not significantly different from it: {others}" if others else "it differs significantly from all others"
        )
        echo(f"{escape(titles[verdict.best])}: {escape(alike)} (chance: reruns and classes; Holm over all pairs)")
    echo(f"[dim]{describe_power(verdict, done.summary.plan.n_reruns)}[/]")
