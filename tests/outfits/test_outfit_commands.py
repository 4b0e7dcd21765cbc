"""The commands, end to end on small things: generate, check, score with its page, benchmark, order, checkpoints."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from typer.testing import CliRunner

from likewise.catalog import make_catalog
from likewise.cli.app import app
from likewise.errors import LikewiseError
from likewise.outfits.bundle import OutfitTest, write_test
from likewise.outfits.checkpoints import compare_checkpoints
from likewise.outfits.judge_test import compare_judges
from likewise.outfits.protocol import Floats, Item, Outfit, OutfitQuestion, answer_by_score
from likewise.outfits.report.checkpoints import write_checkpoints_page
from likewise.outfits.results import OutfitTestResults, read_answers
from likewise.outfits.rules import CATEGORIES
from likewise.workspace import WorkspaceFolder, write_parquet

COLOURS = {"red": (200, 30, 30), "blue": (30, 30, 200), "green": (30, 160, 60)}


def run(*words: object) -> str:
    result = CliRunner().invoke(app, ["outfits", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def patch(image: str) -> bytes:
    """A picture of one colour, with a little of its own."""
    colour = next(value for name, value in COLOURS.items() if name in image)
    pixels = np.full((48, 48, 3), colour, np.uint8)
    pixels[: 1 + len(image) % 7] = 250
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def item(name: str, category: str) -> Item:
    return Item(name, category, f"{name}.png")


@pytest.fixture(scope="module")
def colour_test(tmp_path_factory: pytest.TempPathFactory) -> OutfitTest:
    """Which bag has the outfit's colour? People like that as well."""
    questions = []
    for number, colour in enumerate([*COLOURS] * 4):
        worn = (item(f"{colour}-dress-{number}", "dresses"), item(f"{colour}-shoe-{number}", "shoes"))
        bags = tuple(item(f"{name}-bag-{number}", "bags") for name in COLOURS)
        right = list(COLOURS).index(colour)
        people = tuple(8 if place == right else 1 for place in range(3))
        questions.append(OutfitQuestion(f"LAT-{number}", "LAT", worn, bags, 2, people=people))
        dimension = "color" if number % 2 else "style"
        questions.append(OutfitQuestion(f"AAT-{number}", "AAT", worn, bags, 2, dimension, "same color", right))
    folder = tmp_path_factory.mktemp("colour") / "colours"
    return write_test(folder, questions, patch, title="Colours", licence="CC0-1.0", description="Match the colour.")


def test_models_take_a_test_and_the_page_shows_everybodys_choice(colour_test: OutfitTest, tmp_path: Path) -> None:
    mine = tmp_path / "guesser.csv"
    rows = [(question.name, 0) for question in colour_test.questions[:-1]]  # one question is not answered
    pl.DataFrame(rows, schema=["question", "choice"], orient="row").write_csv(mine)
    out = tmp_path / "results"
    said = run("score", colour_test.path, "--model", "mean-cosine:colour", "--answers", mine, "--output", out, "--json")
    scores = {(row["model"], row["score"], row["dimension"]): row for row in json.loads(said)["scores"]}
    assert scores["mean-cosine:colour", "LATs", None]["value"] == 1.0
    assert scores["mean-cosine:colour", "mLATs", None]["value"] == pytest.approx(0.8)
    assert scores["guesser", "AATs", None]["n_questions"] == 11
    assert scores["guesser", "AATs", None]["n_questions_total"] == 12
    significant = {
        row["score"]: row["significant"] for row in json.loads(said)["differences"] if row["dimension"] is None
    }
    assert significant == {"LATs": True, "mLATs": True, "AATs": True}
    page = (out / "index.html").read_text()
    assert page.count('class="ask"') == 24
    assert "80.0 % of people" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert set(pl.read_parquet(out / "taken.parquet")["model"]) == {"mean-cosine:colour", "guesser"}
    assert "every file matches" in run("show", colour_test.path)


def test_answers_from_elsewhere_are_checked(colour_test: OutfitTest, tmp_path: Path) -> None:
    questions = colour_test.questions
    for rows, why in (
        ([("LAT-0", 3)], "choices 0 to 2, not 3"),
        ([("other", 0)], "answers 'other', which is no question"),
        ([("LAT-0", 0), ("LAT-0", 1)], "twice"),
    ):
        path = tmp_path / "answers.csv"
        pl.DataFrame(rows, schema=["question", "choice"], orient="row").write_csv(path)
        with pytest.raises(LikewiseError, match=why):
            read_answers(path, questions)
    path = tmp_path / "answers.parquet"
    pl.DataFrame({"question": ["LAT-0"], "scores": [[0.1, 0.5, 0.2]]}).write_parquet(path)
    assert np.nanargmax(read_answers(path, questions)[0]) == 1


