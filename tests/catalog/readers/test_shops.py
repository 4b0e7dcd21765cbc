"""DeepFashion's two benchmarks and VSD-Fashion: items, splits, boxes, pairs, labels."""

from pathlib import Path

import pytest

from likewise.catalog.readers import read
from likewise.catalog.readers.vsd import TASKS
from likewise.errors import LikewiseError

from .made_files import picture, write, write_json
from .made_layouts import source, vsd

BOX = ("x1", "y1", "x2", "y2")


def test_inshop(tmp_path: Path) -> None:
    reading = read(source("inshop", tmp_path), "inshop")
    assert reading.rows.select("row", "item", "category", "split", "gender").rows() == [
        (3, "id_00000002", "Dresses", "train", "WOMEN"),
        (4, "id_00000080", "Denim", "query", "MEN"),
        (5, "id_00000080", "Denim", "gallery", "MEN"),
    ]
    assert reading.rows.select(*BOX).row(0) == (50, 30, 200, 246)
    assert reading.rows.select(*BOX).row(1) == (None,) * 4  # an empty box is reported, the picture stays
    assert reading.tables["queries"]["item"].to_list() == ["id_00000080"]
    assert [(line.line, line.file) for line in reading.coverage.malformed] == [
        (6, "Eval/list_eval_partition.txt"),
        (7, "Eval/list_eval_partition.txt"),
        (4, "Anno/list_bbox_inshop.txt"),
    ]
    assert str(reading.coverage.malformed[0]).endswith(
        "line 6: expected `image_name item_id train|query|gallery`, found 'img/x.jpg id_3'"
    )
    assert reading.coverage.missing == ("img/MEN/Denim/id_00000080/02_2_side.jpg",)
    assert read(tmp_path / "Eval" / "list_eval_partition.txt", "inshop", tmp_path / "Img").coverage.found == 2


def test_inshop_without_boxes_and_not_inshop_at_all(tmp_path: Path) -> None:
    source("inshop", tmp_path)
    (tmp_path / "Anno" / "list_bbox_inshop.txt").unlink()
    assert "x1" not in read(tmp_path, "inshop").rows.columns
    write(tmp_path / "Eval" / "list_eval_partition.txt", "1", "header", "some other file", "altogether")
    with pytest.raises(LikewiseError, match=r"is not of this layout: line 3 should be `image_name item_id train"):
        read(tmp_path, "inshop")
    with pytest.raises(LikewiseError, match=r"holds no Eval/list_eval_partition.txt"):
        read(tmp_path / "Img", "inshop")


def test_consumer2shop_keeps_its_spelling(tmp_path: Path) -> None:
    reading = read(source("consumer2shop", tmp_path), "consumer2shop")
    assert reading.rows["image"].str.split("/").list.last().to_list() == [
        "comsumer_01.jpg",
        "shop_01.jpg",
        "comsumer_02.jpg",
    ]
    assert reading.rows["domain"].to_list() == ["wild", "shop", "wild"]
    assert set(reading.rows.select("item", "category", "group", "split").rows()) == {
        ("id_00000001", "Skirt", "DRESSES", "train")
    }
    assert reading.rows.select(*BOX).row(0) == (10, 20, 90, 110)
    pairs = reading.tables["pairs"]
    assert pairs["first"].str.contains("comsumer").all()
    assert pairs["second"].str.contains("shop_01").all()
    assert len(reading.tables["queries"]) == 2


def test_vsd_roles_boxes_and_labels(tmp_path: Path) -> None:
    reading = read(source("vsd", tmp_path), "vsd")
    rows = reading.rows
    assert rows["item"].to_list() == ["1", "2", "3", "9"]
    assert rows.select(*BOX).row(0) == (5, 6, 5 + 30, 6 + 40)  # [x, y, h, w]
    assert rows.select(*BOX).row(1) == (1, 2, 9, 8)  # {x1, y1, x2, y2}
    assert rows.select(*BOX).row(2) == (None,) * 4  # an empty box is none
    assert rows["is_query"].to_list() == [True, False, False, False]  # seeds of the training part are no queries
    assert rows["is_gallery"].to_list() == [False, True, False, False]  # in the manifest, and of a gallery phase
    assert reading.tables["labels"]["label"].to_list() == [1, 0]
    assert reading.tables["queries"]["split"].to_list() == ["test", "train"]


@pytest.mark.parametrize("task", TASKS)
def test_vsd_knows_its_four_tasks_by_folder(tmp_path: Path, task: str) -> None:
    vsd(tmp_path / task)
    reading = read(tmp_path / task, "vsd")
    assert reading.tables["labels"]["task"].to_list() == [task] * 2
    assert set(reading.tables["queries"]["task"]) == {task}


def test_several_vsd_tasks_at_once(tmp_path: Path) -> None:
    for task in TASKS[1:3]:
        vsd(tmp_path / task)
    reading = read(tmp_path, "vsd", tmp_path / TASKS[1])
    assert set(reading.tables["labels"]["task"]) == set(TASKS[1:3])
    assert reading.coverage.found == 3
    assert reading.coverage.images == 4  # the same pictures in both tasks
    assert "several tasks" in reading.coverage.remarks[0]


def test_the_wild_task_looks_for_shop_pictures_only(tmp_path: Path) -> None:
    folder = tmp_path / TASKS[3]
    vsd(folder)
    for name in ("test_manifest.json", "test_seeds.json", "train_seeds.json"):
        (folder / name).unlink()
    reading = read(folder, "vsd")  # no file names the gallery's phases
    assert reading.rows.select("domain", "is_gallery").rows() == [("shop", True)] * 3 + [("wild", False)]


def test_vsd_without_a_list_of_phases_every_picture_is_a_candidate(tmp_path: Path) -> None:
    picture(tmp_path / "a.jpg")
    write_json(tmp_path / "metadata.json", {"images": [{"id": 1, "path": "a.jpg", "phase": "test"}]})
    write_json(tmp_path / "tags.json", [{"key": ["a.jpg", "b.jpg"], "value": 1}])
    reading = read(tmp_path, "vsd")
    assert reading.rows.select("is_query", "is_gallery").rows() == [(True, True)]  # no seeds: the queries of the tags
