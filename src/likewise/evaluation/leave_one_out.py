"""Leave one generator out (VSD, Table 3): would the models stand in the same order without one of the generators?

For each generator the labels are rebuilt from the pairs the other ones proposed; every model is measured again, and
the order of the models is compared (Spearman) with their order under all labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.discovery.proposals import NO_GENERATORS
from likewise.evaluation.discovery import DEFAULT_MEASURES, EncoderScores, ranked_results
from likewise.evaluation.gallery_negatives import keep_positives
from likewise.evaluation.measures import Measure
from likewise.evaluation.measures.judged import JudgedAtK
from likewise.evaluation.pairs import JudgedPairs, select_pairs
from likewise.evaluation.rank_correlation import spearman, spearman_exact_p, spearman_p


@dataclass(frozen=True)
class LeftOut:
    """`models`: mean and sd of each measure over the reduced ground truths; `orders`: Spearman per removed generator.

    `p_value` is the t approximation of the paper, which calls any perfect order of few models certain; `p_exact` counts
    all orders of the models and is null where there are too many to count.
    """

    models: pl.DataFrame
    orders: pl.DataFrame


def leave_one_out(
    scored: Sequence[EncoderScores],
    pairs: JudgedPairs,
    gallery: JudgedPairs,
    proposals: pl.DataFrame,
    measures: Sequence[Measure] = DEFAULT_MEASURES,
) -> LeftOut:
    """Table 3, for areas and, beside them, for measures of lists, so that the reader sees which measure moves."""
    generators = proposals.filter(~pl.col("generator").is_in(NO_GENERATORS))["generator"].unique().sort().to_list()
    full = _values(scored, pairs, gallery, np.ones(len(pairs), dtype=np.bool_), measures)
    models, orders = [], []
    reduced = {
        name: _values(scored, pairs, gallery, proposed_pairs(pairs, _of_others(proposals, name)), measures)
        for name in generators
    }
    for measure in full if generators else ():
        values = np.array([reduced[name][measure] for name in generators])  # generators x models
        for place, one in enumerate(scored):
            column = values[:, place]
            sd = float(np.std(column, ddof=1)) if len(column) > 1 else float("nan")
            models.append((one.encoder, str(measure), full[measure][place], float(np.mean(column)), sd, len(column)))
        for name, row in zip(generators, values, strict=True):
            everything = np.array(full[measure])
            correlation = spearman(everything, row)
            p_values = spearman_p(correlation, len(scored)), spearman_exact_p(everything, row)
            orders.append((name, str(measure), correlation, *p_values, len(scored)))
    numbers = {"value": pl.Float64, "mean": pl.Float64, "sd": pl.Float64, "n_subsets": pl.Int64}
    agreed = {"spearman": pl.Float64, "p_value": pl.Float64, "p_exact": pl.Float64, "n_models": pl.Int64}
    return LeftOut(
        _table(models, {"encoder": pl.String, "measure": pl.String, **numbers}),
        _table(orders, {"removed": pl.String, "measure": pl.String, **agreed}),
    )


def _of_others(proposals: pl.DataFrame, removed: str) -> pl.DataFrame:
    """The proposals of generators besides the removed one."""
    return proposals.filter(~pl.col("generator").is_in([removed, *NO_GENERATORS]))


def proposed_pairs(pairs: JudgedPairs, proposals: pl.DataFrame) -> NDArray[np.bool_]:
    """Which judged pairs are among these proposals."""
    query_of = {image: row for row, image in enumerate(pairs.queries)}
    candidate_of = {image: row for row, image in enumerate(pairs.gallery)}
    width = len(pairs.gallery)
    cells = [
        query_of[query] * width + candidate_of[candidate]
        for query, candidate in proposals.select("query", "candidate").unique().iter_rows()
        if query in query_of and candidate in candidate_of
    ]
    return np.isin(pairs.query * width + pairs.candidate, np.array(cells, dtype=np.int64))


def _values(
    scored: Sequence[EncoderScores],
    pairs: JudgedPairs,
    gallery: JudgedPairs,
    kept: NDArray[np.bool_],
    measures: Sequence[Measure],
) -> dict[Measure, list[float]]:
    """Every measure on a part of the labelled pairs (sampled negatives left aside): one value per model."""
    part = select_pairs(pairs, kept)
    drawn = keep_positives(gallery, select_pairs(part, part.label == 1))
    from_gallery = select_pairs(gallery, drawn)
    values: dict[Measure, list[float]] = {}
    for one in scored:
        assert one.gallery_scores is not None
        here = EncoderScores(one.encoder, one.scores[kept], one.lists, gallery_scores=one.gallery_scores[drawn])
        results = ranked_results(here, part, gallery=from_gallery)
        for measure in measures:
            if measure.pairs_of(results) is not None and not isinstance(measure, JudgedAtK):
                values.setdefault(measure, []).append(measure.estimate(results).value())
    return values


def _table(rows: Sequence[tuple[object, ...]], schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))