def test_generate_check_and_benchmark_on_a_workspace(tmp_path: Path) -> None:
    words = {"tops": "T-Shirt", "shoes": "Sneakers", "bags": "lamp"}
    names = [f"{category.replace(' ', '_')}-{colour}" for category in CATEGORIES for colour in COLOURS]
    rows = []
    for name in names:
        (tmp_path / f"{name}.png").write_bytes(patch(name))
        category = name.split("-")[0].replace("_", " ")
        rows.append((f"{name}.png", name, words.get(category, category)))
    workspace = WorkspaceFolder(tmp_path / "ws")
    make_catalog(workspace, pl.DataFrame(rows, schema=["image", "item", "category"], orient="row"), tmp_path, "table")
    report = json.loads(run("generate", workspace.path, "--n", 300, "--json"))
    assert report["n_verified"] == 300
    assert report["left_out"] == {"lamp": 3}
    made = workspace.path / "outfits" / "outfits.parquet"
    checked = json.loads(run("check", made, "--json"))
    assert (checked["n_outfits"], checked["n_valid"]) == (300, 300)
    with pytest.raises(LikewiseError, match="there already"):
        run("generate", workspace.path, "--n", 5)
    plan = ("--name", "spring", "--outfits", 50, "--experts", 2, "--trust-categories")
    status = json.loads(run("make-test", workspace.path, *plan, "--quota", "shoes=1,bottom=2", "--json"))
    assert (status["stage"], status["wanted"], status["finished"]) == ("keep", 50, False)
    assert "keep" in run("make-test", workspace.path, "--name", "spring")  # again: the plan is remembered
    with pytest.raises(LikewiseError, match="keeps its plan"):
        run("make-test", workspace.path, "--name", "spring", "--outfits", 60)
    with pytest.raises(LikewiseError, match="GROUP=NUMBER"):
        run("make-test", workspace.path, "--name", "other", "--quota", "shoes")
    with pytest.raises(LikewiseError, match="not a wardrobe"):
        run("make-test", workspace.path, "--name", "spring", "--simulate", 5)
    assert json.loads(run("factors", workspace.path, "--json"))["n_questions"] == 0
    asked = {
        "question": [1, 2],
        "split": ["test"] * 2,
        "items": [["dresses-red", "shoes-red"], ["dresses-blue", "gone"]],
        "answers": [["hats-red", "hats-blue"]] * 2,
        "right": [0, 1],
        "position": [None, None],
    }
    schema = {"position": pl.Int64()}
    write_parquet(pl.DataFrame(asked, schema_overrides=schema), workspace.tables_folder / "questions.parquet")
    (row,) = json.loads(run("benchmark", workspace.path, "--model", "random", "--json"))
    assert (row["test"], row["n"], row["n_total"], row["coverage"]) == ("FITB", 1, 2, 0.5)
    results = tmp_path / "results"
    results.mkdir()
    models = ("a", "b")
    scores = [{"model": m, "score": "LATs", "value": v} for m, v in zip(models, (0.5, 0.6), strict=True)]
    pl.DataFrame(scores).write_parquet(results / "scores.parquet")
    sets = [{"model": m, "test": "FITB", "value": v} for m, v in zip(models, (0.4, 0.3), strict=True)]
    pl.DataFrame(sets).write_parquet(results / "set.parquet")
    order = json.loads(run("order", results, "--set", results / "set.parquet", "--json"))
    assert order["by_vote"] == ["a", "b"]
    assert order["under"] == {"LATs": ["b", "a"]}


@dataclass(frozen=True)
class Learning:
    """A model that likes the outfit's colour more with every epoch."""

    epoch: int
    name: str = "learning"

    def score(self, outfits: Sequence[Outfit]) -> Floats:
        same = [o.items[0].item.split("-")[0] == o.items[2].item.split("-")[0] for o in outfits]
        noise = [sum(map(ord, o.items[2].item)) % 7 / 7 for o in outfits]
        return np.asarray(np.array(same, dtype=np.float64) * self.epoch / 3 + np.array(noise))

    def answer(self, questions: Sequence[OutfitQuestion]) -> Floats:
        return answer_by_score(self, questions)


def test_the_page_of_checkpoints_names_who_chose_what(colour_test: OutfitTest, tmp_path: Path) -> None:
    losses = {1: 0.5, 2: 0.4, 3: 0.6}
    made = compare_checkpoints(Learning, {1: 0.9, 2: 0.8, 3: 0.7}, colour_test.questions, losses=losses)
    assert made.chosen["validation"] == 1
    assert made.chosen["LATs"] > 1
    text = write_checkpoints_page(made, tmp_path, "learning", compare_judges([made.table])).read_text()
    assert "1 training is too few for a test" in text
    assert "own accuracy" in text
    assert "own loss is least after epoch 2" in text
    assert text.count("<tr>") == 1 + len(made.chosen) == 5


def test_a_zipped_test_is_taken_without_being_changed(colour_test: OutfitTest, tmp_path: Path) -> None:
    zipped = tmp_path / "colours.zip"
    write_test(zipped, colour_test.questions[:6], patch, title="Zip", licence="CC0-1.0")
    before = zipped.read_bytes()
    said = json.loads(run("score", zipped, "--model", "mean-cosine:colour", "--no-page", "--json"))
    assert said["n_questions"] == 6
    assert zipped.read_bytes() == before
    graded = tmp_path / "colours-results"
    assert OutfitTestResults(colour_test, graded).workspace.catalog_file.exists()
    with pytest.raises(LikewiseError, match="results of another test"):
        run("score", colour_test.path, "--model", "mean-cosine:colour", "--output", graded, "--no-page")
