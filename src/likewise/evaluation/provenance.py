"""When and how a table of results was made: a small JSON beside it, so that the table itself stays the same bytes.

`results/discovery.parquet` is described by `results/discovery.note.json`. A leaderboard takes date, command and
benchmark from there, never from the clock. Two results belong to one benchmark exactly when its `id` is equal: a
hash over queries, gallery, items and judged pairs, the same for a workspace and for a bundle made from it.
"""

import hashlib
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from likewise import __version__
from likewise.errors import LikewiseError
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.summary import LabelsNote
from likewise.workspace import read_json, write_json


@dataclass(frozen=True)
class ResultNote:
    """What a reader of a result wants to know besides its numbers."""

    benchmark: str  # a name for people
    benchmark_id: str
    date: str  # ISO-8601, UTC
    command: str
    simulated: bool = False  # labels of simulated experts
    n_experts: int = 0
    consensus: str = ""
    lineage: list[str] = field(default_factory=list)  # what the guard says about the models
    n_different: float | None = None  # generators that the pool is worth (different_generators.py)
    likewise: str = __version__


def utc_now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def benchmark_id(pairs: JudgedPairs) -> str:
    """A short hash of everything that decides a model's numbers, apart from the model."""
    digest = hashlib.blake2b(digest_size=8)
    for names in (pairs.queries, pairs.gallery):
        digest.update(("\n".join(names) + "\n\n").encode())
    position = {item: place for place, item in enumerate(dict.fromkeys([*pairs.query_items, *pairs.gallery_items]))}
    for items in (pairs.query_items, pairs.gallery_items):  # numbered by first appearance: only equality matters
        digest.update(",".join(str(position[item]) for item in items).encode() + b"\n")
    judged = sorted(zip(pairs.query.tolist(), pairs.candidate.tolist(), pairs.label.tolist(), strict=True))
    digest.update("\n".join(f"{query} {candidate} {label}" for query, candidate, label in judged).encode())
    return digest.hexdigest()


def make_result_note(
    benchmark: str,
    pairs: JudgedPairs,
    labels: LabelsNote,
    command: str,
    lineage: list[str],
    n_different: float | None = None,
) -> ResultNote:
    """The note of a result on a workspace's labels, dated now; `labels` says what they rest on."""
    return ResultNote(
        benchmark=benchmark,
        benchmark_id=benchmark_id(pairs),
        date=utc_now(),
        command=command,
        simulated=labels.simulated,
        n_experts=labels.agreement.n_experts,
        consensus=labels.consensus.rule,
        lineage=lineage,
        n_different=n_different,
    )


def note_file(results: Path) -> Path:
    return results.with_suffix(".note.json")


def catalog_file(results: Path) -> Path:
    """Beside a results file: its estimates for the whole catalog."""
    workspace_results = results.name == "discovery.parquet"
    return results.with_name("catalog.parquet") if workspace_results else results.with_suffix(".catalog.parquet")


def write_note(note: ResultNote, results: Path) -> None:
    """Write the note of a results file, beside it."""
    write_json(asdict(note), note_file(results))


def read_note(results: Path) -> ResultNote:
    """The note beside a results file."""
    path = note_file(results)
    if not path.exists():
        raise LikewiseError(f"{path} does not exist: evaluate again, so that date and command are on record.")
    try:
        return ResultNote(**read_json(path))
    except TypeError as error:
        raise LikewiseError(f"{path} does not describe a result ({error}): evaluate again.") from error
