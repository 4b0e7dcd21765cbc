"""Everything an owner wants to see at a glance, as numbers: who is how far, do they agree, what does it cost."""

from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl
from sqlalchemy import Engine

from likewise.labeling.agreement import ExpertAgreement, InterAnnotatorAgreement, RandomPairsAgreement, agreement
from likewise.labeling.consensus import count_answers
from likewise.labeling.graded_agreement import GradedAgreement
from likewise.labeling.quality import Pace, answer_pace, catch_pair_accuracy, current_answers, self_consistency
from likewise.labeling.store.experts import ExpertState, read_experts
from likewise.labeling.store.gold_pairs import read_catch_pairs
from likewise.labeling.store.models import ADJUDICATOR, GUEST
from likewise.labeling.store.pairs import count_asked_pairs
from likewise.labeling.store.project import Project, read_log, read_project
from likewise.labeling.store.read import read_events, read_votes
from likewise.labeling.votes import ANSWERS, CANNOT_TELL, PAIR

DEFAULT_SECONDS_PER_PAIR = 15.0  # the paper's assumption, until somebody has answered
MAX_DIVIDED_PAIRS = 60
MAX_QUERIES = 300


@dataclass(frozen=True)
class ExpertRow:
    name: str
    state: str
    answered: int
    total: int
    pace_per_hour: float | None
    seconds_per_pair: float | None
    self_consistency: float | None
    n_repeats: int
    catch_correct: float | None
    n_catch: int
    agreement: float | None
    hours_left: float | None
    last_seen: str | None
    hasty: bool  # more than half of the answers took less than a second


@dataclass(frozen=True)
class LabelingCost:
    pairs: int
    hours_spent: float
    untimed: int  # answers that came without a time, from files or sheets
    hours_left: float | None
    brute_force_hours: float | None
    speed_up: float | None
    hours_per_label: float  # of all experts whom a pair is given to


@dataclass(frozen=True)
class AgreementSummary:
    kappa: float | None
    alpha: float | None
    alpha_low: float | None
    alpha_high: float | None
    reasons: list[str] = field(default_factory=list)
    random: RandomPairsAgreement | None = None  # of pairs that were only drawn at random, not mixed with the others
    graded: GradedAgreement | None = None  # where experts gave grades


@dataclass(frozen=True)
class QueryCounts:
    query: str
    answered: int
    positives: int


@dataclass(frozen=True)
class DividedPair:
    """A pair with answers on both sides; `votes` are (expert, answer)."""

    query: str
    candidate: str
    votes: list[tuple[str, str]]
    adjudicated: str | None
    tied: bool


@dataclass(frozen=True)
class Dashboard:
    project: Project
    experts: list[ExpertRow]
    n_votes: int
    positives_share: float | None
    per_query: list[QueryCounts]
    agreement: AgreementSummary
    n_divided: int
    n_tied: int  # of the divided pairs: as many votes for as against, the adjudicator's counted
    divided: list[DividedPair]  # the most evenly divided first, not all of very many
    cost: LabelingCost
    log: list[dict[str, str]]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def read_dashboard(
    engine: Engine,
    n_all_pairs: int | None = None,
    random: pl.DataFrame | None = None,
    images: pl.Series | None = None,
) -> Dashboard:
    """The state of the project; `n_all_pairs` is what brute force would label, `random` pairs drawn at random.

    With the `images` of the catalog, votes about others are put aside, as they are for the labels.
    """
    project, votes, events = read_project(engine), read_votes(engine), read_events(engine)
    if images is not None:
        votes = votes.filter(pl.all_horizontal(pl.col(PAIR).is_in(images.implode())))
    experts = [expert for expert in read_experts(engine) if expert.kind not in (GUEST, ADJUDICATOR)]
    judged = votes.filter(pl.col("expert").is_in([expert.name for expert in experts]))
    adjudicated = votes.filter(~pl.col("expert").is_in([expert.name for expert in experts]))
    agreed = agreement(judged, random) if judged.height else None
    beside = {one.expert: one for one in agreed.experts} if agreed else {}
    gold = pl.DataFrame(read_catch_pairs(engine), schema=dict.fromkeys((*PAIR, "gold"), pl.String), orient="row")
    paces = {expert.name: answer_pace(events, expert.name) for expert in experts}
    rows = [_expert_row(expert, paces[expert.name], events, gold, beside.get(expert.name)) for expert in experts]
    counts = count_answers(votes)
    similar = pl.col("similar") > pl.col("not_similar")
    answered = counts.filter(pl.col("similar") + pl.col("not_similar") > 0).with_columns(positive=similar)
    return Dashboard(
        project=project,
        experts=rows,
        n_votes=judged.height,
        positives_share=float(answered["positive"].sum()) / answered.height if answered.height else None,
        per_query=_per_query(answered),
        agreement=_agreement(agreed),
        n_tied=counts.filter((pl.col("similar") > 0) & (pl.col("similar") == pl.col("not_similar"))).height,
        n_divided=count_answers(judged).filter((pl.col("similar") > 0) & (pl.col("not_similar") > 0)).height,
        divided=_divided(judged, adjudicated),
        cost=_cost(engine, rows, events, n_all_pairs),
        log=read_log(engine),
    )


