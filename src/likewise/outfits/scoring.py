"""What a model gets for its answers: LATs, mLATs, AATs, the index of every dimension and sub-dimension, FITB accuracy.

- LATs: share of LAT questions where the model picks what most people picked (eq. 1);
- mLATs: mean share of people who picked the model's choice (eq. 2);
- AATs: share of AAT questions answered right; the same over the questions of one dimension is that dimension's index.

A model that cannot tell some choices apart gets the mean of what they are worth, so chance level is what it says.
Intervals and paired t-tests are over questions (`likewise.intervals`): for shares of right answers that is Wilson's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.evaluation.differences import ALPHA, holm_correction, paired_difference
from likewise.evaluation.query_sums import QuerySums
from likewise.intervals import interval_of
from likewise.outfits.protocol import Floats, OutfitQuestion, best_choices

GRADED_SCHEMA = pl.Schema(
    {
        "model": pl.String(),
        "question": pl.String(),
        "kind": pl.String(),
        "dimension": pl.String(),
        "sub_dimension": pl.String(),
        "choice": pl.Int64(),
        "n_tied": pl.Int64(),
        "credit": pl.Float64(),
        "people_share": pl.Float64(),
        "chance": pl.Float64(),
        "scores": pl.List(pl.Float64),
    }
)
SCORE_SCHEMA = pl.Schema(
    {
        "model": pl.String(),
        "score": pl.String(),
        "dimension": pl.String(),
        "sub_dimension": pl.String(),
        "value": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "chance": pl.Float64(),
        "n_questions": pl.Int64(),
        "n_questions_total": pl.Int64(),
    }
)
DIFFERENCE_SCHEMA = pl.Schema(
    {
        "score": pl.String(),
        "dimension": pl.String(),
        "model_a": pl.String(),
        "model_b": pl.String(),
        "difference": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "p": pl.Float64(),
        "p_holm": pl.Float64(),
        "significant": pl.Boolean(),
        "n_questions": pl.Int64(),
    }
)


@dataclass(frozen=True)
class OutfitMeasure:
    """One score: which rows of `graded` count, and which column is averaged."""

    score: str
    column: str
    kind: str
    dimension: str | None = None
    sub_dimension: str | None = None

    def values(self, graded: pl.DataFrame) -> NDArray[np.float64]:
        """One value per question of the test, NaN for questions that this score does not count."""
        mine = pl.col("kind") == self.kind
        if self.dimension is not None:
            mine &= pl.col("dimension") == self.dimension
        if self.sub_dimension is not None:
            mine &= pl.col("sub_dimension") == self.sub_dimension
        return graded.select(pl.when(mine).then(self.column)).to_series().cast(pl.Float64).fill_null(np.nan).to_numpy()


def grade_answers(model: str, questions: Sequence[OutfitQuestion], answers: Floats) -> pl.DataFrame:
    """One row per question: what the model picked, and what that is worth."""
    widest = max((len(question.choices) for question in questions), default=0)
    if answers.shape != (len(questions), widest):
        raise LikewiseError(
            f"{model} gave answers of shape {answers.shape} to {len(questions)} questions of up to {widest} choices."
        )
    picked = best_choices(answers)
    rows = []
    for question, row, mine in zip(questions, answers, picked, strict=True):
        n = len(question.choices)
        places = np.flatnonzero(mine[:n])
        answered = len(places) > 0
        rows.append(
            (
                model,
                question.name,
                question.kind,
                question.dimension,
                question.sub_dimension,
                int(places[0]) if answered else None,
                len(places),
                _mean(_correctness(question), places) if answered else None,
                _mean(_people_shares(question), places) if answered else None,
                1.0 / n,
                row[:n].tolist(),
            )
        )
    return pl.DataFrame(rows, schema=GRADED_SCHEMA, orient="row")


def _correctness(question: OutfitQuestion) -> Floats | None:
    """1 for right choices: the one marked right, or for LAT those that most people picked; None where nobody knows."""
    if question.kind == "LAT":
        people = np.asarray(question.people, dtype=np.float64)
        return np.where(people == people.max(), 1.0, 0.0) if len(people) and people.max() > 0 else None
    if question.right is None:
        return None
    return np.where(np.arange(len(question.choices)) == question.right, 1.0, 0.0)


def _people_shares(question: OutfitQuestion) -> Floats | None:
    people = np.asarray(question.people, dtype=np.float64)
    return np.asarray(people / people.sum()) if len(people) and people.sum() > 0 else None


def _mean(correctness: Floats | None, places: NDArray[np.int64]) -> float | None:
    return None if correctness is None else float(correctness[places].mean())


def available_measures(questions: Sequence[OutfitQuestion]) -> list[OutfitMeasure]:
    """Every score that these questions can give, whole tests first."""
    kinds = {question.kind for question in questions}
    found = []
    if "LAT" in kinds:
        found += [OutfitMeasure("LATs", "credit", "LAT"), OutfitMeasure("mLATs", "people_share", "LAT")]
    if "AAT" in kinds:
        found.append(OutfitMeasure("AATs", "credit", "AAT"))
        pairs = dict.fromkeys((q.dimension, q.sub_dimension) for q in questions if q.kind == "AAT")
        dimensions = dict.fromkeys(name for name, _ in pairs)
        found += [OutfitMeasure("index", "credit", "AAT", name) for name in dimensions if name is not None]
        found += [OutfitMeasure("sub-index", "credit", "AAT", name, sub) for name, sub in pairs if sub is not None]
    if "FITB" in kinds:
        found.append(OutfitMeasure("FITB", "credit", "FITB"))
    return found


def score_table(graded: pl.DataFrame, questions: Sequence[OutfitQuestion]) -> pl.DataFrame:
    """Every model's scores with intervals, chance level, and how many questions they rest on."""
    rows = []
    for measure in available_measures(questions):
        for (model,), mine in graded.group_by("model", maintain_order=True):
            values, chances = measure.values(mine), _chance(measure, mine)
            sums = QuerySums.mean_of(values)
            total = int((~np.isnan(chances)).sum())
            value = sums.value() if sums.n_defined else None
            low, high = interval_of(sums) if sums.n_defined else (None, None)
            rows.append(
                (
                    model,
                    measure.score,
                    measure.dimension,
                    measure.sub_dimension,
                    value,
                    low,
                    high,
                    float(np.nanmean(chances)) if total else None,
                    sums.n_defined,
                    total,
                )
            )
    return pl.DataFrame(rows, schema=SCORE_SCHEMA, orient="row")


