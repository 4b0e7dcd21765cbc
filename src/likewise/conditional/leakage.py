"""A Combiner is not measured on what it has learned from, or was stopped by."""

from collections.abc import Sequence

import polars as pl

from likewise.conditional.combiner import TrainedCombiner
from likewise.conditional.composers import ComposerMethod
from likewise.conditional.protocol import ConditionalMethod
from likewise.conditional.validation import ValidationSet
from likewise.errors import LikewiseError
from likewise.workspace import read_parquet

TRIPLET_KEY = ("reference", "condition", "target")


def seen_triplets(triplets: pl.DataFrame, validation: ValidationSet | None) -> pl.DataFrame:
    """What a training looks at: its triplets, and the templates that choose its best step."""
    parts = [triplets.select(TRIPLET_KEY)]
    if isinstance(validation, pl.DataFrame):
        parts.append(validation.select(TRIPLET_KEY))
    return pl.concat(parts, how="vertical_relaxed").unique(maintain_order=True)


def check_no_leakage(methods: Sequence[ConditionalMethod], templates: pl.DataFrame) -> None:
    """Templates that a method knows would say how well it remembers."""
    for method in methods:
        combiner = method.composer if isinstance(method, ComposerMethod) else None
        if not isinstance(combiner, TrainedCombiner) or combiner.training_set is None:
            continue
        known = read_parquet(combiner.training_set, "likewise condition train")
        n_known = templates.join(known, on=TRIPLET_KEY, how="semi").height
        if n_known:
            raise LikewiseError(
                f"{method.name} has learned from {n_known:,} of these {templates.height:,} templates, or was stopped "
                "by them: build two sets of different items (`likewise condition build WS --half train --name train`, "
                "then `--half test --name test`), train on one and measure on the other."
            )
