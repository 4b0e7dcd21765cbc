"""Outfits, fill-in-the-blank questions and compatibility: the Polyvore family, FashionVC, POG, any table of outfits."""

from pathlib import Path

from likewise.catalog.readers import read

from .made_files import write
from .made_layouts import source
from .made_outfits import outfits, polyvore_outfits


def test_maryland_first_answer_is_right(tmp_path: Path) -> None:
    reading = read(source("maryland", tmp_path), "maryland")
    assert reading.tables["questions"].rows() == [
        (1, "test", ["119704139_1", "119704139_2"], ["119704139_3", "2_1"], 0, 3)
    ]
    assert reading.tables["compatibility"].rows() == [
        (1, "test", 1, ["119704139_1", "119704139_2"]),
        (2, "test", 0, ["119704139_1", "2_1"]),
    ]
    first = reading.rows.row(0, named=True)
    assert (first["image"], first["item"]) == ("images/119704139/1.jpg", "119704139_1")
    assert (first["category"], first["caption"], first["product"]) == ("Skirts", "item 1", "1001")
    assert reading.tables["outfits"].filter(outfit="119704139")["position"].to_list() == [1, 2, 3]


def test_maryland_in_its_other_spelling(tmp_path: Path) -> None:
    source("maryland", tmp_path)
    before = read(tmp_path, "maryland").tables
    label = tmp_path / "label"
    label.mkdir()
    (tmp_path / "fill_in_blank_test.json").rename(label / "fill_in_the_blank_test.json")
    (tmp_path / "fashion-compatibility-prediction.txt").rename(label / "fashion_compatibility_prediction.txt")
    after = read(tmp_path, "maryland").tables
    assert after["questions"].equals(before["questions"])
    assert after["compatibility"].equals(before["compatibility"])


def test_polyvore_outfits_right_answer_is_of_the_questions_set(tmp_path: Path) -> None:
    reading = read(source("polyvore_outfits", tmp_path), "polyvore_outfits")
    assert reading.tables["questions"].rows() == [(1, "test", ["11"], ["13", "12", "999_1"], 1, 2)]
    assert reading.tables["compatibility"].rows() == [(1, "test", 1, ["11", "12"]), (2, "test", 0, ["11", "13"])]
    assert reading.rows.select("item", "category", "fine_category", "caption").rows() == [
        ("11", "bottoms", "skirt, long", "a red skirt"),
        ("12", "shoes", "boots", "boots"),
        ("13", None, None, None),
    ]
    assert any("read was nondisjoint" in remark for remark in reading.coverage.remarks)
    assert any("999_1" in remark for remark in reading.coverage.remarks)


def test_one_version_of_polyvore_outfits(tmp_path: Path) -> None:
    polyvore_outfits(tmp_path)
    reading = read(tmp_path / "disjoint", "polyvore_outfits")
    assert reading.coverage.found == 2  # pictures and categories lie beside the version's folder
    assert reading.rows["category"].to_list() == ["bottoms", "shoes", None]
    assert not any("both versions" in remark for remark in reading.coverage.remarks)


def test_polyvore630_numbers_are_places_in_the_lists(tmp_path: Path) -> None:
    reading = read(source("polyvore630", tmp_path), "polyvore630")
    assert reading.tables["compatibility"].drop("line").rows() == [
        ("train", 1, ["top0", "bottom1", "shoe2"], 0, "positive"),
        ("train", 1, ["top2", "bottom2", "shoe2"], 1, "positive"),
        ("train", 0, ["top1", "bottom1", "shoe1"], 0, "hard"),
    ]
    question = reading.tables["questions"].row(0, named=True)
    assert question["items"] == ["top0", "bottom1"]
    assert question["answers"][question["right"]] == "shoe2"
    assert question["position"] == 3
    assert reading.tables["outfits"].filter(outfit="train-2")["category"].to_list() == ["top", "bottom", "shoe"]


def test_polyvore519_has_two_tops_or_one(tmp_path: Path) -> None:
    source("polyvore630", tmp_path)
    write(
        tmp_path / "tuples_630" / "tuples_val_posi", "user,top,top,bottom,shoe", "0,0,1,2,2", "0,0,-1,2,2", end="\r\n"
    )
    val = read(tmp_path / "tuples_630", "polyvore630").tables["compatibility"].filter(split="val")
    assert val["items"].to_list() == [["top0", "top1", "bottom2", "shoe2"], ["top0", "bottom2", "shoe2"]]


def test_fashionvc_pairs_with_and_without_a_header(tmp_path: Path) -> None:
    reading = read(source("fashionvc", tmp_path), "fashionvc")
    assert reading.tables["pairs"].rows() == [("top-100", "bottom-200"), ("top-101", "bottom-200")]
    assert reading.rows["image"].to_list() == ["tops/100.jpg", "bottoms/200.png", "top/101.jpg"]
    write(tmp_path / "gnd_top_bottom_pairs.csv", "100,200", "101,200")
    assert read(tmp_path, "fashionvc").tables["pairs"].equals(reading.tables["pairs"])
    assert reading.tables["outfits"].group_by("outfit").len()["len"].to_list() == [2, 2]


def test_pog_items_with_titles_and_pictures_under_either_name(tmp_path: Path) -> None:
    reading = read(source("pog", tmp_path), "pog")
    assert reading.rows.select("item", "image", "category", "title").rows() == [
        ("1001", "images/TB1x.jpg", "50001", "red skirt, long"),
        ("1002", "images/1002.png", "50002", "boots"),
        ("1003", "images/1003.jpg", "50003", None),
        ("1004", "images/1004.jpg", None, None),
    ]
    worn = reading.tables["outfits"].select("outfit", "item", "position").rows()
    assert worn == [("o1", "1001", 1), ("o1", "1002", 2), ("o1", "1003", 3), ("o2", "1002", 1), ("o2", "1004", 2)]
    assert reading.coverage.found == 2


def test_any_table_of_outfits(tmp_path: Path) -> None:
    outfits(tmp_path)
    reading = read(tmp_path / "outfits.csv", "outfits")
    assert reading.tables["outfits"].select("outfit", "item", "position").rows() == [
        ("o1", "a", 1),
        ("o1", "b", 2),
        ("o2", "a", 1),
    ]
    assert reading.rows["image"].to_list() == ["images/a.webp", "images/b.jpg"]
