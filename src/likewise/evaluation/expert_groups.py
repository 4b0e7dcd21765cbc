"""Would other experts have said otherwise? Results by consensus rule, per expert, over resampled groups, and by number.

Groups drawn with replacement are as large as the real one; groups of 1, 2, ... n different experts say how far results
depend on the number of experts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats
from likewise.evaluation.discovery import EncoderScores
from likewise.evaluation.gallery_negatives import macro_against_gallery
from likewise.evaluation.pairs import JudgedPairs, select_pairs
from likewise.evaluation.query_sums import QuerySums
from likewise.intervals import interval_of
from likewise.labeling.consensus import Rule, consensus
from likewise.labeling.grades import has_graded_answers
from likewise.labeling.votes import NEGATIVE_ANSWERS, POSITIVE_ANSWERS

N_GROUPS = 200
MOST_OF_A_SIZE = 50  # groups of one size; all of them where there are no more
UNANSWERED = np.int8(-1)
GROUPS_SCHEMA = pl.Schema(
    {
        "kind": pl.String,
        "group": pl.String,
        "encoder": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "n_queries": pl.Int64,
    }
)


@dataclass(frozen=True)
class NumberOfExperts:
    """What groups of so many different experts give, beside everybody together."""

    n_experts: int
    n_groups: int
    winner_share: float | None  # of the groups that give an order: in which the usual winner is first
    mean_distance: float | None  # of a model's value from its value by everybody, over groups and models


@dataclass(frozen=True)
class ExpertGroupsSummary:
    """How often the usual winner stays first."""

    winner: str
    winner_share: float | None  # None where no group gives an order
    n_groups: int
    n_undefined: int  # groups whose labels order no models: left out of the share
    by_number: tuple[NumberOfExperts, ...] = ()


@dataclass(frozen=True)
class ExpertGroups:
    """`values`: gallery ROC-AUC per kind of group, group and encoder; and how often the usual winner stays first."""

    values: pl.DataFrame
    summary: ExpertGroupsSummary


def expert_groups(
    measured: Sequence[EncoderScores],
    pairs: JudgedPairs,
    gallery: JudgedPairs,
    votes: pl.DataFrame,
    seed: int,
    n_groups: int = N_GROUPS,
) -> ExpertGroups:
    """Gallery ROC-AUC of every encoder under other labels made from the same votes.

    The values by rule and by expert have intervals over queries; the resampled groups are a spread of their own.
    """
    experts = votes["expert"].unique().sort().to_list()
    answers = _answers(pairs, votes, experts)
    weighs_experts = len(experts) > 2 and not has_graded_answers(votes)
    rules: tuple[Rule, ...] = ("majority", "exclude", "dawid-skene") if weighs_experts else ("majority", "exclude")
    named = [("rule", rule, _labels_of(pairs, consensus(votes, rule).labels)) for rule in rules]
    named += [("expert", expert, answers[:, place]) for place, expert in enumerate(experts)]
    rows: list[tuple[object, ...]] = []
    for what, name, label in named:
        for encoder, sums in _macro(measured, pairs, gallery, label).items():
            rows.append((what, name, encoder, sums.value(), *interval_of(sums), sums.n_defined))
    rng = np.random.default_rng(seed)
    everybody = _macro(measured, pairs, gallery, weighted_majority(answers, np.ones(len(experts))))
    reference_winner = _best_encoder(everybody)
    known: dict[tuple[int, ...], dict[str, QuerySums]] = {}  # few experts give few different groups
    stayed = n_undefined = 0
    for number in range(n_groups):
        drawn = np.bincount(rng.integers(0, len(experts), len(experts)), minlength=len(experts))
        group = tuple(drawn.tolist())
        if group not in known:
            known[group] = _macro(measured, pairs, gallery, weighted_majority(answers, drawn.astype(np.float64)))
        for encoder, sums in known[group].items():
            rows.append(("group", f"{number}", encoder, sums.value(), None, None, sums.n_defined))
        if not any(sums.n_defined for sums in known[group].values()):
            n_undefined += 1
        else:
            stayed += _best_encoder(known[group]) == reference_winner
    by_number = []
    for size in range(1, len(experts) + 1):
        found = []
        for group in groups_of_size(len(experts), size, rng):
            weights = np.bincount(group, minlength=len(experts)).astype(np.float64)
            found.append(_macro(measured, pairs, gallery, weighted_majority(answers, weights)))
        by_number.append(_number_of_experts(size, found, everybody))
        rows += [("number", f"{size}", *row) for row in _spread_of(found)]
    table = pl.DataFrame(rows, schema=GROUPS_SCHEMA, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))
    n_defined = n_groups - n_undefined
    share = stayed / n_defined if n_defined else None
    return ExpertGroups(table, ExpertGroupsSummary(reference_winner, share, n_groups, n_undefined, tuple(by_number)))


def groups_of_size(n_experts: int, size: int, rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """Different groups of different experts: all there are, or a fixed number of them drawn at random."""
    if comb(n_experts, size) <= MOST_OF_A_SIZE:
        yield from combinations(range(n_experts), size)
        return
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < MOST_OF_A_SIZE:
        drawn[tuple(sorted(rng.choice(n_experts, size, replace=False).tolist()))] = None
    yield from drawn


def _number_of_experts(
    size: int, found: Sequence[Mapping[str, QuerySums]], everybody: Mapping[str, QuerySums]
) -> NumberOfExperts:
    ordering = [each for each in found if any(sums.n_defined for sums in each.values())]
    winner = _best_encoder(everybody)
    share = float(np.mean([_best_encoder(each) == winner for each in ordering])) if ordering else None
    distances = [abs(sums.value() - everybody[name].value()) for each in ordering for name, sums in each.items()]
    known = [distance for distance in distances if not np.isnan(distance)]
    return NumberOfExperts(size, len(found), share, float(np.mean(known)) if known else None)


def _spread_of(found: Sequence[Mapping[str, QuerySums]]) -> Iterator[tuple[object, ...]]:
    """Of every encoder over groups: its mean, 95 % of its values, and the queries that count in all groups."""
    for name in found[0]:
        values = np.array([each[name].value() for each in found])
        known = values[~np.isnan(values)]
        ends = (known.mean(), *np.quantile(known, (0.025, 0.975))) if len(known) else (np.nan, np.nan, np.nan)
        yield name, *map(float, ends), min(each[name].n_defined for each in found)


def weighted_majority(answers: NDArray[np.int8], weights: Floats) -> NDArray[np.int8]:
    """The label of each pair when every expert counts so often: a tie is negative, no answer is no label."""
    n_similar = (answers == 1) @ weights
    n_dissimilar = (answers == 0) @ weights
    return np.where(n_similar + n_dissimilar == 0, UNANSWERED, (n_similar > n_dissimilar).astype(np.int8)).astype(
        np.int8
    )


def _answers(pairs: JudgedPairs, votes: pl.DataFrame, experts: Sequence[str]) -> NDArray[np.int8]:
    """Pairs x experts: 1 similar, 0 not similar, -1 no answer."""
    positions = _pair_positions(pairs)
    column = {expert: place for place, expert in enumerate(experts)}
    answers = np.full((len(pairs), len(experts)), UNANSWERED, dtype=np.int8)
    value = dict.fromkeys(POSITIVE_ANSWERS, 1) | dict.fromkeys(NEGATIVE_ANSWERS, 0)
    for query, candidate, expert, answer in votes.select("query", "candidate", "expert", "answer").iter_rows():
        if (place := positions.get((query, candidate))) is not None and answer in value:
            answers[place, column[expert]] = value[answer]
    return answers


def _labels_of(pairs: JudgedPairs, labels: pl.DataFrame) -> NDArray[np.int8]:
    positions = _pair_positions(pairs)
    label = np.full(len(pairs), UNANSWERED, dtype=np.int8)
    for query, candidate, value in labels.select("query", "candidate", "label").iter_rows():
        if (place := positions.get((query, candidate))) is not None:
            label[place] = value
    return label


def _pair_positions(pairs: JudgedPairs) -> dict[tuple[str, str], int]:
    return {
        (pairs.queries[query], pairs.gallery[candidate]): place
        for place, (query, candidate) in enumerate(zip(pairs.query, pairs.candidate, strict=True))
    }


def _macro(
    measured: Sequence[EncoderScores], pairs: JudgedPairs, gallery: JudgedPairs, label: NDArray[np.int8]
) -> dict[str, QuerySums]:
    """Gallery ROC-AUC of every encoder under these labels, per query."""
    similar = label == 1
    positives = select_pairs(pairs, similar)
    found = {}
    for one in measured:
        assert one.gallery_scores is not None and one.item_scores is not None
        found[one.encoder] = macro_against_gallery(positives, one.item_scores[similar], gallery, one.gallery_scores)
    return found


def _best_encoder(found: Mapping[str, QuerySums]) -> str:
    """The encoder with the highest value; the first by name if several are equal."""
    return min(found, key=lambda name: (-np.nan_to_num(found[name].value(), nan=-1.0), name))
