"""Cut-out pictures: the published mode and the centred one, and workspaces made of them."""

import json
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from likewise.catalog import make_catalog, read_catalog
from likewise.catalog.readers import read
from likewise.conditional.templates.crops import crop_square, crop_templates, dilate_box
from likewise.conditional.templates.files import read_templates
from likewise.conditional.templates.step import build_template_set
from likewise.conditional.templates.workspace_annotations import AnnotationOptions
from likewise.workspace import WorkspaceFolder
from tests.conditional.test_build import vaw


def test_boxes_grow_as_published_or_on_all_sides() -> None:
    box, size = (400.0, 400.0, 500.0, 500.0), (1000, 1000)
    assert dilate_box(box, size, "official") == (330, 330, 500, 500)
    assert dilate_box(box, size) == (365, 365, 535, 535)
    assert dilate_box((0.0, 0.0, 100.0, 50.0), (110, 200)) == (0, 0, 110, 68)


def test_a_cut_is_square_and_black_around() -> None:
    picture = Image.new("RGB", (200, 100), "white")
    found = np.asarray(crop_square(picture, (20.0, 20.0, 120.0, 40.0)))
    assert found.shape == (155, 155, 3) or found.shape == (170, 170, 3)
    assert found[0].max() == 0 and found[found.shape[0] // 2].min() == 255


def published(folder: Path) -> None:
    """GeneCIS' attribute files over three pictures, one of them cut in two ways."""
    (folder / "VG_100K").mkdir(parents=True)
    for number in (1, 2, 3):
        Image.new("RGB", (120, 100), ("red", "green", "blue")[number - 1]).save(folder / f"VG_100K/{number}.jpg")
    parts = [{"image_id": image, "instance_bbox": [x, 10, 30, 20]} for image, x in ((1, 5), (1, 50), (2, 5), (3, 5))]
    template = {"condition": "color", "reference": parts[0], "target": parts[1], "gallery": parts[2:]}
    (folder / "focus_attribute.json").write_text(json.dumps([template]))


def test_published_attribute_templates_become_a_workspace_of_parts(tmp_path: Path) -> None:
    published(tmp_path / "genecis")
    reading = read(tmp_path / "genecis", "genecis")
    source = WorkspaceFolder(tmp_path / "ws")
    make_catalog(source, reading.rows, reading.root, "genecis", tables=reading.tables)
    made = crop_templates(source, WorkspaceFolder(tmp_path / "parts"), mode="official")
    assert (made.n_pictures, made.n_templates, made.n_left_out) == (4, 1, 0)
    name, templates = read_templates(WorkspaceFolder(tmp_path / "parts"))
    row = templates.row(0, named=True)
    assert row["reference"] != row["target"] and row["reference"].split("/")[1] == row["target"].split("/")[1] == "1"
    pictures = set(read_catalog(WorkspaceFolder(tmp_path / "parts"))["image"])
    assert {row["reference"], row["target"], *row["gallery"]} == pictures and name == "official"


def test_templates_built_from_vaw_rows_can_be_cut(tmp_path: Path) -> None:
    objects, attributes = vaw(120)
    root = tmp_path / "pictures"
    (root / "VG_100K").mkdir(parents=True)
    images = objects["image"].unique().sort().to_list()
    for image in images:
        Image.new("RGB", (64, 64), "white").save(root / image)
    source = WorkspaceFolder(tmp_path / "ws")
    tables = {"objects": objects, "attributes": attributes}
    make_catalog(source, pl.DataFrame({"image": images}), root, "vaw", tables=tables)
    kinds = tmp_path / "kinds.json"
    kinds.write_text(json.dumps({"color": ["red", "blue", "green", "white"]}))
    built = build_template_set(source, "objects", AnnotationOptions(kinds_file=kinds), per_task=8)
    assert set(built.table["task"]) == {"focus_attribute", "change_attribute"}
    made = crop_templates(source, WorkspaceFolder(tmp_path / "parts"), "objects")
    assert made.n_left_out == 0 and made.n_templates == len(built.table)
    _, templates = read_templates(WorkspaceFolder(tmp_path / "parts"))
    pictures = set(read_catalog(WorkspaceFolder(tmp_path / "parts"))["image"])
    assert set(templates["target"]) <= pictures and set(templates["gallery"].explode()) <= pictures
