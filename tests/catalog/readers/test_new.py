"""`likewise new` on data sets: coverage first, tables into the workspace, one sentence when there is no picture."""

import json
from pathlib import Path

import polars as pl
import pytest

from likewise.catalog.readers import layouts, read_stored_table
from likewise.cli import lists
from likewise.workspace import WorkspaceFolder, read_json

from ...cli.conftest import Run, run
from .made_layouts import source

__all__ = ["run"]  # the fixture


def test_both_orders_of_the_arguments(tmp_path: Path, run: Run) -> None:
    given = source("inshop", tmp_path / "in")
    first = run("new", tmp_path / "a", "--reader", "inshop", given)
    second = run("new", tmp_path / "b", given, "--reader", "inshop")
    assert (first.code, second.code) == (0, 0)
    assert (tmp_path / "a" / "catalog.parquet").read_bytes() == (tmp_path / "b" / "catalog.parquet").read_bytes()


def test_coverage_is_said_before_anything_else_and_tables_are_stored(tmp_path: Path, run: Run) -> None:
    ran = run("new", tmp_path / "ws", "--reader", "vsd", source("vsd", tmp_path / "in"))
    said = ran.out.replace("\n", "")
    assert said.index("4 pictures named, 3 found") < said.index("2 malformed") < said.index("3 images of 3 items")
    assert "entry 5: expected an image with id, path and phase" in said
    assert "labels.parquet: 2 rows" in said
    workspace = WorkspaceFolder(tmp_path / "ws")
    assert read_stored_table(workspace, "labels")["label"].to_list() == [1, 0]
    assert sorted(file.stem for file in workspace.tables_folder.iterdir()) == ["labels", "queries"]
    settings = read_json(workspace.settings_file)["source_settings"]
    assert settings["coverage"] == {"rows": 13, "images": 4, "found": 3, "missing": 1, "malformed": 2}
    assert settings["tables"] == ["labels", "queries"]


def test_json_has_coverage_and_tables(tmp_path: Path, run: Run) -> None:
    ran = run("new", tmp_path / "ws", source("sop", tmp_path / "in"), "--reader", "sop", "--json")
    numbers = json.loads(ran.out)
    assert next(iter(numbers)) == "coverage"
    assert numbers["coverage"]["missing_images"] == ["bicycle_final/111_1.JPG"]
    assert numbers["coverage"]["malformed_lines"][0].startswith("Ebay_test.txt, line 3: expected")
    assert (numbers["images"], numbers["left_out"], numbers["tables"]) == (2, 1, {})


@pytest.mark.parametrize("reader", ["cc3m", "cirr"])
def test_without_pictures_it_says_where_it_looked_and_makes_nothing(tmp_path: Path, run: Run, reader: str) -> None:
    given = source(reader, tmp_path / "in")
    for file in (tmp_path / "in").rglob("*.png"):
        file.unlink()
    ran = run("new", tmp_path / "ws", given, "--reader", reader)
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert f"under {tmp_path / 'in'}" in ran.err
    assert "read_tables" in ran.err
    assert "pictures named, 0 found" in ran.out
    assert not (tmp_path / "ws").exists()


def test_replacing_a_source_takes_its_tables_along(tmp_path: Path, run: Run) -> None:
    assert run("new", tmp_path / "ws", source("vsd", tmp_path / "vsd"), "--reader", "vsd").code == 0
    assert run("new", tmp_path / "ws", source("oml", tmp_path / "oml"), "--reader", "oml", "--replace").code == 0
    assert [file.name for file in (tmp_path / "ws" / "tables").iterdir()] == ["queries.parquet"]


def test_pictures_inside_a_data_set_are_written_into_the_workspace(tmp_path: Path, run: Run) -> None:
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (20, 20), "red").save(buffer, "JPEG")
    pl.DataFrame({"image": [{"bytes": buffer.getvalue(), "path": "a.jpg"}]}).write_parquet(tmp_path / "x.parquet")
    assert run("new", tmp_path / "ws", tmp_path / "x.parquet", "--reader", "hf").code == 0
    assert (tmp_path / "ws" / "images" / "x" / "0000001.jpg").is_file()
    assert read_json(tmp_path / "ws" / "workspace.json")["root"] == "images"  # the workspace can be moved


def test_the_list_of_readers(capsys: pytest.CaptureFixture[str]) -> None:
    lists.readers(as_json=True)
    assert {entry["reader"] for entry in json.loads(capsys.readouterr().out)} == set(layouts())
    lists.readers()
    printed = capsys.readouterr().out
    assert all(name in printed for name in layouts())
