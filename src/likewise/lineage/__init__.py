"""What a model learned from, and the one guard that every score passes (docs/lineage.md)."""

from likewise.lineage.guard import EvaluationSet, Overlap, Screening, screen_models
from likewise.lineage.record import NOTHING_LEARNED, Examples, Lesson, Lineage, Task, examples_from_catalog

__all__ = [
    "NOTHING_LEARNED",
    "EvaluationSet",
    "Examples",
    "Lesson",
    "Lineage",
    "Overlap",
    "Screening",
    "Task",
    "examples_from_catalog",
    "screen_models",
]
