"""The paper's solutions for single tasks: attributes predicted by the two towers, objects found by a detector.

Attribute tasks: the text side names what the image side sees. The category of the reference (and, when the condition
is a kind such as "color", its value) is the text nearest to it; the query is the text "value category".
Object tasks: every picture is the bag of its detected objects; a candidate scores 1 if the condition is in its bag,
plus the overlap of the rest of its bag with the reference's.  Neither method answers the other tasks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from likewise.catalog.readers.table import read_table
from likewise.conditional.protocol import Features, Floats, QueryBatch
from likewise.conditional.templates.annotations import ImageAnnotations, readable_kind, readable_name
from likewise.conditional.towers import normalize
from likewise.errors import LikewiseError
from likewise.untrusted import ColumnRule, check_columns

DETECTION_COLUMNS = {
    "image": ColumnRule(null=True),
    "name": ColumnRule(null=True),
    "score": ColumnRule("number", optional=True),
}
MIN_CONFIDENCE = 0.5


@dataclass(frozen=True)
class AttributePrediction:
    """Answers attribute tasks by naming what it sees."""

    texts: Callable[[Sequence[str]], Features]
    kinds: Mapping[str, Sequence[str]]
    """What each kind may be, `color` -> white, black, …; as conditions say it."""
    categories: Sequence[str]
    name: str = "attribute prediction"

    @classmethod
    def of(cls, texts: Callable[[Sequence[str]], Features], annotations: ImageAnnotations) -> "AttributePrediction":
        kinds: dict[str, list[str]] = {}
        for attribute in annotations.attributes:
            kinds.setdefault(readable_kind(attribute.kind), []).append(attribute.phrase)
        return cls(texts, kinds, annotations.category_names)

    def scores(self, batch: QueryBatch) -> Floats:
        found = np.full((len(batch.reference), batch.gallery.shape[-2]), np.nan)
        rows = [row for row, task in enumerate(batch.tasks) if task.endswith("_attribute")]
        if not rows:
            return found
        seen = normalize(batch.reference[rows])
        category = self.nearest(seen, self.categories)
        said = []
        for place, row in enumerate(rows):
            value: str | None = batch.conditions[row]
            if batch.tasks[row].startswith("focus"):
                value = self.nearest(seen[place : place + 1], self.kinds.get(batch.conditions[row], ()))[0]
            said.append(None if value is None else f"{value} {category[place] or ''}".strip())
        known = [place for place, text in enumerate(said) if text is not None]
        if known:
            query = normalize(self.texts([text for text in said if text is not None]))
            at = [rows[place] for place in known]
            gallery = batch.normalized_gallery
            near = np.einsum("nd,ngd->ng", query, gallery[at]) if gallery.ndim == 3 else query @ gallery.T
            found[at] = near
        return found

    def nearest(self, seen: Features, words: Sequence[str]) -> list[str] | list[None]:
        """The word nearest to each picture; None where there is none to choose from."""
        if not words:
            return [None] * len(seen)
        near = seen @ normalize(self.texts(list(words))).T
        return [words[place] for place in near.argmax(axis=1)]


@dataclass(frozen=True)
class DetectedObjects:
    """Answers object tasks by the bags of detected objects."""

    bags: Mapping[str, frozenset[str]]
    name: str = "detected objects"

    def scores(self, batch: QueryBatch) -> Floats:
        found = np.full((len(batch.reference), batch.gallery.shape[-2]), np.nan)
        for row, task in enumerate(batch.tasks):
            if task.endswith("_object"):
                candidates = batch.candidates[row] if len(batch.candidates) > 1 else batch.candidates[0]
                wanted = batch.conditions[row].lower()
                reference = self.bag(batch.references[row]) - {wanted}
                found[row] = [self.score(reference, wanted, self.bag(image)) for image in candidates]
        return found

    def bag(self, image: str) -> frozenset[str]:
        return self.bags.get(image) or self.bags.get(Path(image).name) or frozenset()

    @staticmethod
    def score(reference: frozenset[str], wanted: str, bag: frozenset[str]) -> float:
        others = bag - {wanted}
        return float(wanted in bag) + len(reference & others) / max(1, len(reference | others))


def read_detections(path: Path, min_confidence: float = MIN_CONFIDENCE) -> DetectedObjects:
    """Detections of any detector: a CSV, Parquet or JSONL with `image`, `name` and, if it has one, `score`."""
    if not path.exists() or path.suffix not in (".csv", ".parquet", ".jsonl"):
        raise LikewiseError(f"{path} is no table of detections: give a CSV, Parquet or JSONL with `image` and `name`.")
    rows = check_columns(read_table(path), DETECTION_COLUMNS, str(path))
    if "score" in rows.columns:
        rows = rows.filter(pl.col("score") >= min_confidence)
    bags: dict[str, set[str]] = {}
    for image, name in rows.select("image", "name").drop_nulls().iter_rows():
        bags.setdefault(image, set()).add(readable_name(name.lower()))
    return DetectedObjects({image: frozenset(names) for image, names in bags.items()})
