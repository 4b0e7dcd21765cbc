"""What training changed: every trained network beside the one it comes from, on two questions."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from likewise.evaluation.differences import ALPHA
from likewise.lineage.guard import MARK
from likewise.report.formatting import interval, join_names, p_value, percent, points

DISCOVERY, IDENTIFICATION = "discovery", "identification"
TASKS = {"id": "items", "cat": "categories", "id+c": "items and categories", "dino": "no labels (DINO)"}


@dataclass(frozen=True)
class Change:
    """One network and one question, as text."""

    before: str
    after: str
    gain: str
    ends: str
    p: str
    direction: int
    """1 where it is significantly better, -1 significantly worse, 0 otherwise."""


@dataclass(frozen=True)
class Arrow:
    """From the base to the trained network, each as (identification, discovery)."""

    encoder: str
    start: tuple[float, float]
    end: tuple[float, float]


@dataclass(frozen=True)
class TrainedNetwork:
    encoder: str
    base: str
    learned: str
    discovery: Change
    identification: Change


@dataclass(frozen=True)
class TrainingEffects:
    networks: list[TrainedNetwork]
    measures: dict[str, str]
    n_queries: dict[str, int]
    bases: str
    sentence: str
    arrows: list[Arrow]
    any_learned: bool
    """Whether some network was taught the items that it is asked to find."""


def training_effects(table: pl.DataFrame | None) -> TrainingEffects | None:
    """None where no network was trained, or not measured beside what it comes from."""
    if table is None or table.is_empty():
        return None
    rows = {(row["encoder"], row["question"]): row for row in table.iter_rows(named=True)}
    encoders = table["encoder"].unique(maintain_order=True).to_list()
    networks, arrows = [], []
    for encoder in encoders:
        found, identified = rows[encoder, DISCOVERY], rows[encoder, IDENTIFICATION]
        learned = TASKS.get(found["task"], found["task"])
        networks.append(TrainedNetwork(encoder, found["base"], learned, _change(found), _change(identified)))
        ends = [identified["before"], found["before"], identified["after"], found["after"]]
        if None not in ends and not identified["learned"]:
            arrows.append(Arrow(encoder, (ends[0], ends[1]), (ends[2], ends[3])))
    first = {question: rows[encoders[0], question] for question in (DISCOVERY, IDENTIFICATION)}
    return TrainingEffects(
        networks,
        {question: row["measure"] for question, row in first.items()},
        {question: row["n_queries"] for question, row in first.items()},
        join_names(sorted({each.base for each in networks})),
        _sentence(networks),
        arrows,
        bool(table["learned"].any()),
    )


def _change(row: dict[str, Any]) -> Change:
    significant = row["p_holm"] is not None and row["p_holm"] < ALPHA
    direction = 0 if not significant or row["learned"] else 1 if row["gain"] > 0 else -1
    ends = interval(row["low"], row["high"], signed=True)
    return Change(
        percent(row["before"]),
        percent(row["after"]),
        points(row["gain"]) + (f" {MARK}" if row["learned"] else ""),
        ends,
        p_value(row["p_holm"]),
        direction,
    )


def _sentence(networks: list[TrainedNetwork]) -> str:
    """The two questions, answered by what is significant."""

    def those(question: str, direction: int) -> list[str]:
        return [each.encoder for each in networks if getattr(each, question).direction == direction]

    said = []
    for question, what in ((DISCOVERY, "finding what looks alike"), (IDENTIFICATION, "finding the same item")):
        better, worse = those(question, 1), those(question, -1)
        parts = [f"helped {join_names(better)}"] if better else []
        parts += [f"harmed {join_names(worse)}"] if worse else []
        said.append(f"At {what}, training {' and '.join(parts) or 'changed nothing significantly'}.")
    return " ".join(said)
