"""What is wrong with templates: second valid answers, repeated pictures, questions that half of the input answers.

Repetitions need only the templates (and, for pictures that are equal under two names, the catalog's digests).  What
is valid needs annotations; a published set is audited with the annotations of its source where the workspace has them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from likewise.conditional.templates.annotations import ImageAnnotations
from likewise.conditional.templates.matching import (
    NO,
    YES,
    Matching,
    ObjectMatching,
    scene_overlap,
    task_matching,
)

AUDIT_SCHEMA = {
    "task": pl.String(),
    "template": pl.Int64(),
    "problem": pl.String(),
    "detail": pl.String(),
}
TARGET_IN_GALLERY = "target stands in the gallery"
REPEATED_DISTRACTOR = "distractor stands twice"
REFERENCE_IS_CANDIDATE = "reference is a candidate"
REPEATED_TEMPLATE = "same question twice"
DUPLICATE_IMAGES = "equal pictures under two names"
SECOND_ANSWER = "second valid answer"
POSSIBLE_ANSWER = "second answer not ruled out"
WRONG_TARGET = "target is not valid"
IMAGE_ONLY_SUFFICES = "answered by the image alone"
TEXT_ONLY_SUFFICES = "answered by the text alone"
NOT_ANNOTATED = "not annotated"
AuditRow = tuple[str, int, str, str]


def audit_templates(
    templates: pl.DataFrame, annotations: ImageAnnotations | None = None, digests: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """One row per problem, by task and template; an empty table says that none was found."""
    seen: dict[tuple[object, ...], int] = {}
    rules = {task: task_matching(task, annotations) for task in templates["task"].unique()} if annotations else {}
    row_of = {image: row for row, image in enumerate(annotations.images)} if annotations else {}
    rows: list[AuditRow] = []
    for template in templates.iter_rows(named=True):
        place = (template["task"], template["template"])
        rows += [(*place, *found) for found in _repeated(template, digests or {})]
        query = tuple(template[name] for name in ("task", "condition", "reference", "target"))
        if query in seen:
            rows.append((*place, REPEATED_TEMPLATE, f"as template {seen[query]}"))
        seen.setdefault(query, template["template"])
        if annotations:
            rows += [(*place, *found) for found in _valid(template, rules[template["task"]], row_of)]
    return pl.DataFrame(rows, schema=AUDIT_SCHEMA, orient="row")


def _repeated(template: dict[str, Any], digests: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    reference, target, gallery = template["reference"], template["target"], template["gallery"]
    if target in gallery:
        yield TARGET_IN_GALLERY, target
    for image in sorted({image for image in gallery if gallery.count(image) > 1} - {target}):
        yield REPEATED_DISTRACTOR, image
    if reference == target or reference in gallery:
        yield REFERENCE_IS_CANDIDATE, reference
    different = dict.fromkeys((target, *gallery, reference))
    named: dict[str, str] = {}
    for image in different:
        digest = digests.get(image)
        if digest and digest in named:
            yield DUPLICATE_IMAGES, f"{named[digest]} and {image}"
        if digest:
            named.setdefault(digest, image)


def _valid(template: dict[str, Any], rule: Matching, row_of: dict[str, int]) -> Iterator[tuple[str, str]]:
    condition = _condition(template, rule)
    pictures = [template["reference"], template["target"], *template["gallery"]]
    missing = [image for image in pictures if image not in row_of]
    if condition is None or missing:
        yield NOT_ANNOTATED, missing[0] if missing else str(template["condition"])
        return
    reference, target, *gallery = (row_of[image] for image in pictures)
    if isinstance(rule, ObjectMatching) and template.get("value") is None:
        yield from _published(template, rule.annotations, condition, reference, target, gallery)
        return
    similar, meets = rule.similar_to(reference, condition), rule.satisfies(condition)
    if similar[target] != YES or meets[target] != YES:
        yield WRONG_TARGET, template["target"]
    for image, row in zip(template["gallery"], gallery, strict=True):
        if row != target and similar[row] != NO and meets[row] != NO:
            sure = similar[row] == YES and meets[row] == YES
            yield SECOND_ANSWER if sure else POSSIBLE_ANSWER, image
    shared = rule.n_shared(reference)
    if not (similar[gallery] == YES).any():
        yield IMAGE_ONLY_SUFFICES, "no distractor is like the reference"
    elif shared[target] > shared[gallery].max():
        yield IMAGE_ONLY_SUFFICES, "no distractor shares as much with the reference"
    if not (meets[gallery] == YES).any():
        yield TEXT_ONLY_SUFFICES, "no distractor meets the condition"


def _published(
    template: dict[str, Any],
    annotations: ImageAnnotations,
    condition: int,
    reference: int,
    target: int,
    gallery: list[int],
) -> Iterator[tuple[str, str]]:
    """Object templates of others, whose rule for scenes is not known: what answers at least as well as the target?"""
    overlap, has = scene_overlap(annotations, reference, condition), annotations.by_object[condition]
    if not has[target]:
        yield WRONG_TARGET, template["target"]
    for image, row in zip(template["gallery"], gallery, strict=True):
        if row != target and has[row] and overlap[row] >= overlap[target]:
            yield SECOND_ANSWER, image
    if overlap[target] > overlap[gallery].max(initial=-1.0):
        yield IMAGE_ONLY_SUFFICES, "no distractor's scene is as like the reference's"
    if not has[gallery].any():
        yield TEXT_ONLY_SUFFICES, "no distractor has the object"


def _condition(template: dict[str, Any], rule: Matching) -> int | None:
    """Which condition of the rule a template asks for; a published one says it only by its text."""
    wanted = template.get("value") or template["condition"]
    kind = template.get("attribute")
    for condition in range(rule.n_conditions):
        if rule.value(condition) == wanted and kind in (None, rule.kind(condition)):
            return condition
    return None


def single_modality_problems(
    hits: Mapping[str, np.ndarray[Any, np.dtype[np.float64]]], templates: pl.DataFrame
) -> pl.DataFrame:
    """Templates whose target a one-sided method puts first: method name -> hits at 1, in the order of `templates`."""
    rows: list[AuditRow] = []
    for method, found in hits.items():
        problem = {"image only": IMAGE_ONLY_SUFFICES, "text only": TEXT_ONLY_SUFFICES}[method]
        for row in np.flatnonzero(found >= 1.0).tolist():
            rows.append((templates["task"][row], templates["template"][row], problem, "by the encoder"))
    return pl.DataFrame(rows, schema=AUDIT_SCHEMA, orient="row")
