"""Templates built from annotations: every one checked again from the catalog itself, by a rule written apart."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

from likewise.conditional.protocol import TASKS, TEMPLATE_SCHEMA
from likewise.conditional.templates.annotations import (
    catalog_annotations,
    panoptic_annotations,
    readable_name,
    vaw_annotations,
)
from likewise.conditional.templates.audit import (
    IMAGE_ONLY_SUFFICES,
    NOT_ANNOTATED,
    REPEATED_TEMPLATE,
    SECOND_ANSWER,
    TARGET_IN_GALLERY,
    TEXT_ONLY_SUFFICES,
    WRONG_TARGET,
    audit_templates,
)
from likewise.conditional.templates.build import TEMPLATE_SIZES, build_templates
from likewise.synthetic import make_items
from tests.real.places import real_data

CATALOG = make_items(400, 2).with_columns(pl.col("item").alias("image"))
BUILT = build_templates(catalog_annotations(CATALOG), per_task=120, seed=4)
ROWS = {row["image"]: row for row in CATALOG.iter_rows(named=True)}
COLUMNS = [name for name in CATALOG.columns if name not in ("image", "item", "line", "caption")]


def things(image: str, without: str) -> set[str]:
    """Column and value of everything a wardrobe picture shows, but for the condition's."""
    row = ROWS[image]
    return {f"{name}={row[name]}" for name in COLUMNS if row[name]} - {without}


def scene(reference: str, image: str, without: str) -> float:
    first, second = things(reference, without), things(image, without)
    return len(first & second) / len(first | second)


def column_of(template: dict[str, str]) -> tuple[str, str]:
    """Which column and value an object condition means: the value alone, or `value column` where two share it."""
    said = template["condition"]
    found = [
        (name, value)
        for name in COLUMNS
        for value in CATALOG[name].drop_nulls().unique()
        if said in (value, f"{value} {name.replace('_', ' ')}")
    ]
    exact = [(name, value) for name, value in found if said == f"{value} {name.replace('_', ' ')}"]
    [pair] = exact or found
    return pair


@pytest.mark.parametrize("task", TASKS)
def test_every_template_has_one_right_answer_by_the_catalog_itself(task: str) -> None:
    of_task = BUILT.filter(task=task)
    assert len(of_task) >= 100
    for template in of_task.iter_rows(named=True):
        reference = ROWS[template["reference"]]
        candidates = [template["target"], *template["gallery"]]
        assert len(set(candidates)) == TEMPLATE_SIZES[task] == len(candidates)
        assert template["reference"] not in candidates
        if task.endswith("attribute"):
            column, value = template["attribute"], template["value"]
            assert template["condition"] in (column.replace("_", " "), value, f"{value} {column.replace('_', ' ')}")
            like = [ROWS[image]["category"] == reference["category"] for image in candidates]
            unlike = [not each for each in like]
        else:
            column, value = column_of(template)
            overlaps = [scene(template["reference"], image, f"{column}={value}") for image in candidates]
            like, unlike = [each >= 0.5 for each in overlaps], [each <= 0.25 for each in overlaps]
        meets = [ROWS[image][column] == value for image in candidates]
        assert (reference[column] == value) == task.startswith("focus")
        right = [a and b for a, b in zip(like, meets, strict=True)]
        assert right == [True] + [False] * (len(candidates) - 1)
        surely_wrong = [not b or c for b, c in zip(meets, unlike, strict=True)]
        assert surely_wrong == [False] + [True] * (len(candidates) - 1)
        for kind, a, b in zip(template["kinds"], like[1:], meets[1:], strict=True):
            assert (kind in ("category, wrong attribute", "scene without object")) == (a and not b)
        assert sum(like) >= 3 and sum(meets) >= 3  # neither side alone can know
        shared = [len(things(template["reference"], "") & things(image, "")) for image in candidates]
        assert max(shared[1:]) >= shared[0]  # nor does the target simply share most with the reference


def test_conditions_are_balanced_and_seeds_repeat() -> None:
    kinds = Counter(BUILT.filter(task="focus_attribute")["attribute"])
    assert len(kinds) == 11 and max(kinds.values()) - min(kinds.values()) <= 1
    counts = Counter(BUILT.filter(task="change_attribute")["condition"])
    assert len(counts) >= 50 and max(counts.values()) <= 3
    first, again, other = (build_templates(catalog_annotations(CATALOG), per_task=20, seed=seed) for seed in (4, 4, 5))
    assert again.equals(first) and not other.equals(first)


