"""From a drawn wardrobe to a trained model by the commands a user types; stylists, and the remedy."""

import io
import json
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from typer.testing import CliRunner

from likewise.catalog import make_catalog
from likewise.catalog.wardrobe import DIMENSIONS, compatibility_many
from likewise.catalog.wardrobe.build import build_wardrobe
from likewise.catalog.wardrobe.vocabulary import RGB
from likewise.cli.app import app
from likewise.encoders.encode import encode_catalog
from likewise.errors import LikewiseError
from likewise.outfits.bundle import open_test, write_test
from likewise.outfits.generate import check, generate
from likewise.outfits.tables import outfit_table
from likewise.outfits.training.remedy import halves
from likewise.outfits.training.stylists import style_outfits
from likewise.outfits.wardrobe import wardrobe_items
from likewise.outfits.wardrobe_aat import make_aat
from likewise.workspace import Workspace


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wardrobe of 160 items with colour vectors, and a small test from another wardrobe."""
    folder = tmp_path_factory.mktemp("road")
    rows = build_wardrobe(folder / "drawn", n_items=120, views_per_item=1, seed=2, workers=1)
    workspace = Workspace(folder / "wardrobe")
    make_catalog(workspace, rows, folder / "drawn", "wardrobe")
    encode_catalog(workspace, ["colour"], workers=1)
    questions, drawn = make_aat(wardrobe_items(200, 9), 54, 9)
    write_test(
        folder / "taste",
        questions,
        lambda image: plain_picture(str(drawn[image.removesuffix(".jpg")]["colour"])),
        title="Taste",
        licence="CC0-1.0",
    )
    return folder


def plain_picture(colour: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (32, 32), RGB[colour]).save(buffer, "JPEG")
    return buffer.getvalue()


def run(*words: object) -> dict[str, object]:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


def test_a_model_is_trained_listed_and_takes_a_test(place: Path) -> None:
    common = ("--preset", "quick", "--n-outfits", 60, "--test", place / "taste", "--json")
    for kind in ("type-aware", "popular"):
        told = run("outfits", "train", place / "wardrobe", "--model", kind, *common)
        assert told["encoders"] == "colour"
    assert (place / "wardrobe" / "outfit_models" / "type-aware" / "curves.svg").read_text().startswith("<svg")
    listed = run("outfits", "models", place / "wardrobe", "--json")
    assert [one["name"] for one in listed["trained"]] == ["popular", "type-aware"]  # type: ignore[attr-defined]
    models = place / "wardrobe" / "outfit_models"
    scored = run("outfits", "score", place / "taste", "--model", "type-aware", "--model", "popular",
                 "--model", "type-aware@1", "--models", models, "--no-page", "--json")  # fmt: skip
    values = {row["model"]: row for row in scored["scores"] if row["score"] == "AATs"}  # type: ignore[attr-defined]
    assert set(values) == {"type-aware", "popular", "type-aware@1"}
    assert all(row["n_questions"] == 54 for row in values.values())


def test_the_remedy_trains_three_times_and_measures_on_other_questions(place: Path) -> None:
    told = run("outfits", "remedy", place / "wardrobe", place / "taste", "--model", "ngnn", "--preset", "quick",
               "--n-outfits", 40, "--epochs", 1, "--json")  # fmt: skip
    found = {row["dimension"]: row["value"] for row in told["found"]}  # type: ignore[attr-defined]
    assert found[told["dimension"]] == min(found.values())
    assert told["n_more"] == 20
    folder = place / "wardrobe" / "outfit_models"
    names = ["ngnn", f"ngnn-{told['dimension']}", "ngnn-more"]
    cards = [json.loads((folder / name / "card.json").read_text()) for name in names]
    assert [card["trained"]["n_outfits"] for card in cards] == [40, 60, 60]
    measured = [row for row in told["scores"] if row["score"] == "AATs"]  # type: ignore[attr-defined]
    assert [row["model"] for row in measured] == names
    finding, measuring = halves(open_test(place / "taste").questions)
    assert measured[0]["n_questions"] == len(measuring)
    assert len(finding) + len(measuring) == 54
    assert not {q.name for q in finding} & {q.name for q in measuring}
    assert {q.dimension for q in finding} == {q.dimension for q in measuring} == set(DIMENSIONS)


def test_stylists_make_valid_outfits_that_go_together_and_a_focus_is_seen() -> None:
    items = wardrobe_items(400, 4)
    row = {image: place for place, image in enumerate(items["image"])}

    def means(rows: list[list[int]]) -> dict[str, float]:
        scores = compatibility_many(items, rows)
        return {name: float(scores[name].to_numpy().mean()) for name in (*DIMENSIONS, "overall")}

    drawn = generate(items, 80, seed=5).table.group_by("outfit").agg("image")["image"].to_list()
    plain = means([[row[image] for image in images] for images in drawn])
    made = {focus: style_outfits(items, 80, seed=5, focus=focus) for focus in (None, "material")}
    assert made[None] == style_outfits(items, 80, seed=5)
    for one in made.values():
        assert (check(outfit_table(one.outfits))["reasons"] == "").all()
        assert len(set(one.users)) == 8
    styled, focused = (means([[row[i.image] for i in o.items] for o in one.outfits]) for one in made.values())
    assert styled["overall"] > plain["overall"] + 0.15
    assert focused["material"] > styled["material"] + 0.03
    with pytest.raises(LikewiseError, match="there is no dimension 'colour'"):
        style_outfits(items, 5, focus="colour")
    with pytest.raises(LikewiseError, match="only a wardrobe knows its taste"):
        style_outfits(pl.DataFrame({"item": ["a"], "image": ["a"], "category": ["tops"]}), 5)
