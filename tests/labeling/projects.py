"""Small projects for the tests of the site's store."""

from itertools import count

import polars as pl
from sqlalchemy import Engine, select

from likewise.labeling.store.events import SubmissionResult, SubmittedAnswer, add_answers
from likewise.labeling.store.experts import invite_expert
from likewise.labeling.store.models import Expert
from likewise.labeling.store.pairs import add_pairs
from likewise.labeling.store.queue import next_pairs

_numbers = count()


def pool_of(n_queries: int, n_candidates: int, generator: str = "colour") -> pl.DataFrame:
    rows = [
        (f"q{query}.png", f"c{candidate}.png", generator, candidate, 1.0 - candidate / 100)
        for query in range(n_queries)
        for candidate in range(n_candidates)
    ]
    schema = {"query": pl.String, "candidate": pl.String, "generator": pl.String, "rank": pl.Int64, "score": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def start(engine: Engine, n_queries: int, n_candidates: int, *names: str) -> list[int]:
    """A project with all pairs of its queries and candidates, and experts; their ids."""
    add_pairs(engine, pool_of(n_queries, n_candidates))
    for name in names:
        invite_expert(engine, name)
    return [expert_id(engine, name) for name in names]


def expert_id(engine: Engine, name: str) -> int:
    with engine.connect() as connection:
        return connection.execute(select(Expert.id).where(Expert.name == name)).scalar_one()


def client_id() -> str:
    return f"client-{next(_numbers):08}"


def give(
    engine: Engine, expert: int, pair: int, answer: str = "similar", milliseconds: int | None = 1000
) -> SubmissionResult:
    return add_answers(engine, expert, [SubmittedAnswer(client_id(), pair, answer, None, milliseconds)])


def answer_all(engine: Engine, expert: int, answer: str = "similar") -> list[int]:
    """Answer whatever comes until nothing does; the pairs in the order in which they were asked."""
    asked: list[int] = []
    while True:
        pairs, _ = next_pairs(engine, expert, 5)
        if not pairs:
            return asked
        for pair in pairs:
            give(engine, expert, pair.pair, answer)
        asked += [pair.pair for pair in pairs]
