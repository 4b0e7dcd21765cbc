"""Whole-catalog estimates of a workspace: its pool's design, its labels and its vectors in, a table and facts out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import polars as pl

from likewise.discovery.designs.adaptive import Purpose
from likewise.discovery.designs.pair_features import VectorView
from likewise.discovery.designs.units import CatalogUnits, catalog_units
from likewise.discovery.pool import QueryGallery
from likewise.evaluation.estimates.chances import Ints
from likewise.evaluation.estimates.draw import labelled_draw
from likewise.evaluation.estimates.estimate import CatalogEstimates, estimate_catalog
from likewise.evaluation.estimates.judge_rows import judge_answers
from likewise.evaluation.estimates.listed_pairs import ListedPairs
from likewise.evaluation.estimates.ordering import rank_best_first
from likewise.evaluation.estimates.scores import ranked_blocks
from likewise.evaluation.estimates.shown import shown_by_default
from likewise.evaluation.measurements import EncoderVectors
from likewise.labeling.judges.answers import JudgeTable
from likewise.neighbours import as_unit

CATALOG_SCHEMA = pl.Schema(
    {
        "encoder": pl.String,
        "measure": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "standard_error": pl.Float64,
        "n_queries": pl.Int64,
        "n_pairs": pl.Int64,
        "shown": pl.Boolean,  # by default
        "place": pl.Int64,  # among the models, from 1
    }
)
DIFFERENCE_SCHEMA = pl.Schema(
    {
        "measure": pl.String,
        "encoder_a": pl.String,
        "encoder_b": pl.String,
        "difference": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
    }
)


@dataclass(frozen=True)
class JudgeFacts:
    """A machine judge behind the estimates: how far it agrees with people on labelled pairs, and what it was worth.

    `labels_saved` is how many further labels would have told P@k as closely without it; a judge that is not `used` told
    nothing that the encoders do not.
    """

    name: str
    n_asked: int
    n_labelled: int
    roc_auc: float
    agreement: float
    kappa: float
    labels_saved: int
    used: bool = True


def judge_sentence(judge: JudgeFacts) -> str:
    """Disclosed: which machine, how far it agrees with people, and what it was worth."""
    worth = f"For P@k it saved about {judge.labels_saved:,} labels."
    if not judge.used:
        worth = "Its answers tell nothing that the encoders do not, and are left aside."
    return (
        f"A machine, {judge.name}, answered {judge.n_asked:,} pairs for these estimates; its answers are no labels. On "
        f"{judge.n_labelled:,} labelled pairs it agrees with people in "
        f"{100 * judge.agreement:.0f} % (Cohen's kappa {judge.kappa:.2f}; ROC-AUC of its answers "
        f"{100 * judge.roc_auc:.0f} %). {worth}"
    )


@dataclass(frozen=True)
class CatalogFacts:
    """How many pairs of the whole catalog are similar, and what share of them was found; for these queries.

    `unit` is what candidates are counted by. Intervals are of 95 %, over draws.
    """

    design: str
    unit: str
    n_queries: int
    n_pairs: int
    n_labelled: int
    n_found: int
    n_similar: float
    n_similar_low: float
    n_similar_high: float
    prevalence: float
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    judge: JudgeFacts | None = None


@dataclass(frozen=True)
class WholeCatalog:
    """Values of every encoder and measure, differences between encoders, and facts about the pairs."""

    values: pl.DataFrame
    differences: pl.DataFrame
    facts: CatalogFacts


@dataclass(frozen=True)
class PoolEstimates:
    """What a pool's labels say of the whole catalog, with the units that candidates are counted by."""

    estimates: CatalogEstimates
    units: CatalogUnits
    unit: str
    judge: str | None = None
    purpose: Purpose | None = None

    def tables(self, design: str) -> WholeCatalog:
        """As tables and facts."""
        facts = replace(_facts(self.estimates, self.units, design, self.unit), judge=self._judge_facts())
        return WholeCatalog(_values(self.estimates, self.purpose), _differences(self.estimates), facts)

    def _judge_facts(self) -> JudgeFacts | None:
        found, n = self.estimates, self.estimates.n_labelled
        if self.judge is None or found.judge is None or found.label_equivalent is None:
            return None
        agreed = found.judge
        saved = max(0, round(n * (found.label_equivalent - 1.0)))
        told = agreed.roc_auc, agreed.share, agreed.kappa, saved, agreed.tells_more
        return JudgeFacts(self.judge, agreed.n_asked, agreed.n_pairs, *told)


