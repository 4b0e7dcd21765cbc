"""What a gate shows: the table of groups, the pairs to label, and the queries whose results change most."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.evaluation.auc import Ints
from likewise.evaluation.gate.decision import BoundedDifferences, GateDecision, GroupVerdict
from likewise.evaluation.gate.drawn_labels import DrawnDifferences
from likewise.evaluation.gate.labels_needed import labelling_order
from likewise.evaluation.gate.list_differences import ListComparison
from likewise.evaluation.gate.result import GROUP_SCHEMA, OVERALL, PAIRS_SCHEMA, ListedResult, QueryChange
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.query_sums import Floats

N_SHOWN = 24


def group_table(
    decision: GateDecision, lists: ListComparison, category: NDArray[np.str_], drawn: DrawnDifferences | None
) -> pl.DataFrame:
    """A row for all queries and one per category; values are the estimates where labels were drawn."""
    old, new = lists.values()
    missing = np.bincount(lists.query, minlength=len(category))

    def row(one: GroupVerdict) -> tuple[object, ...]:
        mine = category == one.name if one.name else np.ones(len(category), bool)
        both = (_mean(old[mine]), _mean(new[mine])) if drawn is None else drawn.values[one.name]
        values = *both, one.evidence.difference, *one.evidence.interval(), one.p_worse, one.p_not_worse
        counted = one.evidence.n_queries, int(lists.changed[mine].sum()), int(missing[mine].sum())
        return (one.name or OVERALL, one.verdict, *values, *counted, one.falls)

    rows = [row(one) for one in (decision.overall, *decision.categories)]
    return pl.DataFrame(rows, schema=GROUP_SCHEMA, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))


def _mean(values: Floats) -> float:
    return float(np.nanmean(values)) if (~np.isnan(values)).any() else float("nan")


def pairs_to_label(lists: ListComparison, pairs: JudgedPairs, category: NDArray[np.str_]) -> pl.DataFrame:
    """The results at different places that have no label, most useful first."""
    order = labelling_order(lists)
    query, candidate = lists.query[order], lists.candidate[order]
    return pl.DataFrame(
        {
            "query": [pairs.queries[row] for row in query],
            "candidate": [pairs.gallery[row] for row in candidate],
            "category": category[query].tolist(),
        },
        schema=PAIRS_SCHEMA,
    )


def largest_changes(
    lists: ListComparison, differences: BoundedDifferences, pairs: JudgedPairs, category: NDArray[np.str_]
) -> tuple[QueryChange, ...]:
    """The queries whose results change most by the labels; where those say nothing, by what they could say."""
    sure = np.nan_to_num(np.abs(differences.labelled))
    could = np.nan_to_num(differences.highest) - np.nan_to_num(differences.lowest)
    n_moved = (lists.old != lists.new).sum(axis=1)
    order = np.lexsort((np.arange(len(sure)), -n_moved, -could, -sure))
    found = []
    for row in [row for row in order.tolist() if lists.changed[row]][:N_SHOWN]:
        found.append(
            QueryChange(
                pairs.queries[row],
                str(category[row]),
                _number(differences.labelled[row]),
                _number(differences.lowest[row]),
                _number(differences.highest[row]),
                _listed(lists.old[row], lists.old_labels[row], lists.new[row], pairs),
                _listed(lists.new[row], lists.new_labels[row], lists.old[row], pairs),
            )
        )
    return tuple(found)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _listed(mine: Ints, labels: Ints, other: Ints, pairs: JudgedPairs) -> tuple[ListedResult, ...]:
    there = {candidate: rank for rank, candidate in enumerate(other.tolist())}
    found = []
    for rank, (candidate, label) in enumerate(zip(mine.tolist(), labels.tolist(), strict=True)):
        if candidate >= 0:
            where = "only" if candidate not in there else "same" if there[candidate] == rank else "moved"
            found.append(ListedResult(pairs.gallery[candidate], label if label >= 0 else None, where))
    return tuple(found)
