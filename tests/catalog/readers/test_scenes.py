"""Scenes, conditions and captions: COCO panoptic, VAW, GeneCIS, CIRR, FashionIQ, CC3M, SBU."""

from pathlib import Path

import pytest

from likewise.catalog.readers import read
from likewise.errors import LikewiseError

from .made_files import write_json
from .made_layouts import source

BOX = ("x1", "y1", "x2", "y2")


def test_coco_panoptic_segments(tmp_path: Path) -> None:
    reading = read(source("coco_panoptic", tmp_path), "coco_panoptic")
    objects = reading.tables["objects"]
    assert objects.select("name", "is_thing", "is_crowd", "area", "share", *BOX).rows() == [
        ("person", True, False, 200, 0.25, 4, 2, 14, 10),
        ("wall-other-merged", False, False, 400, 0.5, 0, 0, 40, 20),
        ("person", True, True, 50, 0.5, 0, 0, 9, 9),
    ]
    assert reading.rows["image_id"].to_list() == [139, 285]
    file = tmp_path / "annotations" / "panoptic_val2017.json"
    assert read(file, "coco_panoptic").rows.equals(reading.rows)


def test_coco_without_its_list_of_images_names_pictures_by_number(tmp_path: Path) -> None:
    segment = {"id": 1, "category_id": 9, "area": 3}
    write_json(tmp_path / "panoptic_x.json", {"annotations": [{"image_id": 42, "segments_info": [segment]}]})
    reading = read(tmp_path, "coco_panoptic")
    assert reading.rows["image"].to_list() == ["x/000000000042.jpg"]
    assert reading.tables["objects"].select("name", "share", "x1").rows() == [("9", None, None)]


def test_vaw_objects_and_attributes(tmp_path: Path) -> None:
    reading = read(source("vaw", tmp_path), "vaw")
    assert reading.rows["image"].to_list() == ["VG_100K_2/2373241.jpg", "VG_100K/5.jpg"]  # where found, and where not
    assert reading.tables["objects"].select("object", "split", *BOX).row(0) == (
        *("2373241004", "train"),
        *(0.0, 182.5, 500.16, 331.0),
    )
    assert reading.tables["attributes"].select("attribute", "present").rows()[:3] == [
        ("tiled", True),
        ("gray", True),
        ("multicolored", False),
    ]


def test_genecis_templates(tmp_path: Path) -> None:
    reading = read(source("genecis", tmp_path), "genecis")
    templates = reading.tables["templates"].filter(task="focus_object")
    assert templates.row(0, named=True) == {
        "task": "focus_object",
        "template": 0,
        "condition": "wall",
        "reference": "val2017/000000000001.jpg",
        "target": "val2017/000000000002.jpg",
        "gallery": ["val2017/000000000003.jpg", "val2017/000000000004.jpg"],
    }
    candidates = reading.tables["candidates"].filter(task="change_attribute")
    assert candidates["role"].to_list() == ["reference", "target", "distractor"]
    assert candidates["position"].to_list() == [None, 0, 1]
    assert set(candidates.select(*BOX).rows()) == {(10, 20, 40, 60)}  # [x, y, w, h] in the file
    assert reading.coverage.remarks == ("focus_object.json: the target stands in the gallery again in template 1",)


def test_cirr_templates(tmp_path: Path) -> None:
    reading = read(source("cirr", tmp_path), "cirr")
    assert reading.root == tmp_path / "img_raw"
    val = reading.tables["templates"].filter(split="val")
    assert val["template"].to_list() == [12060, 12061]
    first = val.row(0, named=True)
    assert first["condition"] == "show three bottles of soft drink"
    assert (first["reference"], first["target"]) == ("dev/dev-0-0-img0.png", "dev/dev-1-0-img0.png")
    assert len(first["members"]) == 6
    assert dict(zip(first["soft_targets"], first["soft_scores"], strict=True)) == {
        "dev/dev-1-0-img0.png": 1.0,
        "dev/dev-2-0-img0.png": -1.0,
    }
    test = reading.tables["templates"].filter(split="test1").row(0, named=True)
    assert (test["target"], test["reference"]) == (None, "test1-1-0-img0")
    assert "1 pictures are in no split file" in reading.coverage.remarks[0]


def test_fashioniq_finds_either_ending_and_joins_captions(tmp_path: Path) -> None:
    reading = read(source("fashioniq", tmp_path), "fashioniq")
    assert reading.rows["image"].to_list() == ["images/B008BHCT58.jpg", "images/B003FGW7MK.png", "images/B00GONE.png"]
    assert reading.rows.select("category", "split").unique().rows() == [("dress", "val")]
    template = reading.tables["templates"].row(0, named=True)
    assert template["condition"] == "is solid black and is longer"
    assert template["captions"] == ["is solid black", "is longer"]
    assert template["reference"] == "images/B008BHCT58.jpg"


def test_captions_come_without_pictures(tmp_path: Path) -> None:
    reading = read(source("cc3m", tmp_path / "cc3m"), "cc3m")
    assert reading.rows.is_empty()
    assert reading.tables["captions"].rows() == [
        ("a very typical bus station", "http://a.net/1.jpg", "train"),
        ("the other way round", "http://a.net/2.jpg", "train"),
    ]
    assert read(source("sbu", tmp_path / "sbu"), "sbu").tables["captions"].rows() == [("a bus", "http://a.net/1.jpg")]
    write_json(tmp_path / "sbu" / "sbu-captions-all.json", {"image_urls": ["a"], "captions": []})
    with pytest.raises(LikewiseError, match="two lists of one length"):
        read(tmp_path / "sbu", "sbu")
