"""What annotation tools export: COCO's JSON and FiftyOne's folders."""

from pathlib import Path

from likewise.catalog.readers import read

from .made_files import picture, write_json
from .made_layouts import source


def test_coco_boxes_and_the_category_of_the_largest_object(tmp_path: Path) -> None:
    reading = read(source("coco", tmp_path), "coco")
    assert dict(reading.rows.select("image", "category").iter_rows()) == {
        "a.jpg": "shoe",
        "b.jpg": None,
        "gone.jpg": None,
    }
    objects = reading.tables["objects"]
    assert objects.select("name", "x1", "y1", "x2", "y2").rows() == [("lace", 1, 1, 5, 3), ("shoe", 0, 0, 20, 10)]
    assert reading.coverage.missing == ("gone.jpg",)


def test_fiftyone_samples(tmp_path: Path) -> None:
    reading = read(source("fiftyone", tmp_path), "fiftyone")
    assert reading.rows.select("image", "category", "split").rows() == [
        ("data/a.jpg", "shoe", "train"),
        ("data/b.jpg", "lace", None),
        ("data/gone.jpg", None, None),
    ]
    assert reading.tables["objects"]["name"].to_list() == ["lace"]


def test_fiftyone_labels_beside_a_folder_of_pictures(tmp_path: Path) -> None:
    picture(tmp_path / "data" / "x.png")
    picture(tmp_path / "data" / "y.png")
    boxes = [{"label": 0, "bounding_box": [0, 0, 0.5, 0.5]}, {"label": 1, "bounding_box": [0, 0, 0.9, 0.9]}]
    write_json(tmp_path / "labels.json", {"classes": ["lace", "shoe"], "labels": {"x": 1, "y": boxes}})
    reading = read(tmp_path, "fiftyone")
    assert reading.rows.select("image", "category").rows() == [("x.png", "shoe"), ("y.png", "shoe")]
    assert reading.coverage.found == 2
