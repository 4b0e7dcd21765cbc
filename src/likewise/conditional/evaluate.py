"""Templates + features + methods -> Recall@k per task and the average R@1, as one long table.

Intervals are a bootstrap over the templates of each task (the same resamples for every method); the average of the
tasks is resampled within its tasks.  A method that cannot answer a task has no row for it and no average.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.conditional.protocol import TASKS, Floats, Method
from likewise.conditional.recall import Standing, chance, hits, joined, standing
from likewise.conditional.sides import Sides
from likewise.evaluation.bootstrap import RESAMPLES, percentile_interval, query_weights

KS = (1, 2, 3)
AVERAGE = "average"
RESULT_SCHEMA = {
    "encoder": pl.String(),
    "method": pl.String(),
    "task": pl.String(),
    "metric": pl.String(),
    "value": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "chance": pl.Float64(),
    "n": pl.Int64(),
    "n_total": pl.Int64(),
}


@dataclass(frozen=True)
class Answered:
    """How one method stood in one task, and how many templates the task has."""

    found: Standing
    n_total: int


Answers = dict[str, dict[str, Answered]]
"""method -> task -> standings"""


def answer(templates: pl.DataFrame, sides: Sides, methods: Sequence[Method]) -> Answers:
    """Put every template to every method."""
    totals = dict(templates.group_by("task").len().iter_rows())
    found: dict[str, dict[str, list[Standing]]] = {method.name: {} for method in methods}
    for (task,), of_task in templates.group_by(["task"], maintain_order=True):
        for _, asked in sides.blocks(of_task):
            right = np.zeros((len(asked.reference), asked.gallery.shape[1]), bool)
            right[:, 0] = True
            for method in methods:
                found[method.name].setdefault(str(task), []).append(standing(method.scores(asked), right))
    return {
        name: {task: Answered(joined(parts), totals[task]) for task, parts in tasks.items()}
        for name, tasks in found.items()
    }


def recall_table(
    answers: Mapping[str, Answers],
    *,
    ks: Sequence[int] = KS,
    official: bool = False,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> pl.DataFrame:
    """One row per encoder, method, task and k, then the average R@k over the tasks; fractions, not percent."""
    weights = _weights(answers, n_resamples, seed)
    rows: list[tuple[object, ...]] = []
    for encoder, methods in answers.items():
        for method, tasks in methods.items():
            names = [*(task for task in TASKS if task in tasks), *(task for task in tasks if task not in TASKS)]
            for k in ks:
                parts = {
                    task: _Part.of(
                        hits(tasks[task].found, k, official=official),
                        float(chance(tasks[task].found, k).mean()),
                        tasks[task].n_total,
                        weights[task],
                    )
                    for task in names
                }
                rows += _rows(encoder, method, f"R@{k}", parts)
    return pl.DataFrame(rows, schema=RESULT_SCHEMA, orient="row")


def share_table(
    name: str,
    shares: Mapping[str, Floats],
    levels: Mapping[str, float],
    totals: Mapping[str, int],
    *,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> pl.DataFrame:
    """The same table for somebody who only gives first answers (people): share of right ones per template."""
    names = [task for task in TASKS if task in shares]
    parts = {
        task: _Part.of(
            shares[task], levels[task], totals[task], query_weights(len(shares[task]), n_resamples, seed + number)
        )
        for number, task in enumerate(names)
    }
    return pl.DataFrame(_rows(name, name, "R@1", parts), schema=RESULT_SCHEMA, orient="row")


def _rows(encoder: str, method: str, metric: str, parts: "dict[str, _Part]") -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = [(encoder, method, task, metric, *part.cells()) for task, part in parts.items()]
    if len(parts) > 1:
        rows.append((encoder, method, AVERAGE, metric, *_average(list(parts.values())).cells()))
    return rows


def _weights(answers: Mapping[str, Answers], n_resamples: int, seed: int) -> dict[str, Floats]:
    """Resamples of each task's templates, independent between tasks, the same for all encoders and methods."""
    sizes: dict[str, int] = {}
    for methods in answers.values():
        for tasks in methods.values():
            for task, answered in tasks.items():
                sizes[task] = len(answered.found)
    return {task: query_weights(sizes[task], n_resamples, seed + number) for number, task in enumerate(sorted(sizes))}


@dataclass(frozen=True)
class _Part:
    """One number of one task with its resampled values."""

    value: float | None
    resampled: Floats
    chance: float
    n: int
    n_total: int

    @classmethod
    def of(cls, values: Floats, level: float, n_total: int, weights: Floats) -> "_Part":
        defined = ~np.isnan(values)
        if not defined.any():
            return cls(None, np.full(len(weights), np.nan), level, 0, n_total)
        drawn = weights if defined.all() else weights[:, defined]
        means = drawn @ values[defined] / np.maximum(drawn.sum(axis=1), 1.0)
        return cls(float(values[defined].mean()), means, level, int(defined.sum()), n_total)

    def cells(self) -> tuple[float | None, float | None, float | None, float, int, int]:
        low, high = percentile_interval(self.resampled) if self.value is not None else (None, None)
        return self.value, low, high, self.chance, self.n, self.n_total


def _average(parts: Sequence[_Part]) -> _Part:
    level = float(np.mean([part.chance for part in parts]))
    n, total = sum(part.n for part in parts), sum(part.n_total for part in parts)
    known = [part.value for part in parts if part.value is not None]
    value = float(np.mean(known)) if len(known) == len(parts) else None
    return _Part(value, np.mean([part.resampled for part in parts], axis=0), level, n, total)
