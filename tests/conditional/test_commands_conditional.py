"""The commands as a user types them, on the drawn wardrobe with a tiny CLIP."""

import json
from pathlib import Path

import polars as pl
import pytest

from likewise.conditional.conditional_query import parse_condition
from likewise.conditional.search import Searcher, search
from likewise.conditional.search_models import SearchModel
from likewise.conditional.towers import TwoTower
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run

__all__ = ["run"]


def test_build_audit_evaluate(run: Run, drawn: WorkspaceFolder, tower: TwoTower) -> None:
    built = run("condition", "build", drawn.path, "--name", "small", "--per-task", 40, "--json")
    counts = {row["task"]: row["n"] for row in json.loads(built.out)["tasks"]}
    assert built.code == 0 and set(counts.values()) == {40} and len(counts) == 4
    again = run("condition", "build", drawn.path, "--name", "small")
    assert again.code == 2 and "exists already" in again.err
    audited = run("condition", "audit", drawn.path, "--templates", "small")
    assert "160 templates, no problem found" in audited.out
    by_encoder = json.loads(
        run("condition", "audit", drawn.path, "--templates", "small", "--with", tower.spec, "--json").out
    )
    assert {row["problem"] for row in by_encoder["problems"]} == {
        "answered by the image alone",
        "answered by the text alone",
    }
    options = ("--templates", "small", "--with", tower.spec)
    shown = run("condition", "evaluate", drawn.path, *options)
    assert shown.code == 0 and "average" in shown.out and "chance" in shown.out
    more = run("condition", "evaluate", drawn.path, *options, "--methods", "attributes", "--json")
    assert {row["method"] for row in json.loads(more.out)} == {"attribute prediction"}
    table = pl.read_parquet(drawn.results_folder / "conditions.parquet").filter(templates="small", measure="Recall@1")
    assert table["method"].n_unique() == 4 and set(table["n_total"]) == {40, 160}


def test_ask_prints_and_shows(run: Run, drawn: WorkspaceFolder, tower: TwoTower) -> None:
    key = tower.encoded_images(drawn)[7]
    named = ("--with", tower.spec)  # other tests of this folder leave features of further encoders here
    ran = run("condition", "ask", drawn.path, *named, "--image", key, "--text", "but in red", "--top", 5)
    assert ran.code == 0 and "Like this, but “in red”" in ran.out
    page = (drawn.path / "asked.html").read_text()
    assert page.count("<symbol") == 7 and "in red" in page  # five found, the reference, the placeholder
    found = json.loads(
        run(
            "condition",
            "ask",
            drawn.path,
            *named,
            "--image",
            drawn.root / key,
            "--text",
            "red",
            "--keep",
            "none",
            "--json",
        ).out
    )["found"]
    assert len(found) == 12 and [row["rank"] for row in found] == list(range(1, 13))
    wrong = run("condition", "ask", drawn.path, *named, "--image", "no-such.jpg", "--text", "red")
    assert wrong.code == 2 and "no-such.jpg is neither a file nor an image" in wrong.err


def test_the_slider_leads_from_image_to_text(drawn: WorkspaceFolder, tower: TwoTower) -> None:
    searcher = Searcher.open(drawn, tower.spec, workers=1)
    key = searcher.images[3]
    image, text = (searcher.search(key, "red", text_weight=weight, keep=())["image"].to_list() for weight in (0.0, 1.0))
    assert image == searcher.search(key, keep=())["image"].to_list()
    words_only = searcher.search(text="red", top_k=13)["image"].to_list()
    item_of = dict(searcher.catalog.select("image", "item").iter_rows())
    assert text == [each for each in words_only if item_of[each] != item_of[key]][:12]
    assert image != text
    middle = searcher.search(key, "like this, but red")
    assert middle.equals(searcher.search(key, "red")) and key not in middle["image"].to_list()
    assert middle["score"].is_sorted(descending=True)
    assert search(drawn, key, "red", encoder=tower.spec).equals(middle)
    with pytest.raises(LikewiseError, match="nothing to look for"):
        searcher.search()


def test_a_way_to_ask_is_named_once() -> None:
    labels = [
        SearchModel("two-tower:x/shop", method).label for method in ("combiner:combiner", "combiner:mine", "image+text")
    ]
    assert [label.split(", ")[1] for label in labels] == ["combiner", "combiner mine", "image + text"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [("but in red", "in red"), ("Like this, but  longer", "longer"), ("buttons", "buttons"), ("red", "red")],
)
def test_the_opening_words_are_no_condition(said: str, meant: str) -> None:
    assert parse_condition(said) == meant


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("two-tower {shop} {shop}/none --steps 0", "0 steps of batches"),
        ("two-tower {shop} {shop}/none --dim -1", "-1 dimensions"),
        ("train-text {shop} --with {tower} --batch 1", "batches of 1"),
        ("train {shop} --with {tower} --on {triplets} --lr nan", "the learning rate is nan"),
        ("train {shop} --with {tower} --on {triplets} --temperature 0", "the temperature is 0"),
        ("train {shop} --with {tower} --on {triplets} --dropout 2", "the dropout is 2"),
        ("train {shop} --with {tower} --on {triplets} --negatives -1", "-1 negatives per triplet"),
        ("train {shop} --with {tower} --on {triplets} --patience 0", "a patience of 0"),
        ("train {shop} --with {tower} --on {shop}/workspace.json", "is no table of triplets"),
        ("train {shop} --with {tower} --on {triplets} --name ../x", "cannot name a Combiner"),
        ("train-text {shop} --with {tower} --name ../x", "cannot name pseudo-words"),
        ("evaluate {shop} --with features:{shop}/workspace.json", "cannot be read as npz"),
        ("catalog {shop} --with {tower} --top 0", "the first 0 results"),
        ("catalog {shop} --with {tower} --questions -1", "-1 questions"),
        ("verify {shop} --per-task 0", "at least one template per task"),
        ("verify {shop} --guests -1", "no fewer than 0 guests"),
    ],
)
def test_a_number_with_which_nothing_can_be_done_is_a_sentence(
    run: Run, drawn: WorkspaceFolder, tower: TwoTower, tmp_path: Path, asked: str, said: str
) -> None:
    images = tower.encoded_images(drawn)
    columns = {"reference": images[:2], "target": images[2:4], "condition": ["red", "blue"]}
    pl.DataFrame(columns).write_parquet(tmp_path / "triplets.parquet")
    places = {"shop": str(drawn.path), "tower": tower.spec, "triplets": str(tmp_path / "triplets.parquet")}
    done = run("condition", *(word.format_map(places) for word in asked.split()))
    assert done.code == 2 and said in " ".join(done.err.split()), done.err
    assert "Traceback" not in done.err and done.out == ""
