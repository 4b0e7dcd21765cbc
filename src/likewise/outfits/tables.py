"""Outfits and questions as tables, and back."""

from collections.abc import Iterable, Sequence
from typing import get_args

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.outfits.outfit_list import OutfitList
from likewise.outfits.protocol import Item, Outfit, OutfitQuestion, QuestionKind

OUTFIT_SCHEMA = pl.Schema(
    {"outfit": pl.String, "item": pl.String, "image": pl.String, "category": pl.String, "position": pl.Int64}
)
ITEM_SCHEMA = pl.Schema({"item": pl.String, "image": pl.String, "category": pl.String})
QUESTION_SCHEMA = pl.Schema(
    {
        "question": pl.String(),
        "kind": pl.String(),
        "dimension": pl.String(),
        "sub_dimension": pl.String(),
        "category": pl.String(),
        "blank": pl.Int64(),
        "items": pl.List(pl.String),
        "choices": pl.List(pl.String),
    }
)
ANSWER_SCHEMA = pl.Schema(
    {"question": pl.String(), "right": pl.Int64(), "people": pl.List(pl.Int64), "n_people": pl.Int64()}
)


def outfit_table(outfits: Iterable[Outfit]) -> pl.DataFrame:
    """One row per item of every outfit, positions from 1."""
    rows = [
        (outfit.name, item.item, item.image, item.category, position)
        for outfit in outfits
        for position, item in enumerate(outfit.items, 1)
    ]
    return pl.DataFrame(rows, schema=OUTFIT_SCHEMA, orient="row")


def outfits_from_table(table: pl.DataFrame) -> OutfitList:
    """The outfits of such a table, in the order of their first rows, items by position; equal items are one object."""
    if absent := [column for column in OUTFIT_SCHEMA if column not in table.columns]:
        raise LikewiseError(f"a table of outfits needs {', '.join(OUTFIT_SCHEMA)}; {', '.join(absent)} is not there.")
    columns = ["item", "image", "category"]
    items = table.select(columns).unique(maintain_order=True).with_row_index("number")
    outfits = table.select("outfit").unique(maintain_order=True).with_row_index("line")
    rows = (
        table.lazy()
        .select("outfit", *columns, "position")
        .join(items.lazy(), on=columns, how="left", nulls_equal=True, maintain_order="left")
        .join(outfits.lazy(), on="outfit", how="left", nulls_equal=True, maintain_order="left")
        .select("line", "position", "number")
        .sort("line", "position", maintain_order=True)
        .select("line", "number")
        .collect()
    )
    length = np.bincount(rows["line"].to_numpy(), minlength=len(outfits))
    texts = items.select(pl.col(columns).cast(pl.String)).iter_rows()
    return OutfitList(
        outfits["outfit"].cast(pl.String).fill_null("None"),
        tuple(Item(item, category or "", image) for item, image, category in texts),
        rows["number"].cast(pl.Int32).to_numpy(),
        np.concatenate([[0], np.cumsum(length)]),
    )


def item_table(questions: Sequence[OutfitQuestion]) -> pl.DataFrame:
    """Every item that the questions show, once, by key."""
    found = {item.item: item for question in questions for item in (*question.items, *question.choices)}
    rows = [(item.item, item.image, item.category) for _, item in sorted(found.items())]
    return pl.DataFrame(rows, schema=ITEM_SCHEMA, orient="row")


def question_table(questions: Sequence[OutfitQuestion]) -> pl.DataFrame:
    """The questions as one may publish them: no answers."""
    rows = [
        (
            q.name,
            q.kind,
            q.dimension,
            q.sub_dimension,
            q.category,
            q.blank,
            [item.item for item in q.items],
            [item.item for item in q.choices],
        )
        for q in questions
    ]
    return pl.DataFrame(rows, schema=QUESTION_SCHEMA, orient="row")


def answer_table(questions: Sequence[OutfitQuestion]) -> pl.DataFrame:
    """What is right, and how many people chose what."""
    rows = [(q.name, q.right, list(q.people), sum(q.people)) for q in questions]
    return pl.DataFrame(rows, schema=ANSWER_SCHEMA, orient="row")


def questions_from_tables(
    questions: pl.DataFrame, items: pl.DataFrame, answers: pl.DataFrame | None = None
) -> list[OutfitQuestion]:
    """Questions from their tables; without `answers` nobody knows what is right."""
    known = {row["item"]: Item(row["item"], row["category"] or "", row["image"]) for row in items.iter_rows(named=True)}
    right = {row["question"]: row for row in answers.iter_rows(named=True)} if answers is not None else {}
    found = []
    for row in questions.iter_rows(named=True):
        if absent := [name for name in (*row["items"], *row["choices"]) if name not in known]:
            raise LikewiseError(f"question {row['question']} names the item {absent[0]}, which is not among the items.")
        if row["kind"] not in get_args(QuestionKind):
            raise LikewiseError(
                f"question {row['question']} is of kind {row['kind']!r}, not {', '.join(get_args(QuestionKind))}."
            )
        if row["blank"] is not None and row["blank"] > len(row["items"]):
            raise LikewiseError(
                f"question {row['question']} shows {len(row['items'])} items, and none at {row['blank']}."
            )
        answer = right.get(row["question"], {})
        n_choices, people = len(row["choices"]), answer.get("people") or ()
        if n_choices < 2 or not (answer.get("right") is None or answer["right"] < n_choices):
            raise LikewiseError(
                f"question {row['question']} has {n_choices} choices, and number {answer.get('right')} would be right."
            )
        if people and (len(people) != n_choices or any(count is None or count < 0 for count in people)):
            raise LikewiseError(f"question {row['question']} has {n_choices} choices, and people chose {list(people)}.")
        found.append(
            OutfitQuestion(
                row["question"],
                row["kind"],
                tuple(known[name] for name in row["items"]),
                tuple(known[name] for name in row["choices"]),
                row["blank"],
                row["dimension"],
                row["sub_dimension"],
                answer.get("right"),
                tuple(answer.get("people") or ()),
            )
        )
    return found
