"""What a model of outfits learned is noticed by every command that scores it: by item, by the content of pictures, and
by whole looks, whatever files and items are called now."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from likewise.outfits.bundle import write_test
from likewise.outfits.protocol import Item, OutfitQuestion
from likewise.web.app import create_app
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run

__all__ = ["run"]
pytest.importorskip("torch")
KINDS = ("dresses", "shoes", "bags")
N_LEARNED, N_ITEMS = 6, 9
SAID = {
    "another view of an item": "type-aware † learned from 3 of its images",
    "a copy of a picture": "type-aware † learned from 3 of its images",
    "a look": "type-aware † learned from 1 of its answers",
}
WAYS = (*SAID, "nothing")


@dataclass(frozen=True)
class Leaks:
    """A model that learned looks of some items, and pictures under new names that are, or are not, of those items."""

    model: Path
    elsewhere: Path
    folder: Path

    def picture(self, way: str, kind: str) -> str:
        """The file of the copied catalog: of items 0, 1 and 2 of the kinds, which one look wears, or of later ones."""
        place = KINDS.index(kind)
        number = {"a look": 0, "nothing": N_LEARNED}.get(way, place)  # 0, 1, 2 were never worn together
        view = "b" if way == "another view of an item" else "a"
        return f"renamed-{kind}-{number}-{view}.png"

    def questions(self, way: str) -> list[OutfitQuestion]:
        """A look with a blank; the wrong choice was not learned from."""
        wear = [Item(self.picture(way, kind)[:-4], kind, self.picture(way, kind)) for kind in KINDS]
        other = f"renamed-bags-{N_ITEMS - 1}-a"
        wrong = Item(other, "bags", f"{other}.png")
        return [OutfitQuestion("q", "AAT", tuple(wear[:2]), (wear[2], wrong), 2, "color", "same color", right=0)]


@pytest.fixture(scope="module")
def leaks(tmp_path_factory: pytest.TempPathFactory) -> Leaks:
    from typer.testing import CliRunner

    from likewise.cli.app import app

    folder, rng = tmp_path_factory.mktemp("leaks"), np.random.default_rng(0)
    rows, copies, pictures = [], [], folder / "pictures"
    pictures.mkdir()
    for kind in KINDS:
        for number in range(N_ITEMS):
            for view in "ab":
                pixels = rng.integers(0, 255, (24, 24, 3), dtype=np.uint8)
                for name in (f"{kind}-{number}-{view}.png", f"renamed-{kind}-{number}-{view}.png"):
                    Image.fromarray(pixels).save(pictures / name)
                rows.append((f"{kind}-{number}-{view}.png", f"{kind}-{number}", kind))
                copies.append((f"renamed-{kind}-{number}-{view}.png", f"renamed-{kind}-{number}-{view}", kind))
    for name, table in (("catalog", rows), ("copies", copies)):
        pl.DataFrame(table, schema=["image", "item", "category"], orient="row").write_csv(pictures / f"{name}.csv")
    looks = [(f"o{turn}-{n}", f"{kind}-{n}") for n in range(N_LEARNED) for turn in range(3) for kind in KINDS]
    pl.DataFrame(looks, schema=["outfit", "item"], orient="row").write_csv(pictures / "outfits.csv")
    steps = (
        ("new", folder / "school", pictures / "catalog.csv"),
        ("encode", folder / "school", "--with", "colour"),
        ("outfits", "train", folder / "school", "--model", "type-aware", "--with", "colour", "--preset", "quick",
         "--outfits", pictures / "outfits.csv"),
        ("new", folder / "elsewhere", pictures / "copies.csv"),
        ("encode", folder / "elsewhere", "--with", "colour"),
    )  # fmt: skip
    for words in steps:
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == 0, done.output
    return Leaks(folder / "school" / "outfit_models" / "type-aware", folder / "elsewhere", pictures)


def said(text: str) -> str:
    return " ".join(text.split())


def assert_told(shown: str, way: str) -> None:
    if way == "nothing":
        assert "†" not in shown and "learned from" not in shown
    else:
        assert SAID[way] in said(shown)


def write_questions(leaks: Leaks, way: str, path: Path) -> Path:
    pictures = leaks.folder
    write_test(path, leaks.questions(way), lambda image: (pictures / image).read_bytes(), title="t", licence="CC0-1.0")
    return path


@pytest.mark.parametrize("way", WAYS)
def test_score_marks_it(leaks: Leaks, run: Run, tmp_path: Path, way: str) -> None:
    test = write_questions(leaks, way, tmp_path / "taste.zip")
    shown = run("outfits", "score", test, "--model", leaks.model, "--no-page")
    assert shown.code == 0, shown.err
    assert_told(shown.out, way)


@pytest.mark.parametrize("way", WAYS)
def test_checkpoints_refuses_it(leaks: Leaks, run: Run, tmp_path: Path, way: str) -> None:
    test = write_questions(leaks, way, tmp_path / "taste.zip")
    done = run("outfits", "checkpoints", leaks.model, test, "--output", tmp_path / "out")
    if way == "nothing":
        assert done.code == 0, done.err
    else:
        assert done.code == 2 and SAID[way].replace(" †", "") in said(done.err)


@pytest.mark.parametrize("way", WAYS)
def test_benchmark_marks_it(leaks: Leaks, run: Run, way: str) -> None:
    [question] = leaks.questions(way)
    names = [item.item for item in question.items], [item.item for item in question.choices]
    row = {"split": "test", "question": "q", "items": names[0], "answers": names[1], "right": 0, "position": 3}
    (leaks.elsewhere / "tables").mkdir(exist_ok=True)
    pl.DataFrame([row]).write_parquet(leaks.elsewhere / "tables" / "questions.parquet")
    shown = run("outfits", "benchmark", leaks.elsewhere, "--model", leaks.model)
    assert shown.code == 0, shown.err
    assert_told(shown.out, way)


@pytest.mark.parametrize("as_file", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_a_look_is_marked(leaks: Leaks, run: Run, way: str, as_file: bool) -> None:
    """`complete`, `swap` and `rate` open looks in one way; items of the catalog, or pictures of one's own."""
    given = [
        f"{kind}={leaks.folder / leaks.picture(way, kind)}" if as_file else leaks.picture(way, kind)[:-4]
        for kind in KINDS
    ]
    rated = run("outfits", "rate", leaks.elsewhere, "--with", leaks.model, *(w for n in given for w in ("--item", n)))
    assert rated.code == 0, rated.err
    assert_told(rated.out, way)
    dress, _, bag = given
    completed = run(
        "outfits", "complete", leaks.elsewhere, "--with", leaks.model, "--item", dress, "--item", bag, "--want", "shoes"
    )
    assert completed.code == 0, completed.err
    assert ("† learned from 2 of its images" in said(completed.out)) == (way != "nothing")  # the look is not whole yet


@pytest.mark.parametrize("way", WAYS)
def test_the_page_of_looks_marks_it(leaks: Leaks, way: str) -> None:
    """A model's folder that was brought from another workspace still knows what it learned."""
    copied = leaks.elsewhere / "outfit_models" / "type-aware"
    shutil.copytree(leaks.model, copied, dirs_exist_ok=True)
    items = [leaks.picture(way, kind)[:-4] for kind in KINDS]
    settings = SiteSettings(workspace=WorkspaceFolder(leaks.elsewhere), port=8000, owner_key="the-owner-key")
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8000") as owner:
        owner.get("/owner/enter/the-owner-key")
        page = owner.get("/owner/looks", params={"item": items, "with": "type-aware"})
    assert page.status_code == 200, page.text
    if way == "nothing":
        assert "†" not in page.text and "learned from" not in page.text
    else:
        others = f"outfits with each of its {len(KINDS)} items, not from this look"
        learned = "this very look" if way == "a look" else others
        assert f"† type-aware learned from {learned}:" in said(page.text)
