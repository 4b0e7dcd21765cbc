"""`likewise train check --ablate`: what papers change besides the loss, as an experiment (Reality Check, sec. 2.1).

The hyper-parameters of a loss are searched once, under the plan. Then one thing at a time is changed (crops,
optimiser, batch norms, size of a batch, miner, size of an embedding), the folds are trained again several times with
the same seeds, and the test classes are read. Another optimiser needs another learning rate: it gets the best of a
few, by validation. The trunk without training stands beside them: where training does not raise it, nothing else shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.evaluation.differences import ALPHA, holm_correction
from likewise.files import locked
from likewise.progress import ProgressCallback
from likewise.training.context import CheckConfig, FoldTask, TaskRunner, open_context, run_fold
from likewise.training.custom_methods import find_methods
from likewise.training.differences import class_means
from likewise.training.final_evaluation import (
    EMBEDDINGS,
    MEASURES,
    PRETRAINED,
    describe_failure,
    evaluate_pretrained,
    evaluate_rerun,
    n_untrained_reruns,
    train_rerun,
)
from likewise.training.hyperparameter_search import best_trial
from likewise.training.methods import LossMethod, Params
from likewise.training.plan import CHOICES, TrainingPlan
from likewise.training.reality_check import prepare_run, search_all_methods
from likewise.training.rerun_test import RerunValues, compare_reruns
from likewise.training.runs import RunFolder
from likewise.training.seeds import derive_seed
from likewise.training.tables import accuracy_table, read_reruns
from likewise.workspace import WorkspaceFolder, read_json, write_json, write_parquet

FACTORS = ("crops", "optimiser", "batch-norm", "batch-size", "miner", "embedding-size")
OF_TRUNK = ("crops", "batch-norm")
AS_PLANNED, UNTRAINED = "as planned", "without training"
MINERS = ("MultiSimilarityMiner", "BatchHardMiner")
OPTIMISERS = ("rmsprop", "adam", "sgd")
RATE_FACTORS = (1.0, 10.0, 100.0)
"""Of the plan's learning rate, tried for another optimiser."""
ABLATION_SCHEMA = pl.Schema(
    {
        "method": pl.String,
        "factor": pl.String,
        "setting": pl.String,
        "lr": pl.Float64,
        "embedding": pl.String,
        "measure": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "difference": pl.Float64,
        "difference_low": pl.Float64,
        "difference_high": pl.Float64,
        "p": pl.Float64,
        "p_holm": pl.Float64,
        "significant": pl.Boolean,
        "n_reruns": pl.Int64,
    }
)
"""`difference`: from the plan as it is; p over reruns and test classes, corrected over the rows of a column. Without
training there is no `lr`."""


@dataclass(frozen=True)
class Variant:
    """The plan with one thing changed."""

    factor: str
    setting: str
    plan: TrainingPlan

    def run_name(self, method: str) -> str:
        """The name of its reruns in the run's folder."""
        if self.setting == UNTRAINED:
            return PRETRAINED
        return f"{method} {self.factor}={self.setting}" if self.factor else f"{method} {AS_PLANNED}"


@dataclass(frozen=True)
class AblationResult:
    """One row per method, setting, embedding and measure; the same is in the run's folder."""

    run: RunFolder
    table: pl.DataFrame
    notes: tuple[str, ...]
    """Reruns that failed, and models that training did not improve."""


def make_variants(plan: TrainingPlan, factors: Sequence[str]) -> list[Variant]:
    """The plan as it is, and with every other setting of each factor."""
    unknown = [factor for factor in factors if factor not in FACTORS]
    if unknown or not factors:
        raise LikewiseError(f"--ablate takes some of {', '.join(FACTORS)}, not {', '.join(unknown) or 'nothing'}.")
    if plan.trunk == "frozen" and any(factor in OF_TRUNK for factor in factors):
        raise LikewiseError(
            "crops and batch norms are of a trunk that is trained: add --trunk whole, or --trunk small."
        )
    made = [Variant("", AS_PLANNED, plan)]
    for factor in dict.fromkeys(factors):
        made += _variants_of(plan, factor)
    return made


