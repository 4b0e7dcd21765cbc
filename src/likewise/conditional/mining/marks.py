"""How good a parser is: precision and recall of its relations on captions that a person has read.

The file of marks names a line of the captions, the digest of its caption, and the relations a reader saw there:
`man/boy|riding|horse ; ?man|on|beach`; either of `a/b` is right, and one with `?` is neither asked for nor wrong.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from likewise.conditional.mining.relations import Relation
from likewise.errors import LikewiseError

DIGITS = 12


@dataclass(frozen=True)
class Mark:
    """One relation a reader saw: the words that would be right in each place."""

    subjects: tuple[str, ...]
    relations: tuple[str, ...]
    objects: tuple[str, ...]
    optional: bool

    def met_by(self, found: Relation) -> bool:
        """Same subject and object, and relations that end in the same word ("sits on" and "on" agree)."""
        ends = {text.rsplit(" ", 1)[-1] for text in self.relations}
        return (
            found.subject in self.subjects
            and found.object in self.objects
            and found.relation.rsplit(" ", 1)[-1] in ends
        )


@dataclass(frozen=True)
class MarkedCaption:
    line: int
    digest: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Agreement:
    """Counts over all captions; a relation is right when it meets a mark, a mark is met when a relation meets it."""

    n_captions: int
    n_found: int
    """Without those that only meet optional marks."""
    n_right: int
    n_asked: int
    n_met: int

    @property
    def precision(self) -> float:
        return self.n_right / self.n_found if self.n_found else 0.0

    @property
    def recall(self) -> float:
        return self.n_met / self.n_asked if self.n_asked else 0.0


def read_marks(path: Path) -> list[MarkedCaption]:
    """The file of marks; lines that start with # are remarks."""
    rows = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    marked = []
    for number, row in enumerate(rows[1:], 2):
        cells = row.split("\t")
        if len(cells) != 3 or not cells[0].isdecimal():
            raise LikewiseError(f"{path}, row {number}: write line, digest and relations, divided by tabs.")
        marks = tuple(_mark(text, path, number) for text in cells[2].split(" ; ") if text)
        marked.append(MarkedCaption(int(cells[0]), cells[1], marks))
    return marked


def _mark(text: str, path: Path, number: int) -> Mark:
    parts = text.strip().removeprefix("?").split("|")
    if len(parts) != 3:
        raise LikewiseError(f"{path}, row {number}: {text!r} is not subject|relation|object.")
    subjects, relations, objects = (tuple(part.split("/")) for part in parts)
    return Mark(subjects, relations, objects, text.strip().startswith("?"))


def digest_of(caption: str) -> str:
    return hashlib.sha256(caption.encode()).hexdigest()[:DIGITS]


def agreement(marked: Sequence[MarkedCaption], found: Sequence[Sequence[Relation]]) -> Agreement:
    """Compare the relations found in each caption with what its reader saw."""
    n_found = n_right = n_asked = n_met = 0
    for caption, relations in zip(marked, found, strict=True):
        asked = [mark for mark in caption.marks if not mark.optional]
        for relation in relations:
            right = any(mark.met_by(relation) for mark in asked)
            if right or not any(mark.met_by(relation) for mark in caption.marks):
                n_found += 1
                n_right += right
        n_asked += len(asked)
        n_met += sum(any(mark.met_by(relation) for relation in relations) for mark in asked)
    return Agreement(len(marked), n_found, n_right, n_asked, n_met)
