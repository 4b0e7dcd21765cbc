"""From a drawn wardrobe to a trained model by the commands a user types; more data for the weakest dimension."""

import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from typer.testing import CliRunner

from likewise.catalog import make_catalog
from likewise.cli.app import app
from likewise.encoders.running.encode import encode_catalog
from likewise.errors import LikewiseError
from likewise.outfits.bundle import open_test, write_test
from likewise.outfits.generate import check_outfits, sample_outfits
from likewise.outfits.tables import outfit_table
from likewise.outfits.training.targeted_data import split_questions
from likewise.synthetic import DIMENSIONS, compatibility_many
from likewise.synthetic.build import build_wardrobe
from likewise.synthetic.harmony import NEUTRALS
from likewise.synthetic.outfits.aat_questions import make_aat
from likewise.synthetic.outfits.stylists import prefers_colours, style_outfits
from likewise.synthetic.outfits.taste_test import wardrobe_items
from likewise.synthetic.vocabulary import RGB
from likewise.workspace import WorkspaceFolder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wardrobe of 160 items with colour vectors, and a small test from another wardrobe."""
    folder = tmp_path_factory.mktemp("road")
    rows = build_wardrobe(folder / "drawn", n_items=120, views_per_item=1, seed=2, workers=1)
    workspace = WorkspaceFolder(folder / "wardrobe")
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


def test_more_data_for_the_weakest_dimension_trains_three_times_and_measures_on_other_questions(place: Path) -> None:
    told = run("outfits", "train-weakest", place / "wardrobe", place / "taste", "--model", "ngnn", "--preset", "quick",
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
    finding, measuring = split_questions(open_test(place / "taste").questions)
    assert measured[0]["n_questions"] == len(measuring)
    assert len(finding) + len(measuring) == 54
    assert not {q.name for q in finding} & {q.name for q in measuring}
    assert {q.dimension for q in finding} == {q.dimension for q in measuring} == set(DIMENSIONS)


def test_a_second_test_measures_the_cure(place: Path) -> None:
    run("outfits", "wardrobe-test", place / "closer", "--n-lat", 0, "--n-aat", 9, "--only", "style",
        "--n-items", 100, "--seed", 3, "--json")  # fmt: skip
    told = run("outfits", "train-weakest", place / "wardrobe", place / "taste", "--measure-on", place / "closer",
               "--model", "sce-net", "--with", "colour", "--preset", "quick", "--n-outfits", 20, "--epochs", 1,
               "--dimension", "style", "--json")  # fmt: skip
    assert {row["dimension"] for row in told["found"]} == set(DIMENSIONS)  # type: ignore[attr-defined]
    assert {row["n_questions"] for row in told["scores"] if row["score"] == "AATs"} == {9}  # type: ignore[attr-defined]
    assert {row["dimension"] for row in told["scores"] if row["score"] == "index"} == {"style"}  # type: ignore[attr-defined]


def test_stylists_follow_in_every_dimension_the_taste_that_the_academic_test_asks_for() -> None:
    items = wardrobe_items(1000, 4)
    rng = np.random.default_rng(0)
    place = {image: number for number, image in enumerate(items["image"])}
    shelf = items.with_row_index("row").group_by("category").agg("row")
    of_category = dict(shelf.iter_rows())
    good = [[place[item.image] for item in outfit.items] for outfit in style_outfits(items, 600, seed=1).outfits]
    corrupted = []
    for rows in good:
        blank = int(rng.integers(len(rows)))
        other = of_category[items["category"][rows[blank]]]
        corrupted.append([*rows[:blank], other[int(rng.integers(len(other)))], *rows[blank + 1 :]])
    better = compatibility_many(items, good) - compatibility_many(items, corrupted)
    for name in DIMENSIONS:
        difference = better[name].to_numpy()
        assert difference.mean() > 3 * difference.std() / np.sqrt(len(difference)), name


def test_every_other_stylist_takes_bright_pieces() -> None:
    items = wardrobe_items(400, 4)
    bright = dict(items.select("image", ~pl.col("colour").is_in(NEUTRALS)).iter_rows())
    made = style_outfits(items, 80, seed=5)
    shares: dict[bool, list[bool]] = {True: [], False: []}
    for outfit, user in zip(made.outfits, made.users, strict=True):
        shares[prefers_colours(int(user.removeprefix("stylist-")))] += [bright[item.image] for item in outfit.items]
    assert np.mean(shares[True]) > 0.9
    assert np.mean(shares[False]) < np.mean(list(bright.values()))  # neutral ones go with everything


def test_stylists_make_valid_outfits_that_go_together_and_a_focus_is_seen() -> None:
    items = wardrobe_items(400, 4)
    row = {image: place for place, image in enumerate(items["image"])}

    def means(rows: list[list[int]]) -> dict[str, float]:
        scores = compatibility_many(items, rows)
        return {name: float(scores[name].to_numpy().mean()) for name in (*DIMENSIONS, "overall")}

    drawn = sample_outfits(items, 80, seed=5).table.group_by("outfit").agg("image")["image"].to_list()
    plain = means([[row[image] for image in images] for images in drawn])
    made = {focus: style_outfits(items, 80, seed=5, focus=focus) for focus in (None, "material")}
    assert made[None] == style_outfits(items, 80, seed=5)
    for one in made.values():
        assert (check_outfits(outfit_table(one.outfits))["reasons"] == "").all()
        assert len(set(one.users)) == 8
    styled, focused = (means([[row[i.image] for i in o.items] for o in one.outfits]) for one in made.values())
    assert styled["overall"] > plain["overall"] + 0.1
    assert focused["material"] > styled["material"] + 0.03
    with pytest.raises(LikewiseError, match="there is no dimension 'colour'"):
        style_outfits(items, 5, focus="colour")
    with pytest.raises(LikewiseError, match="only a wardrobe knows its taste"):
        style_outfits(pl.DataFrame({"item": ["a"], "image": ["a"], "category": ["tops"]}), 5)
