"""Published tests as they come, and a test made from stylists' outfits."""

import json
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from likewise.errors import LikewiseError
from likewise.outfits.bundle import open_test
from likewise.outfits.import_test import read_published_test
from likewise.outfits.protocol import Item, Outfit
from likewise.outfits.stylists_test import stylists_aat, stylists_lat
from tests.cli.conftest import Run, run

__all__ = ["run"]


def picture(path: Path, shade: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (12, 12), (shade, 90, 200 - shade)).save(path)


def a100(folder: Path) -> Path:
    """A made test in the layout that is described: two questions of each kind, five choices."""
    for kind, number in (("LAT", 1), ("LAT", 2), ("AAT", 5), ("AAT", 21)):
        for place, name in enumerate(("question_1.jpg", "question_2.jpg", *(f"{letter}.jpg" for letter in "ABCDE"))):
            picture(folder / kind / f"{number:03d}" / name, 20 * place + number)
    rows = [("LAT", 1, "B", 10, 70, 5, 5, 10), ("LAT", 2, "E", 0, 0, 10, 20, 70), ("AAT", 5, "C", *(None,) * 5),
            ("AAT", 21, "A", *(None,) * 5)]  # fmt: skip
    columns = ["test", "question", "answer", *"ABCDE"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(folder / "answers.csv")
    return folder


def test_a100s_folders_become_a_test_that_is_scored(run: Run, tmp_path: Path) -> None:
    source = a100(tmp_path / "A100")
    done = run("outfits", "import-test", source, tmp_path / "a100", "--layout", "a100", "--licence", "research only")
    assert done.code == 0, done.err
    questions = {question.name: question for question in open_test(tmp_path / "a100").questions}
    assert {name: len(q.choices) for name, q in questions.items()} == dict.fromkeys(
        ("LAT-001", "LAT-002", "AAT-005", "AAT-021"), 5
    )
    assert questions["LAT-001"].people == (10, 70, 5, 5, 10) and questions["AAT-005"].right == 2
    assert (questions["AAT-005"].dimension, questions["AAT-021"].dimension) == ("color", "style")
    scored = run("outfits", "score", tmp_path / "a100", "--model", "mean-cosine:colour", "--no-page", "--json")
    assert scored.code == 0, scored.err
    assert {row["score"] for row in json.loads(scored.out)["scores"]} >= {"LATs", "mLATs", "AATs"}


def test_a_table_of_questions_becomes_a_test_and_dead_pictures_are_counted(run: Run, tmp_path: Path) -> None:
    for name in "abcdefg":
        picture(tmp_path / "pictures" / f"{name}.jpg", 30)
    rows = [("q1", "a.jpg b.jpg", "c.jpg;d.jpg;e.jpg;f.jpg;g.jpg", "d.jpg", "AAT", "color", "same color"),
            ("q2", "a.jpg", "c.jpg d.jpg", "0", "FITB", None, None),
            ("q3", "a.jpg", "c.jpg gone.jpg", "0", "FITB", None, None)]  # fmt: skip
    columns = ["question", "items", "choices", "right", "kind", "dimension", "sub_dimension"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(tmp_path / "questions.csv")
    found = read_published_test(tmp_path / "questions.csv", images=tmp_path / "pictures")
    assert [question.right for question in found.questions] == [1, 0] and found.n_left_out == 1
    done = run("outfits", "import-test", tmp_path / "questions.csv", tmp_path / "t.zip", "--images",
               tmp_path / "pictures", "--licence", "CC0-1.0")  # fmt: skip
    assert done.code == 0 and "left out: 1" in done.out
    bad = pl.DataFrame([("q", "a.jpg", "c.jpg d.jpg", "9")], schema=columns[:4], orient="row")
    bad.write_csv(tmp_path / "bad.csv")
    with pytest.raises(LikewiseError, match="has no choice 9"):
        read_published_test(tmp_path / "bad.csv", images=tmp_path / "pictures")
    with pytest.raises(LikewiseError, match="no layout 'b200'"):
        read_published_test(tmp_path, "b200")


def test_a_test_from_stylists_outfits_asks_one_dimension_alone() -> None:
    colours, fabrics = (
        ("red", "blue", "green", "black", "white", "pink"),
        ("knit", "denim", "silk", "wool", "felt", "lace"),
    )
    rows = [
        (f"{kind}-{c}-{f}.jpg", f"{kind}-{c}-{f}", kind, c, f, f"{c} {kind} of {f}")
        for kind in ("tops", "pants", "shoes") for c in colours for f in fabrics
    ]  # fmt: skip
    catalog = pl.DataFrame(rows, schema=["image", "item", "category", "colour", "fabric", "title"], orient="row")
    about = {row[1]: row for row in rows}
    by_kind = [[row for row in rows if row[2] == kind] for kind in ("tops", "pants", "shoes")]
    outfits = [
        Outfit(f"o{n}", tuple(Item(row[1], row[2], row[0]) for row in (kind[n % 36] for kind in by_kind)))
        for n in range(72)
    ]
    lat = stylists_lat(outfits, 30)
    assert len(lat) == 30 and all(len(q.choices) == 5 and q.people[q.right or 0] == 1 for q in lat)
    asked = stylists_aat(outfits, catalog, 40)
    assert {question.dimension for question in asked} == {"color", "material"}
    for question in asked:
        own, other = (3, 4) if question.dimension == "color" else (4, 3)
        items = [about[item.item] for item in question.choices]
        assert len({row[own] for row in items}) == 5 and len({row[other] for row in items}) == 1
    with pytest.raises(LikewiseError, match="no column of colours or fabrics"):
        stylists_aat(outfits, catalog.drop("colour", "fabric"), 5)


def test_choices_share_a_column_of_many_values_too() -> None:
    """A shop has a hundred types of things in twenty categories: a sandal beside a boot is no question of colour."""
    colours = ("red", "blue", "green", "black", "white", "pink")
    rows = [
        (f"{kind}-{c}-{n}.jpg", f"{kind}-{c}-{n}", kind, c, f"type {n}")
        for kind in ("tops", "pants", "shoes") for n in range(70) for c in colours
    ]  # fmt: skip
    catalog = pl.DataFrame(rows, schema=["image", "item", "category", "colour", "type"], orient="row")
    types = dict(catalog.select("item", "type").iter_rows())
    outfits = [Outfit(f"o{n}", tuple(Item(row[1], row[2], row[0]) for row in rows[n::420])) for n in range(420)]
    asked = stylists_aat(outfits, catalog, 40)
    assert len(asked) == 40
    assert all(len({types[item.item] for item in question.choices}) == 1 for question in asked)