def _chance(measure: OutfitMeasure, graded: pl.DataFrame) -> NDArray[np.float64]:
    """What a coin would get on each question; for mLATs also one over the number of choices, as shares sum to 1."""
    return OutfitMeasure(measure.score, "chance", measure.kind, measure.dimension, measure.sub_dimension).values(graded)


def difference_table(graded: pl.DataFrame, questions: Sequence[OutfitQuestion]) -> pl.DataFrame:
    """Every two models on every score but the sub-indexes: a minus b, interval, p, and p after Holm's correction."""
    by_model = {str(model): mine for (model,), mine in graded.group_by("model", maintain_order=True)}
    lines: list[tuple[object, ...]] = []
    for measure in [measure for measure in available_measures(questions) if measure.sub_dimension is None]:
        compared = []
        for a, b in combinations(by_model, 2):
            first, second = measure.values(by_model[a]), measure.values(by_model[b])
            both = ~np.isnan(first) & ~np.isnan(second)
            if not both.any():
                continue
            found = paired_difference(*(QuerySums.mean_of(values[both]) for values in (first, second)))
            compared.append((a, b, found.value, found.low, found.high, found.p, found.n_queries))
        corrected = holm_correction(np.array([line[5] for line in compared]))
        for (a, b, difference, low, high, p, n), p_holm in zip(compared, corrected, strict=True):
            significant = bool(p_holm < ALPHA)
            lines.append(
                (measure.score, measure.dimension, a, b, difference, low, high, p, float(p_holm), significant, n)
            )
    return pl.DataFrame(lines, schema=DIFFERENCE_SCHEMA, orient="row")


def agreement_with_people(questions: Sequence[OutfitQuestion], graded: pl.DataFrame) -> pl.DataFrame:
    """LAT question by question: how many people, how united they are, and the share that chose as each model did."""
    rows = [
        (q.name, sum(q.people), int(np.argmax(q.people)), max(q.people) / sum(q.people))
        for q in questions
        if q.kind == "LAT" and any(q.people)
    ]
    schema = {"question": pl.String, "n_people": pl.Int64, "favourite": pl.Int64, "favourite_share": pl.Float64}
    crowd = pl.DataFrame(rows, schema=schema, orient="row")
    shares = graded.select("question", "model", "people_share").pivot("model", index="question", values="people_share")
    return crowd.join(shares, on="question", how="left", maintain_order="left")
