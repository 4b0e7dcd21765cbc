"""What stands beside the tables: training curves, the importance of hyper-parameters, and where their best values lie.

Importance is PED-ANOVA (Watanabe et al. 2023): how far the best trials' values of a parameter are from all trials'.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from likewise.encoders.needs import needed
from likewise.training.methods import PUBLISHED
from likewise.training.runs import Run
from likewise.training.search import experiments_allowed, open_study
from likewise.workspace import read_json

PAPERS_DATA = ("CUB200", "Cars196", "SOP")
LEAST_TRIALS = 8  # below that, importance is a guess
CURVE_SCHEMA = pl.Schema({"method": pl.String, "step": pl.Int64, "map_at_r": pl.Float64, "n_models": pl.Int64})
IMPORTANCE_SCHEMA = pl.Schema(
    {"method": pl.String, "parameter": pl.String, "importance": pl.Float64, "n_trials": pl.Int64}
)
BEST_SCHEMA = pl.Schema({"method": pl.String, "parameter": pl.String, "where": pl.String, "value": pl.Float64})


def curve_table(run: Run, methods: Sequence[str], n_reruns: int) -> pl.DataFrame:
    """Validation MAP@R by step, the mean over the folds of all reruns; a model that stopped keeps its last value."""
    rows = []
    for method in methods:
        models = [fold["points"] for rerun in range(n_reruns) for fold in read_json(run.curves(method, rerun))]
        for step in sorted({point["step"] for points in models for point in points}):
            values = [[point["map_at_r"] for point in points if point["step"] <= step][-1] for points in models]
            rows.append((method, step, sum(values) / len(values), len(values)))
    return pl.DataFrame(rows, schema=CURVE_SCHEMA, orient="row")


def importance_table(storage: str, run: Run, methods: Sequence[str]) -> pl.DataFrame:
    """Share of each hyper-parameter in what decides the objective; nothing for methods with too few trials."""
    optuna = needed("optuna", "likewise train")
    rows = []
    for method in methods:
        with open_study(storage, f"{run.name}/{method}") as study:
            n_complete = sum(trial.state.name == "COMPLETE" for trial in study.get_trials(deepcopy=False))
            if n_complete < LEAST_TRIALS:
                continue
            with experiments_allowed():
                evaluator = optuna.importance.PedAnovaImportanceEvaluator()
            found = optuna.importance.get_param_importances(study, evaluator=evaluator, normalize=True)
        rows += [(method, name, float(value), n_complete) for name, value in sorted(found.items())]
    return pl.DataFrame(rows, schema=IMPORTANCE_SCHEMA, orient="row")


def best_values_table(run: Run, summary: Mapping[str, Any]) -> pl.DataFrame:
    """The best values of this run, of the other runs beside it, and the published ones of the same method."""
    rows = []
    for method, facts in summary["methods"].items():
        for name, values in PUBLISHED.get(method, {}).items():
            rows += [(method, name, f"paper, {data}", value) for data, value in zip(PAPERS_DATA, values, strict=True)]
        rows += _best(method, facts, run.name)
        for other in sorted(run.path.parent.glob("*/summary.json")):
            if other.parent.name != run.name:
                facts_there = read_json(other).get("methods", {}).get(method)
                rows += _best(method, facts_there, other.parent.name) if facts_there else []
    return pl.DataFrame(rows, schema=BEST_SCHEMA, orient="row").with_columns(pl.col("value").fill_nan(None))


def _best(method: str, facts: Mapping[str, Any], run: str) -> list[tuple[str, str, str, float]]:
    params = (facts.get("best") or {}).get("params", {})
    return [(method, name, f"run {run}", float(value)) for name, value in params.items()]
