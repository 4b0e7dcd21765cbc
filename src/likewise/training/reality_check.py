"""`likewise train check`: every method searched, trained again and measured under one protocol (Reality Check, sec. 3).

All searches come first; only then the test classes are opened.  Whatever is done already is not done again, so the
same command continues a run that was stopped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from likewise.catalog.table import catalog_fingerprint, read_catalog
from likewise.encoders.families.run_files import TrainedRun
from likewise.errors import LikewiseError
from likewise.evaluation.screening import screen_classes
from likewise.files import locked, written_together
from likewise.neighbours.leaks import find_leak
from likewise.progress import ProgressCallback
from likewise.training.analysis_tables import (
    best_hyperparameters_table,
    check_finished_runs,
    curve_table,
    importance_table,
)
from likewise.training.claims import read_claims, write_claims
from likewise.training.context import CheckConfig, TaskRunner, TrainingContext, open_context
from likewise.training.custom_methods import find_methods
from likewise.training.differences import difference_table
from likewise.training.discovery_accuracy import DiscoveryTask, evaluate_discovery, read_discovery_task
from likewise.training.export import export_onnx, export_winner, winner_encoders
from likewise.training.final_evaluation import (
    PRETRAINED,
    describe_failure,
    evaluate_pretrained,
    evaluate_rerun,
    n_untrained_reruns,
    train_rerun,
)
from likewise.training.hyperparameter_search import Trial, best_trial, search_hyperparameters
from likewise.training.loss_discovery import loss_discovery_table, measure_rerun, measure_trunk
from likewise.training.methods import LossMethod
from likewise.training.miners import make_miner
from likewise.training.model_card import model_card
from likewise.training.network import SMALL
from likewise.training.plan import TrainingPlan
from likewise.training.relative_improvement import relative_improvement_table
from likewise.training.runs import RunFolder, begin_run, run_folder
from likewise.training.summary import CheckSummary, ExportedEncoder, FoldSizes, MethodSummary
from likewise.training.tables import accuracy_table, read_reruns, trial_table
from likewise.workspace import WorkspaceFolder, read_json, write_json, write_parquet, write_text

PAPER_TRUNK = "BN-Inception with ImageNet weights"


@dataclass(frozen=True)
class RealityCheckResult:
    """What a check found; the same is in the run's folder."""

    run: RunFolder
    accuracy: pl.DataFrame
    differences: pl.DataFrame
    summary: CheckSummary
    discovery: pl.DataFrame
    """Every loss by experts' labels; empty where there are none."""


def run_reality_check(
    workspace: WorkspaceFolder,
    methods: Sequence[str],
    plan: TrainingPlan,
    runner: TaskRunner,
    *,
    column: str = "item",
    encoder: str | None = None,
    name: str = "check",
    seed: int = 0,
    half: str | None = None,
    storage: str | None = None,
    claims: Path | None = None,
    other_runs: Sequence[Path] = (),
    on_progress: ProgressCallback | None = None,
) -> RealityCheckResult:
    """Search, train again, measure, compare; everything is written to `runs/<name>`.

    `other_runs` are finished checks on other data, to see how the best hyper-parameters move.
    """
    published, other_folders = read_claims(claims) if claims else None, check_finished_runs(other_runs)
    config, run, loss_methods = prepare_run(workspace, methods, plan, column, encoder, name, seed, half)
    busy = f"another process runs the check {run.path}: wait until it is done, or help it with --search-only."
    with locked(run.path / "check", busy):
        trials = search_all_methods(config, run, loss_methods, seed, storage, runner, on_progress)
        context = open_context(config)
        best = {method.name: best_trial(trials[method.name]) for method in loss_methods}
        context.guard.unlock()  # from here on, and nowhere else
        run_reruns(context, run, best, seed, runner, on_progress, read_discovery_task(context, seed))
        tables_read = {each: read_reruns(run, each, plan.n_reruns) for each in (PRETRAINED, *best)}
        found = {each: table for each, table in tables_read.items() if table is not None}
        worked = [method for method in found if method != PRETRAINED]
        fixed = frozenset() if n_untrained_reruns(plan) > 1 else frozenset([PRETRAINED])
        accuracy, differences = accuracy_table(found), difference_table(found, fixed)
        made = winner_encoders(run, plan.n_reruns)
        summary = replace(
            make_summary(context, run, loss_methods, trials, best),
            winner=made[0].about["method"] if made else None,
            encoder_made=describe_encoder(made[0]) if made else None,
            discovery=evaluate_discovery(context, made, seed) if made else None,
        )
        where = storage or str(run.search_file)
        tables = {
            "accuracy": accuracy,
            "differences": differences,
            "curves": curve_table(run, worked, plan.n_reruns),
            "importance": importance_table(where, run, worked),
            "best_values": best_hyperparameters_table(run, summary, other_folders),
            "relative": relative_improvement_table(accuracy),
            "discovery": loss_discovery_table(run, worked, plan.n_reruns, n_untrained_reruns(plan) > 1),
        }
        with written_together(run.path) as staged:
            for each, table in tables.items():
                write_parquet(table, staged.place(run.table_file(each)))
            if published:
                write_claims(published, staged.place(run.path / "claims.json"))
            if made:
                write_text(model_card(summary, accuracy), staged.place(run.card_file))
            write_json(summary.to_dict(), staged.place(run.summary_file))
    return RealityCheckResult(run, accuracy, differences, summary, tables["discovery"])


