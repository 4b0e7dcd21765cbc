"""Templates + features + methods -> Recall@k per task and the average Recall@1, as one long table.

Intervals are over the templates of each task; the variance of the average is that of its independent tasks, with the
degrees of freedom of Welch and Satterthwaite.  A method that cannot answer a task has no row for it and no average.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.protocol import TASKS, ConditionalMethod, Floats
from likewise.conditional.recall import (
    SCORE_TOLERANCE,
    TargetRanks,
    chance_recall,
    concatenate_ranks,
    rank_targets,
    recall_at_k,
)
from likewise.evaluation.query_sums import QuerySums
from likewise.intervals import query_interval, standard_error

KS = (1, 2, 3)
AVERAGE = "average"
RESULT_SCHEMA = {
    "encoder": pl.String(),
    "method": pl.String(),
    "task": pl.String(),
    "measure": pl.String(),
    "value": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "chance": pl.Float64(),
    "n": pl.Int64(),
    "n_total": pl.Int64(),
}


@dataclass(frozen=True)
class QuestionValues:
    """A further measure, question by question, and what chance gives."""

    values: Floats
    chance: float


@dataclass(frozen=True)
class TaskResult:
    """Where one method ranks the targets of one task, and how many templates the task has."""

    ranks: TargetRanks
    n_total: int
    more: Mapping[str, QuestionValues] = field(default_factory=dict)
    """Measures beside recall, such as mAP@5."""
    targets: tuple[str, ...] = ()
    """The target of each template, in the order of the ranks: templates of one target stand and fall together."""


TaskResults = dict[str, dict[str, TaskResult]]
"""method -> task -> ranks"""


def score_templates(
    templates: pl.DataFrame,
    features: ImageTextFeatures,
    methods: Sequence[ConditionalMethod],
    *,
    tolerance: float = SCORE_TOLERANCE,
) -> TaskResults:
    """Put every template to every method."""
    totals = dict(templates.group_by("task").len().iter_rows())
    ranks: dict[str, dict[str, list[TargetRanks]]] = {method.name: {} for method in methods}
    targets: dict[str, list[str]] = {}
    for (task,), of_task in templates.group_by(["task"], maintain_order=True):
        for answerable, batch in features.batches(of_task):
            targets.setdefault(str(task), []).extend(answerable["target"])
            positives = np.zeros((len(batch.reference), batch.gallery.shape[1]), bool)
            positives[:, 0] = True
            for method in methods:
                found = rank_targets(method.scores(batch), positives, tolerance=tolerance)
                ranks[method.name].setdefault(str(task), []).append(found)
    return {
        name: {
            task: TaskResult(concatenate_ranks(parts), totals[task], targets=tuple(targets[task]))
            for task, parts in tasks.items()
        }
        for name, tasks in ranks.items()
    }


def recall_table(
    results: Mapping[str, TaskResults],
    *,
    ks: Sequence[int] = KS,
    official: bool = False,
) -> pl.DataFrame:
    """One row per encoder, method, task and k, then the average Recall@k over the tasks; fractions, not percent."""
    rows: list[tuple[object, ...]] = []
    for encoder, methods in results.items():
        for method, tasks in methods.items():
            names = [*(task for task in TASKS if task in tasks), *(task for task in tasks if task not in TASKS)]
            for k in ks:
                estimates = {
                    task: _Estimate.of(
                        recall_at_k(tasks[task].ranks, k, official=official),
                        float(chance_recall(tasks[task].ranks, k).mean()),
                        tasks[task].n_total,
                    )
                    for task in names
                }
                rows += _rows(encoder, method, f"Recall@{k}", estimates)
            for measure in dict.fromkeys(name for task in names for name in tasks[task].more):
                estimates = {
                    task: _Estimate.of(found.values, found.chance, tasks[task].n_total)
                    for task in names
                    if (found := tasks[task].more.get(measure)) is not None
                }
                rows += _rows(encoder, method, measure, estimates)
    return pl.DataFrame(rows, schema=RESULT_SCHEMA, orient="row")


def accuracy_table(
    name: str,
    accuracies: Mapping[str, Floats],
    chance_levels: Mapping[str, float],
    totals: Mapping[str, int],
) -> pl.DataFrame:
    """The same table for somebody who only gives first answers (people): share of right ones per template."""
    names = [*(task for task in TASKS if task in accuracies), *(task for task in accuracies if task not in TASKS)]
    estimates = {task: _Estimate.of(accuracies[task], chance_levels[task], totals[task]) for task in names}
    return pl.DataFrame(_rows(name, name, "Recall@1", estimates), schema=RESULT_SCHEMA, orient="row")


def _rows(encoder: str, method: str, measure: str, estimates: "dict[str, _Estimate]") -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = [
        (encoder, method, task, measure, *estimate.cells()) for task, estimate in estimates.items()
    ]
    if len(estimates) > 1:
        rows.append((encoder, method, AVERAGE, measure, *_average(list(estimates.values())).cells()))
    return rows


@dataclass(frozen=True)
class _Estimate:
    """One number with its standard error, which rests on `degrees` + 1 templates."""

    value: float | None
    error: float
    degrees: float
    chance: float
    n: int
    n_total: int

    @classmethod
    def of(cls, values: Floats, chance_level: float, n_total: int) -> "_Estimate":
        sums = QuerySums.mean_of(values)
        n = sums.n_defined
        value = sums.value() if n else None
        error = standard_error(sums.value(), sums.jackknife(), n)
        return cls(value, error, n - 1, chance_level, n, n_total)

    def cells(self) -> tuple[float | None, float | None, float | None, float, int, int]:
        if self.value is None:
            return None, None, None, self.chance, self.n, self.n_total
        low, high = query_interval(self.value, self.error, self.degrees + 1)
        return self.value, low, high, self.chance, self.n, self.n_total


def _average(estimates: Sequence[_Estimate]) -> _Estimate:
    chance_level = float(np.mean([estimate.chance for estimate in estimates]))
    n, total = sum(estimate.n for estimate in estimates), sum(estimate.n_total for estimate in estimates)
    known = [estimate.value for estimate in estimates if estimate.value is not None]
    value = float(np.mean(known)) if len(known) == len(estimates) else None
    variance = np.array([estimate.error**2 for estimate in estimates])
    degrees = np.array([estimate.degrees for estimate in estimates])
    shared = float(variance.sum() ** 2 / (variance**2 / degrees).sum()) if variance.any() else float(degrees.sum())
    error = float(np.sqrt(variance.sum())) / len(estimates)
    return _Estimate(value, error, shared, chance_level, n, total)
