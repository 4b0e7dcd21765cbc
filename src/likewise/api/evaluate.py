"""`likewise.evaluate`: models by their embeddings against labels, with intervals and paired tests; no workspace."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from likewise.api.inputs import read_items, read_labels, read_models
from likewise.api.table_result import TableResult, percent_interval
from likewise.errors import LikewiseError
from likewise.evaluation.bootstrap import RESAMPLES
from likewise.evaluation.compute import Evaluation, evaluate_vectors
from likewise.evaluation.discovery import DEFAULT_MEASURES
from likewise.evaluation.measures import Measure, parse_measure, parse_measures
from likewise.evaluation.pairs import build_judged_pairs, refuse_queries_without_candidates
from likewise.evaluation.ranking import MAIN, of_measure
from likewise.evaluation.step import evaluate as evaluate_step
from likewise.evaluation.summary import EvaluationSettings
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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


@dataclass(frozen=True, repr=False)
class EvaluationResult(TableResult):
    """`table` has a row per encoder and measure; `differences` one per measure and two encoders."""

    evaluation: Evaluation | None = None

    @property
    def differences(self) -> pl.DataFrame:
        return self._evaluation.differences

    @property
    def encoders(self) -> list[str]:
        """Best first, by the measure that models are ranked by."""
        main = self.table.filter(of_measure(MAIN)).sort("value", descending=True, nulls_last=True)
        return main["encoder"].to_list()

    def compare(self, a: str, b: str, measure: str | Measure = MAIN) -> Comparison:
        """The paired difference of two models under a measure that was measured."""
        wanted = parse_measure(measure) if isinstance(measure, str) else measure
        for name in (a, b):
            if name not in self.encoders:
                raise LikewiseError(f"{name!r} was not measured: choose from {', '.join(self.encoders)}.")
        rows = self.differences.filter(of_measure(wanted))
        for first, second, sign in ((a, b, 1), (b, a, -1)):
            found = rows.filter((pl.col("encoder_a") == first) & (pl.col("encoder_b") == second)).to_dicts()
            if found:
                row = found[0]
                low, high = row["low"], row["high"]
                if sign == -1:
                    low, high = _negative(high), _negative(low)
                difference = row["difference"] if sign == 1 else _negative(row["difference"])
                return Comparison(a, b, str(wanted), difference, low, high, row["p"], row["p_holm"], row["significant"])
        measures = ", ".join(self.differences["measure"].unique(maintain_order=True))
        raise LikewiseError(f"there is no comparison of {a} and {b} by {wanted}; measures: {measures}.")

    def per_query(self, measure: str | Measure = MAIN) -> pl.DataFrame:
        """Each query's value of every model under one measure; null where it is undefined."""
        wanted = parse_measure(measure) if isinstance(measure, str) else measure
        sums = self._evaluation.sums(wanted)
        if not sums:
            raise LikewiseError(f"{wanted} was not measured, or is no mean over queries.")
        values = {
            encoder: [n / d if d else None for n, d in zip(one.numerator, one.denominator, strict=True)]
            for encoder, one in sums.items()
        }
        return pl.DataFrame({"query": self._evaluation.gathered.pairs.queries} | values)

    def short_table(self) -> pl.DataFrame:
        """One row per model, one column per measure, the first with its interval."""
        rows = {(row["encoder"], row["measure"]): row for row in self.table.iter_rows(named=True)}
        measures = [
            str(MAIN),
            *(name for name in self.table["measure"].unique(maintain_order=True) if name != str(MAIN)),
        ]
        shown = []
        for encoder in self.encoders:
            cells: dict[str, str] = {"model": encoder}
            for measure in measures:
                row = rows.get((encoder, measure))
                if row is not None:
                    ends = (row["low"], row["high"]) if measure == str(MAIN) else (None, None)
                    cells[measure] = percent_interval(row["value"], *ends)
            shown.append(cells)
        return pl.DataFrame(shown)

    def plot(self) -> "Figure":
        """Every model's value with its interval, best first, under the measure that models are ranked by."""
        from matplotlib.figure import Figure

        main = self.table.filter(of_measure(MAIN)).sort("value")
        figure = Figure(figsize=(7, 1 + 0.35 * len(main)), layout="constrained")
        axes = figure.add_subplot()
        value = 100 * main["value"].to_numpy()
        ends = [abs(100 * main[side].to_numpy() - value) for side in ("low", "high")]
        axes.errorbar(value, main["encoder"].to_list(), xerr=ends, fmt="o", capsize=3)
        axes.set_xlabel(f"{MAIN} (%), with 95 % intervals over queries")
        axes.grid(axis="x", alpha=0.3)
        return figure

    @property
    def _evaluation(self) -> Evaluation:
        assert self.evaluation is not None
        return self.evaluation


def evaluate(
    embeddings: Any,
    labels: Any,
    *,
    items: Any = None,
    keys: Sequence[Any] | None = None,
    measures: str | Sequence[str | Measure] | None = None,
    queries: Sequence[Any] | None = None,
    generators: Sequence[str] = (),
    n_resamples: int = RESAMPLES,
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
        n_resamples=n_resamples,
        seed=seed,
        on_progress=on_progress,
    )
    return _result(done)


def evaluate_folder(
    workspace: WorkspaceFolder,
    encoders: Sequence[str] | None,
    measures: str | None,
    store: bool | None,
    on_progress: ProgressCallback | None,
) -> EvaluationResult:
    """The evaluation of a workspace; stored where it is the default one, or where `store` says so."""
    settings = EvaluationSettings.of_measures(None if measures is None else parse_measures(measures))
    done = evaluate_step(
        workspace, encoders, settings, store=store, command="Workspace.evaluate()", on_progress=on_progress
    )
    return _result(done.evaluation)


def _result(done: Evaluation) -> EvaluationResult:
    main = done.results.filter(of_measure(MAIN))
    pairs = done.gathered.pairs
    note = (
        f"% over {max(main['n_queries'].to_list(), default=0)} of {len(pairs.queries)} queries that have both labels; "
        f"{len(pairs):,} labelled pairs; 95 % intervals over queries."
    )
    return EvaluationResult(done.results, f"{len(main)} models by {MAIN}", note, done)


def _measures(measures: str | Sequence[str | Measure] | None) -> Sequence[Measure]:
    if measures is None:
        return DEFAULT_MEASURES
    if isinstance(measures, str):
        return parse_measures(measures)
    return [parse_measure(one) if isinstance(one, str) else one for one in measures]


def _negative(value: float | None) -> float | None:
    return None if value is None else -value
