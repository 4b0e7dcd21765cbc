"""What other systems answered, as methods: `run:FILE` holds rankings, `queries:FILE` one vector per question.

    run      JSON {"12": [names, best first], …} (CIRR's and CIRCO's submissions), {"12": {name: score}}, or the same
             under each task's name; a table (CSV, Parquet, JSON lines) with question, image, score or rank, and task
             where there are several; or TREC's lines `question Q0 image rank score tag`, question as `task/12`
    queries  .npz with `questions`, `vectors` and, where there are several tasks, `tasks`; or Parquet with question,
             vector and task

Pictures are named as in `picture_names.py`.  Candidates that a run does not list share the last place; a question
that it does not answer counts as not answered.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.readers.parsing import read_text
from likewise.catalog.readers.table import read_table
from likewise.conditional.picture_names import PictureNames
from likewise.conditional.protocol import Features, Floats, QueryBatch
from likewise.conditional.towers import normalize
from likewise.errors import LikewiseError
from likewise.untrusted import TEXT, ColumnRule, check_columns, check_line
from likewise.untrusted.archives import read_npz
from likewise.workspace import read_json

RUN, QUERIES = "run", "queries"
TREC_COLUMNS = 6
NOT_QUESTIONS = ("version", "metric")
"""What submission files say beside their answers."""
COLUMNS = {
    "question": TEXT,
    "image": TEXT,
    "vector": ColumnRule("anything"),
    "task": ColumnRule(null=True, optional=True),
    "score": ColumnRule("number", optional=True),
    "rank": ColumnRule("number", optional=True),
}
Question = tuple[str, int]
"""Task (empty where the file names none) and number."""
Answers = dict[Question, dict[str, float]]
Row = tuple[str, int, str, float]


@dataclass(frozen=True)
class RankedRun:
    """Rankings of another system: question -> picture -> score."""

    name: str
    answers: Mapping[Question, Mapping[str, float]]

    def scores(self, batch: QueryBatch) -> Floats:
        found = np.full((len(batch.reference), batch.gallery.shape[-2]), np.nan)
        for row, (task, number) in enumerate(zip(batch.tasks, batch.questions, strict=True)):
            answer = self.answers.get((task, number), self.answers.get(("", number)))
            if answer:
                last = min(answer.values()) - 1.0
                candidates = batch.candidates[row] if len(batch.candidates) > 1 else batch.candidates[0]
                found[row] = [answer.get(image, last) for image in candidates]
        return found


@dataclass(frozen=True)
class QueryVectors:
    """One vector per question, compared with the features of the encoder's image side by cosine."""

    name: str
    row_of: Mapping[Question, int]
    vectors: Features

    def scores(self, batch: QueryBatch) -> Floats:
        gallery = batch.normalized_gallery
        if gallery.shape[-1] != self.vectors.shape[1]:
            raise LikewiseError(
                f"{self.name}: its vectors have {self.vectors.shape[1]} numbers, the image features "
                f"{gallery.shape[-1]}: name the encoder that they belong to with `--with`."
            )
        found = np.full((len(batch.reference), gallery.shape[-2]), np.nan)
        for row, (task, number) in enumerate(zip(batch.tasks, batch.questions, strict=True)):
            place = self.row_of.get((task, number), self.row_of.get(("", number)))
            if place is not None:
                found[row] = (gallery[row] if gallery.ndim == 3 else gallery) @ self.vectors[place]
        return found


def read_run(path: Path, catalog: pl.DataFrame, name: str | None = None) -> RankedRun:
    """A run file; pictures that the catalog does not have are a mistake."""
    names = PictureNames.of(catalog)
    answers: Answers = {}
    unknown: dict[str, None] = {}
    for task, number, image, score in _run_rows(path):
        key = names.key(image)
        if key is None:
            unknown.setdefault(image)
            continue
        held = answers.setdefault((task, number), {})
        if key in held:
            raise LikewiseError(
                f"{path}: question {f'{task}/' if task else ''}{number} lists {image} twice: keep one of them."
            )
        held[key] = score
    if unknown:
        raise LikewiseError(
            f"{path} names {len(unknown)} images that are not in the catalog (first: {next(iter(unknown))}): "
            "is it a run on this benchmark?"
        )
    if not answers:
        raise LikewiseError(f"{path} answers no question: is it a run on this benchmark?")
    return RankedRun(name or path.stem, answers)


