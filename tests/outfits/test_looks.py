"""From a table of products and a table of outfits to a number, and to looks that are completed, changed and rated."""

import json
from html import unescape
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from likewise.errors import LikewiseError
from likewise.labeling.store.experts import open_owner_session
from likewise.outfits.looks.scorer import CosineScorer, PlainScorer
from likewise.outfits.looks.stylist import LookFilter, LookStylist
from likewise.outfits.looks.variety import diversify
from likewise.outfits.looks.wardrobe import Wardrobe
from likewise.outfits.models.mean_cosine import MeanCosineModel
from likewise.outfits.vectors import VectorLookup
from likewise.outfits.web.look_service import LookService
from likewise.web.app import create_app
from likewise.web.security import SESSION_COOKIE, csrf_token
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run

__all__ = ["run"]
COLOURS = {"red": (200, 40, 40), "blue": (40, 60, 200), "green": (40, 160, 60), "sand": (220, 200, 150)}
KINDS = ("Shirts", "Trousers", "Footwear", "Bags")
PER_COLOUR = 9


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Products of four colours and kinds, with prices and seasons, and outfits of one colour each."""
    folder, rng = tmp_path_factory.mktemp("shop"), np.random.default_rng(0)
    rows = []
    for kind in KINDS:
        for colour, rgb in COLOURS.items():
            for number in range(PER_COLOUR):
                name = f"{kind.lower()}-{colour}-{number}"
                grain = rng.normal(scale=25.0, size=(8, 8, 1)) + rng.normal(scale=10.0, size=3)
                pixels = np.clip(np.array(rgb) + grain, 0, 255).astype(np.uint8).repeat(4, axis=0).repeat(4, axis=1)
                Image.fromarray(pixels).save(folder / f"{name}.png")
                season = "summer" if number % 2 else "winter"
                rows.append(
                    (f"{name}.png", name, kind, colour, season, 10.0 * (1 + number), f"{colour} {kind} no. {number}")
                )
    columns = ["image", "item", "category", "colour", "season", "price", "title"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(folder / "catalog.csv")
    worn = []
    for number in range(160):
        colour, third = list(COLOURS)[number % 4], (number // 4) % 3  # of a colour's items, worn together
        for kind in KINDS:
            worn.append((number, f"{kind.lower()}-{colour}-{3 * third + rng.integers(3)}"))
    pl.DataFrame(worn, schema=["outfit", "item"], orient="row").write_csv(folder / "outfits.csv")
    return folder


@pytest.fixture(scope="module")
def looks(shop: Path) -> Path:
    from typer.testing import CliRunner

    from likewise.cli.app import app

    for words in (("new", shop / "looks", shop / "catalog.csv"), ("encode", shop / "looks", "--with", "colour")):
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == 0, done.output
    return shop / "looks"


@pytest.mark.slow
def test_from_two_tables_to_the_number_of_every_kind_on_items_it_never_saw(run: Run, shop: Path, looks: Path) -> None:
    pytest.importorskip("torch")
    models = [word for kind in ("random", "mean-cosine", "popular", "type-aware") for word in ("--model", kind)]
    asked = (
        "outfits",
        "benchmark",
        looks,
        "--outfits",
        shop / "outfits.csv",
        "--folds",
        3,
        "--with",
        "colour",
        *models,
    )
    done = run(*asked, "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert facts["n_outfits"] == 160 and facts["n_tested"] > 100
    value = {(row["model"], row["measure"]): row for row in facts["summary"]}
    assert value["type-aware", "FITB"]["value"] > 0.6 > 0.4 > value["random", "FITB"]["value"]
    assert value["type-aware", "FITB"]["low"] > value["popular", "FITB"]["high"]
    shown = run(*asked)
    assert "mix folds" in shown.out and "type-aware" in shown.out and "95 %" in shown.out
    stored = pl.read_parquet(looks / "results" / "outfits-folds.parquet")
    assert set(stored["measure"]) >= {"AUC", "FITB", "FITB hard"}


def test_complete_adds_what_the_rules_miss_and_goes_with_what_is_given(run: Run, looks: Path, tmp_path: Path) -> None:
    ask = ("outfits", "complete", looks, "--with", "mean-cosine:colour", "--item", "shirts-red-3")
    done = run(*ask, "--n", 2, "--variety", 0, "--save", tmp_path / "looks.csv", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)["looks"]
    assert [one["slot"] for one in found[0]["added"]] == ["pants", "shoes", "bags"] and found[0]["broken"] == []
    assert all("-red-" in item for item in found[0]["items"])
    saved = pl.read_csv(tmp_path / "looks.csv")
    assert saved["outfit"].n_unique() == 2 and saved["item"].to_list()[:4] == found[0]["items"]
    only = json.loads(run(*ask, "--want", "bag", "--where", "season=winter", "--n", 3, "--json").out)["looks"]
    assert all(int(look["items"][-1].rpartition("-")[2]) % 2 == 0 for look in only)
    near = json.loads(run(*ask, "--want", "bag", "--anchor", "price,season", "--n", 3, "--json").out)["looks"]
    assert {look["items"][-1].rpartition("-")[2] for look in near} <= {"1", "3", "5", "7"}  # summer, 20 to 80
    refused = run(*ask, "--want", "umbrella")
    assert refused.code == 2 and "nothing to wear called 'umbrella'" in refused.err


def test_without_a_model_the_commands_take_the_one_of_the_page(run: Run, looks: Path) -> None:
    """No vectors of a built-in name are asked for: the first model that the page offers."""
    first = LookService(WorkspaceFolder(looks)).models()[0]
    assert first == "mean-cosine:colour"
    ask = ("outfits", "complete", looks, "--item", "shirts-red-3", "--json")
    assert json.loads(run(*ask).out) == json.loads(run(*ask, "--with", first).out)
    worn = ("--item", "shirts-red-1", "--item", "bags-red-3", "--json")
    assert json.loads(run("outfits", "rate", looks, *worn).out) == json.loads(
        run("outfits", "rate", looks, "--with", first, *worn).out
    )
    swap = ("outfits", "swap", looks, *worn, "--change", "bags-red-3")
    assert json.loads(run(*swap).out) == json.loads(run(*swap, "--with", first).out)


def test_without_vectors_a_look_says_what_to_run(run: Run, shop: Path, tmp_path: Path) -> None:
    assert run("new", tmp_path / "empty", shop / "catalog.csv").code == 0
    refused = run("outfits", "complete", tmp_path / "empty", "--item", "shirts-red-3")
    assert refused.code == 2 and "there are no vectors yet: run `likewise encode" in refused.err


def test_a_picture_of_ones_own_gets_a_category_and_is_never_suggested(run: Run, looks: Path, tmp_path: Path) -> None:
    Image.new("RGB", (40, 40), COLOURS["blue"]).save(tmp_path / "mine.png")
    done = run("outfits", "complete", looks, "--with", "mean-cosine:colour", "--item", f"shirt={tmp_path / 'mine.png'}",
               "--want", "shoes,bag", "--json")  # fmt: skip
    assert done.code == 0, done.err
    assert all("-blue-" in item for item in json.loads(done.out)["looks"][0]["items"][1:])
    guessed = run("outfits", "complete", looks, "--with", "mean-cosine:colour", "--item", tmp_path / "mine.png",
                  "--want", "bag", "--json")  # fmt: skip
    assert "looks like" in json.loads(guessed.out)["notes"][0]


def test_rate_names_the_piece_that_does_not_fit_and_swap_finds_one_that_does(run: Run, looks: Path) -> None:
    worn = ["shirts-red-1", "trousers-red-2", "bags-red-3", "footwear-green-4"]
    items = [word for name in worn for word in ("--item", name)]
    rated = json.loads(run("outfits", "rate", looks, "--with", "mean-cosine:colour", *items, "--json").out)
    assert rated["items"][0]["item"] == "footwear-green-4" and rated["items"][0]["fit"] < 0.5
    assert "-red-" in rated["better"][0]["item"]
    assert any(said.startswith("colour green") or "beside" in said for said in rated["why"])
    ask = ("outfits", "swap", looks, "--with", "mean-cosine:colour", *items, "--change")
    swapped = json.loads(run(*ask, "footwear-green-4", "--k", 3, "--variety", 0, "--json").out)
    assert [one["item"].split("-")[1] for one in swapped["suggestions"]] == ["red"] * 3
    assert run(*ask, "bags-sand-1").code == 2
    shown = run("outfits", "rate", looks, "--with", "mean-cosine:colour", *items)
    assert "weakest: footwear-green-4" in shown.out and "would fit better" in shown.out


def test_a_look_passes_the_guard(run: Run, shop: Path, looks: Path) -> None:
    done = run("outfits", "train", looks, "--model", "popular", "--with", "colour", "--outfits", shop / "outfits.csv")
    assert done.code == 0, done.err
    said = run("outfits", "rate", looks, "--with", "popular", "--item", "shirts-red-1", "--item", "bags-red-1").out
    assert "popular † learned from" in said.replace("\n", " ")


def test_the_page_marks_looks_that_the_model_learned_from(run: Run, shop: Path, looks: Path) -> None:
    run("outfits", "train", looks, "--model", "popular", "--with", "colour", "--outfits", shop / "outfits.csv")
    worn = pl.read_csv(shop / "outfits.csv").filter(outfit=0)["item"].to_list()
    app = create_app(SiteSettings(WorkspaceFolder(looks)))
    client = TestClient(app, base_url="http://127.0.0.1")
    client.cookies.set(SESSION_COOKIE, open_owner_session(app.state.site.engine))

    def page(items: list[str], model: str = "popular", **more: str) -> str:
        asked: dict[str, str | list[str]] = {"with": model, "item": items, **more}
        return unescape(client.get("/owner/looks", params=asked).text)

    marked = page(worn)
    assert "alternatives †</h1>" in marked and "† popular learned from this very look" in marked
    assert "† popular learned from outfits with each of its 2 items, not from this look" in page(
        [worn[0], "bags-sand-1"]
    )
    assert "learned from" not in page(worn, "mean-cosine:colour")
    assert "† popular learned from outfits with" in page(worn[:1], do="complete").partition('id="offers"')[2]
    csrf = csrf_token(client.cookies[SESSION_COOKIE])
    client.post("/owner/looks/save", data={"csrf_token": csrf, "item": worn, "with": "popular"})
    assert "† learned from this very look" in page([]).partition('class="saved-looks"')[2]
    assert "learned from" not in page([], "mean-cosine:colour")


def test_fast_scores_are_those_of_the_model() -> None:
    rng = np.random.default_rng(0)
    wardrobe, vectors = toy_wardrobe(rng)
    model = MeanCosineModel(VectorLookup("x", tuple(item.image for item in wardrobe.items), vectors))
    fast, plain = CosineScorer(vectors), PlainScorer(model, wardrobe.items)
    candidates = np.arange(10, 30)
    np.testing.assert_allclose(
        fast.score_with([0, 3, 5], candidates), plain.score_with([0, 3, 5], candidates), atol=1e-6
    )
    np.testing.assert_allclose(fast.score([[1, 2, 3]]), plain.score([[1, 2, 3]]), atol=1e-6)


def test_variety_trades_score_for_difference() -> None:
    scores = np.array([1.0, 0.99, 0.98, 0.5])
    vectors = np.array([[1, 0], [1, 0.01], [1, 0.02], [0, 1]], dtype=np.float32)
    assert diversify(scores, vectors, 3, 0.0).tolist() == [0, 1, 2]
    assert diversify(scores, vectors, 2, 0.6).tolist() == [0, 3]
    alike = np.hstack([vectors, np.full((4, 1), 100, dtype=np.float32)])  # as pictures of one category are
    assert diversify(scores, alike, 2, 0.6).tolist() == [0, 3]
    assert diversify(scores[:0], vectors[:0], 3).tolist() == []


def test_suggestions_are_free_of_what_is_worn_and_meet_the_filter() -> None:
    wardrobe, vectors = toy_wardrobe(np.random.default_rng(1))
    stylist = LookStylist(wardrobe, CosineScorer(vectors), vectors)
    bags = wardrobe.candidates("bags")
    found = stylist.suggest([int(bags[0])], "bags", LookFilter(k=50))
    assert {one.row for one in found} == set(bags[1:].tolist())
    assert found[0].fit >= found[-1].fit
    with pytest.raises(LikewiseError, match="two items or more"):
        stylist.rate([0])


def test_looks_grow_by_a_shortlist_almost_as_they_do_by_every_item(monkeypatch: pytest.MonkeyPatch) -> None:
    wardrobe, vectors = toy_wardrobe(np.random.default_rng(2))
    stylist = LookStylist(wardrobe, CosineScorer(vectors), vectors)
    monkeypatch.setattr("likewise.outfits.looks.stylist.BEAM", 3)
    wanted, best_first = ["bags", "shoes"], LookFilter(variety=0.0)
    exact = stylist.complete([0], wanted, best_first, 3)
    monkeypatch.setattr("likewise.outfits.looks.stylist.SHORTLIST", 4)  # of twelve
    short = stylist.complete([0], wanted, best_first, 3)
    assert short[0] == exact[0]  # the best look grows by every item
    assert len({look.rows for look in short} & {look.rows for look in exact}) >= 2
    monkeypatch.setattr("likewise.outfits.looks.stylist.BESIDE_WORN", 6)
    beside = stylist.complete([0], wanted, best_first, 3)[0]
    shoes = stylist.suggest([0], "shoes", LookFilter(variety=0.0, k=6))
    assert beside.added[1].row in {one.row for one in shoes} and beside.added[0] == exact[0].added[0]
    second = stylist._grow([((0, 12), ()), ((0, 13), ())], "shoes", LookFilter(variety=0.0, k=3), [0])[3:]
    assert [added[0].row in stylist.wardrobe.candidates("shoes") for _, added in second] == [True] * 3
    assert min(added[0].fit for _, added in second) >= 8 / 11  # a share of the whole slot, as what is left out is worse


def toy_wardrobe(rng: np.random.Generator) -> tuple[Wardrobe, np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    rows = [(f"{kind}{n:02d}.jpg", f"{kind}{n:02d}", kind) for kind in ("tops", "bags", "shoes") for n in range(12)]
    catalog = pl.DataFrame(rows, schema=["image", "item", "category"], orient="row")
    vectors = rng.normal(size=(len(rows), 6)).astype(np.float32)
    return Wardrobe.from_catalog(catalog), vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
