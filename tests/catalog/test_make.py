"""A catalog is made once; everything wrong with its pictures is found then, with the row it stands in."""

import os
import struct
import unicodedata
import zlib
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import pytest
from PIL import Image

from likewise.catalog import catalog_fingerprint, load_image, make_catalog, read_catalog, select_catalog_rows
from likewise.catalog.check import MAX_PIXELS, check_image
from likewise.catalog.images import open_picture
from likewise.catalog.readers import read
from likewise.errors import LikewiseError
from likewise.status import workspace_status
from likewise.workspace import WorkspaceFolder, read_json

Form = Literal["NFC", "NFD"]


def save(path: Path, mode: str = "RGB", size: tuple[int, int] = (32, 24), **options: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(len(path.name)).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(noise).convert(mode).save(path, **options)  # type: ignore[arg-type]


def black_png(path: Path, width: int, height: int) -> None:
    """A picture of one bit a pixel: a small file, however large the picture."""
    lines = zlib.compress(bytes(1 + (width + 7) // 8) * height, 1)
    parts = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)), (b"IDAT", lines), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


def test_a_folder_gives_categories_from_its_sub_folders(tmp_path: Path) -> None:
    save(tmp_path / "in" / "boots" / "a b.jpg")
    save(tmp_path / "in" / "boots" / "deep" / "c.PNG")
    save(tmp_path / "in" / "loose.webp")
    save(tmp_path / "in" / ".hidden" / "no.jpg")
    (tmp_path / "in" / "notes.txt").write_text("not a picture")
    reading = read(tmp_path / "in")
    workspace = WorkspaceFolder(tmp_path / "ws")
    make_catalog(workspace, reading.rows, reading.root, "folder")
    catalog = read_catalog(workspace)
    assert catalog.select("image", "item", "category").rows() == [
        ("boots/a b.jpg", "boots/a b.jpg", "boots"),
        ("boots/deep/c.PNG", "boots/deep/c.PNG", "boots"),
        ("loose.webp", "loose.webp", None),
    ]
    assert catalog.row(0, named=True)["width"] == 32
    assert workspace.root == tmp_path / "in"


def test_every_problem_is_reported_with_its_row_and_good_rows_go_on(tmp_path: Path) -> None:
    root = tmp_path / "in"
    save(root / "good.jpg")
    save(root / "whole.jpg", size=(200, 200))
    (root / "truncated.jpg").write_bytes((root / "whole.jpg").read_bytes()[:3000])
    (root / "whole.jpg").unlink()
    (root / "empty.jpg").write_bytes(b"")
    (root / "noise.png").write_bytes(b"this is not a picture at all")
    save(root / "tiny.png", size=(4, 40))
    save(root / "cmyk.jpg", mode="CMYK")
    save(root / "palette.png", mode="P")
    rotated = Image.Exif()
    rotated[0x0112] = 6
    save(root / "turned.jpg", exif=rotated)
    (root / "twin.jpg").write_bytes((root / "good.jpg").read_bytes())
    black_png(root / "huge.png", 20_000, 20_000)
    names = [
        *("good.jpg", "missing.jpg", "truncated.jpg", "empty.jpg", "noise.png", "tiny.png", "cmyk.jpg"),
        *("palette.png", "turned.jpg", "twin.jpg", "huge.png", "good.jpg", None),
    ]
    workspace = WorkspaceFolder(tmp_path / "ws")
    made = make_catalog(workspace, pl.DataFrame({"image": names}), root, "table")
    found = {(row["row"], row["problem"]): row for row in made.problems.iter_rows(named=True)}
    assert {key: row["kept"] for key, row in found.items()} == {
        (2, "missing file"): False,
        (3, "truncated"): False,
        (4, "unreadable"): False,
        (5, "unreadable"): False,
        (6, "unusable size"): False,
        (7, "not RGB"): True,
        (8, "not RGB"): True,
        (9, "EXIF rotation"): True,
        (10, "same picture"): True,
        (11, "unusable size"): False,
        (12, "duplicate key"): False,
        (13, "no key"): False,
    }
    assert found[12, "duplicate key"]["detail"] == "row 1 already has this image"
    assert found[10, "same picture"]["detail"] == "the file is identical to good.jpg"
    assert f"{MAX_PIXELS:,}" in found[11, "unusable size"]["detail"]
    assert made.catalog["image"].to_list() == ["cmyk.jpg", "good.jpg", "palette.png", "turned.jpg", "twin.jpg"]
    assert pl.read_parquet(workspace.problems_file).equals(made.problems)
    assert read_json(workspace.settings_file)["left_out"] == 8


def test_a_picture_has_a_hundred_million_pixels_at_most(tmp_path: Path) -> None:
    """Its header says so, before it is unpacked; Pillow's own limit lies higher."""
    black_png(tmp_path / "largest.png", 10_000, 10_000)
    black_png(tmp_path / "larger.png", 10_001, 10_000)
    workspace = WorkspaceFolder(tmp_path / "ws")
    made = make_catalog(workspace, pl.DataFrame({"image": ["largest.png", "larger.png"]}), tmp_path, "table")
    assert made.catalog["image"].to_list() == ["largest.png"]
    (found,) = made.problems.filter(~pl.col("kept")).iter_rows(named=True)
    assert (found["image"], found["problem"]) == ("larger.png", "unusable size")
    assert found["detail"] == "10001 x 10000: more than 100,000,000 pixels"


def test_a_picture_that_is_postscript_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow would start Ghostscript for it, whatever the file is called."""
    ran, program = tmp_path / "ran", tmp_path / "bin" / "gs"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    monkeypatch.setattr("PIL.EpsImagePlugin.gs_binary", None)
    code = tmp_path / "dress.jpg"
    code.write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 50 50\n%%EndComments\nshowpage\n%%EOF\n")
    assert check_image(code).fault == ("unreadable", "not a picture that Pillow can open")
    with pytest.raises(LikewiseError, match="cannot be read as a picture"):
        open_picture(code, "this file")
    assert not ran.exists()


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_tables_keep_their_further_columns(tmp_path: Path, ending: str) -> None:
    save(tmp_path / "a.png")
    save(tmp_path / "b.png")
    rows = pl.DataFrame({"image": ["a.png", "b.png"], "item": [7, None], "caption": ["x", "ü, y"], "row": [5, 6]})
    path = tmp_path / f"catalog{ending}"
    if ending == ".parquet":
        rows.write_parquet(path)
    elif ending == ".jsonl":
        rows.write_ndjson(path)
    else:
        rows.write_csv(path, separator="\t" if ending == ".tsv" else ",")
    reading = read(path)
    workspace = WorkspaceFolder(tmp_path / "ws")
    make_catalog(workspace, reading.rows, reading.root, "table")
    catalog = read_catalog(workspace)
    assert catalog["item"].to_list() == ["7", "b.png"]  # an image without an item is an item of its own
    assert catalog["caption"].to_list() == ["x", "ü, y"]
    assert catalog["row_in_source"].to_list() == [5, 6]


@pytest.mark.parametrize("name", [b"caf\xe9.png", b" lead.png", b"two\nlines.png"])
@pytest.mark.parametrize("reader", ["folder", "files"])
def test_a_file_whose_name_cannot_be_a_key_is_left_out_and_no_advice_returns_to_it(
    tmp_path: Path, name: bytes, reader: str
) -> None:
    """Not UTF-8, of several lines, blanks around it: neither a missing picture, nor one that `update` would add."""
    save(tmp_path / "in" / "a.png")
    odd = Path(os.fsdecode(os.fsencode(tmp_path / "in") + b"/" + name))
    odd.parent.mkdir(exist_ok=True)
    odd.write_bytes((tmp_path / "in" / "a.png").read_bytes())
    reading = read(tmp_path / "in", reader)
    assert reading.rows["image"].to_list() == ["a.png"]
    assert "1 files were left out because their names cannot be keys" in reading.coverage.remarks[0]
    workspace = WorkspaceFolder(tmp_path / "ws")
    make_catalog(workspace, reading.rows, reading.root, reader)
    assert workspace_status(workspace).next == f"likewise encode {workspace.quoted}"


@pytest.mark.parametrize(("there", "named"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_a_name_with_accents_in_another_unicode_form_is_pointed_out(tmp_path: Path, there: Form, named: Form) -> None:
    save(tmp_path / unicodedata.normalize(there, "été.png"))
    if (tmp_path / unicodedata.normalize(named, "été.png")).exists():
        pytest.skip("this file system takes both forms for one name: NOT run")
    fault = check_image(tmp_path / unicodedata.normalize(named, "été.png")).fault
    assert fault is not None and f"with accents in another Unicode form ({there}): rename it" in fault[1]


def test_item_007_is_not_item_7(tmp_path: Path) -> None:
    for name in ("a.png", "b.png", "c.png"):
        save(tmp_path / name)
    (tmp_path / "catalog.csv").write_text("image,item,price\na.png,007,1.5\nb.png,7,2\nc.png,1e5,3\n")
    reading = read(tmp_path / "catalog.csv")
    made = make_catalog(WorkspaceFolder(tmp_path / "ws"), reading.rows, reading.root, "table")
    assert made.catalog["item"].to_list() == ["007", "7", "1e5"]
    assert made.catalog["price"].sum() == 6.5  # other columns keep their numbers


def test_mistakes_are_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(LikewiseError, match="holds no pictures"):
        read(tmp_path / "empty")
    with pytest.raises(LikewiseError, match="does not exist"):
        read(tmp_path / "nowhere")
    with pytest.raises(LikewiseError, match="no reader 'nosuch'"):
        read(tmp_path, "nosuch")
    (tmp_path / "table.csv").write_text("photo\na.jpg\n")
    reading = read(tmp_path / "table.csv")
    with pytest.raises(LikewiseError, match=r"no column `image` \(it has: row, photo\)"):
        make_catalog(WorkspaceFolder(tmp_path / "ws"), reading.rows, reading.root, "table")
    (tmp_path / "table.xml").write_text("<a/>")
    with pytest.raises(LikewiseError, match="no table I can read"):
        read(tmp_path / "table.xml")
    with pytest.raises(LikewiseError, match=r"none of the 1 rows .*first: row 1, no.jpg: .* does not exist"):
        make_catalog(WorkspaceFolder(tmp_path / "ws"), pl.DataFrame({"image": ["no.jpg"]}), tmp_path, "table")
    with pytest.raises(LikewiseError, match="not a workspace"):
        read_catalog(WorkspaceFolder(tmp_path / "ws"))


def test_an_existing_workspace_is_not_overwritten(workspace: WorkspaceFolder, shapes_table: Path) -> None:
    reading = read(shapes_table)
    before = workspace.catalog_file.read_bytes()
    with pytest.raises(LikewiseError, match="already holds a workspace"):
        make_catalog(workspace, reading.rows, reading.root, "table")
    make_catalog(workspace, reading.rows, reading.root, "table", replace=True)
    assert workspace.catalog_file.read_bytes() == before  # the same rows give the same bytes


def test_fingerprint_changes_with_a_picture(workspace: WorkspaceFolder, shapes_table: Path) -> None:
    before = catalog_fingerprint(read_catalog(workspace))
    reading = read(shapes_table)
    save(shapes_table.parent / "circle" / "red-0.png")
    make_catalog(workspace, reading.rows, reading.root, "table", replace=True)
    assert catalog_fingerprint(read_catalog(workspace)) != before


def test_selecting_rows(workspace: WorkspaceFolder) -> None:
    catalog = read_catalog(workspace)
    assert len(select_catalog_rows(catalog, None)) == 24
    assert len(select_catalog_rows(catalog, "domain=wild")) == 12
    assert len(select_catalog_rows(catalog, "domain=wild,category=circle")) == 4
    with pytest.raises(LikewiseError, match="cannot select images by 'colour=red'"):
        select_catalog_rows(catalog, "colour=red")
    with pytest.raises(LikewiseError, match="no image of the catalog meets 'domain=moon'"):
        select_catalog_rows(catalog, "domain=moon")


def test_pictures_are_read_upright_and_rgb(tmp_path: Path) -> None:
    half = Image.new("RGB", (40, 20), "white")
    half.paste("red", (0, 0, 20, 20))  # red on the left
    tag = Image.Exif()
    tag[0x0112] = 6  # shown turned clockwise: red on top
    half.save(tmp_path / "turned.jpg", exif=tag, quality=95)
    upright = load_image(tmp_path / "turned.jpg")
    assert upright.size == (20, 40)
    red, green, _ = upright.getpixel((10, 5))  # type: ignore[misc]
    assert red > 200 > 100 > green
    Image.new("RGBA", (9, 9), (255, 0, 0, 0)).save(tmp_path / "clear.png")
    assert load_image(tmp_path / "clear.png").getpixel((4, 4)) == (255, 255, 255)
    Image.fromarray(np.full((9, 9), 32768, dtype=np.uint16)).save(tmp_path / "deep.png")
    assert load_image(tmp_path / "deep.png").getpixel((4, 4))[0] in (127, 128)  # type: ignore[index]
    Image.new("CMYK", (16, 16), (0, 255, 255, 0)).save(tmp_path / "cmyk.jpg")  # no cyan: red
    Image.new("RGB", (9, 9), "red").quantize(4).save(tmp_path / "palette.png")
    frames = [Image.new("RGB", (9, 9), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "animated.gif", save_all=True, append_images=frames[1:])
    for name in ("cmyk.jpg", "palette.png", "animated.gif"):
        red, green, blue = load_image(tmp_path / name).getpixel((4, 4))  # type: ignore[misc]
        assert (red > 250, green < 5, blue < 5) == (True, True, True), name
    save(tmp_path / "large.jpg", size=(800, 600))
    assert 128 <= min(load_image(tmp_path / "large.jpg", at_least=128).size) < 600


def test_an_item_has_a_name_of_one_line(tmp_path: Path) -> None:
    save(tmp_path / "a.jpg")
    workspace = WorkspaceFolder(tmp_path / "ws")
    rows = pl.DataFrame({"image": ["a.jpg"], "item": ["x" * 100_000]})
    with pytest.raises(LikewiseError, match="row 1: the column item holds 'xxx"):
        make_catalog(workspace, rows, tmp_path, "table")
    (tmp_path / "rows.jsonl").write_text('{"image": "a.jpg", "item": [["x"], {"z": null}]}\n{"image": "a.jpg"}\n')
    assert len(read(tmp_path / "rows.jsonl").rows) == 1  # a list is no name: its line is left out


def test_pipes_devices_and_keys_that_lead_elsewhere_are_left_out(tmp_path: Path) -> None:
    root = tmp_path / "in"
    save(root / "good.jpg")
    save(tmp_path / "outside.jpg")
    os.mkfifo(root / "pipe.jpg")
    (root / "zero.jpg").symlink_to("/dev/zero")
    odd = [
        "../outside.jpg",
        str(tmp_path / "outside.jpg"),
        "a\x00.jpg",
        "a\n.jpg",
        "x" * 5000,
        "deep/../../outside.jpg",
    ]
    workspace = WorkspaceFolder(tmp_path / "ws")
    made = make_catalog(workspace, pl.DataFrame({"image": ["good.jpg", "pipe.jpg", "zero.jpg", *odd]}), root, "table")
    assert made.catalog["image"].to_list() == ["good.jpg"]
    problems = dict(made.problems.select("row", "problem").iter_rows())
    assert [problems[row] for row in range(2, 10)] == ["unreadable"] * 2 + ["unusable key"] * 6
