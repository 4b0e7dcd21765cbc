"""`likewise.evaluate`: models by their embeddings against labels, with intervals and paired tests; no workspace."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from likewise.api.inputs import read_items, read_labels, read_models
from likewise.api.table_result import IntervalResult, few_queries, percent_interval
from likewise.errors import LikewiseError
from likewise.evaluation.compute import Evaluation, evaluate_vectors
from likewise.evaluation.different_generators import no_rank_note
from likewise.evaluation.discovery import DEFAULT_MEASURES
from likewise.evaluation.measures import Measure, parse_measure, parse_measures
from likewise.evaluation.own_pairs import OWN_PAIRS_SCHEMA
from likewise.evaluation.pairs import build_judged_pairs, refuse_queries_without_candidates
from likewise.evaluation.ranking import MAIN, measure_is, place_ranges, treats_alike
from likewise.evaluation.step import evaluate as evaluate_step
from likewise.evaluation.summary import EvaluationSettings
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class Comparison:
    """Two models on the same queries: the mean difference a - b, its interval, and the paired test."""

    a: str
    b: str
    measure: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    significant: bool | None

    def __repr__(self) -> str:
        verdict = {True: "significant", False: "not significant", None: "undefined"}[self.significant]
        p = "" if self.p is None else f", p = {self.p:.3g}"
        corrected = "" if self.p_holm is None else f" ({self.p_holm:.3g} after Holm's correction)"
        return (
            f"{self.measure}: {self.a} - {self.b} = "
            f"{percent_interval(self.difference, self.low, self.high)} points{p}{corrected}: {verdict}"
        )


@dataclass(frozen=True, repr=False, kw_only=True)
class EvaluationResult(IntervalResult):
    """`table` has a row per encoder and measure; `differences` one per measure and two encoders."""

    evaluation: Evaluation
    own_pairs: pl.DataFrame
    """Each generator's areas over all labels, and without the pairs that it proposed; empty where nobody is known."""
    can_rank: bool = True
    """Whether the models that proposed the labelled pairs are different enough to rank models by them."""

    @property
    def differences(self) -> pl.DataFrame:
        return self.evaluation.differences

    @property
    def places(self) -> pl.DataFrame:
        """`encoder`, `first` and `last`: the places by gallery ROC-AUC that no significant difference excludes.

        Empty where the models have no ranks, because the models that proposed the labelled pairs are too much alike.
        """
        valued = set(self.table.filter(measure_is(MAIN) & pl.col("value").is_not_null())["encoder"]) - self.learned
        ranges = place_ranges(self.differences, [name for name in self.names if name in valued and self.can_rank])
        rows = [(name, one.first, one.last) for name, one in ranges.items()]
        return pl.DataFrame(rows, schema={"encoder": pl.String, "first": pl.Int64, "last": pl.Int64}, orient="row")

    def compare(self, a: str, b: str, measure: str | Measure = MAIN) -> Comparison:
        """The paired difference of two models under a measure that was measured."""
        wanted = parse_measure(measure) if isinstance(measure, str) else measure
        for name in (a, b):
            if name not in self.names:
                raise LikewiseError(f"{name!r} was not measured: choose from {', '.join(self.names)}.")
        rows = self.differences.filter(measure_is(wanted))
        for first, second, sign in ((a, b, 1), (b, a, -1)):
            found = rows.filter((pl.col("encoder_a") == first) & (pl.col("encoder_b") == second)).to_dicts()
            if found:
                row = found[0]
                low, high = row["low"], row["high"]
                if sign == -1:
                    low, high = _negative(high), _negative(low)
                difference = row["difference"] if sign == 1 else _negative(row["difference"])
                return Comparison(a, b, str(wanted), difference, low, high, row["p"], row["p_holm"], row["significant"])
        fed = set(self.table.filter(pl.col("generator"))["encoder"])
        if (a in fed) != (b in fed) and not treats_alike(str(wanted)) and wanted in self.evaluation.measures:
            generator, new = (a, b) if a in fed else (b, a)
            raise LikewiseError(
                f"{generator} proposed labelled pairs and {new} did not, and {wanted} does not treat both equally: "
                f"compare them by {MAIN}."
            )
        measures = ", ".join(self.differences["measure"].unique(maintain_order=True))
        raise LikewiseError(f"there is no comparison of {a} and {b} by {wanted}; measures: {measures}.")

    def per_query(self, measure: str | Measure = MAIN) -> pl.DataFrame:
        """Each query's value of every model under one measure; null where it is undefined."""
        wanted = parse_measure(measure) if isinstance(measure, str) else measure
        sums = self.evaluation.sums(wanted)
        if not sums:
            raise LikewiseError(f"{wanted} was not measured, or is no mean over queries.")
        values = {
            encoder: [n / d if d else None for n, d in zip(one.numerator, one.denominator, strict=True)]
            for encoder, one in sums.items()
        }
        return pl.DataFrame({"query": self.evaluation.gathered.pairs.queries} | values)


