"""What every machine judge can do: answer a pair of pictures with a number, and say what that cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class PicturePair:
    """Two pictures of a catalog: their keys, and the files."""

    query: str
    candidate: str
    query_file: Path
    candidate_file: Path


@dataclass(frozen=True)
class JudgeReply:
    """An answer, higher for pairs that look more alike, None where the judge gave none; what it said, and its cost."""

    answer: float | None
    text: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


class MachineJudge(Protocol):
    """`name` is shown to people; `identity` changes whenever answers might, so that old ones are not taken for new."""

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> str: ...

    def ask(self, pairs: Sequence[PicturePair]) -> Iterator[tuple[PicturePair, JudgeReply]]:
        """The replies, in any order, as they come."""
