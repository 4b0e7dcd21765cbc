"""Further tables of a check: training curves, the importance of hyper-parameters, and where their best values lie.

Importance is PED-ANOVA (Watanabe et al. 2023): how far the best trials' values of a parameter are from all trials'.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional
from likewise.training.hyperparameter_search import ignore_experimental_warnings, open_study
from likewise.training.methods import PUBLISHED_BEST_VALUES
from likewise.training.runs import RunFolder
from likewise.training.summary import CheckSummary, read_check_summary
from likewise.workspace import read_json

THIS_RUN = "here"
PAPER_DATASETS = ("CUB200", "Cars196", "SOP")
MIN_TRIALS = 8  # below that, importance is a guess
CURVE_SCHEMA = pl.Schema({"method": pl.String, "step": pl.Int64, "map_at_r": pl.Float64, "n_models": pl.Int64})
IMPORTANCE_SCHEMA = pl.Schema(
    {"method": pl.String, "parameter": pl.String, "importance": pl.Float64, "n_trials": pl.Int64}
)
BEST_VALUES_SCHEMA = pl.Schema({"method": pl.String, "parameter": pl.String, "where": pl.String, "value": pl.Float64})


def curve_table(run: RunFolder, methods: Sequence[str], n_reruns: int) -> pl.DataFrame:
    """Validation MAP@R by step, the mean over folds and finished reruns; a model that stopped keeps its last value."""
    rows = []
    for method in methods:
        reruns = run.finished_reruns(method, n_reruns)
        models = [fold["points"] for rerun in reruns for fold in read_json(run.curves_file(method, rerun))]
        for step in sorted({point["step"] for points in models for point in points}):
            values = [[point["map_at_r"] for point in points if point["step"] <= step][-1] for points in models]
            rows.append((method, step, sum(values) / len(values), len(values)))
    return pl.DataFrame(rows, schema=CURVE_SCHEMA, orient="row")


def importance_table(storage: str, run: RunFolder, methods: Sequence[str]) -> pl.DataFrame:
    """Share of each hyper-parameter in what decides the objective; nothing for methods with too few trials."""
    optuna = import_optional("optuna", "likewise train")
    rows = []
    for method in methods:
        with open_study(storage, f"{run.name}/{method}") as study:
            n_complete = sum(trial.state.name == "COMPLETE" for trial in study.get_trials(deepcopy=False))
            if n_complete < MIN_TRIALS:
                continue
            with ignore_experimental_warnings():
                evaluator = optuna.importance.PedAnovaImportanceEvaluator()
            found = optuna.importance.get_param_importances(study, evaluator=evaluator, normalize=True)
        rows += [(method, name, float(value), n_complete) for name, value in sorted(found.items())]
    return pl.DataFrame(rows, schema=IMPORTANCE_SCHEMA, orient="row")


def best_hyperparameters_table(run: RunFolder, summary: CheckSummary, other_runs: Sequence[Path] = ()) -> pl.DataFrame:
    """The best values here, in other runs of this workspace and `other_runs` (other data), and the published ones."""
    others = [path.parent for path in sorted(run.path.parent.glob("*/summary.json")) if path.parent.name != run.name]
    known = [(THIS_RUN, summary)]
    for folder in [*others, *other_runs]:
        there = read_check_summary(folder)
        if there:  # not one of the other kinds of runs
            known.append((describe_run(there, other_data=folder in other_runs), there))
    rows: list[tuple[str, str, str, float]] = []
    for method in summary.methods:
        for name, values in PUBLISHED_BEST_VALUES.get(method, {}).items():
            rows += [(method, name, f"paper, {data}", best) for data, best in zip(PAPER_DATASETS, values, strict=True)]
        for where, each in known:
            best_trial = each.methods[method].best if method in each.methods else None
            params = best_trial.params if best_trial else {}
            rows += [(method, name, where, float(value)) for name, value in params.items()]
    return pl.DataFrame(rows, schema=BEST_VALUES_SCHEMA, orient="row").with_columns(pl.col("value").fill_nan(None))


def describe_run(summary: CheckSummary, *, other_data: bool) -> str:
    """A run by its name and by what it was trained on."""
    data = f"{summary.workspace}, " if other_data else ""
    trunk = summary.trunk if summary.trunk == "small" else f"{summary.trunk} {summary.encoder}"
    return f"run {summary.run}: {data}{trunk}"


def check_finished_runs(folders: Sequence[Path]) -> list[Path]:
    """Folders of finished checks, or a sentence that says which is none."""
    for folder in folders:
        if read_check_summary(folder) is None:
            raise LikewiseError(f"{folder} is no finished check: give the folder runs/NAME of one (--compare-with).")
    return list(folders)
