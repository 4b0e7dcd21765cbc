"""ROC and precision-recall curves over all judged pairs, thinned to what an eye can see."""

from collections.abc import Iterable

import numpy as np
import polars as pl

from likewise.evaluation.auc import Floats
from likewise.evaluation.discovery import EncoderScores
from likewise.evaluation.pairs import JudgedPairs

MAX_POINTS = 200
CURVE_SCHEMA = pl.Schema({"encoder": pl.String, "curve": pl.String, "x": pl.Float64, "y": pl.Float64})


def curve_table(measured: Iterable[EncoderScores], pairs: JudgedPairs) -> pl.DataFrame:
    """Points of both curves per encoder: `roc` (false against true positive rate), `pr` (recall against precision)."""
    tables = [pl.DataFrame(schema=CURVE_SCHEMA)]
    for one in measured:
        order = np.argsort(-one.scores, kind="stable")
        scores, positive = one.scores[order], pairs.label[order].astype(np.float64)
        if not 0 < positive.sum() < len(positive):
            continue
        last_of_run = np.append(np.flatnonzero(scores[1:] != scores[:-1]), len(scores) - 1)
        true, listed = np.cumsum(positive)[last_of_run], last_of_run + 1.0
        recall = true / positive.sum()
        false_rate = (listed - true) / (len(positive) - positive.sum())
        for curve, x, y in (
            ("roc", np.concatenate([[0.0], false_rate]), np.concatenate([[0.0], recall])),
            ("pr", recall, true / listed),
        ):
            tables.append(_thinned(one.encoder, curve, x, y))
    return pl.concat(tables)


def _thinned(encoder: str, curve: str, x: Floats, y: Floats) -> pl.DataFrame:
    chosen = np.unique(np.linspace(0, len(x) - 1, min(MAX_POINTS, len(x))).round().astype(np.int64))
    names = [encoder] * len(chosen), [curve] * len(chosen)
    return pl.DataFrame([*names, x[chosen], y[chosen]], schema=CURVE_SCHEMA)
