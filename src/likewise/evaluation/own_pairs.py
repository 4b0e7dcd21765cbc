"""Each generator measured without the pairs that it proposed itself, alone or together with others.

Its own pairs are its nearest candidates. Over labelled pairs their negatives are its mistakes, so that leaving them out
mostly raises its value; against the gallery their positives are what it found, so that leaving them out lowers it. How
far a value moves says how much of it is the generator's own doing.
"""

from collections.abc import Sequence

import polars as pl

from likewise.discovery.proposals import NO_GENERATORS
from likewise.evaluation.discovery import EncoderScores, ranked_results
from likewise.evaluation.gallery_negatives import keep_positives
from likewise.evaluation.leave_one_out import proposed_pairs
from likewise.evaluation.measures import Measure
from likewise.evaluation.measures.base import AreaMeasure
from likewise.evaluation.pairs import JudgedPairs, select_pairs
from likewise.evaluation.query_items import over_items, shared_items
from likewise.intervals import interval_of

OWN_PAIRS_SCHEMA = pl.Schema(
    {
        "encoder": pl.String,
        "measure": pl.String,
        "value": pl.Float64,  # over all labels
        "without_own": pl.Float64,
        "low": pl.Float64,  # of `without_own`, over queries
        "high": pl.Float64,
        "n_queries": pl.Int64,  # that `without_own` rests on
        "n_pairs": pl.Int64,  # labelled pairs left
    }
)


def own_pairs_table(
    scored: Sequence[EncoderScores],
    pairs: JudgedPairs,
    gallery: JudgedPairs,
    proposals: pl.DataFrame,
    measures: Sequence[Measure],
) -> pl.DataFrame:
    """Every area of each generator among the models, over all labels and without its own pairs."""
    fed = set(proposals["generator"]) - set(NO_GENERATORS)
    areas = [one for one in measures if isinstance(one, AreaMeasure) and one.negatives != "sampled"]
    rows, items = [], shared_items(pairs.query_items)
    for one in scored:
        if one.encoder not in fed or one.gallery_scores is None:
            continue
        kept = ~proposed_pairs(pairs, proposals.filter(pl.col("generator") == one.encoder))
        left = select_pairs(pairs, kept)
        drawn = keep_positives(gallery, select_pairs(left, left.label == 1))
        here = EncoderScores(one.encoder, one.scores[kept], one.lists, gallery_scores=one.gallery_scores[drawn])
        all_labels = ranked_results(one, pairs, gallery=gallery)
        without_own = ranked_results(here, left, gallery=select_pairs(gallery, drawn))
        for measure in areas:
            estimate = measure.estimate(without_own)
            value, n_pairs = measure.estimate(all_labels).value(), len(left)
            ends = interval_of(over_items(estimate, items))
            rows.append((one.encoder, str(measure), value, estimate.value(), *ends, estimate.n_defined, n_pairs))
    return pl.DataFrame(rows, schema=OWN_PAIRS_SCHEMA, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))
