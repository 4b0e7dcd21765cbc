"""Taking a test: models answer its questions, and a folder of results fills up beside it.

The folder holds a workspace of the test's pictures (`pictures/`), so every encoder works as anywhere else and its
vectors are made once, and the tables that follow from the answers. Answers made elsewhere come in as a table
`question, choice` (from 0) or `question, scores`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl

from likewise.catalog.make import make_catalog
from likewise.errors import LikewiseError
from likewise.outfits.bundle import OutfitTest, read_pictures
from likewise.outfits.protocol import Floats, Model, Question
from likewise.outfits.scoring import agreement_with_people, difference_table, score_table, take
from likewise.outfits.tables import item_table
from likewise.outfits.training.apart import refuse_seen, shown_items, test_digests
from likewise.outfits.vectors import ItemVectors, workspace_vectors
from likewise.workspace import Workspace, write_atomically, write_json, write_parquet

Say = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Taking:
    """The folder of results of one test."""

    test: OutfitTest
    folder: Path

    @property
    def pictures(self) -> Workspace:
        return Workspace(self.folder / "pictures")

    @property
    def page(self) -> Path:
        return self.folder / "index.html"


@dataclass(frozen=True)
class TakingSight:
    """The pictures of a test; an encoder whose vectors are not there yet makes them."""

    taking: Taking
    say: Say | None = None

    def vectors(self, encoder: str) -> ItemVectors:
        from likewise.encoders.running.encode import encode_catalog

        def report(stage: str, done: int, total: int) -> None:
            if self.say is not None:
                self.say(f"{encoder} vectors", done, total)

        encode_catalog(pictures_of(self.taking), [encoder], workers=1, on_progress=report)
        return workspace_vectors(self.taking.pictures, encoder)

    def picture(self, image: str) -> Path:
        return pictures_of(self.taking).root / image


@dataclass(frozen=True)
class Scored:
    """All tables that follow from the answers of some models."""

    taken: pl.DataFrame
    scores: pl.DataFrame
    differences: pl.DataFrame
    agreement: pl.DataFrame
    speed: dict[str, float]


def pictures_of(taking: Taking) -> Workspace:
    """The workspace of the test's pictures, made on first use; a zipped test's pictures are unpacked into it."""
    workspace, source = taking.pictures, f"test {taking.test.card['checksum']}"
    inside = taking.test.path / "images"
    root = inside if inside.is_dir() else workspace.path / "images"
    known = workspace.settings_file.exists()
    if known and workspace.settings()["source"] != source:
        raise LikewiseError(f"{taking.folder} holds the results of another test: choose another folder for this one.")
    if known and workspace.root == root.resolve():
        return workspace
    if root != inside:
        for image, content in read_pictures(taking.test):
            write_atomically(root / image, partial(_write, content))
    if not root.is_dir():
        raise LikewiseError(f"{taking.test.path} holds no pictures: models that look at them cannot take this test.")
    rows = item_table(taking.test.questions).unique("image", maintain_order=True).select("image", "item", "category")
    make_catalog(workspace, rows, root, source, replace=True)  # the test may have been moved
    return workspace


def _write(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def score_models(taking: Taking, models: Sequence[Model], *, seed: int = 0, say: Say | None = None) -> Scored:
    """Let the models answer, and write taken, scores, differences and agreement as Parquet into the folder."""
    names = [model.name for model in models]
    if len(set(names)) < len(names):
        raise LikewiseError(f"two models are called {max(names, key=names.count)}: give each a name of its own.")
    refuse_learned(taking, models)
    questions, taken, speed = taking.test.questions, [], {}
    for place, model in enumerate(models):
        if say is not None:
            say("models", place, len(models))
        started = time.perf_counter()
        answers = model.answer(questions)
        speed[model.name] = len(questions) / max(1e-9, time.perf_counter() - started)
        taken.append(take(model.name, questions, answers))
    table = pl.concat(taken)
    scored = Scored(
        table,
        score_table(table, questions, seed=seed),
        difference_table(table, questions, seed=seed),
        agreement_with_people(questions, table),
        speed,
    )
    for name in ("taken", "scores", "differences", "agreement"):
        write_parquet(getattr(scored, name), taking.folder / f"{name}.parquet")
    write_json(note(taking, scored), taking.folder / "scores.json")
    return scored


def refuse_learned(taking: Taking, models: Sequence[Model]) -> None:
    """The error where a model was trained with items that the test shows."""
    trained = {model.name: seen for model in models if (seen := getattr(model, "seen", None)) is not None}
    if not trained:
        return
    shown, digests = shown_items(taking.test.questions), test_digests(taking.test)
    for name, seen in trained.items():
        refuse_seen(name, seen, shown, digests)


def note(taking: Taking, scored: Scored) -> dict[str, Any]:
    """What the folder is about, for programs."""
    return {
        "test": taking.test.card["title"],
        "checksum": taking.test.card["checksum"],
        "n_questions": len(taking.test.questions),
        "questions_per_second": {name: round(value, 1) for name, value in scored.speed.items()},
        "scores": scored.scores.to_dicts(),
    }


@dataclass(frozen=True)
class AnswersFile:
    """A model that is only known by its answers to this test."""

    name: str
    path: Path

    def score(self, outfits: Sequence[object]) -> Floats:
        raise LikewiseError(f"{self.path} holds answers to questions; it cannot score other outfits.")

    def answer(self, questions: Sequence[Question]) -> Floats:
        return read_answers(self.path, questions)


def read_answers(path: Path, questions: Sequence[Question]) -> Floats:
    """Answers from a table with `question` and `choice` (from 0) or `scores`; NaN where a question has none."""
    from likewise.catalog.readers.table import read_table

    table = read_table(path)
    columns = set(table.columns)
    if "question" not in columns or not columns & {"choice", "scores"}:
        raise LikewiseError(f"{path} needs the columns question and choice (from 0), or question and scores.")
    if table["question"].n_unique() < len(table):
        raise LikewiseError(f"{path} answers a question twice: keep one row per question.")
    said = {str(row["question"]): row for row in table.iter_rows(named=True)}
    known = {question.name for question in questions}
    if not known & set(said):
        raise LikewiseError(f"{path} answers no question of this test (its first question is {questions[0].name}).")
    answers = np.full((len(questions), max(len(question.choices) for question in questions)), np.nan)
    for place, question in enumerate(questions):
        row, n = said.get(question.name), len(question.choices)
        if row is None:
            continue
        if row.get("scores") is not None:
            values = [float(value) for value in row["scores"]]
            if len(values) != n:
                raise LikewiseError(f"{path}: question {question.name} has {n} choices, not {len(values)}.")
            answers[place, :n] = values
        else:
            choice = int(row["choice"])
            if not 0 <= choice < n:
                raise LikewiseError(f"{path}: question {question.name} has choices 0 to {n - 1}, not {choice}.")
            answers[place, :n] = np.arange(n) == choice
    return answers
