"""Grades as files write them: which scale a file uses, and which of its grades count as similar.

A file of 0 and 1 (or of similar and not similar) is binary and has no grades. Whole numbers are grades, similar from 1
up unless `positive_from` says otherwise; fractions up to 1 are shares of votes, similar where they are more than half;
the words exact, similar, substitute and different are the site's grades, similar from 2 up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from likewise.errors import LikewiseError
from likewise.labeling.grades import GRADE_OF_ANSWER, GRADED_ONLY, SIMILAR_GRADES, SIMILAR_SHARES, GradeThreshold
from likewise.labeling.imports import ANSWER_SPELLINGS
from likewise.labeling.votes import NOT_SIMILAR, SIMILAR

MAX_GRADE = 1e9
BINARY = {SIMILAR: 1.0, NOT_SIMILAR: 0.0}
Written = float | str | None  # a number, one of the answers, or nothing: not judged


@dataclass(frozen=True)
class FileGrades:
    """The grades of a file's rows, None where a row was not judged; no threshold where all are 0 and 1."""

    grades: list[float | None]
    threshold: GradeThreshold | None

    def label(self, grade: float) -> int:
        return int(grade > 0 if self.threshold is None else self.threshold.is_similar(grade))


def parse_written(written: object, where: str) -> Written:
    """A label as written: a grade, a word that votes know, or None where nobody judged (blank, negative)."""
    text = "" if written is None else str(written).strip()
    if not text:
        return None
    try:
        grade = float(text)
    except ValueError:
        answer = ANSWER_SPELLINGS.get("".join(text.split()).lower())
        if answer is None:
            raise LikewiseError(
                f"{where}: the label {text!r} is not known: write 1 (similar) or 0, or a grade."
            ) from None
        return answer if answer in GRADE_OF_ANSWER else None
    if not abs(grade) < MAX_GRADE:
        raise LikewiseError(f"{where}: the label {text} is no grade: write 1 (similar) or 0, or a number such as 2.")
    return None if grade < 0 else grade


def resolve_grades(written: Sequence[Written], positive_from: float | None) -> FileGrades:
    """The scale of a file, found from all its rows."""
    words = any(one in GRADED_ONLY for one in written)
    named: dict[str, float] = dict(GRADE_OF_ANSWER) if words else BINARY
    grades = [named[one] if isinstance(one, str) else one for one in written]
    known = [grade for grade in grades if grade is not None]
    if all(grade in (0.0, 1.0) for grade in known) and (positive_from is None or positive_from == 1) and not words:
        return FileGrades(grades, None)
    if positive_from is not None:
        return FileGrades(grades, GradeThreshold(positive_from))
    shares = any(grade != int(grade) for grade in known) and max(known) <= 1.0
    return FileGrades(grades, SIMILAR_SHARES if shares else SIMILAR_GRADES if words else GradeThreshold(1.0))
