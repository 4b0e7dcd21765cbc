"""`likewise search`: what models find for a picture, inside and outside of the catalog, before any label exists."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import likewise as lw
from likewise.catalog import items_of, read_catalog
from likewise.cli.search import short_names
from likewise.encoders import encode_catalog, import_vectors, read_vectors
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run


@pytest.fixture
def encoded(workspace: WorkspaceFolder) -> WorkspaceFolder:
    encode_catalog(workspace, ["colour", "shape"], workers=1)
    return workspace


def brute_force(workspace: WorkspaceFolder, encoder: str, image: str, k: int) -> list[str]:
    """The best image of every other item by float64 cosine, best first."""
    catalog = read_catalog(workspace)
    images, items = catalog["image"].to_list(), items_of(catalog)
    vectors = read_vectors(workspace, encoder, images).astype(np.float64)
    scores = vectors @ vectors[images.index(image)]
    listed: list[str] = []
    seen = {items[images.index(image)]}
    for row in np.lexsort((np.arange(len(images)), -scores.round(9))):
        if items[row] not in seen:
            seen.add(items[row])
            listed.append(images[row])
    return listed[:k]


def test_every_encoder_lists_the_nearest_other_items(encoded: WorkspaceFolder, run: Run) -> None:
    ran = run("search", encoded.path, "--image", "circle/red-0.png", "--with", "colour,shape", "--k", 4, "--json")
    rows = json.loads(ran.out)
    for encoder in ("colour", "shape"):
        found = [row["candidate"] for row in rows if row["encoder"] == encoder]
        assert found == brute_force(encoded, encoder, "circle/red-0.png", 4)
    lists = {encoder: {row["item"] for row in rows if row["encoder"] == encoder} for encoder in ("colour", "shape")}
    by_file = run("search", encoded.path, "--image", encoded.root / "circle/red-0.png", "--k", 4, "--json")
    assert [row["item"] for row in json.loads(by_file.out)] == [row["item"] for row in rows]  # its own item left out
    for row in rows:
        [other] = {"colour", "shape"} - {row["encoder"]}
        assert row["only_here"] == (row["item"] not in lists[other])


def test_the_table_fits_a_terminal_of_80_columns(
    encoded: WorkspaceFolder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("search", encoded.path, "--image", "circle/red-0.png").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "colour" in lines[0] and "shape" in lines[0]
    assert "red-0" in "".join(lines[1:3])  # another red thing is what colour finds first
    assert any(shape in "".join(lines[1:3]) for shape in ("square", "triangle", "circle"))  # its category below it


def test_encoders_that_do_not_fit_are_named(encoded: WorkspaceFolder, run: Run) -> None:
    image = ("search", encoded.path, "--image", "circle/red-0.png")
    assert "not shown" not in run(*image).out
    for name in ("c", "d", "e"):
        shutil.copytree(encoded.path / "vectors" / "colour", encoded.path / "vectors" / name)
    assert "not shown: e; choose up to four with --with" in run(*image, "--k", 2).out
    assert "not shown" not in run(*image, "--with", "colour,shape").out


def test_keys_stay_different_when_they_are_shortened() -> None:
    numbered = [f"shop/images/2022_3700{number:04d}_10.jpg" for number in range(40)]
    for width in (8, 10, 14, 60):
        names = short_names(numbered, width)
        assert len(set(names.values())) == len(numbered) or width == 8
        assert max(map(len, names.values())) <= width
    kinds = ["dresses/0001-front.jpg", "skirts/0001-front.jpg"]
    assert len(set(short_names(kinds, 10).values())) == 2
    assert short_names(["a/x.png", "a/y.png"], 10) == {"a/x.png": "x", "a/y.png": "y"}
    assert short_names([], 10) == {}


def test_a_picture_outside_of_the_catalog_finds_its_own_twin(
    encoded: WorkspaceFolder, run: Run, tmp_path: Path
) -> None:
    outside = tmp_path / "mine.png"
    lw.load_image(encoded.root / "square/blue-1.png").save(outside)
    rows = json.loads(run("search", encoded.path, "--image", outside, "--k", 1, "--json").out)
    assert {row["candidate"] for row in rows} == {"square/blue-1.png"}
    assert all(row["score"] == pytest.approx(1.0, abs=1e-6) for row in rows)
    found = lw.Workspace(encoded.path).search("shape", lw.load_image(outside), k=1)
    assert found.table["candidate"].to_list() == ["square/blue-1.png"]


def test_reduced_vectors_see_an_outside_picture_as_they_saw_the_catalog(
    encoded: WorkspaceFolder, tmp_path: Path
) -> None:
    encode_catalog(encoded, ["colour?pca=5&on=all", "colour+shape"], workers=1)
    outside = tmp_path / "mine.png"
    lw.load_image(encoded.root / "square/blue-1.png").save(outside)
    names = [name for name in encoded.encoders() if name not in ("colour", "shape")]
    found = lw.Workspace(encoded.path).search(names, outside, k=1).table
    assert found["candidate"].to_list() == ["square/blue-1.png"] * 2
    assert found["score"].to_numpy() == pytest.approx(np.ones(2), abs=1e-6)


def test_a_condition_keeps_candidates_and_a_figure_is_drawn(encoded: WorkspaceFolder, run: Run, tmp_path: Path) -> None:
    figure = tmp_path / "found.png"
    options = ("--image", "circle/red-0.png", "--where", "category=square", "--save", figure, "--json")
    rows = json.loads(run("search", encoded.path, *options).out)
    assert {row["category"] for row in rows} == {"square"}
    with Image.open(figure) as drawn:
        assert drawn.width > 400


def test_mistakes_are_answered_in_a_sentence(encoded: WorkspaceFolder, run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"no picture")
    import_vectors(encoded, "mine", _vectors_file(encoded, tmp_path))
    for image, options, told in (
        (broken, (), "cannot be read as a picture"),
        ("nothing.jpg", (), "neither a file nor an image of"),
        ("circle/red-0.png", ("--with", "dino"), "there are no dino vectors"),
        ("circle/red-0.png", ("--with", "a,b,c,d,e"), "at most 4"),
        ("circle/red-0.png", ("--where", "colour=red"), "cannot select images by 'colour=red'"),
        ("circle/red-0.png", ("--save", "x.doc"), "end its name in .png"),
        (encoded.root.parent / "ws" / "outside.png", ("--with", "mine"), "brought in from elsewhere"),
    ):
        if str(image).endswith("outside.png"):
            lw.load_image(encoded.root / "square/blue-1.png").save(image)
        ran = run("search", encoded.path, "--image", image, *options)
        assert ran.code == 2 and told in ran.err, ran.err


def _vectors_file(workspace: WorkspaceFolder, folder: Path) -> Path:
    images = read_catalog(workspace)["image"].to_list()
    file = folder / "mine.npz"
    np.savez(file, vectors=read_vectors(workspace, "colour", images), keys=np.array(images))
    return file


def test_without_vectors_the_next_command_is_named(workspace: WorkspaceFolder, run: Run) -> None:
    ran = run("search", workspace.path, "--image", "circle/red-0.png")
    assert ran.code == 2 and f"likewise encode {workspace.path}" in ran.err
