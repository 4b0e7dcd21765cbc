"""Negation as a task of its own: the right answer lacks what the reference has; a method that subtracts finds it."""

import json
from collections.abc import Sequence

import numpy as np
import polars as pl

from likewise.conditional.composers import ComposerMethod, ImageAndText, NegationAware, negated_part
from likewise.conditional.evaluate import recall_table, score_templates
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.protocol import NEGATION_TASKS, ConditionalMethod, Features
from likewise.conditional.templates.annotations import catalog_annotations
from likewise.conditional.templates.audit import audit_templates
from likewise.conditional.templates.build import build_templates
from likewise.conditional.towers import TwoTower
from likewise.synthetic import make_items
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run

__all__ = ["run"]

ANNOTATIONS = catalog_annotations(make_items(300, 1).with_columns(pl.col("item").alias("image")))


def test_the_right_answer_lacks_what_the_reference_has() -> None:
    templates = build_templates(ANNOTATIONS, tasks=NEGATION_TASKS, per_task=60)
    assert set(templates["task"]) == set(NEGATION_TASKS) and templates.height > 60
    row_of = {image: row for row, image in enumerate(ANNOTATIONS.images)}
    value = {(each.kind, each.value): place for place, each in enumerate(ANNOTATIONS.attributes)}
    for template in templates.filter(task="negate_attribute").iter_rows(named=True):
        column = value[template["attribute"], template["value"]]
        reference, target = row_of[template["reference"]], row_of[template["target"]]
        gallery = [row_of[image] for image in template["gallery"]]
        assert template["condition"] == f"not {ANNOTATIONS.attributes[column].phrase}"
        assert ANNOTATIONS.has[reference, column] and ANNOTATIONS.lacks[target, column]
        same = ANNOTATIONS.categories == ANNOTATIONS.categories[reference]
        assert same[target]
        assert not any(same[row] and ANNOTATIONS.lacks[row, column] for row in gallery)
        assert any(same[row] for row in gallery) and any(ANNOTATIONS.lacks[row, column] for row in gallery)
    assert audit_templates(templates, ANNOTATIONS).filter(pl.col("problem").str.contains("valid")).is_empty()


def test_subtracting_answers_what_adding_gets_wrong() -> None:
    """Towers that see every attribute and read texts word by word, so that "not red" is about red."""
    words = {each.phrase: axis for axis, each in enumerate(ANNOTATIONS.attributes)}
    of_category = ANNOTATIONS.categories[:, None] == np.arange(len(ANNOTATIONS.category_names))
    images = np.hstack([ANNOTATIONS.has, 3 * of_category]).astype(np.float32)

    def texts(said: Sequence[str]) -> Features:
        rows = np.zeros((len(said), images.shape[1]), np.float32)
        for row, text in enumerate(said):
            rows[row, words[negated_part(text) or text]] = 1.0
        return rows

    templates = build_templates(ANNOTATIONS, tasks=["negate_attribute"], per_task=80)
    conditions = templates["condition"].unique().to_list()
    features = ImageTextFeatures(ANNOTATIONS.images, images, conditions, texts(conditions))
    methods: list[ConditionalMethod] = [NegationAware(texts), ComposerMethod(ImageAndText())]
    found = recall_table({"seeing": score_templates(templates, features, methods)}, ks=(1,))
    values = dict(found.filter(task="negate_attribute").select("method", "value").iter_rows())
    assert values["image - negated text"] > 5 / 15 and values["image + text"] < 0.5 / 15  # chance is 1 in 15


def test_negation_from_build_to_the_table(run: Run, drawn: WorkspaceFolder, small_tower: TwoTower) -> None:
    options = ("--tasks", ",".join(NEGATION_TASKS), "--per-task", 30, "--name", "negation")
    assert run("condition", "build", drawn.path, *options).code == 0
    methods = ("--with", small_tower.spec, "--methods", "image+text,negation", "--templates", "negation")
    ran = run("condition", "evaluate", drawn.path, *methods, "--json")
    assert ran.code == 0, ran.err
    rows = json.loads(ran.out)
    assert {row["task"] for row in rows} == {*NEGATION_TASKS, "average"}
    assert {row["method"] for row in rows} == {"image + text", "image - negated text"}