def _variants_of(plan: TrainingPlan, factor: str) -> list[Variant]:
    if factor == "batch-size":
        return [Variant(factor, str(size), replace(plan, batch=size)) for size in (plan.batch // 2, plan.batch * 2)]
    if factor == "embedding-size":
        return [Variant(factor, str(size), replace(plan, dim=size)) for size in (max(1, plan.dim // 2), plan.dim * 4)]
    if factor == "miner":
        names = [name for name in ("", *MINERS) if name != plan.miner]
        return [Variant(factor, name or "none", replace(plan, miner=name)) for name in names]
    field = factor.replace("-", "_")
    words = OPTIMISERS if factor == "optimiser" else CHOICES[field]
    others = [word for word in words if word != getattr(plan, field)]
    return [Variant(factor, word, replace(plan, **{field: word})) for word in others]  # type: ignore[arg-type]


def run_ablation(
    workspace: WorkspaceFolder,
    methods: Sequence[str],
    plan: TrainingPlan,
    factors: Sequence[str],
    runner: TaskRunner,
    *,
    column: str = "item",
    encoder: str | None = None,
    name: str = "ablation",
    seed: int = 0,
    half: str | None = None,
    storage: str | None = None,
    on_progress: ProgressCallback | None = None,
) -> AblationResult:
    """Search under the plan, train again under every variant of it, measure, compare with the plan."""
    variants = make_variants(plan, factors)
    _check_miners(find_methods(methods), factors)  # before the run begins: its settings are kept
    config, run, loss_methods = prepare_run(workspace, methods, plan, column, encoder, name, seed, half)
    busy = f"another process runs the ablation {run.path}: wait until it is done."
    with locked(run.path / "check", busy):
        trials = search_all_methods(config, run, loss_methods, seed, storage, runner, on_progress)
        best = {method.name: best_trial(trials[method.name]) for method in loss_methods}
        worked = {name: trial.params for name, trial in best.items() if trial is not None}
        todo = [(method, variant) for variant in variants for method in worked]
        rates = {}
        for method, variant in todo:  # before any test class is read
            rates[method, variant] = _choose_rate(config, run, method, worked[method], variant, seed, runner)
        _measure_untrained(config, run, seed)
        failed = []
        for place, (method, variant) in enumerate(todo):
            if on_progress:
                on_progress(variant.run_name(method), place * plan.n_reruns, len(todo) * plan.n_reruns)
            with_rate = replace(config, plan=replace(variant.plan, lr=rates[method, variant]))
            failed += _train_again(with_rate, run, variant.run_name(method), method, worked[method], seed, runner)
        untrained = Variant("", UNTRAINED, plan)
        table = _table(run, list(worked), [variants[0], untrained, *variants[1:]], rates, plan.n_reruns)
        write_parquet(table, run.table_file("ablation"))
        names = [variant.run_name(method) for method, variant in todo]
        notes = [*failed, *_unimproved(run, names, plan.n_reruns)]
    return AblationResult(run, table, tuple(notes))


def _measure_untrained(config: CheckConfig, run: RunFolder, seed: int) -> None:
    """The trunk without training on the test classes, where it is not measured yet."""
    reruns = range(n_untrained_reruns(config.plan))
    missing = [rerun for rerun in reruns if not run.rerun_file(PRETRAINED, rerun).exists()]
    if missing:
        context = open_context(config)
        context.guard.unlock()
        for rerun in missing:
            evaluate_pretrained(context, run, rerun, seed)


def _unimproved(run: RunFolder, names: Sequence[str], n_reruns: int) -> list[str]:
    """A sentence where the best checkpoint of models is the one before training: settings cannot differ there."""
    files = [run.curves_file(name, rerun) for name in names for rerun in run.finished_reruns(name, n_reruns)]
    steps = [fold["best_step"] for file in files for fold in read_json(file)]
    n_start = steps.count(0)
    if not n_start:
        return []
    return [
        f"{n_start} of {len(steps)} models were best before any training, where most settings are the same by "
        "definition: train longer (--steps), or with another learning rate (--lr)"
    ]


def _check_miners(methods: Sequence[LossMethod], factors: Sequence[str]) -> None:
    without = [method.name for method in methods if method.kind != "embedding"]
    if "miner" in factors and without:
        raise LikewiseError(f"{without[0]} compares images with classes and has no miner: leave miner out of --ablate.")


def _choose_rate(
    config: CheckConfig, run: RunFolder, method: str, params: Params, variant: Variant, seed: int, runner: TaskRunner
) -> float:
    """The plan's rate; for another optimiser the best of a few, by the mean validation MAP@R over the folds."""
    planned = variant.plan.learning_rate
    if variant.factor != "optimiser":
        return planned
    file = run.path / "rates" / f"{run.rerun_file(variant.run_name(method), 0).parent.name}.json"
    if file.exists():
        return float(read_json(file)["lr"])
    tried = {}
    for factor in RATE_FACTORS:
        here = replace(config, plan=replace(variant.plan, lr=planned * factor))
        tasks = [
            FoldTask(here, method, dict(params), fold, derive_seed(seed, "rate", fold))
            for fold in range(here.plan.n_folds)
        ]
        folds = runner(run_fold, tasks)
        tried[planned * factor] = -1.0 if describe_failure(folds) else float(np.mean([one.map_at_r for one in folds]))
    chosen = max(tried, key=lambda rate: tried[rate])
    write_json({"lr": chosen, "validation": {f"{rate:g}": value for rate, value in tried.items()}}, file)
    return chosen


def _train_again(
    config: CheckConfig, run: RunFolder, name: str, method: str, params: Params, seed: int, runner: TaskRunner
) -> list[str]:
    """Every rerun of one variant that is not there yet; sentences about those that failed."""
    if all(run.rerun_ended(name, rerun) for rerun in range(config.plan.n_reruns)):
        context = None
    else:
        context = open_context(config)
        context.guard.unlock()
    for rerun in range(config.plan.n_reruns):
        if context is None or run.rerun_ended(name, rerun):
            continue
        folds = train_rerun(context, method, params, rerun, seed, runner)
        if failure := describe_failure(folds):
            write_json({"failure": failure}, run.failure_file(name, rerun))
        else:
            evaluate_rerun(context, run, name, rerun, folds)
    n_failed = len(run.failed_reruns(name, config.plan.n_reruns))
    return [f"{name}: {n_failed} of {config.plan.n_reruns} reruns failed"] if n_failed else []


def _table(
    run: RunFolder,
    methods: Sequence[str],
    variants: Sequence[Variant],
    rates: dict[tuple[str, Variant], float],
    n_reruns: int,
) -> pl.DataFrame:
    """Means with intervals, and the difference from the plan."""
    rows = []
    for method in methods:
        read = {variant: read_reruns(run, variant.run_name(method), n_reruns) for variant in variants}
        found = {variant: table for variant, table in read.items() if table is not None}
        means = accuracy_table({variant.run_name(method): table for variant, table in found.items()})
        cells = {(one["method"], one["embedding"], one["measure"]): one for one in means.iter_rows(named=True)}
        for embedding in EMBEDDINGS:
            for measure in MEASURES:
                against = _against_plan(found, embedding, measure)
                for variant in found:
                    cell = cells[variant.run_name(method), embedding, measure]
                    about = (method, variant.factor, variant.setting, rates.get((method, variant)), embedding, measure)
                    numbers = (cell["value"], cell["low"], cell["high"], *against.get(variant, (None,) * 6))
                    rows.append((*about, *numbers, cell["n_reruns"]))
    return pl.DataFrame(rows, schema=ABLATION_SCHEMA, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))


def _against_plan(
    found: dict[Variant, pl.DataFrame], embedding: str, measure: str
) -> dict[Variant, tuple[float, float, float, float, float, bool]]:
    """Of every variant: difference, its interval, p, p after Holm's correction, and whether that is significant."""
    planned = next((variant for variant in found if variant.setting == AS_PLANNED), None)
    if planned is None:
        return {}
    values = {}
    for variant, table in found.items():
        means, n_queries = class_means(table.filter(pl.col("embedding") == embedding), measure)
        always_the_same = variant.setting == UNTRAINED and n_untrained_reruns(variant.plan) == 1
        values[variant] = RerunValues(means, always_the_same)
    others = [variant for variant in found if variant != planned]
    compared = [compare_reruns(values[variant], values[planned], n_queries) for variant in others]
    corrected = holm_correction(np.array([one.p for one in compared], np.float64))
    return {
        variant: (one.difference, *one.interval, one.p, float(p), bool(p < ALPHA))
        for variant, one, p in zip(others, compared, corrected, strict=True)
    }
