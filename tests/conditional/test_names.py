"""Names in titles are not attributes; words that any brand uses are, and captions lose nothing."""

from pathlib import Path

import numpy as np
import polars as pl

from likewise.conditional.mining.filters import FILTERS
from likewise.conditional.mining.names import name_words
from likewise.conditional.mining.step import mine_triplets, read_triplets

BRANDS = {
    "Puma": "Spectrum",
    "Lee": "Jericho",
    "Nike": "Streetgato",
    "Arrow": "Terra",
    "Fila": "Agora",
    "Reid": "Leone",
}


def titles(folder: Path) -> Path:
    rng = np.random.default_rng(3)
    rows = []
    for number in range(600):
        brand = list(BRANDS)[number % len(BRANDS)]
        series = f" {BRANDS[brand]}" if rng.random() < 0.5 else ""
        who, colour = rng.choice(["Men", "Women"]), rng.choice(["Black", "Blue", "Red"])
        rows.append((f"{number}.jpg", f"{brand} {who}{series} {colour} {rng.choice(['Shirt', 'Watch'])}"))
    pl.DataFrame(rows, schema=["image", "caption"], orient="row").write_csv(folder / "titles.csv")
    return folder / "titles.csv"


def test_titles_give_colours_and_not_brands(tmp_path: Path) -> None:
    done = mine_triplets(
        titles(tmp_path), tmp_path / "mined", ratings=None, n_triplets=2000, parser="textblob", workers=1
    )
    conditions = set(read_triplets(tmp_path / "mined")["condition"])
    assert {"black", "blue", "red"} <= conditions
    names = {word.lower() for pair in BRANDS.items() for word in pair}
    assert not conditions & names
    left = {stage.step: stage.n for stage in done.funnel}
    assert left["without names"] < left["relations between two things"]


def test_a_colour_that_opens_a_title_is_no_brand(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    colours, things = ["Black", "White", "Red", "Silver", "Green", "Pink"], ["sweater", "skirt"]
    rows = [(f"{number}.jpg", f"{rng.choice(colours)} knitted {rng.choice(things)}") for number in range(300)]
    pl.DataFrame(rows, schema=["image", "caption"], orient="row").write_csv(tmp_path / "titles.csv")
    mine_triplets(
        tmp_path / "titles.csv", tmp_path / "mined", ratings=None, n_triplets=500, parser="textblob", workers=1
    )
    conditions = set(read_triplets(tmp_path / "mined")["condition"])
    assert {colour.lower() for colour in colours} <= conditions


def test_captions_that_open_with_articles_lose_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [
        (f"{n}.jpg", f"{rng.choice(['a', 'the', 'two'])} {rng.choice(['black', 'brown'])} {rng.choice(['dog', 'cat'])}")
        for n in range(300)
    ]
    pl.DataFrame(rows, schema=["image", "caption"], orient="row").write_csv(tmp_path / "captions.csv")
    done = mine_triplets(
        tmp_path / "captions.csv",
        tmp_path / "mined",
        ratings=None,
        rules=FILTERS["none"],
        n_triplets=500,
        parser="textblob",
        workers=1,
    )
    left = {stage.step: stage.n for stage in done.funnel}
    assert left["without names"] == left["relations between two things"]


def test_a_name_goes_with_one_opening_that_is_rare_elsewhere() -> None:
    openings = np.array([0] * 50 + [1] * 50 + [2] * 900)
    words = np.array([7] * 50 + [8] * 50 + [8] * 900)
    found = name_words(words, openings, np.bincount(openings))
    assert found[:50].all() and not found[50:].any()  # 8 goes mostly with opening 2, as everything does
    assert name_words(words[:0], openings[:0], np.bincount(openings)).shape == (0,)
