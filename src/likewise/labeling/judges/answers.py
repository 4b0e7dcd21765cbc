"""judge/ of a workspace: which judge, which pairs it was drawn, and every answer that any judge ever gave.

    judge.json       the judge of now: its spec, what it descends from, how its pairs were drawn
    pairs.parquet    query, candidate, probability: its own draw; 0 for pairs that were drawn for people alone
    answers.parquet  judge, query, candidate, answer, text, tokens_in, tokens_out, seconds

Answers are kept under the judge's identity (model, prompt, guidelines), so that nothing is asked twice, and answers to
another prompt are not mixed with these.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import polars as pl

from likewise.chain import digest_of, table_digest
from likewise.errors import LikewiseError
from likewise.labeling.judges.protocol import JudgeReply, MachineJudge, PicturePair
from likewise.labeling.votes import PAIR
from likewise.workspace import WorkspaceFolder, read_json, read_parquet, staged_workspace, write_json, write_parquet

ANSWER_SCHEMA = pl.Schema(
    {
        "judge": pl.String,
        "query": pl.String,
        "candidate": pl.String,
        "answer": pl.Float64,
        "text": pl.String,
        "tokens_in": pl.Int64,
        "tokens_out": pl.Int64,
        "seconds": pl.Float64,
    }
)
JUDGE_PAIR_SCHEMA = pl.Schema({"query": pl.String, "candidate": pl.String, "probability": pl.Float64})
STORE_EVERY_SECONDS = 10.0
CHUNK = 2000


@dataclass(frozen=True)
class JudgeNote:
    """The judge of now. `ancestors` are the encoders it is made from; `pool` is that whose pairs it was asked."""

    spec: str
    name: str
    identity: str
    ancestors: list[str]
    notes: list[str]
    n_pairs: int
    seed: int
    pool: str


@dataclass(frozen=True)
class JudgeTable:
    """A judge with its pairs and answers (null where it gave none), and how many it has still to answer."""

    note: JudgeNote
    rows: pl.DataFrame  # query, candidate, probability, answer
    n_open: int


def judge_file(workspace: WorkspaceFolder, name: str) -> Path:
    return workspace.path / "judge" / name


def store_judge(workspace: WorkspaceFolder, note: JudgeNote, pairs: pl.DataFrame) -> None:
    with staged_workspace(workspace) as (staged, _):
        write_parquet(pairs.select(JUDGE_PAIR_SCHEMA.names()).sort(PAIR), judge_file(staged, "pairs.parquet"))
        write_json(asdict(note), judge_file(staged, "judge.json"))


def read_answers(workspace: WorkspaceFolder) -> pl.DataFrame:
    path = judge_file(workspace, "answers.parquet")
    return read_parquet(path, "likewise label judge") if path.exists() else pl.DataFrame(schema=ANSWER_SCHEMA)


def read_judge(workspace: WorkspaceFolder) -> JudgeTable | None:
    """The judge of a workspace, None where there is none."""
    path = judge_file(workspace, "judge.json")
    if not path.exists():
        return None
    try:
        stored: dict[str, Any] = read_json(path)
        note = JudgeNote(**stored)
    except TypeError as error:
        raise LikewiseError(f"{path} describes no judge ({error}): run `likewise label judge` again.") from error
    pairs = read_parquet(judge_file(workspace, "pairs.parquet"), "likewise label judge")
    given = read_answers(workspace).filter(pl.col("judge") == note.identity)
    rows = pairs.join(given.select(*PAIR, "answer"), on=PAIR, how="left")
    return JudgeTable(note, rows, pairs.join(given, on=PAIR, how="anti").height)


def pairs_digest(pool: pl.DataFrame) -> str:
    """Of the pairs that a pool asks people."""
    return table_digest(pool.select(PAIR).unique().sort(PAIR))


def judge_digest(workspace: WorkspaceFolder) -> str:
    """Of the judge and its answers, as far as estimates use them; empty where there is none."""
    table = read_judge(workspace)
    return "" if table is None else digest_of([asdict(table.note), table_digest(table.rows)])


def ask_judge(
    workspace: WorkspaceFolder,
    judge: MachineJudge,
    pairs: Sequence[PicturePair],
    on_progress: Callable[[int, int], None] | None = None,
) -> pl.DataFrame:
    """Ask what was not answered before, storing every few seconds; returns the new answers."""
    identity, known = judge.identity, read_answers(workspace)
    before = set(known.filter(pl.col("judge") == identity).select(PAIR).iter_rows())
    asked = [pair for pair in pairs if (pair.query, pair.candidate) not in before]
    fresh: list[tuple[Any, ...]] = []
    stored_at = monotonic()

    def store() -> None:
        if fresh:
            rows = pl.DataFrame(fresh, schema=ANSWER_SCHEMA, orient="row")
            write_parquet(pl.concat([known, rows]).sort("judge", *PAIR), judge_file(workspace, "answers.parquet"))

    try:
        for start in range(0, len(asked), CHUNK):
            for pair, reply in judge.ask(asked[start : start + CHUNK]):
                fresh.append(_row(identity, pair, reply))
                if on_progress:
                    on_progress(len(fresh), len(asked))
                if monotonic() - stored_at > STORE_EVERY_SECONDS:
                    store()
                    stored_at = monotonic()
    finally:
        store()
    return pl.DataFrame(fresh, schema=ANSWER_SCHEMA, orient="row")


def _row(identity: str, pair: PicturePair, reply: JudgeReply) -> tuple[Any, ...]:
    return (
        identity,
        pair.query,
        pair.candidate,
        reply.answer,
        reply.text,
        reply.tokens_in,
        reply.tokens_out,
        reply.seconds,
    )
