"""Hugging Face data sets on disk, written by `datasets` itself and read without it."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image

from likewise.catalog import make_catalog, read_catalog
from likewise.catalog.readers import read
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

from .made_files import picture, write_json

datasets = pytest.importorskip("datasets", reason="needs Hugging Face datasets to write the data set")


def rows_of(pictures: list[Any], **columns: Any) -> Any:
    features = {"image": datasets.Image(), "label": datasets.ClassLabel(names=["cat", "dog"])}
    features |= {name: datasets.Value("string") for name in columns}
    labels = [n % 2 for n in range(len(pictures))]
    datasets.disable_progress_bars()
    return datasets.Dataset.from_dict(
        {"image": pictures, "label": labels, **columns}, features=datasets.Features(features)
    )


def test_hugging_face_pictures_inside_the_files(tmp_path: Path) -> None:
    red, blue = (Image.new("RGB", (12, 9), colour) for colour in ("red", "blue"))
    train = rows_of([red, None, blue], caption=["a", "b", "c"])
    test = rows_of([blue], caption=["d"])
    datasets.DatasetDict({"train": train, "test": test}).save_to_disk(tmp_path / "saved")
    with pytest.raises(LikewiseError, match="stored inside the data"):
        read(tmp_path / "saved", "hf")
    reading = read(tmp_path / "saved", "hf", tmp_path / "out")
    assert reading.rows.select("image", "split", "label", "category", "caption").rows() == [
        ("train/0000001.png", "train", "cat", "cat", "a"),
        ("train/0000003.png", "train", "cat", "cat", "c"),
        ("test/0000001.png", "test", "cat", "cat", "d"),
    ]
    assert (reading.coverage.found, reading.coverage.rows) == (3, 4)
    assert str(reading.coverage.malformed[0]).endswith("row 2: expected a picture as bytes or path, found none")
    workspace = WorkspaceFolder(tmp_path / "ws")
    make_catalog(workspace, reading.rows, reading.root, "hf")
    assert len(read_catalog(workspace)) == 3
    written = (tmp_path / "out" / "train" / "0000001.png").stat().st_mtime_ns
    read(tmp_path / "saved", "hf", tmp_path / "out")
    assert (tmp_path / "out" / "train" / "0000001.png").stat().st_mtime_ns == written  # not written twice
    (tmp_path / "saved" / "test" / "data-00000-of-00001.arrow").unlink()
    with pytest.raises(LikewiseError, match=r"names data-00000-of-00001.arrow, which is not there"):
        read(tmp_path / "saved", "hf", tmp_path / "out")


def test_hugging_face_pictures_by_path_stay_where_they_are(tmp_path: Path) -> None:
    paths = [{"bytes": None, "path": str(tmp_path / "pictures" / name)} for name in ("a.png", "gone.png")]
    picture(tmp_path / "pictures" / "a.png")
    table = pl.DataFrame({"image": paths, "text": ["x", "y"]})
    table.write_parquet(tmp_path / "train-00000-of-00001.parquet")
    reading = read(tmp_path, "hf", tmp_path / "out")
    assert reading.root == tmp_path / "pictures"
    assert reading.rows.select("image", "split", "text").rows() == [("a.png", "train", "x"), ("gone.png", "train", "y")]
    assert reading.coverage.missing == ("gone.png",)
    assert not (tmp_path / "out").exists()


def test_hugging_face_without_a_picture_or_without_anything(tmp_path: Path) -> None:
    datasets.disable_progress_bars()
    datasets.Dataset.from_dict({"text": ["a"]}).save_to_disk(tmp_path / "words")
    with pytest.raises(LikewiseError, match=r"no column of pictures \(it has: text\)"):
        read(tmp_path / "words", "hf", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(LikewiseError, match=r"neither state.json nor dataset_dict.json"):
        read(tmp_path / "empty", "hf")


def test_a_damaged_hugging_face_folder_is_one_sentence(tmp_path: Path) -> None:
    rows_of([Image.new("RGB", (9, 9))]).save_to_disk(tmp_path)
    arrow = tmp_path / "data-00000-of-00001.arrow"
    arrow.write_bytes(arrow.read_bytes()[:40])
    with pytest.raises(LikewiseError, match=r"arrow cannot be read \(.*\): copy it again"):
        read(tmp_path, "hf", tmp_path / "out")
    contents: list[object] = [{}, [], {"_data_files": 3}, {"_data_files": [{}]}]
    for content in contents:
        write_json(tmp_path / "state.json", content)
        with pytest.raises(LikewiseError, match="lists no `_data_files`"):
            read(tmp_path, "hf", tmp_path / "out")
    write_json(tmp_path / "dataset_dict.json", {"splits": None})
    with pytest.raises(LikewiseError, match="lists no `splits`"):
        read(tmp_path, "hf", tmp_path / "out")


def test_odd_columns_do_not_get_in_the_way(tmp_path: Path) -> None:
    features = datasets.Features(
        {
            "photo": datasets.Image(),
            "image": datasets.Value("string"),
            "row": datasets.Value("int32"),
            "split": datasets.Value("string"),
            "tags": datasets.Sequence(datasets.Value("string")),
            "grid": datasets.Array2D(shape=(2, 2), dtype="float32"),
            "breed": datasets.ClassLabel(names=["cat", "dog"]),
        }
    )
    datasets.disable_progress_bars()
    row = {"image": "x", "row": 9, "split": "z", "tags": ["a"], "grid": [[1.0, 2.0], [3.0, 4.0]], "breed": None}
    pictures = [{"photo": Image.new("RGB", (9, 9)), **row}, {"photo": Image.new("L", (9, 9)), **row, "breed": 1}]
    datasets.Dataset.from_list(pictures, features=features).save_to_disk(tmp_path / "saved")
    reading = read(tmp_path / "saved", "hf", tmp_path / "out")
    first = reading.rows.row(1, named=True)
    assert (first["image"], first["image_in_source"], first["row"], first["row_in_source"]) == (
        *("images/0000002.png", "x", 2, 9),
    )
    assert (first["split"], first["part"], first["tags"], first["category"]) == ("z", None, ["a"], "dog")
    made = make_catalog(WorkspaceFolder(tmp_path / "ws"), reading.rows, reading.root, "hf")
    assert len(made.catalog) == 2


def test_relative_paths_are_looked_for_beside_the_data(tmp_path: Path) -> None:
    picture(tmp_path / "data" / "cats" / "a.png")
    rows = pl.DataFrame({"image": [{"bytes": None, "path": f"cats/{name}.png"} for name in ("a", "gone")]})
    rows.write_parquet(tmp_path / "data" / "train.parquet")
    for given in (tmp_path / "data", tmp_path / "data" / "train.parquet"):
        reading = read(given, "hf")
        assert reading.coverage.files[0].file == "train.parquet"
        assert reading.rows["image"].to_list() == ["cats/a.png", "cats/gone.png"]
        assert (reading.root, reading.coverage.missing) == (tmp_path / "data", ("cats/gone.png",))
    assert read(tmp_path / "data", "hf", tmp_path / "ws").coverage.found == 1


def test_a_split_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    rows_of([Image.new("RGB", (9, 9))]).save_to_disk(tmp_path / "evil")
    write_json(tmp_path / "in" / "dataset_dict.json", {"splits": ["../evil"]})
    reading = read(tmp_path / "in", "hf", tmp_path / "out")
    assert reading.rows["image"].to_list() == ["___evil/0000001.png"]
    assert (tmp_path / "out" / "___evil" / "0000001.png").is_file()