def _expert_row(
    expert: ExpertState, worked: Pace, events: pl.DataFrame, gold: pl.DataFrame, beside: ExpertAgreement | None
) -> ExpertRow:
    steady, n_repeats = self_consistency(events, expert.name)
    caught, n_catch = catch_pair_accuracy(events, expert.name, gold)
    left = expert.total - expert.answered
    own = current_answers(events).filter(pl.col("expert") == expert.name)  # hidden repeats too, as in a queue
    answered = expert.answered if expert.total else own.height
    return ExpertRow(
        name=expert.name,
        state=expert.state,
        answered=answered,
        total=expert.total or answered,
        pace_per_hour=worked.answers_per_hour,
        seconds_per_pair=worked.seconds_per_pair,
        self_consistency=steady,
        n_repeats=n_repeats,
        catch_correct=caught,
        n_catch=n_catch,
        agreement=beside.agreement.value if beside else None,
        hours_left=0.0 if not left else left / worked.answers_per_hour if worked.answers_per_hour else None,
        last_seen=expert.last_seen,
        hasty=worked.hasty,
    )


def _per_query(answered: pl.DataFrame) -> list[QueryCounts]:
    table = answered.group_by("query").agg(answered=pl.len(), positives=pl.col("positive").sum()).sort("query")
    return [QueryCounts(*row) for row in table.head(MAX_QUERIES).iter_rows()]


def _agreement(agreed: InterAnnotatorAgreement | None) -> AgreementSummary:
    if agreed is None:
        return AgreementSummary(None, None, None, None, ["There are no votes yet."])
    kappa, alpha = agreed.fleiss_kappa, agreed.krippendorff_alpha
    reasons = [
        f"{name} is not defined: {measure.reason}."
        for name, measure in (("Fleiss' kappa", kappa), ("Krippendorff's alpha", alpha))
        if measure.reason
    ]
    return AgreementSummary(kappa.value, alpha.value, alpha.low, alpha.high, reasons, agreed.random, agreed.graded)


def _divided(votes: pl.DataFrame, adjudicated: pl.DataFrame) -> list[DividedPair]:
    """Pairs with answers on both sides, the most evenly divided first."""
    counts = count_answers(votes).with_columns(smaller=pl.min_horizontal("similar", "not_similar"))
    lead = (pl.col("similar") - pl.col("not_similar")).abs()
    chosen = counts.filter(pl.col("smaller") > 0).with_columns(lead=lead)
    chosen = chosen.sort("lead", "smaller", *PAIR, descending=[False, True, False, False]).head(MAX_DIVIDED_PAIRS)
    given = votes.join(chosen, on=list(PAIR), how="semi").filter(pl.col("answer") != CANNOT_TELL)
    by_pair: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for query, candidate, expert, answer in given.select(*PAIR, "expert", "answer").iter_rows():
        by_pair.setdefault((query, candidate), []).append((expert, answer))
    decided = {
        (query, candidate): answer for query, candidate, answer in adjudicated.select(*PAIR, "answer").iter_rows()
    }
    return [
        DividedPair(query, candidate, by_pair[query, candidate], decided.get((query, candidate)), tied=lead == 0)
        for query, candidate, lead in chosen.select(*PAIR, "lead").iter_rows()
    ]


def _cost(engine: Engine, rows: list[ExpertRow], events: pl.DataFrame, n_all_pairs: int | None) -> LabelingCost:
    pairs = count_asked_pairs(engine)
    answers = events.filter(pl.col("answer").is_in(ANSWERS))
    milliseconds = answers["milliseconds"]
    timed = milliseconds.drop_nulls().clip(0, 60_000)
    # Who does not look says nothing about how long looking takes.
    looked = answers.filter(~pl.col("expert").is_in([row.name for row in rows if row.hasty]))["milliseconds"]
    looked = looked.drop_nulls().clip(0, 60_000)
    seconds = float(looked.sum()) / looked.len() / 1000.0 if looked.len() else DEFAULT_SECONDS_PER_PAIR
    active = [row for row in rows if row.state == "active"]
    left = [
        row.hours_left if row.hours_left is not None else (row.total - row.answered) * seconds / 3600.0
        for row in active
    ]
    return LabelingCost(
        pairs=pairs,
        hours_spent=float(timed.sum()) / 3_600_000.0,
        untimed=milliseconds.null_count(),
        hours_left=sum(left) if left else None,
        brute_force_hours=n_all_pairs * seconds / 3600.0 if n_all_pairs else None,
        speed_up=n_all_pairs / pairs if n_all_pairs and pairs else None,
        hours_per_label=seconds / 3600.0 * max(1.0, sum(row.total for row in rows) / pairs if pairs else 1.0),
    )