def test_an_audit_finds_nothing_in_them_and_finds_what_is_put_in() -> None:
    annotations = catalog_annotations(CATALOG)
    assert audit_templates(BUILT, annotations).is_empty()
    first = BUILT.filter(task="change_attribute").row(0, named=True)
    valid = CATALOG.filter(
        (pl.col("category") == ROWS[first["reference"]]["category"]) & (pl.col(first["attribute"]) == first["value"])
    )["image"].to_list()
    second = next(image for image in valid if image != first["target"])
    spoilt = BUILT.filter(task="change_attribute").head(3)
    galleries = spoilt["gallery"].to_list()
    galleries[0][0] = second
    galleries[1][2] = spoilt["target"][1]
    found = audit_templates(spoilt.with_columns(pl.Series("gallery", galleries)), annotations)
    assert found.rows() == [
        ("change_attribute", 0, SECOND_ANSWER, second),
        ("change_attribute", 1, TARGET_IN_GALLERY, spoilt["target"][1]),
    ]
    kept = [
        [image for image, kind in zip(row["gallery"], row["kinds"], strict=True) if kind.startswith(wanted)]
        for row, wanted in zip(spoilt.iter_rows(named=True), ("category", "attribute", "category"), strict=True)
    ]
    alone = audit_templates(spoilt.with_columns(pl.Series("gallery", kept)), annotations)
    assert alone["problem"].to_list() == [TEXT_ONLY_SUFFICES, IMAGE_ONLY_SUFFICES, TEXT_ONLY_SUFFICES]


def test_words_of_a_text_are_objects_beside_the_annotations() -> None:
    rows = {
        "image": ["a", "b", "c"],
        "item": ["1", "2", "3"],
        "category": ["food", "food", "people"],
        "maker": ["north", "south", "south"],
        "caption": ["red pot of Food", "pot with lid", "a red hat"],
    }
    annotations = catalog_annotations(pl.DataFrame(rows), attributes=["maker"], words="caption")
    inside = {
        image: {name for name, has in zip(annotations.objects, row, strict=True) if has}
        for image, row in zip(annotations.images, annotations.contains, strict=True)
    }
    assert inside == {
        "a": {"food", "north", "red", "pot"},  # the word and the category of one name are one object
        "b": {"food", "south", "pot"},
        "c": {"people", "south", "red"},  # "hat" is said once, and cannot be shared
    }


def vaw(n: int = 240) -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(0)
    colours = ("red", "blue", "green", "white")
    objects, attributes = [], []
    for number in range(n):
        image, name = f"VG_100K/{number // 2}.jpg", ("car", "bus", "cup")[number % 3]
        objects.append((image, str(number), name, "train", 5.0, 6.0, 30.0, 40.0))
        shuffled = rng.permutation(colours)
        attributes.append((image, str(number), shuffled[0], True))
        attributes += [(image, str(number), colour, False) for colour in shuffled[1:3]]  # the fourth is not known
    columns = ["image", "object", "name", "split", "x1", "y1", "x2", "y2"]
    return (
        pl.DataFrame(objects, schema=columns, orient="row"),
        pl.DataFrame(attributes, schema=["image", "object", "attribute", "present"], orient="row"),
    )


def test_vaw_rows_count_only_on_what_is_labelled() -> None:
    objects, attributes = vaw()
    annotations = vaw_annotations(objects, attributes, {"color": ["red", "blue", "green", "white"]})
    built = build_templates(annotations, per_task=40, tasks=TASKS[:2])
    assert set(built["task"]) == set(TASKS[:2])
    marks: dict[str, dict[str, bool]] = {
        f"{image}#{number}": {} for image, number in zip(objects["image"], objects["object"], strict=True)
    }
    for image, number, attribute, present in attributes.iter_rows():
        marks[f"{image}#{number}"][attribute] = present
    name = {f"{row['image']}#{row['object']}": row["name"] for row in objects.iter_rows(named=True)}
    for row in built.iter_rows(named=True):
        mark, like = row["value"], name[row["reference"]]
        assert marks[row["target"]][mark] is True and name[row["target"]] == like
        assert marks[row["reference"]][mark] is row["task"].startswith("focus")
        for image in row["gallery"]:
            assert (name[image] == like and marks[image].get(mark) is False) or (
                name[image] != like and marks[image].get(mark) is True
            )
        images = [image.split("#")[0] for image in (row["reference"], row["target"], *row["gallery"])]
        assert len(set(images)) == len(images)
    assert built["condition"].filter(built["task"] == "focus_attribute").unique().to_list() == ["color"]


