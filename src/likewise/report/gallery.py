"""Pictures to look at: some queries with all their candidates, and each model's worst mistakes."""

import random
from dataclasses import dataclass

import polars as pl

from likewise.labeling.votes import PAIR
from likewise.report.formatting import NBSP, percent
from likewise.report.thumbnails import EmbeddedThumbnails

N_QUERIES = 12
RANDOM = "random"  # rows of the pool that no generator proposed
KINDS = {"missed": "Missed", "false friend": "False friends"}


@dataclass(frozen=True)
class CandidateCard:
    """One candidate of a query: what the experts said and who proposed it."""

    image: str
    verdict: str  # similar, not-similar or unlabelled
    votes: str
    proposed_by: str


@dataclass(frozen=True)
class QueryCard:
    image: str
    candidates: list[CandidateCard]
    n_similar: int
    n_labelled: int


@dataclass(frozen=True)
class MistakeCard:
    query: str
    candidate: str
    verdict: str
    votes: str
    what: str
    score: float


def choose_queries(pool: pl.DataFrame, catalog: pl.DataFrame, seed: int, n: int = N_QUERIES) -> list[str]:
    """A few queries, by lot, taken from one category after the other so that none is left out early."""
    category = dict(catalog.select("image", "category").iter_rows())
    by_category: dict[str, list[str]] = {}
    for query in pool["query"].unique().sort():
        by_category.setdefault(category.get(query) or "", []).append(query)
    lot = random.Random(seed)
    groups = [by_category[name] for name in sorted(by_category)]
    for group in groups:
        lot.shuffle(group)
    lot.shuffle(groups)
    turns = [(turn, place, query) for place, group in enumerate(groups) for turn, query in enumerate(group)]
    return [query for _, _, query in sorted(turns)[:n]]


def query_cards(
    pool: pl.DataFrame, labels: pl.DataFrame, queries: list[str], thumbnails: EmbeddedThumbnails
) -> list[QueryCard]:
    """Their candidates (random pairs are left out): similar ones first, then by best rank."""
    proposed = pool.filter(pl.col("query").is_in(queries) & (pl.col("generator") != RANDOM))
    proposed = proposed.sort("rank", "generator").group_by(PAIR, maintain_order=True).agg("generator", "rank")
    proposed = (
        proposed.join(labels, on=PAIR, how="left", maintain_order="left")
        .with_columns(best=pl.col("rank").list.min())
        .sort("label", "best", "candidate", descending=[True, False, False], nulls_last=True)
    )
    shown = []
    for query in queries:
        rows = proposed.filter(pl.col("query") == query)
        for image in (query, *rows["candidate"]):
            thumbnails.add(image)
        candidates = [_candidate(row) for row in rows.iter_rows(named=True)]
        known = rows["label"].drop_nulls()
        shown.append(QueryCard(query, candidates, int(known.cast(pl.Int64).sum()), len(known)))
    return shown


def _candidate(row: dict[str, object]) -> CandidateCard:
    names, ranks = row["generator"], row["rank"]
    assert isinstance(names, list) and isinstance(ranks, list)
    by = ", ".join(name if rank is None else f"{name} {rank + 1}" for name, rank in zip(names, ranks, strict=True))
    return CandidateCard(str(row["candidate"]), _verdict(row["label"]), _votes(row), by)


def mistake_cards(
    mistakes: pl.DataFrame, labels: pl.DataFrame, encoders: list[str], thumbnails: EmbeddedThumbnails
) -> list[tuple[str, list[tuple[str, list[MistakeCard]]]]]:
    """For every encoder both kinds: (encoder, [(kind, mistakes)])."""
    told = mistakes.join(labels, on=PAIR, how="left", maintain_order="left")
    shown = []
    for encoder in encoders:
        own = told.filter(pl.col("encoder") == encoder)
        kinds = []
        for kind in KINDS:
            rows = own.filter(pl.col("kind") == kind)
            for image in (*rows["query"], *rows["candidate"]):
                thumbnails.add(image)
            kinds.append((kind, [_mistake(row) for row in rows.iter_rows(named=True)]))
        shown.append((encoder, kinds))
    return shown


def _mistake(row: dict[str, object]) -> MistakeCard:
    severity, score = row["severity"], row["score"]
    assert isinstance(severity, float) and isinstance(score, float)
    share = "all" if severity >= 1.0 else f"{percent(severity, 0)}{NBSP}% of the"
    side = f"below {share} dissimilar ones" if row["kind"] == "missed" else f"above {share} similar ones"
    return MistakeCard(str(row["query"]), str(row["candidate"]), _verdict(row["label"]), _votes(row), side, score)


def _verdict(label: object) -> str:
    return {1: "similar", 0: "not-similar"}.get(label, "unlabelled") if isinstance(label, int) else "unlabelled"


def _votes(row: dict[str, object]) -> str:
    if row["label"] is None:
        return "no label"
    if row["similar"] is None:
        return "imported without votes"
    unsure = f", {row['cannot_tell']} unsure" if row["cannot_tell"] else ""
    return f"{row['similar']} for, {row['not_similar']} against{unsure}"
