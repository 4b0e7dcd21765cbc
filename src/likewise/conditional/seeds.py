"""One number for a method that was trained several times: its mean over seeds, with an interval over both chances.

Templates and trainings are crossed: every training answers every template.  The variance of the mean is that over
templates (of each template's mean over seeds), plus that over trainings divided by their number; the degrees of freedom
are those of Welch and Satterthwaite.  Templates of one target are answered alike: where targets are known, those of one
count together, with n templates of G targets and e each template's distance from the mean

    variance over templates = G / (G - 1) * sum over targets of (sum of e)^2 / n^2
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from likewise.conditional.evaluate import AVERAGE, RESULT_SCHEMA, TaskResult, TaskResults
from likewise.conditional.protocol import TASKS, Floats
from likewise.conditional.recall import chance_recall, recall_at_k
from likewise.intervals import share_interval, t_interval

DIFFERENCE_SCHEMA = {
    "method": pl.String(),
    "other": pl.String(),
    "task": pl.String(),
    "value": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
}
SEEDS_SCHEMA = RESULT_SCHEMA | {"n_seeds": pl.Int64()}


def recall_over_seeds(encoder: str, results: Sequence[TaskResults], k: int = 1) -> pl.DataFrame:
    """Recall@k per method and task, then its average over tasks; `results` are of one training each."""
    rows: list[tuple[object, ...]] = []
    for method in results[0]:
        tasks = results[0][method]
        names = [*(task for task in TASKS if task in tasks), *(task for task in tasks if task not in TASKS)]
        values = {task: _values([each[method][task] for each in results], k) for task in names}
        chances = {task: float(chance_recall(tasks[task].ranks, k).mean()) for task in names}
        totals = {task: (values[task].shape[1], tasks[task].n_total) for task in names}
        groups = [(task, [task]) for task in names] + ([(AVERAGE, names)] if len(names) > 1 else [])
        for name, chosen in groups:
            value, low, high = _estimate([values[task] for task in chosen], [tasks[task].targets for task in chosen])
            counts = (sum(totals[task][0] for task in chosen), sum(totals[task][1] for task in chosen))
            chance = float(np.mean([chances[task] for task in chosen]))
            rows.append((encoder, method, name, f"Recall@{k}", value, low, high, chance, *counts, len(results)))
    return pl.DataFrame(rows, schema=SEEDS_SCHEMA, orient="row")


def differences_over_seeds(results: Sequence[TaskResults], method: str, others: Sequence[str]) -> pl.DataFrame:
    """How much higher the Recall@1 of a method is than that of others on the same templates and trainings, in pairs.

    What is hard for both, a template or a training's encoder, is no part of the difference, so its interval is
    narrower than those of the two values.
    """
    rows: list[tuple[object, ...]] = []
    tasks = list(results[0][method])
    for other in others:
        paired = {
            task: _values([each[method][task] for each in results], 1)
            - _values([each[other][task] for each in results], 1)
            for task in tasks
        }
        groups = [(task, [task]) for task in tasks] + ([(AVERAGE, tasks)] if len(tasks) > 1 else [])
        for name, chosen in groups:
            targets = [results[0][method][task].targets for task in chosen]
            value, error, degrees = _mean_and_error([paired[task] for task in chosen], targets)
            low, high = t_interval(value, error, degrees + 1)
            rows.append((method, other, name, value, low, high))
    return pl.DataFrame(rows, schema=DIFFERENCE_SCHEMA, orient="row")


def _values(trainings: Sequence[TaskResult], k: int) -> Floats:
    """(trainings, templates)"""
    return np.stack([recall_at_k(each.ranks, k) for each in trainings])


def _estimate(tasks: Sequence[Floats], targets: Sequence[Sequence[str]]) -> tuple[float, float, float]:
    """Mean over tasks with its interval, from each task's (trainings, templates)."""
    value, error, degrees = _mean_and_error(tasks, targets)
    return value, *share_interval(value, error, degrees + 1)


def _mean_and_error(tasks: Sequence[Floats], targets: Sequence[Sequence[str]]) -> tuple[float, float, float]:
    """Mean over tasks, its standard error and the degrees of freedom of that."""
    value = float(np.mean([values.mean() for values in tasks]))
    parts = [_over_templates(values.mean(axis=0), of_task) for values, of_task in zip(tasks, targets, strict=True)]
    parts = [(variance / len(tasks) ** 2, degrees) for variance, degrees in parts]
    trainings = np.mean([values.mean(axis=1) for values in tasks], axis=0)
    if len(trainings) > 1:
        parts.append((float(trainings.var(ddof=1)) / len(trainings), len(trainings) - 1))
    variance = float(sum(part for part, _ in parts))
    degrees = variance**2 / max(sum(part**2 / max(free, 1) for part, free in parts), 1e-300) if variance > 0 else 1.0
    return value, float(np.sqrt(variance)), degrees


def _over_templates(values: Floats, targets: Sequence[str]) -> tuple[float, int]:
    """The variance of a task's mean over its templates, and its degrees of freedom."""
    group = np.unique(np.array(targets), return_inverse=True)[1] if len(targets) else np.arange(len(values))
    sums = np.bincount(group, values - values.mean())
    n = len(sums)
    return (n / (n - 1) * float((sums**2).sum()) / len(values) ** 2, n - 1) if n > 1 else (0.0, 0)
