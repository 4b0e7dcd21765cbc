"""The solutions for single tasks, with towers whose answers are known."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.conditional.composers import ComposerMethod, TextOnly
from likewise.conditional.evaluate import recall_table, score_templates
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.protocol import TEMPLATE_SCHEMA, Features
from likewise.conditional.task_specific import AttributePrediction, read_detections
from likewise.conditional.templates.annotations import ATTRIBUTE_KINDS, ImageAnnotations, catalog_annotations
from likewise.conditional.templates.build import build_templates
from likewise.conditional.templates.common_objects import COMMON_OBJECTS
from likewise.errors import LikewiseError
from likewise.synthetic import make_items

CATALOG = make_items(200, 1).with_columns(pl.col("item").alias("image"))


def seeing(annotations: ImageAnnotations) -> tuple[ImageTextFeatures, dict[str, int]]:
    """Towers that see every attribute and the category: one axis per word, texts the sum of their words."""
    words = {
        text: axis for axis, text in enumerate([a.phrase for a in annotations.attributes] + annotations.category_names)
    }
    of_category = annotations.categories[:, None] == np.arange(len(annotations.category_names))
    images = np.hstack([annotations.has, 2 * of_category]).astype(np.float32)
    return ImageTextFeatures(annotations.images, images, [], np.empty((0, images.shape[1]), np.float32)), words


def test_attribute_prediction_is_right_where_the_towers_see_everything() -> None:
    annotations = catalog_annotations(CATALOG)
    templates = build_templates(annotations, per_task=60)
    features, words = seeing(annotations)

    def texts(said: Sequence[str]) -> Features:
        rows = np.zeros((len(said), len(words)), np.float32)
        for row, text in enumerate(said):
            for word, axis in words.items():
                if text == word or text.startswith(f"{word} ") or text.endswith(f" {word}"):
                    rows[row, axis] = 1.0
        return rows

    conditions = templates["condition"].unique().to_list()
    features = ImageTextFeatures(features.images, features.image_features, conditions, texts(conditions))
    table = recall_table(
        {"seeing": score_templates(templates, features, [AttributePrediction.of(texts, annotations)])}, ks=(1,)
    )
    values = dict(table.select("task", "value").iter_rows())
    assert values["change_attribute"] > 0.95 and values["focus_attribute"] > 0.95
    assert values["focus_object"] is None and values["average"] is None


def test_bags_of_perfect_detections_answer_object_tasks(tmp_path: Path) -> None:
    annotations = catalog_annotations(CATALOG)
    templates = build_templates(annotations, per_task=60)
    rows = [
        (image, annotations.objects[column], 0.9)
        for row, image in enumerate(annotations.images)
        for column in np.flatnonzero(annotations.contains[row])
    ]
    rows += [(annotations.images[0], "ghost", 0.1)]
    table = pl.DataFrame(rows, schema=["image", "name", "score"], orient="row")
    for name, write in (
        ("d.csv", table.write_csv),
        ("d.parquet", table.write_parquet),
        ("d.jsonl", table.write_ndjson),
    ):
        write(tmp_path / name)
        method = read_detections(tmp_path / name)
        assert "ghost" not in method.bag(annotations.images[0]) and len(method.bag(annotations.images[0])) > 5
    found = recall_table(
        {"none": score_templates(templates, ImageTextFeatures.random(templates, dim=4), [method])}, ks=(1,)
    )
    values = dict(found.select("task", "value").iter_rows())
    assert values["focus_object"] == values["change_object"] == 1.0 and values["focus_attribute"] is None


def test_tables_that_are_no_detections_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("picture,name\na,b\n")
    with pytest.raises(LikewiseError, match="no column image"):
        read_detections(tmp_path / "x.csv")
    with pytest.raises(LikewiseError, match="no table of detections"):
        read_detections(tmp_path / "x.txt")


def test_published_files_name_no_categories_and_change_attribute_is_still_more_than_text() -> None:
    """A tower that sees shirts and dogs: "red" alone does not tell a red dog from a red shirt, "red shirt" does."""
    words = ["red", "blue", "shirt", "dog"]

    def texts(said: Sequence[str]) -> Features:
        return np.array([[float(word in text.split()) for word in words] for text in said], np.float32)

    names = ["blue shirt", "red shirt", "red dog", "blue dog", "blue shirt 2"]
    features = ImageTextFeatures(names, texts(names), ["red"], texts(["red"]))
    template = (0, "change_attribute", "red", names[0], names[1], names[2:])
    templates = pl.DataFrame([template], schema=TEMPLATE_SCHEMA, orient="row")
    specific = AttributePrediction(texts, ATTRIBUTE_KINDS, COMMON_OBJECTS)
    found = recall_table({"x": score_templates(templates, features, [specific, ComposerMethod(TextOnly())])}, ks=(1,))
    values = dict(found.select("method", "value").iter_rows())
    assert values == {"attribute prediction": 1.0, "text only": 0.5}
