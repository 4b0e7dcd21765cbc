"""Small data sets of outfits in their true layouts, as those of `making`."""

import csv
from pathlib import Path

from .made_files import BOM, picture, write, write_json


def maryland(at: Path) -> None:
    url = "http://img2.polyvoreimg.com/cgi/img-thing?.out=jpg&size=m&tid={}"
    items = [{"index": n, "name": f"item {n}", "categoryid": 27, "image": url.format(1000 + n)} for n in (1, 2, 3)]
    outfit = {"name": "casual", "set_id": "119704139", "items": items}
    write_json(at / "test_no_dup.json", [outfit, {"set_id": 2, "items": [{"index": "1"}]}, {"set_id": "3"}])
    write(at / "category_id.txt", "27 Skirts", "nonsense")
    question = {"question": ["119704139_1", "119704139_2"], "answers": ["119704139_3", "2_1"], "blank_position": 3}
    write_json(at / "fill_in_blank_test.json", [question, {"question": []}])
    write(
        at / "fashion-compatibility-prediction.txt",
        "1 119704139_1 119704139_2",
        "0  119704139_1 2_1",
        "1 x",
        end="\r\n",
    )
    picture(at / "images" / "119704139" / "1.jpg")
    picture(at / "images" / "119704139" / "2.jpg")


def polyvore_outfits(at: Path) -> None:
    outfit = {"set_id": "224", "items": [{"item_id": "11", "index": 1}, {"item_id": 12, "index": "2"}]}
    other = {"set_id": "225", "items": [{"item_id": "12", "index": 1}, {"item_id": "13", "index": 2}]}
    for version in ("disjoint", "nondisjoint"):
        write_json(at / version / "test.json", [outfit, other, {"set_id": "226"}])
        question = {"question": ["224_1"], "answers": ["225_2", "224_2", "999_1"], "blank_position": 2}
        unanswerable = {**question, "answers": ["225_1", "225_2"]}
        write_json(at / version / "fill_in_blank_test.json", [question, unanswerable])
        write(at / version / "compatibility_test.txt", "1 224_1 224_2", "0  224_1 225_2 ", "2 224_1 224_2", end="\r\n")
    about = {"title": "a red skirt", "category_id": "7", "semantic_category": "bottoms"}
    write_json(at / "polyvore_item_metadata.json", {"11": about, "12": {"url_name": "boots", "category_id": 8}})
    write(at / "categories.csv", '7,"skirt, long",bottoms', "8,boots,shoes", "9")
    picture(at / "images" / "11.jpg")
    picture(at / "images" / "12.jpg")


def polyvore630(at: Path) -> None:
    tuples = at / "tuples_630"
    for kind in ("top", "bottom", "shoe"):
        write(tuples / f"image_list_{kind}", *(f"{kind}{n}.jpg" for n in range(3)), end="\r\n")
        picture(at / "images" / "291x291" / f"{kind}0.jpg")
        picture(at / "images" / "291x291" / f"{kind}1.jpg")
    header = "user,top,bottom,shoe"
    write(tuples / "tuples_train_posi", header, "0,0,1,2", "1,2,2,2", "1,0,1,9")
    write(tuples / "tuples_train_nega_hard", header, "0,1,1,1")
    blank = ["0,0,1,2,0,0,1,1,0,0,1,0,0,0,1,1", "0,0,1,2,0,1,0,2,0,0,1,0,0,0,1,1"]
    write(tuples / "fill_in_blank_test", ",".join([header] * 4), *blank)


def fashionvc(at: Path) -> None:
    write(at / "gnd_top_bottom_pairs.csv", "top,bottom", "100,200 ", "101,200", "102", end="\r\n")
    picture(at / "tops" / "100.jpg")
    picture(at / "bottoms" / "200.png")


def pog(at: Path) -> None:
    write(
        at / "outfit_data.txt",
        BOM + "o1,1001;1002;1003",
        "o2,1002;1004",
        "o3,1001",
        "o4",
        end="\r\n",
    )
    write(
        at / "item_data.txt",
        "1001,50001,//img.shop.com/a/TB1x.jpg,red skirt, long",
        "1002,50002,//img.shop.com/a/TB2x.jpg,boots",
        "1003,50003,,",
        "nonsense",
    )
    picture(at / "images" / "TB1x.jpg")
    picture(at / "images" / "1002.png")


def outfits(at: Path) -> None:
    at.mkdir(parents=True, exist_ok=True)
    with (at / "outfits.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["outfit", "item"], ["o1", "a"], ["o1", "b"], ["o2", "a"], ["o2", ""]])
    picture(at / "images" / "a.webp")


MADE_OUTFITS = {
    "maryland": maryland,
    "polyvore_outfits": polyvore_outfits,
    "polyvore630": polyvore630,
    "fashionvc": fashionvc,
    "pog": pog,
    "outfits": outfits,
}