def prepare_run(
    workspace: WorkspaceFolder,
    methods: Sequence[str],
    plan: TrainingPlan,
    column: str,
    encoder: str | None,
    name: str,
    seed: int,
    half: str | None = None,
) -> tuple[CheckConfig, RunFolder, list[LossMethod]]:
    """The run's folder and settings; a sentence where something is missing."""
    loss_methods = find_methods(methods)
    if plan.miner:
        make_miner(plan.miner)  # a name that does not exist is said before anything is written
    trunk = choose_trunk_encoder(workspace, plan, encoder)
    config = CheckConfig(workspace.path.resolve(), column, trunk, plan, half)
    run = run_folder(workspace, name)
    split = open_context(config).split  # whatever is wrong with the data is said before anything is written
    screen_classes(workspace, [trunk], split.keys(split.test), f"the test classes of {column}").refuse_learned()
    begin_run(run, config, [each.name for each in loss_methods], seed, catalog_fingerprint(read_catalog(workspace)))
    return config, run, loss_methods


def choose_trunk_encoder(workspace: WorkspaceFolder, plan: TrainingPlan, encoder: str | None) -> str:
    """The vectors or the network that a trunk needs."""
    if plan.trunk == "small":
        if encoder and encoder.partition("?")[0] != SMALL:
            raise LikewiseError(
                "the small trunk starts from nothing: leave --with out (or say its pictures' size, small?size=32), or "
                "use --trunk whole."
            )
        return encoder or SMALL
    if encoder:
        return encoder
    there = workspace.encoders()
    if plan.trunk == "frozen" and len(there) == 1:
        return there[0]
    what = f"vectors ({', '.join(there) or 'none yet: run `likewise encode`'})" if plan.trunk == "frozen" else "network"
    raise LikewiseError(f"which {what} should be trained on? Name one with --with.")


def search_all_methods(
    config: CheckConfig,
    run: RunFolder,
    methods: Sequence[LossMethod],
    seed: int,
    storage: str | None,
    runner: TaskRunner,
    on_progress: ProgressCallback | None = None,
) -> dict[str, list[Trial]]:
    """The trials of every method, and their table."""
    trials: dict[str, list[Trial]] = {}
    n_all = len(methods) * (config.plan.n_trials + config.plan.n_reruns)
    for place, method in enumerate(methods):

        def on_trial(stage: str, done: int, total: int, before: int = place * config.plan.n_trials) -> None:
            if on_progress:
                on_progress(stage, before + done, n_all)

        where = storage or str(run.search_file)
        trials[method.name] = search_hyperparameters(config, method.name, where, run.name, seed, runner, on_trial)
    write_parquet(trial_table([each for several in trials.values() for each in several]), run.table_file("trials"))
    return trials


