"""Would other experts have said otherwise? Results by consensus rule, per expert, and over resampled groups."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, roc_auc, sort_pairs
from likewise.evaluation.discovery import Measured
from likewise.evaluation.pairs import JudgedPairs, relabel
from likewise.evaluation.sums import QuerySums
from likewise.labeling.consensus import Rule, consensus
from likewise.labeling.votes import NOT_SIMILAR, SIMILAR

GROUPS = 200
UNANSWERED = np.int8(-1)


@dataclass(frozen=True)
class ExpertGroups:
    """`values`: macro ROC-AUC per kind of group, group and encoder; how often the usual winner stays first."""

    values: pl.DataFrame
    winner: str
    winner_share: float | None  # None where no group gives an order
    n_groups: int
    n_undefined: int  # groups whose labels order no models: left out of the share


def expert_groups(
    measured: Sequence[Measured], pairs: JudgedPairs, votes: pl.DataFrame, seed: int, n_groups: int = GROUPS
) -> ExpertGroups:
    """Macro ROC-AUC of every encoder under other labels made from the same votes."""
    experts = votes["expert"].unique().sort().to_list()
    answers = _answers(pairs, votes, experts)
    lines: list[tuple[str, str, str, float]] = []
    rules: tuple[Rule, ...] = ("majority", "exclude", "dawid-skene") if len(experts) > 2 else ("majority", "exclude")
    for rule in rules:
        lines += _lines("rule", rule, measured, pairs, _labels_of(pairs, consensus(votes, rule).labels))
    for place, expert in enumerate(experts):
        lines += _lines("expert", expert, measured, pairs, answers[:, place])
    rng = np.random.default_rng(seed)
    usual = _winner(_lines("", "", measured, pairs, majority(answers, np.ones(len(experts)))))
    known: dict[tuple[int, ...], list[tuple[str, str, str, float]]] = {}  # few experts give few different groups
    stayed = n_undefined = 0
    for number in range(n_groups):
        drawn = np.bincount(rng.integers(0, len(experts), len(experts)), minlength=len(experts))
        group = tuple(drawn.tolist())
        if group not in known:
            known[group] = _lines("group", "", measured, pairs, majority(answers, drawn.astype(np.float64)))
        lines += [(kind, f"{number}", encoder, value) for kind, _, encoder, value in known[group]]
        if all(np.isnan(value) for *_, value in known[group]):
            n_undefined += 1
        else:
            stayed += _winner(known[group]) == usual
    table = pl.DataFrame(
        lines,
        schema={"kind": pl.String, "group": pl.String, "encoder": pl.String, "value": pl.Float64},
        orient="row",
    )
    n_defined = n_groups - n_undefined
    share = stayed / n_defined if n_defined else None
    return ExpertGroups(table.with_columns(pl.col("value").fill_nan(None)), usual, share, n_groups, n_undefined)


def majority(answers: NDArray[np.int8], weights: Floats) -> NDArray[np.int8]:
    """The label of each pair when every expert counts so often: a tie is negative, no answer is no label."""
    for_it = (answers == 1) @ weights
    against = (answers == 0) @ weights
    return np.where(for_it + against == 0, UNANSWERED, (for_it > against).astype(np.int8)).astype(np.int8)


def _answers(pairs: JudgedPairs, votes: pl.DataFrame, experts: Sequence[str]) -> NDArray[np.int8]:
    """Pairs x experts: 1 similar, 0 not similar, -1 no answer."""
    places = _places(pairs)
    column = {expert: place for place, expert in enumerate(experts)}
    answers = np.full((len(pairs), len(experts)), UNANSWERED, dtype=np.int8)
    value = {SIMILAR: 1, NOT_SIMILAR: 0}
    for query, candidate, expert, answer in votes.select("query", "candidate", "expert", "answer").iter_rows():
        if (place := places.get((query, candidate))) is not None and answer in value:
            answers[place, column[expert]] = value[answer]
    return answers


def _labels_of(pairs: JudgedPairs, labels: pl.DataFrame) -> NDArray[np.int8]:
    places = _places(pairs)
    label = np.full(len(pairs), UNANSWERED, dtype=np.int8)
    for query, candidate, value in labels.select("query", "candidate", "label").iter_rows():
        if (place := places.get((query, candidate))) is not None:
            label[place] = value
    return label


def _places(pairs: JudgedPairs) -> dict[tuple[str, str], int]:
    return {
        (pairs.queries[query], pairs.gallery[candidate]): place
        for place, (query, candidate) in enumerate(zip(pairs.query, pairs.candidate, strict=True))
    }


def _macro(one: Measured, pairs: JudgedPairs, label: NDArray[np.int8]) -> float:
    part = relabel(pairs, label)
    by_query = sort_pairs(part.query, one.scores[label >= 0], part.label, len(pairs.queries))
    return QuerySums.mean_of(roc_auc(by_query)).value()


def _lines(
    kind: str, group: str, measured: Sequence[Measured], pairs: JudgedPairs, label: NDArray[np.int8]
) -> list[tuple[str, str, str, float]]:
    return [(kind, group, one.encoder, _macro(one, pairs, label)) for one in measured]


def _winner(lines: Sequence[tuple[str, str, str, float]]) -> str:
    """The encoder with the highest value; the first by name if several are equal."""
    return min(lines, key=lambda line: (-np.nan_to_num(line[3], nan=-1.0), line[2]))[2]
