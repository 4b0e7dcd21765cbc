"""Class-labelled data sets: CUB, Cars, Online Products, MIT-States, Zappos."""

from pathlib import Path

import pytest

from likewise.catalog.readers import read
from likewise.errors import LikewiseError

from .made_files import picture, write
from .made_layouts import cars_kit, cub, source

BOX = ("x1", "y1", "x2", "y2")


def test_cub_joins_its_files_by_id(tmp_path: Path) -> None:
    rows = read(source("cub", tmp_path), "cub").rows
    assert rows.select("image", "category", "class_id", "split", *BOX).row(0) == (
        *("images/001.Albatross/A_1.jpg", "001.Albatross", 1, "train"),
        *(60.0, 27.0, 385.0, 331.0),  # x, y, width, height in the file
    )
    assert rows["split"].to_list() == ["train", "test", None]
    assert rows["x1"].to_list() == [60.0, None, None]


def test_cub_says_which_files_are_not_there(tmp_path: Path) -> None:
    cub(tmp_path)
    (tmp_path / "bounding_boxes.txt").unlink()
    (tmp_path / "image_class_labels.txt").unlink()
    reading = read(tmp_path, "cub")
    assert reading.rows["category"].to_list() == ["001.Albatross", "002.Auk", "002.Auk"]  # from the path
    assert [remark.split()[0] for remark in reading.coverage.remarks] == [
        "image_class_labels.txt",
        "bounding_boxes.txt",
    ]


@pytest.mark.parametrize("reader", ["cub", "cars"])
def test_class_folders(tmp_path: Path, reader: str) -> None:
    picture(tmp_path / "train" / "Acura RL" / "1.jpg")
    picture(tmp_path / "test" / "Acura RL" / "2.jpg")
    picture(tmp_path / "test" / "AM Hummer" / "3.jpg")
    picture(tmp_path / "test" / "loose.jpg")
    reading = read(tmp_path, reader)
    assert reading.rows.select("category", "class_id", "split").rows() == [
        ("AM Hummer", 1, "test"),
        ("Acura RL", 2, "test"),
        ("Acura RL", 2, "train"),
    ]
    assert str(reading.coverage.malformed[0]).startswith("file test/loose.jpg: expected a picture in a class folder")


def test_cars_from_one_mat_file(tmp_path: Path) -> None:
    reading = read(source("cars", tmp_path), "cars")
    assert reading.rows.select("image", "category", "class_id", "split", *BOX).rows() == [
        ("car_ims/000001.jpg", "AM General Hummer SUV 2000", 1, "train", 112, 7, 853, 717),
        ("car_ims/000002.jpg", "Acura RL Sedan 2012", 2, "test", 1, 1, 9, 9),
    ]
    assert reading.coverage.malformed[0].line == 3
    (tmp_path / "cars_annos.mat").write_bytes(b"MATLAB, it says")
    with pytest.raises(LikewiseError, match="not a MATLAB file"):
        read(tmp_path, "cars")


def test_cars_from_the_development_kit(tmp_path: Path) -> None:
    cars_kit(tmp_path)
    reading = read(tmp_path, "cars")
    assert reading.rows.select("image", "category", "split").rows() == [
        ("cars_train/00001.jpg", "Acura", "train"),
        ("cars_train/00002.jpg", "Hummer", "train"),
        ("cars_test/00001.jpg", None, "test"),  # the kit keeps the test classes to itself
    ]
    assert reading.coverage.found == 2
    assert read(tmp_path / "devkit", "cars").coverage.found == 2  # the pictures lie beside it


def test_sop_products_are_items(tmp_path: Path) -> None:
    rows = read(source("sop", tmp_path), "sop").rows
    assert rows.select("row", "item", "category", "split", "class_id", "super_class_id").rows() == [
        (1, "1", "bicycle", "train", 1, 1),
        (2, "1", "bicycle", "train", 1, 1),
        (3, "2", "coffee_maker", "test", 2, 2),
    ]
    write(tmp_path / "Ebay_test.txt", "header", "3 2 2 a/b.JPG", "4 2 2 ../../secret.JPG")
    assert read(tmp_path, "sop").coverage.malformed[0].line == 3  # a key does not lead out of the root
    (tmp_path / "Ebay_train.txt").unlink()
    assert read(tmp_path, "sop").coverage.remarks == ("Ebay_train.txt is not there: no train pictures",)


def test_mit_states_queries_ask_for_every_other_adjective(tmp_path: Path) -> None:
    reading = read(source("mit_states", tmp_path), "mit_states")
    assert set(reading.rows["noun"]) == {"armor", "apple"}
    assert set(reading.rows["adjective"]) == {"old", "new", "rusty", "ripe"}  # `adj armor` is passed over
    asked = reading.tables["queries"].select("adjective", "condition").rows()
    assert sorted(asked) == [(a, b) for a in ("new", "old", "rusty") for b in ("new", "old", "rusty") if a != b]


def test_zappos_triplets_are_turned_round(tmp_path: Path) -> None:
    reading = read(source("zappos", tmp_path), "zappos")
    bogs, levis, vans = reading.rows["image"].to_list()[:3]
    assert reading.tables["triplets"].rows() == [
        (bogs, levis, vans, "class", "train"),  # the line is `0 2 1`: anchor, far, close
        (levis, vans, bogs, "heel", "test"),
    ]
    first = reading.rows.row(0, named=True)
    assert (first["item"], first["category"], first["brand"], first["Gender"]) == (
        *("7968714-72", "Boots", "Bogs Kids"),
        "Girls;Boys",
    )
    assert reading.coverage.missing == ("Shoes/Heels/Vans/5.6.jpg", "99.1.jpg")
    (tmp_path / "filenames.json").unlink()
    assert "triplet lists cannot be read" in read(tmp_path, "zappos").coverage.remarks[0]


def test_zappos_of_conditional_similarity_networks_alone(tmp_path: Path) -> None:
    write(tmp_path / "filenames.json", "Boots/Ankle/X/1.2.jpg", "Boots/Ankle/X/3.4.jpg")
    write(tmp_path / "tripletlists" / "gender_tripletlist_val.txt", "0 1 0")
    reading = read(tmp_path, "zappos")
    assert reading.coverage.found == 0
    assert reading.tables["triplets"]["condition"].to_list() == ["gender"]