def run_reruns(
    context: TrainingContext,
    run: RunFolder,
    best: dict[str, Trial | None],
    seed: int,
    runner: TaskRunner,
    on_progress: ProgressCallback | None = None,
    discovery: DiscoveryTask | None = None,
) -> None:
    """Every rerun that is not there yet, and the pretrained trunk; a rerun that fails is noted, and the others go on.

    The methods come in the order of their validation, so that the first one with a rerun that worked is the winner.
    """
    plan = context.config.plan
    done, n_all = len(best) * plan.n_trials, len(best) * (plan.n_trials + plan.n_reruns)
    for rerun in range(n_untrained_reruns(plan)):
        if not run.rerun_file(PRETRAINED, rerun).exists():
            if discovery is not None:
                measure_trunk(context, run, discovery, rerun, seed)
            evaluate_pretrained(context, run, rerun, seed)
    winner: str | None = None
    for method, trial in validation_order(best):
        for rerun in range(plan.n_reruns):
            done += 1
            if not run.rerun_ended(method, rerun):
                if on_progress:
                    on_progress(f"{method}: rerun {rerun + 1} of {plan.n_reruns}", done - 1, n_all)
                folds = train_rerun(context, method, trial.params, rerun, seed, runner)
                if failure := describe_failure(folds):
                    write_json({"failure": failure}, run.failure_file(method, rerun))
                    continue
                if winner in (None, method):
                    export_winner(context, run, method, rerun, folds)
                if discovery is not None:
                    measure_rerun(context, run, discovery, method, rerun, folds)
                evaluate_rerun(context, run, method, rerun, folds)
            if run.rerun_file(method, rerun).exists():
                winner = winner or method
    if on_progress:
        on_progress("done", n_all, n_all)


def make_summary(
    context: TrainingContext,
    run: RunFolder,
    methods: Sequence[LossMethod],
    trials: dict[str, list[Trial]],
    best: dict[str, Trial | None],
) -> CheckSummary:
    """The facts around the tables, but for the winner."""
    split, plan = context.split, context.config.plan
    workspace = WorkspaceFolder(Path(context.config.workspace))
    leak = find_leak(workspace, read_catalog(workspace), split.keys(split.development), split.keys(split.test))
    return CheckSummary(
        run=run.name,
        workspace=Path(context.config.workspace).name,
        column=context.config.column,
        trunk=plan.trunk,
        encoder=context.config.encoder,
        trunk_dim=context.trunk_dim,
        papers_trunk=PAPER_TRUNK,
        plan=replace(plan, lr=plan.learning_rate),
        n_images=len(split.images),
        n_without_class=split.n_without_class,
        n_classes=len(split.classes),
        n_test_classes=len(split.classes) - len(split.classes) // 2,
        n_test_images=len(split.test),
        folds=tuple(
            FoldSizes(
                len(fold.train),
                len(set(split.labels[fold.train])),
                len(fold.validation),
                len(set(split.labels[fold.validation])),
            )
            for fold in split.folds
        ),
        copies=leak.sentence("every loss") if leak.pairs else "",
        pretrained_dims=read_json(run.curves_file(PRETRAINED, 0)),
        winner=None,
        methods={
            method.name: MethodSummary(
                method.title,
                method.year,
                method.kind,
                best[method.name],
                len(trials[method.name]),
                sum(each.map_at_r is None for each in trials[method.name]),
                len(run.finished_reruns(method.name, plan.n_reruns)),
                len(run.failed_reruns(method.name, plan.n_reruns)),
            )
            for method in methods
        },
    )


def describe_encoder(encoder: TrainedRun) -> ExportedEncoder:
    """What the winner can be used as; exports it to ONNX where that is still to be done."""
    problem = "" if (encoder.folder / "model.onnx").exists() else export_onnx(encoder)
    return ExportedEncoder(f"run:{encoder.folder}", encoder.dim, problem)


def validation_order(best: dict[str, Trial | None]) -> list[tuple[str, Trial]]:
    """The methods by their best validation MAP@R: choosing by the test would be feedback from it."""
    worked = [(method, trial) for method, trial in best.items() if trial]
    return sorted(worked, key=lambda each: -(each[1].map_at_r or 0.0))
