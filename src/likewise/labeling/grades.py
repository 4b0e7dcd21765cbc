"""Graded labels: a number from 0 (different) upwards beside the binary label, for measures that ask how similar.

labels.parquet has a column `grade` where answers or an imported file were graded, and no such column where they were
yes or no. The binary `label` of a graded pair is `grade >= similar_from` (for shares of votes: `grade > 0.5`, so that a
tie is negative); labels.json says which. Measures other than nDCG look at the label alone.
"""

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from likewise.labeling.votes import DIFFERENT, EXACT, NOT_SIMILAR, SIMILAR, SUBSTITUTE

GRADE = "grade"
GRADE_OF_ANSWER = {EXACT: 3, SIMILAR: 2, SUBSTITUTE: 1, DIFFERENT: 0, NOT_SIMILAR: 0}
GRADED_ONLY = (EXACT, SUBSTITUTE, DIFFERENT)  # answers that a question with yes and no does not have
HIGHEST_GRADE = 3


@dataclass(frozen=True)
class GradeThreshold:
    """Which grades count as similar: from `similar_from` up, or only `above` it."""

    similar_from: float
    above: bool = False

    def is_similar(self, grade: float) -> bool:
        return grade > self.similar_from if self.above else grade >= self.similar_from

    def __str__(self) -> str:
        return f"grade {'>' if self.above else '>='} {self.similar_from:g}"

    def to_dict(self) -> dict[str, Any]:
        """For labels.json."""
        return asdict(self) | {"similar": str(self)}


SIMILAR_GRADES = GradeThreshold(GRADE_OF_ANSWER[SIMILAR])
SIMILAR_SHARES = GradeThreshold(0.5, above=True)


def has_graded_answers(votes: pl.DataFrame) -> bool:
    """Whether experts were asked for more than yes or no."""
    return bool(votes["answer"].is_in(GRADED_ONLY).any())


def with_grades(votes: pl.DataFrame) -> pl.DataFrame:
    """Votes with the `grade` of each answer; abstentions are left out."""
    grade = pl.col("answer").replace_strict(GRADE_OF_ANSWER, default=None, return_dtype=pl.Int64)
    return votes.with_columns(grade.alias(GRADE)).filter(pl.col(GRADE).is_not_null())
