"""Vectors and judged pairs in, tables out: every encoder on every measure, with intervals and paired differences.

Nothing here touches the disk, a catalog or torch; `step.py` feeds it from a workspace and stores what comes out.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from likewise.errors import LikewiseError
from likewise.evaluation.differences import difference_table
from likewise.evaluation.discovery import (
    DEFAULT_MEASURES,
    KS,
    EncoderEstimates,
    estimate_measures,
    ranked_results,
    results_table,
)
from likewise.evaluation.gallery_negatives import PER_QUERY
from likewise.evaluation.identification import MAIN as MAIN_IDENTIFICATION
from likewise.evaluation.identification import TwoOrders, compare_orders
from likewise.evaluation.incomplete import auc_bounds, next_pairs
from likewise.evaluation.measurements import EncoderVectors, Measurements, measure_encoders, unjudged_list_scores
from likewise.evaluation.measures import CutoffMeasure, Measure, Recall_cap, bpref, cutoffs
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.query_items import over_items, shared_items
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.ranking import MAIN, measure_is
from likewise.evaluation.sampled_negatives import DEFAULT_SAMPLING, NegativeSampling
from likewise.intervals import interval_of
from likewise.progress import ProgressCallback


@dataclass(frozen=True)
class Evaluation:
    """Encoders on the same judged pairs.

    `results` has a row per encoder and measure, `differences` one per measure and two encoders; `estimates` hold the
    values of each query behind both, and `gathered` the scores and lists.
    """

    results: pl.DataFrame
    differences: pl.DataFrame
    estimates: list[EncoderEstimates]
    gathered: Measurements

    @property
    def measures(self) -> set[Measure]:
        """Those that some encoder was measured by."""
        return {measure for one in self.estimates for measure in one.by_measure}

    def sums(self, measure: Measure) -> dict[str, QuerySums]:
        """Every encoder's value of a measure, per query; empty for one that is no sum over queries."""
        found = {one.encoder: one.by_measure[measure].estimate for one in self.estimates if measure in one.by_measure}
        return {encoder: estimate for encoder, estimate in found.items() if isinstance(estimate, QuerySums)}

    def sums_over_items(self, measure: Measure) -> dict[str, QuerySums]:
        """The same where queries that show one item are one."""
        items = shared_items(self.gathered.pairs.query_items)
        sums = self.sums(measure)
        return sums if items is None else {encoder: one.grouped(items) for encoder, one in sums.items()}


def evaluate_vectors(
    vectors: Mapping[str, EncoderVectors],
    pairs: JudgedPairs,
    measures: Sequence[Measure] = DEFAULT_MEASURES,
    *,
    encoders: Sequence[str] | None = None,
    generators: Sequence[str] = (),
    learned: Sequence[str] = (),
    labelled: JudgedPairs | None = None,
    gallery_per_query: int = PER_QUERY,
    ks: Sequence[int] = KS,
    seed: int = 0,
    sampling: NegativeSampling = DEFAULT_SAMPLING,
    on_progress: ProgressCallback | None = None,
) -> Evaluation:
    """Measure encoders by their vectors of `pairs.queries` and `pairs.gallery`, rows in that order.

    `vectors` is asked for one encoder at a time, so it may read them when asked. What they are ranked by is measured in
    any case, against `gallery_per_query` candidates a query. `generators` proposed the pool: they are marked, and their
    lists give the sampled negatives, drawn as `sampling` says, which are none of the `labelled` pairs. `ks` are the
    list lengths of identification.
    """
    names = list(vectors if encoders is None else encoders)
    check_list_lengths(ks)
    chosen = with_main_measure(measures)
    length = max(*ks, *cutoffs(chosen), 1)
    gathered = measure_encoders(
        vectors, names, pairs, generators, ks, seed, length, on_progress, labelled, gallery_per_query, sampling
    )
    estimates = []
    for done, one in enumerate(gathered.scored):
        if on_progress:
            on_progress("intervals", done, len(names))
        results = ranked_results(one, pairs, gathered.sampled, gathered.gallery)
        estimates.append(estimate_measures(one.encoder, results, chosen, pairs.query_items))
    differences = difference_table(estimates, generators)
    return Evaluation(results_table(estimates, generators, learned), differences, estimates, gathered)


def with_main_measure(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Each measure once, and the one that encoders are ranked by among them."""
    return tuple(dict.fromkeys([*measures, MAIN]))


def check_list_lengths(ks: Sequence[int]) -> None:
    """Refuse numbers that measure nothing."""
    if not ks or min(ks) < 1:
        raise LikewiseError(f"every k must be at least 1, not {min(ks, default=0)}.")


def incomplete_table(done: Evaluation, k: int) -> pl.DataFrame:
    """Per encoder: bpref with its interval, and the range of its gallery ROC-AUC once its top k were all labelled."""
    rows, items = [], shared_items(done.gathered.pairs.query_items)
    for one in done.gathered.scored:
        gathered = done.gathered
        low, high, n_unlabelled = auc_bounds(
            one, unjudged_list_scores(gathered, one), gathered.pairs, gathered.gallery, k
        )
        preference = bpref.estimate(ranked_results(one, done.gathered.pairs))
        ends = interval_of(over_items(preference, items))
        rows.append((one.encoder, preference.value(), *ends, preference.n_defined, low, high, n_unlabelled, k))
    schema = {
        "encoder": pl.String,
        "bpref": pl.Float64,
        "bpref_low": pl.Float64,
        "bpref_high": pl.Float64,
        "n_queries": pl.Int64,
        "auc_low": pl.Float64,
        "auc_high": pl.Float64,
        "n_unlabelled": pl.Int64,
        "k": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))


def next_pairs_table(done: Evaluation, n_pairs: int) -> pl.DataFrame:
    """The unlabelled pairs whose labels would move the order of the models most."""
    main = done.differences.filter(measure_is(MAIN)).select("encoder_a", "encoder_b", "significant")
    significant = {(a, b): decided for a, b, decided in main.iter_rows()}
    found = done.gathered
    judged_scores = {one.encoder: one.scores for one in found.scored}
    return next_pairs(found.pairs, *found.unlabelled, found.unlabelled_scores, judged_scores, significant, n_pairs)


def main_identification(ks: Sequence[int]) -> CutoffMeasure:
    """The measure that stands for identification."""
    return MAIN_IDENTIFICATION if MAIN_IDENTIFICATION.k in ks else Recall_cap @ min(ks)


def identification_sums(done: Evaluation, measure: CutoffMeasure) -> dict[str, QuerySums]:
    """Every encoder's value of a measure of identification, per query."""
    return {one.encoder: one.sums[measure] for one in done.gathered.identified}


def orders_of(done: Evaluation, ks: Sequence[int], without: Collection[str] = ()) -> TwoOrders:
    """How the order of the models by identification agrees with the order by discovery (gallery ROC-AUC)."""
    measure = main_identification(ks)
    identified, discovered = (
        {name: one for name, one in sums.items() if name not in without}
        for sums in (identification_sums(done, measure), done.sums(MAIN))
    )
    return compare_orders(measure, identified, discovered)