def read_query_vectors(path: Path, name: str | None = None) -> QueryVectors:
    """A file of query vectors."""
    _require(path, (".npz", ".parquet"), "query vectors")
    if path.suffix == ".parquet":
        table = _table(path, ("question", "vector"))
        tasks = [task or "" for task in table["task"]] if "task" in table.columns else [""] * table.height
        questions = table["question"].to_list()
        rows: Sequence[Any] | NDArray[Any] = table["vector"].to_list()
    else:
        stored = read_npz(path, ("questions", "tasks", "vectors"))
        flat = all(array.ndim == 1 for name, array in stored.items() if name != "vectors")
        if not {"questions", "vectors"} <= stored.keys() or not flat:
            raise LikewiseError(f"{path} holds no query vectors: it needs `questions` and `vectors`, one of each.")
        questions = stored["questions"].tolist()
        tasks = stored["tasks"].tolist() if "tasks" in stored else [""] * len(questions)
        rows = stored["vectors"]
    if len(tasks) != len(questions):
        raise LikewiseError(f"{path} has {len(tasks)} tasks for {len(questions)} questions: write one for each.")
    try:
        with np.errstate(over="ignore"):  # too large for float32: refused below, as infinite
            vectors = np.asarray(rows, np.float32)
    except (TypeError, ValueError) as error:
        raise LikewiseError(f"{path}: all query vectors must have the same width.") from error
    if vectors.ndim != 2 or len(vectors) != len(questions) != 0 or not np.isfinite(vectors).all():
        raise LikewiseError(f"{path}: one vector of finite numbers is needed for each of {len(questions)} questions.")
    row_of = {
        (str(task), _number(one, path)): row for row, (task, one) in enumerate(zip(tasks, questions, strict=True))
    }
    if len(row_of) < len(questions):
        raise LikewiseError(f"{path} has two vectors for one question: name the tasks, or keep one.")
    return QueryVectors(name or path.stem, row_of, normalize(vectors))


def _run_rows(path: Path) -> Iterable[Row]:
    _require(path, (".json", ".csv", ".parquet", ".jsonl", ".run", ".trec", ".txt"), "a run")
    if path.suffix == ".json":
        return _json_rows(path)
    if path.suffix in (".csv", ".parquet", ".jsonl"):
        return _table_rows(path)
    return _trec_rows(path)


def _json_rows(path: Path) -> Iterable[Row]:
    content = read_json(path)
    if not isinstance(content, dict):
        raise LikewiseError(f'{path} is no run: expected {{"question": [images, best first]}}.')
    asked = {key: value for key, value in content.items() if key not in NOT_QUESTIONS}
    nested = all(isinstance(value, dict) and not key.lstrip("-").isdecimal() for key, value in asked.items())
    for task, of_task in asked.items() if nested else [("", asked)]:
        for question, listed in of_task.items():
            yield from _answer(task, _number(question, path), listed, path)


def _answer(task: str, number: int, listed: Any, path: Path) -> Iterable[Row]:
    if isinstance(listed, dict):
        scored = [(image, _score(score, path)) for image, score in listed.items()]
    elif isinstance(listed, list):
        scored = [(str(image), -float(rank)) for rank, image in enumerate(listed)]
    else:
        raise LikewiseError(f"{path}: question {number} needs a list of images or their scores.")
    return [(task, number, image, score) for image, score in scored]


def _table_rows(path: Path) -> Iterable[Row]:
    table = _table(path, ("question", "image"))
    if "score" not in table.columns and "rank" not in table.columns:
        raise LikewiseError(f"{path} has neither score nor rank (it has {', '.join(table.columns)}): add one of them.")
    value = pl.col("score") if "score" in table.columns else -pl.col("rank").cast(pl.Float64, strict=False)
    task = pl.col("task") if "task" in table.columns else pl.lit("")
    chosen = table.select(task, "question", "image", value.cast(pl.Float64, strict=False).alias("score"))
    for of_task, question, image, score in chosen.iter_rows():
        yield of_task or "", _number(question, path), image, _score(score, path)


def _trec_rows(path: Path) -> Iterable[Row]:
    for line_number, line in enumerate(read_text(path).split("\n"), 1):
        cells = line.split()
        if not cells:
            continue
        if len(cells) != TREC_COLUMNS:
            raise LikewiseError(f"{path}, line {line_number}: expected `question Q0 image rank score tag`.")
        task, _, question = cells[0].rpartition("/")
        yield check_line(task, "the task", str(path)), _number(question, path), cells[2], _score(cells[4], path)


def _require(path: Path, endings: tuple[str, ...], what: str) -> None:
    if not path.is_file() or path.suffix not in endings:
        raise LikewiseError(f"{path} is no file of {what}: give one that ends in {', '.join(endings)}.")


def _table(path: Path, needed: tuple[str, ...]) -> pl.DataFrame:
    columns = {name: COLUMNS[name] for name in needed} | {name: COLUMNS[name] for name in ("task", "score", "rank")}
    return check_columns(read_table(path), columns, str(path))


def _number(question: object, path: Path) -> int:
    try:
        return int(str(question))
    except ValueError as error:
        raise LikewiseError(f"{path}: {question!r} is no number of a question: write a whole number.") from error


def _score(score: object, path: Path) -> float:
    try:
        value = float(str(score))
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise LikewiseError(f"{path}: {score!r} is no score: write a finite number.")
    return value
