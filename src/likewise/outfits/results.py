"""Scoring models on a test: they answer its questions, and a folder of results fills up beside it.

The folder holds a workspace of the test's pictures (`pictures/`), so every encoder works as anywhere else and its
vectors are made once, and the tables that follow from the answers. Answers made elsewhere come in as a table
`question, choice` (from 0) or `question, scores`.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl

from likewise.catalog.make import make_catalog
from likewise.errors import LikewiseError
from likewise.files import written_together
from likewise.lineage.record import Lineage
from likewise.outfits.bundle import OutfitTest, read_images
from likewise.outfits.models.feature_source import WorkspaceFeatures
from likewise.outfits.protocol import Floats, OutfitModel, OutfitQuestion
from likewise.outfits.scoring import agreement_with_people, difference_table, grade_answers, score_table
from likewise.outfits.screening import outfit_test_set, screen_outfit_models
from likewise.outfits.tables import item_table
from likewise.outfits.vectors import VectorLookup, read_image_vectors
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, write_atomically, write_json, write_parquet


@dataclass(frozen=True)
class OutfitTestResults:
    """The folder of results of one test."""

    test: OutfitTest
    folder: Path

    @property
    def workspace(self) -> WorkspaceFolder:
        return WorkspaceFolder(self.folder / "pictures")

    @property
    def page(self) -> Path:
        return self.folder / "index.html"


@dataclass(frozen=True)
class OutfitTestFeatures:
    """The pictures of a test; an encoder whose vectors are not there yet makes them."""

    results: OutfitTestResults
    on_progress: ProgressCallback | None = None

    def vectors(self, encoder: str) -> VectorLookup:
        from likewise.encoders.running.encode import encode_catalog

        def report(stage: str, done: int, total: int) -> None:
            if self.on_progress is not None:
                self.on_progress(f"{encoder} vectors", done, total)

        encode_catalog(prepare_workspace(self.results), [encoder], workers=1, on_progress=report)
        return read_image_vectors(self.results.workspace, encoder)

    def image_path(self, image: str) -> Path:
        return prepare_workspace(self.results).root / image

    def lineage(self, encoders: str) -> Lineage:
        return WorkspaceFeatures(prepare_workspace(self.results)).lineage(encoders)


@dataclass(frozen=True)
class OutfitTestScores:
    """All tables that follow from the answers of some models."""

    graded: pl.DataFrame
    scores: pl.DataFrame
    differences: pl.DataFrame
    agreement: pl.DataFrame
    speed: dict[str, float]
    notes: tuple[str, ...] = ()
    """One sentence for each model that learned from the test, has seen its items, or says nothing about that."""


def prepare_workspace(results: OutfitTestResults) -> WorkspaceFolder:
    """The workspace of the test's pictures, made on first use; a zipped test's pictures are unpacked into it."""
    workspace, source = results.workspace, f"test {results.test.card['checksum']}"
    inside = results.test.path / "images"
    root = inside if inside.is_dir() else workspace.path / "images"
    known = workspace.settings_file.exists()
    if known and workspace.settings()["source"] != source:
        raise LikewiseError(f"{results.folder} holds the results of another test: choose another folder for this one.")
    if known and workspace.root == root.resolve():
        return workspace
    if root != inside:
        for image, content in read_images(results.test):
            write_atomically(root / image, partial(_write, content))
    if not root.is_dir():
        raise LikewiseError(f"{results.test.path} holds no pictures: models that look at them cannot take this test.")
    rows = item_table(results.test.questions).unique("image", maintain_order=True).select("image", "item", "category")
    make_catalog(workspace, rows, root, source, replace=True)  # the test may have been moved
    return workspace


def _write(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def score_models(
    results: OutfitTestResults,
    models: Sequence[OutfitModel],
    *,
    on_progress: ProgressCallback | None = None,
) -> OutfitTestScores:
    """Let the models answer, and write taken, scores, differences and agreement as Parquet into the folder.

    Models that learned from the test come last, with a mark behind their names.
    """
    names = [model.name for model in models]
    if len(set(names)) < len(names):
        raise LikewiseError(f"two models are called {max(names, key=names.count)}: give each a name of its own.")
    screening = screen_outfit_models(models, outfit_test_set(results.test))
    questions, graded, speed = results.test.questions, [], {}
    for place, model in enumerate(sorted(models, key=lambda model: model.name in screening.learned)):
        if on_progress is not None:
            on_progress("models", place, len(models))
        started = time.perf_counter()
        answers = model.answer(questions)
        shown = screening.marked(model.name)
        speed[shown] = len(questions) / max(1e-9, time.perf_counter() - started)
        graded.append(grade_answers(shown, questions, answers))
    table = pl.concat(graded)
    scored = OutfitTestScores(
        table,
        score_table(table, questions),
        difference_table(table, questions),
        agreement_with_people(questions, table),
        speed,
        tuple(screening.notes(names)),
    )
    tables = {"taken": table, **{name: getattr(scored, name) for name in ("scores", "differences", "agreement")}}
    with written_together(results.folder) as staged:
        for name, each in tables.items():
            write_parquet(each, staged.staging / f"{name}.parquet")
        write_json(results_summary(results, scored), staged.staging / "scores.json")
    return scored


def results_summary(results: OutfitTestResults, scored: OutfitTestScores) -> dict[str, Any]:
    """What the folder is about, for programs."""
    return {
        "test": results.test.card["title"],
        "checksum": results.test.card["checksum"],
        "n_questions": len(results.test.questions),
        "questions_per_second": {name: round(value, 1) for name, value in scored.speed.items()},
        "scores": scored.scores.to_dicts(),
        "notes": list(scored.notes),
    }


@dataclass(frozen=True)
class AnswersFile:
    """A model that is only known by its answers to this test."""

    name: str
    path: Path

    def score(self, outfits: Sequence[object]) -> Floats:
        raise LikewiseError(f"{self.path} holds answers to questions; it cannot score other outfits.")

    def answer(self, questions: Sequence[OutfitQuestion]) -> Floats:
        return read_answers(self.path, questions)


def read_answers(path: Path, questions: Sequence[OutfitQuestion]) -> Floats:
    """Answers from a table with `question` and `choice` (from 0) or `scores`; NaN where a question has none."""
    from likewise.catalog.readers.table import read_table

    table = read_table(path)
    columns = set(table.columns)
    if table.is_empty():
        raise LikewiseError(f"{path} answers no question: write one row for each.")
    if "question" not in columns or not columns & {"choice", "scores"}:
        raise LikewiseError(f"{path} needs the columns question and choice (from 0), or question and scores.")
    if table["question"].n_unique() < len(table):
        raise LikewiseError(f"{path} answers a question twice: keep one row per question.")
    given = {str(row["question"]): row for row in table.iter_rows(named=True)}
    known = {question.name for question in questions}
    if unknown := [name for name in given if name not in known]:
        raise LikewiseError(
            f"{path} answers {unknown[0][:60]!r}, which is no question of this test (its first is {questions[0].name})."
        )
    answers = np.full((len(questions), max(len(question.choices) for question in questions)), np.nan)
    for place, question in enumerate(questions):
        row, n = given.get(question.name), len(question.choices)
        if row is None:
            continue
        if row.get("scores") is not None:
            values = _scores(row["scores"], f"{path}: question {question.name}")
            if len(values) != n:
                raise LikewiseError(f"{path}: question {question.name} has {n} choices, not {len(values)}.")
            answers[place, :n] = values
        else:
            choice = _choice(row.get("choice"), f"{path}: question {question.name}")
            if not 0 <= choice < n:
                raise LikewiseError(f"{path}: question {question.name} has choices 0 to {n - 1}, not {choice}.")
            answers[place, :n] = np.arange(n) == choice
    return answers


def _scores(written: object, where: str) -> list[float]:
    """Numbers of a list, or of a text with spaces or commas between them."""
    parts = written.strip("[] ").replace(",", " ").split() if isinstance(written, str) else written
    try:
        values = [float(value) for value in parts]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise LikewiseError(f"{where} has scores {str(written)[:60]!r}: write one number per choice.") from None
    if not np.isfinite(values).all():
        raise LikewiseError(f"{where} has scores that are no numbers ({str(written)[:60]}): leave its row out instead.")
    return values


def _choice(written: object, where: str) -> int:
    try:
        number = float(written)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if number != round(number) if np.isfinite(number) else True:
        raise LikewiseError(f"{where} has the choice {str(written)[:60]!r}: write its number, from 0.")
    return int(number)
