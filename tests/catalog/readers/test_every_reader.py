"""What holds for every reader: coverage, one sentence for a wrong folder, never a traceback, whatever the files say."""

import json
import random
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from likewise.catalog import make_catalog, read_catalog
from likewise.catalog.readers import Reading, layouts, read, read_stored_table, read_tables
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

from .made_layouts import MADE, source

WITHOUT_PICTURES = {"cc3m", "sbu"}
NOTHING_TO_MISS = {"folder", "files", "mit_states", *WITHOUT_PICTURES}  # they list what is there
NOTHING_MALFORMED = {"folder", "files"}
JUNK: tuple[object, ...] = (None, 7, -1, "", "x", [], {}, [None], {"a": 1}, True, 1.5)


def test_every_layout_is_listed_has_a_file_and_is_tested() -> None:
    assert set(layouts()) == set(MADE) | {"hf", "hub"}
    for name in layouts():
        module = import_module(layouts()[name].module)
        assert callable(module.read)
        assert module.__doc__


@pytest.mark.parametrize("reader", MADE)
def test_coverage_rows_and_tables(tmp_path: Path, reader: str) -> None:
    reading = read(source(reader, tmp_path), reader)
    coverage = reading.coverage
    assert coverage.found == sum((reading.root / image).is_file() for image in reading.rows["image"].unique())
    assert coverage.images == reading.rows["image"].n_unique()
    assert bool(coverage.found) == (reader not in WITHOUT_PICTURES)
    assert bool(coverage.missing) == (reader not in NOTHING_TO_MISS)
    assert bool(coverage.malformed) == (reader not in NOTHING_MALFORMED)
    assert coverage.root == reading.root
    assert set(reading.tables) <= set(layouts()[reader].tables)
    assert set(reading.tables) == set(layouts()[reader].tables)
    json.dumps(coverage.as_dict())
    for table in reading.tables.values():  # every table fits into a workspace
        table.write_parquet(tmp_path / "table.parquet")


@pytest.mark.parametrize("reader", sorted(MADE.keys() - WITHOUT_PICTURES))
def test_what_is_there_becomes_a_workspace(tmp_path: Path, reader: str) -> None:
    reading = read(source(reader, tmp_path / "in"), reader)
    workspace = WorkspaceFolder(tmp_path / "ws")
    made = make_catalog(workspace, reading.rows, reading.root, reader, tables=reading.tables)
    assert len(read_catalog(workspace)) == reading.coverage.found
    assert made.n_left_out >= len(reading.coverage.missing)
    for name, table in reading.tables.items():
        assert read_stored_table(workspace, name).equals(table)
    with pytest.raises(LikewiseError, match="has no table 'nosuch'"):
        read_stored_table(workspace, "nosuch")


def test_tables_of_an_earlier_source_do_not_stay(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    workspace, rows = WorkspaceFolder(tmp_path / "ws"), pl.DataFrame({"image": ["a.png"]})
    before = {"labels": pl.DataFrame({"a": [1]}), "queries": pl.DataFrame({"a": [2]})}
    make_catalog(workspace, rows, tmp_path, "one", tables=before)
    make_catalog(workspace, rows, tmp_path, "two", tables={"queries": pl.DataFrame({"a": [3]})}, replace=True)
    assert [file.name for file in workspace.tables_folder.iterdir()] == ["queries.parquet"]
    assert read_stored_table(workspace, "queries")["a"].to_list() == [3]


@pytest.mark.parametrize("reader", MADE)
def test_a_folder_of_something_else_is_one_sentence(tmp_path: Path, reader: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(LikewiseError) as raised:
        read(tmp_path / "empty", reader)
    assert str(tmp_path / "empty") in str(raised.value)
    assert "\n" not in str(raised.value)


def test_any_reader_on_any_data_set_gives_a_reading_or_one_sentence(tmp_path: Path) -> None:
    sources = {name: source(name, tmp_path / name) for name in MADE}
    for given in sources.values():
        for reader in layouts():
            answers_or_explains(given, reader)


@pytest.mark.parametrize("reader", MADE)
def test_damaged_annotations_never_end_in_a_traceback(tmp_path: Path, reader: str) -> None:
    given = source(reader, tmp_path)
    files = [
        file
        for file in tmp_path.rglob("*")
        if file.suffix in (".json", ".txt", ".csv", ".tsv", ".mat") or not file.suffix
    ]
    files = [file for file in files if file.is_file()]
    dice = random.Random(reader)
    for file in files:
        before = file.read_bytes()
        damages = [before[: len(before) // 2], b"", b"\x00\xff\xfe", b"[]", b"{}", b"null", b"[[]]", b"3\n\n\n"]
        if file.suffix == ".json" and before.lstrip(b"\xef\xbb\xbf")[:1] in (b"[", b"{"):
            content = json.loads(before.decode("utf-8-sig"))
            damages += [json.dumps(damaged(content, dice)).encode() for _ in range(25)]
        elif file.suffix != ".mat":
            damages += [shuffled(before, dice) for _ in range(10)]
        for damage in damages:
            file.write_bytes(damage)
            answers_or_explains(given, reader)
        file.write_bytes(before)


def answers_or_explains(given: Path, reader: str) -> None:
    try:
        assert isinstance(read(given, reader), Reading)
    except LikewiseError as error:
        assert "\n" not in str(error)


def damaged(content: object, dice: random.Random) -> object:
    """A copy of a JSON value with one part, anywhere in it, replaced by something senseless."""
    if dice.random() < 0.15 or not content or not isinstance(content, list | dict):
        return dice.choice(JUNK)
    if isinstance(content, list):
        place = dice.randrange(len(content))
        return [damaged(value, dice) if n == place else value for n, value in enumerate(content)]
    chosen = dice.choice(list(content))
    if dice.random() < 0.2:
        return {key: value for key, value in content.items() if key != chosen}
    return {key: damaged(value, dice) if key == chosen else value for key, value in content.items()}


def shuffled(content: bytes, dice: random.Random) -> bytes:
    """Fields of random lines swapped, dropped or doubled."""
    lines = content.decode("utf-8", "replace").splitlines()
    for _ in range(2):
        place = dice.randrange(len(lines))
        words = lines[place].replace(",", " , ").split()
        dice.shuffle(words)
        lines[place] = " ".join(words[: dice.randrange(len(words) + 1)] * dice.choice((1, 2)))
    return "\n".join(lines).encode()


def test_read_tables_needs_no_picture(tmp_path: Path) -> None:
    tables = read_tables(source("cc3m", tmp_path), "cc3m")
    assert tables["captions"]["caption"].to_list() == ["a very typical bus station", "the other way round"]


def test_a_reader_may_be_spelt_with_dashes_and_pictures_may_lie_elsewhere(tmp_path: Path) -> None:
    given = source("coco_panoptic", tmp_path / "in")
    (tmp_path / "in" / "val2017").rename(tmp_path / "pictures")
    assert read(given, "coco-panoptic").coverage.found == 0
    assert read(given, "COCO-panoptic", tmp_path / "pictures").coverage.found == 1