def estimate_pool(
    pool: pl.DataFrame,
    labels: pl.DataFrame,
    query_gallery: QueryGallery,
    vectors: Mapping[str, EncoderVectors],
    encoders: Sequence[str],
    *,
    ks: tuple[int, ...],
    one_per_item: bool = True,
    seed: int = 0,
    judge: JudgeTable | None = None,
    update_rounds: Collection[int] = (),
    purpose: Purpose | None = None,
    generators: Collection[str] = (),
) -> PoolEstimates | None:
    """From a pool whose pairs were drawn; None before there are labels of both kinds for two queries.

    `generators` are the encoders whose ranks the design follows.
    """
    units = catalog_units(query_gallery, one_per_item)
    asked = query_gallery
    drawn = labelled_draw(
        pool, labels, asked.queries, asked.gallery, units, update_rounds=update_rounds, purpose=purpose
    )
    if drawn.n_queries < 2 or drawn.label.min() == drawn.label.max():
        return None
    kept = replace(units, query_items=units.query_items[drawn.queries])
    chosen = {name: _of_queries(vectors[name], drawn.queries) for name in encoders}
    answers = None
    if judge is not None:
        answers = judge_answers(judge.rows, drawn, query_gallery.queries, query_gallery.gallery, units)
    blocks = partial(ranked_blocks, chosen, encoders, kept)
    listed = ListedPairs(kept, [_view(chosen[name], name, kept) for name in encoders])
    of_design = [encoders.index(name) for name in generators] if set(generators) <= set(encoders) else []
    found = estimate_catalog(blocks, encoders, drawn, ks, seed, answers, listed, of_design)
    unit = "item" if one_per_item else "image"
    return PoolEstimates(found, kept, unit, None if judge is None else judge.note.name, purpose)


def _of_queries(vectors: EncoderVectors, rows: Ints) -> EncoderVectors:
    return vectors[0][rows], vectors[1]


def _view(vectors: EncoderVectors, encoder: str, units: CatalogUnits) -> VectorView:
    queries, gallery = (as_unit(side, f"{encoder} vectors") for side in vectors)
    return VectorView.of(queries, gallery, units)


def _values(found: CatalogEstimates, purpose: Purpose | None) -> pl.DataFrame:
    places = {measure: rank_best_first(found.order_values(measure)) for measure in found.by_encoder[0]}
    rows = [
        (
            encoder,
            measure,
            one.value,
            *one.share_interval(),
            one.standard_error,
            len(one.influence),
            found.n_labelled,
            shown_by_default(measure, found.facts(number, measure), purpose),
            places[measure][number],
        )
        for number, (encoder, by_measure) in enumerate(zip(found.encoders, found.by_encoder, strict=True))
        for measure, one in by_measure.items()
    ]
    return pl.DataFrame(rows, schema=CATALOG_SCHEMA, orient="row")


def _differences(found: CatalogEstimates) -> pl.DataFrame:
    rows = []
    for (a, of_a), (b, of_b) in combinations(zip(found.encoders, found.by_encoder, strict=True), 2):
        for measure, one in of_a.items():
            difference = one.minus(of_b[measure])
            rows.append((measure, a, b, difference.value, *difference.interval()))
    return pl.DataFrame(rows, schema=DIFFERENCE_SCHEMA, orient="row")


def _facts(found: CatalogEstimates, units: CatalogUnits, design: str, unit: str) -> CatalogFacts:
    n_queries = units.n_queries
    low, high = found.positives.count_interval()
    least, most = float(found.n_found), float(units.n_pairs - found.n_labelled + found.n_found)
    similar, low, high = (min(max(n * n_queries, least), most) for n in (found.positives.value, low, high))
    return CatalogFacts(
        design,
        unit,
        n_queries,
        units.n_pairs,
        found.n_labelled,
        found.n_found,
        similar,
        low,
        high,
        similar / units.n_pairs,
        found.n_found / similar if similar else None,
        found.n_found / high if high else None,
        found.n_found / low if low else None,
    )