def test_panoptic_rows_know_everything_in_a_scene() -> None:
    rng = np.random.default_rng(1)
    rooms = (("sink-stuff", "mirror-stuff", "towel", "toilet"), ("couch", "tv", "rug-merged", "floor-wood"))
    extras = ("cat", "dog", "wall-brick", "person")
    rows = []
    for number in range(160):
        kept = [name for name in rooms[number % 2] if rng.random() < 0.9]
        names = [*kept, *(name for name in extras if rng.random() < 0.4)]
        rows += [(f"val2017/{number:012d}.jpg", name) for name in names]
    objects = pl.DataFrame(rows, schema=["image", "name"], orient="row")
    images = objects["image"].unique().sort().to_list()
    built = build_templates(panoptic_annotations(images, objects), per_task=60, tasks=TASKS[2:])
    inside = {image: {readable_name(name) for name in objects.filter(image=image)["name"]} for image in images}
    assert {"brick wall", "wood floor"} <= set().union(*inside.values())
    assert len(built) >= 60
    for row in built.iter_rows(named=True):
        asked = row["condition"]
        overlaps = []
        for image in (row["target"], *row["gallery"]):
            a, b = inside[row["reference"]] - {asked}, inside[image] - {asked}
            overlaps.append(len(a & b) / len(a | b))
        meets = [asked in inside[image] for image in (row["target"], *row["gallery"])]
        assert overlaps[0] >= 0.5 and meets[0]
        assert all(not b or a <= 0.25 for a, b in zip(overlaps[1:], meets[1:], strict=True))
        assert (asked in inside[row["reference"]]) == (row["task"] == "focus_object")


def test_published_object_templates_are_audited_by_the_objects_of_their_images() -> None:
    inside = {
        "r": ("sink", "mirror", "towel"),
        "t": ("sink", "mirror", "cat"),
        "as good": ("sink", "mirror", "towel", "cat"),
        "no cat": ("sink", "mirror", "towel"),
        "elsewhere": ("tree", "cat"),
    }
    objects = pl.DataFrame(
        [(key, name) for key, names in inside.items() for name in names], ["image", "name"], orient="row"
    )
    annotations = panoptic_annotations(list(inside), objects)
    rows = [
        (0, "change_object", "cat", "r", "t", ["no cat", "elsewhere"]),
        (1, "change_object", "cat", "r", "t", ["as good", "no cat"]),
        (2, "change_object", "cat", "r", "no cat", ["elsewhere"]),
        (3, "change_object", "cat", "r", "as good", ["r2"]),
        (4, "change_object", "cat", "r", "t", ["no cat"]),
    ]
    templates = pl.DataFrame(rows, schema=TEMPLATE_SCHEMA, orient="row")
    assert audit_templates(templates, annotations).select("template", "problem", "detail").rows() == [
        (1, REPEATED_TEMPLATE, "as template 0"),
        (1, SECOND_ANSWER, "as good"),
        (2, WRONG_TARGET, "no cat"),
        (2, IMAGE_ONLY_SUFFICES, "no distractor's scene is as like the reference's"),
        (3, NOT_ANNOTATED, "r2"),
        (4, REPEATED_TEMPLATE, "as template 0"),
        (4, TEXT_ONLY_SUFFICES, "no distractor has the object"),
    ]


def test_names_of_coco_are_spoken_as_in_the_published_files() -> None:
    said = {
        readable_name(name)
        for name in ("wall-brick", "wall-other-merged", "floor-wood", "window-blind", "sky-other-merged")
    }
    assert said == {"brick wall", "wall", "wood floor", "window blind", "sky"}


def test_the_published_object_templates_have_one_known_duplicate() -> None:
    from likewise.catalog.readers import read

    tables = read(real_data("genecis"), "genecis").tables
    found = audit_templates(tables["templates"])
    assert len(tables["templates"]) == 3920
    assert found.filter(pl.col("problem") == TARGET_IN_GALLERY).select("task", "template").rows() == [
        ("change_object", 19)
    ]
