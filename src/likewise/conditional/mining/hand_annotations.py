"""How good a parser is: precision and recall of its relations on captions that a person has read.

The file names a line of the captions, the digest of its caption, and the relations a reader saw there:
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
class AnnotatedRelation:
    """One relation a reader saw: the words that would be right in each place."""

    subjects: tuple[str, ...]
    relations: tuple[str, ...]
    objects: tuple[str, ...]
    optional: bool

    def matches(self, found: Relation) -> bool:
        """Same subject and object, and relations that end in the same word ("sits on" and "on" agree)."""
        ends = {text.rsplit(" ", 1)[-1] for text in self.relations}
        return (
            found.subject in self.subjects
            and found.object in self.objects
            and found.relation.rsplit(" ", 1)[-1] in ends
        )


@dataclass(frozen=True)
class AnnotatedCaption:
    line: int
    digest: str
    relations: tuple[AnnotatedRelation, ...]


@dataclass(frozen=True)
class ParserScores:
    """Counts over all captions; a relation is right when it matches an annotation, which it then recalls."""

    n_captions: int
    n_found: int
    """Without those that only match optional annotations."""
    n_right: int
    n_annotated: int
    n_recalled: int

    @property
    def precision(self) -> float:
        return self.n_right / self.n_found if self.n_found else 0.0

    @property
    def recall(self) -> float:
        return self.n_recalled / self.n_annotated if self.n_annotated else 0.0


def read_annotations(path: Path) -> list[AnnotatedCaption]:
    """The file of annotations; lines that start with # are remarks."""
    rows = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    annotated = []
    for number, row in enumerate(rows[1:], 2):
        cells = row.split("\t")
        if len(cells) != 3 or not cells[0].isdecimal():
            raise LikewiseError(f"{path}, row {number}: write line, digest and relations, divided by tabs.")
        relations = tuple(_parse_relation(text, path, number) for text in cells[2].split(" ; ") if text)
        annotated.append(AnnotatedCaption(int(cells[0]), cells[1], relations))
    return annotated


def _parse_relation(text: str, path: Path, number: int) -> AnnotatedRelation:
    parts = text.strip().removeprefix("?").split("|")
    if len(parts) != 3:
        raise LikewiseError(f"{path}, row {number}: {text!r} is not subject|relation|object.")
    subjects, relations, objects = (tuple(part.split("/")) for part in parts)
    return AnnotatedRelation(subjects, relations, objects, text.strip().startswith("?"))


def caption_digest(caption: str) -> str:
    return hashlib.sha256(caption.encode()).hexdigest()[:DIGITS]


def score_parser(annotated: Sequence[AnnotatedCaption], found: Sequence[Sequence[Relation]]) -> ParserScores:
    """Compare the relations found in each caption with what its reader saw."""
    n_found = n_right = n_annotated = n_recalled = 0
    for caption, relations in zip(annotated, found, strict=True):
        required = [annotation for annotation in caption.relations if not annotation.optional]
        for relation in relations:
            right = any(annotation.matches(relation) for annotation in required)
            if right or not any(annotation.matches(relation) for annotation in caption.relations):
                n_found += 1
                n_right += right
        n_annotated += len(required)
        n_recalled += sum(any(annotation.matches(relation) for relation in relations) for annotation in required)
    return ParserScores(len(annotated), n_found, n_right, n_annotated, n_recalled)