def evaluate(
    embeddings: Any,
    labels: Any,
    *,
    items: Any = None,
    keys: Sequence[Any] | None = None,
    measures: str | Sequence[str | Measure] | None = None,
    queries: Sequence[Any] | None = None,
    generators: Sequence[str] = (),
    seed: int = 0,
    on_progress: ProgressCallback | None = None,
) -> EvaluationResult:
    """Measure models against labels.

    `embeddings`: a mapping from the model's name to a NumPy array, torch tensor or DataFrame (or a single one), all
    over the same images. `labels`: rows of query, candidate, label (polars, pandas, tuples, a mapping, or the path of a
    TREC qrels, VSD JSON, CSV or Parquet file); keys are row numbers unless `keys` or a DataFrame names the rows.
    `items` says which rows show one item: a query's own item is never its candidate. Queries are those that the labels
    name, or `queries`; the gallery is all rows. `generators` are models whose lists were labelled. Nothing is written.
    """
    models, rows = read_models(embeddings, keys)
    given = read_labels(labels, rows)
    catalog = pl.DataFrame({"image": rows.text, "item": read_items(items, rows)})
    named = sorted(set(rows.as_text(queries)) if queries is not None else set(given["query"]))
    unknown = sorted(set(named) - set(rows.text))
    if unknown:
        raise LikewiseError(f"the query {unknown[0]!r} has no embedding ({len(unknown)} such queries).")
    gallery = sorted(rows.text)
    pairs = build_judged_pairs(catalog, given, named, gallery)
    refuse_queries_without_candidates(pairs)
    row_of = {key: row for row, key in enumerate(rows.text)}
    query_rows, gallery_rows = [row_of[key] for key in named], [row_of[key] for key in gallery]
    chosen = _measures(measures)
    done = evaluate_vectors(
        {name: (values[query_rows], values[gallery_rows]) for name, values in models.items()},
        pairs,
        chosen,
        generators=generators,
        seed=seed,
        on_progress=on_progress,
    )
    return _result(done)


def evaluate_folder(
    workspace: WorkspaceFolder,
    encoders: Sequence[str] | None,
    measures: str | None,
    half: str | None,
    store: bool | None,
    on_progress: ProgressCallback | None,
) -> EvaluationResult:
    """The evaluation of a workspace; stored where it is the default one, or where `store` says so."""
    settings = EvaluationSettings.of_measures(None if measures is None else parse_measures(measures))
    settings = replace(settings, half=half)
    done = evaluate_step(
        workspace, encoders, settings, store=store, command="Workspace.evaluate()", on_progress=on_progress
    )
    no_rank = no_rank_note(done.summary.pool.n_different)
    notes = [*([] if no_rank is None else [no_rank[0].upper() + no_rank[1:]]), *done.summary.lineage.notes]
    return _result(done.evaluation, notes, done.tables["own_pairs"], can_rank=no_rank is None)


def _result(
    done: Evaluation, lineage: Sequence[str] = (), own_pairs: pl.DataFrame | None = None, *, can_rank: bool = True
) -> EvaluationResult:
    main = done.results.filter(measure_is(MAIN))
    pairs = done.gathered.pairs
    n_queries = max(main["n_queries"].to_list(), default=0)
    note = (
        f"% over {n_queries} of {len(pairs.queries)} queries that have a similar item; {len(pairs):,} labelled pairs; "
        f"95 % intervals over queries{few_queries(n_queries)}."
    )
    n_items = len(set(pairs.query_items.tolist()))
    shared = [] if n_items == len(pairs.queries) else [f"The queries show {n_items} items: intervals are over items"]
    note = " ".join([note, *(f"{line}." for line in (*shared, *lineage))])
    return EvaluationResult(
        done.results,
        f"{len(main)} models by {MAIN}",
        note,
        main_measure=str(MAIN),
        evaluation=done,
        own_pairs=pl.DataFrame(schema=OWN_PAIRS_SCHEMA) if own_pairs is None else own_pairs,
        can_rank=can_rank,
    )


def _measures(measures: str | Sequence[str | Measure] | None) -> Sequence[Measure]:
    if measures is None:
        return DEFAULT_MEASURES
    if isinstance(measures, str):
        return parse_measures(measures)
    return [parse_measure(one) if isinstance(one, str) else one for one in measures]


def _negative(value: float | None) -> float | None:
    return None if value is None else -value
