"""A Combiner is not measured on what it has learned from, or was stopped by."""

from collections.abc import Sequence

import polars as pl

from likewise.conditional.combiner import TrainedCombiner
from likewise.conditional.composed import Composed
from likewise.conditional.judging import Validation
from likewise.conditional.protocol import Method
from likewise.errors import LikewiseError
from likewise.workspace import read_parquet

QUESTION = ("reference", "condition", "target")


def questions_of(lessons: pl.DataFrame, validation: Validation | None) -> pl.DataFrame:
    """What a training looks at: its lessons, and the templates that choose its best step."""
    parts = [lessons.select(QUESTION)]
    if isinstance(validation, pl.DataFrame):
        parts.append(validation.select(QUESTION))
    return pl.concat(parts, how="vertical_relaxed").unique(maintain_order=True)


def refuse_learned(methods: Sequence[Method], templates: pl.DataFrame) -> None:
    """Templates that a method knows would say how well it remembers."""
    for method in methods:
        combiner = method.composer if isinstance(method, Composed) else None
        if not isinstance(combiner, TrainedCombiner) or combiner.learned is None:
            continue
        known = read_parquet(combiner.learned, "likewise condition train")
        n_known = templates.join(known, on=QUESTION, how="semi").height
        if n_known:
            raise LikewiseError(
                f"{method.name} has learned from {n_known:,} of these {templates.height:,} templates, or was stopped "
                "by them: build two sets of different items (`likewise condition build WS --half train --name train`, "
                "then `--half test --name test`), train on one and measure on the other."
            )
