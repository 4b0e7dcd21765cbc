"""What a gate found, for people, scripts, CI and the page."""

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from likewise.evaluation.gate.decision import EXIT_CODES, GateDecision, Verdict
from likewise.evaluation.gate.labels_needed import LabelsNeeded

OVERALL = "overall"
GROUP_SCHEMA = pl.Schema(
    {
        "group": pl.String,
        "verdict": pl.String,
        "old": pl.Float64,
        "new": pl.Float64,
        "difference": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "p_worse": pl.Float64,
        "p_not_worse": pl.Float64,
        "n_queries": pl.Int64,
        "n_changed": pl.Int64,
        "n_unlabelled": pl.Int64,
        "falls": pl.Boolean,
    }
)
PAIRS_SCHEMA = pl.Schema({"query": pl.String, "candidate": pl.String, "category": pl.String})


@dataclass(frozen=True)
class ListedResult:
    """One place of a list: an image, its label (1, 0, or None), and whether the other list has it at another place."""

    image: str
    label: int | None
    elsewhere: str  # same, moved, or only (in this list)


@dataclass(frozen=True)
class QueryChange:
    """A query whose lists differ; the difference is None where the query has no similar candidate so far."""

    query: str
    category: str
    difference: float | None
    low: float | None
    high: float | None
    old: tuple[ListedResult, ...]
    new: tuple[ListedResult, ...]

    @property
    def direction(self) -> str:
        """By the labels: better, worse, equal; or open where the missing ones could turn it."""
        if self.low is None or self.high is None:
            return "open"
        if self.low > 0.0 or self.high < 0.0:
            return "better" if self.low > 0.0 else "worse"
        return "equal" if self.low == self.high else "open"


@dataclass(frozen=True)
class GateResult:
    """`groups` has a row for all queries and one per category, `pairs` the ones to label, best first."""

    old: str
    new: str
    measure: str
    margin: float
    decision: GateDecision
    groups: pl.DataFrame
    pairs: pl.DataFrame
    needed: LabelsNeeded | None
    changes: tuple[QueryChange, ...]
    n_changed: int
    n_queries: int
    notes: tuple[str, ...]
    estimated: bool = False  # over the whole catalog, from labels drawn with known probabilities

    @property
    def verdict(self) -> Verdict:
        return self.decision.verdict

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    @property
    def overall(self) -> dict[str, Any]:
        return self.groups.row(0, named=True)

    def sentences(self) -> list[str]:
        """Why the verdict is what it is, and what would decide."""
        said = [self._reason()]
        for name in self.decision.failing:
            row = self.groups.row(by_predicate=pl.col("group") == name, named=True)
            said.append(f"in {name} it loses {points_text(-row['difference'])}{_while(self.overall['difference'])}")
        named = set(self.decision.failing)
        said += [f"in {name} it falls while the average rises" for name in self.decision.falling if name not in named]
        if self.needed is not None:
            said.append(_what_decides(self.needed, self.estimated))
        return [f"{one[0].upper()}{one[1:]}." for one in said]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the lists, for JSON."""
        return {
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "old": self.old,
            "new": self.new,
            "measure": self.measure,
            "margin_points": 100.0 * self.margin,
            "estimated_for_the_whole_catalog": self.estimated,
            "reasons": self.sentences(),
            "groups": self.groups.to_dicts(),
            "falls_while_the_average_rises": self.decision.falling,
            "n_queries": self.n_queries,
            "n_queries_changed": self.n_changed,
            "n_pairs_to_label": len(self.pairs),
            "needed": None if self.needed is None else asdict(self.needed),
            "notes": list(self.notes),
        }

    def _reason(self) -> str:
        row, margin = self.overall, f"the margin of {points_text(self.margin)}"
        if self.decision.overall.verdict == "fail":
            return f"the new model is worse than the old one by more than {margin}"
        if self.decision.overall.verdict == "pass" and not self.n_changed:
            return "the new model lists what the old one lists"
        if self.decision.overall.verdict == "pass":
            return f"on average the new model is at least as good as the old one, within {margin}"
        span = f"between {100.0 * row['low']:+.1f} and {100.0 * row['high']:+.1f} points".replace("-", "−")
        return f"the difference may be anywhere {span}, on both sides of {margin}"


def points_text(value: float) -> str:
    """A share as points: `1 point`, `2.5 points`."""
    number = f"{100.0 * value:.1f}".removesuffix(".0")
    return f"{number} point{'' if number == '1' else 's'}"


def _while(difference: float) -> str:
    return " while the average rises" if difference > 0.0 else ""


def _what_decides(needed: LabelsNeeded, estimated: bool) -> str:
    if needed.n_labels is not None:
        if needed.n_unlabelled == 1:
            return "the label of the one pair to label would decide"
        return f"about {needed.n_labels:,} labels of the {needed.n_unlabelled:,} pairs to label would decide"
    more = "" if needed.n_queries is None else f"; about {needed.n_queries:,} queries like these would"
    if estimated:
        return f"the labels drawn do not decide{more}, with as many labels drawn for each"
    if not needed.n_unlabelled:
        return f"every result that differs is labelled, so more labels of these queries cannot decide{more}"
    which = (
        "a label of the one open pair"
        if needed.n_unlabelled == 1
        else f"labels of all {needed.n_unlabelled:,} open pairs"
    )
    return f"even {which} would probably not decide{more}"
