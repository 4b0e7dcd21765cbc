"""What the Polyvore data sets share: outfits of items `SETID_INDEX`, fill-in-the-blank questions, compatibility lines.

questions      [{"question": [items], "answers": [items], "blank_position": 3}]        blank_position is 1-based
compatibility  1 224930161_1 224930161_2 …                                            1 goes together, 0 does not
"""

from collections.abc import Callable
from typing import Any

import polars as pl

from likewise.catalog.readers.parsing import parse_flag, parse_integer, parse_text

OUTFIT_SCHEMA = {
    "outfit": pl.String,
    "item": pl.String,
    "position": pl.Int64,
    "image": pl.String,
    "category": pl.String,
    "split": pl.String,
}
QUESTION_SCHEMA = {
    "question": pl.Int64,
    "split": pl.String,
    "items": pl.List(pl.String),
    "answers": pl.List(pl.String),
    "right": pl.Int64,
    "position": pl.Int64,
}
COMPATIBILITY_SCHEMA = {"line": pl.Int64, "split": pl.String, "label": pl.Int8, "items": pl.List(pl.String)}

Question = tuple[list[str], list[str], int, int | None]


def parse_question(entry: dict[str, Any], right: Callable[[list[str], list[str]], int]) -> Question:
    """(items, answers, place of the right answer, blank position); `right` is the data set's rule for it."""
    items = [_reference(name) for name in entry["question"]]
    answers = [_reference(name) for name in entry["answers"]]
    if not items or len(answers) < 2:
        raise ValueError(entry)
    blank = entry.get("blank_position")
    return items, answers, right(items, answers), None if blank is None else parse_integer(blank)


def first_is_right(items: list[str], answers: list[str]) -> int:
    return 0


def of_the_same_set(items: list[str], answers: list[str]) -> int:
    """The only answer whose set id is the question's."""
    set_id = items[0].rsplit("_", 1)[0]
    (right,) = [place for place, answer in enumerate(answers) if answer.rsplit("_", 1)[0] == set_id]
    return right


def parse_compatibility(line: str) -> tuple[int, list[str]]:
    """A label and at least two items; negatives keep two spaces after the label."""
    label, *items = line.split()
    if len(items) < 2:
        raise ValueError(line)
    return int(parse_flag(label)), [_reference(name) for name in items]


def _reference(value: object) -> str:
    name = parse_text(value)
    set_id, index = name.rsplit("_", 1)
    if not set_id:
        raise ValueError(name)
    return f"{set_id}_{parse_integer(index)}"
