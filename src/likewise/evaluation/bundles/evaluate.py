"""Any model against a benchmark bundle, anywhere: no workspace, no pictures, only vectors or a run file.

A run file that lacks judged pairs leaves the model's areas under curves undefined, because they would rest on a guess;
with `missing="last"` the missing pairs stand below everything listed (`run_models.py`). A run of judged pairs only
has no lists, so its hits and ranks are undefined. Where the bundle's pairs were drawn with known probabilities, models
given as vectors are measured against the whole catalog too; a run does not list all of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import polars as pl

from likewise.discovery.pool import QueryGallery
from likewise.discovery.unit import ITEMS
from likewise.encoders.storage.file_lineage import read_file_lineage
from likewise.errors import LikewiseError
from likewise.evaluation.bundles.bundle import Bundle, open_bundle
from likewise.evaluation.bundles.bundle_negatives import with_negatives
from likewise.evaluation.compute import with_main_measure
from likewise.evaluation.differences import difference_table
from likewise.evaluation.different_generators import different_generators
from likewise.evaluation.discovery import (
    DEFAULT_MEASURES,
    EncoderScores,
    estimate_measures,
    ranked_results,
    results_table,
    score_encoder,
)
from likewise.evaluation.estimates.step import WholeCatalog, estimate_pool
from likewise.evaluation.exchange.run_models import JUDGED, evaluate_run
from likewise.evaluation.exchange.trec import TrecRun
from likewise.evaluation.exchange.vectors_io import AlignedVectors, read_aligned_vectors
from likewise.evaluation.item_pairs import item_scores
from likewise.evaluation.measurements import EncoderVectors
from likewise.evaluation.measures import CutoffMeasure, Measure, cutoffs
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.provenance import ResultNote, benchmark_id, utc_now
from likewise.evaluation.ranking import treats_alike
from likewise.evaluation.screening import label_set
from likewise.lineage.guard import screen_models
from likewise.lineage.record import Lineage
from likewise.neighbours import as_unit, pair_scores


@dataclass(frozen=True)
class VectorFile:
    """A file of vectors and, where it does not carry them, the file of its keys."""

    path: Path
    keys: Path | None = None


MissingPairs = Literal["undefined", "last"]
BundleModel = Path | VectorFile | AlignedVectors | TrecRun  # AlignedVectors have one row for each of `bundle.images`


@dataclass(frozen=True)
class BundleResults:
    """The long table, as for a workspace; and which differences are significant, among models given as vectors."""

    results: pl.DataFrame
    differences: pl.DataFrame
    notes: list[str]
    """What the guard says about models that learned from this bundle, have seen its images, or do not tell."""
    n_different: float | None = None
    """Generators that the bundle's pool is worth: where they are too few, models have no rank."""
    catalog: WholeCatalog | None = None
    """Estimates for the whole catalog, of models given as vectors, where the bundle's pairs were drawn."""


def evaluate_bundle(
    bundle: Path | Bundle,
    vectors_by_name: Mapping[str, BundleModel],
    *,
    measures: Sequence[Measure] = DEFAULT_MEASURES,
    missing: MissingPairs = "undefined",
    lineages: Mapping[str, Lineage] | None = None,
) -> BundleResults:
    """Every model, by name, against the bundle's labels; generators are marked by their name.

    `lineages` say what models learned from whose files do not: those of runs.
    """
    opened = bundle if isinstance(bundle, Bundle) else open_bundle(bundle)
    if not vectors_by_name:
        raise LikewiseError(f"there is no model to measure on {opened.path}: give vectors, `--vectors mine.npy`.")
    pairs = opened.tables.pairs
    sampled = with_negatives(pairs, opened.tables.negatives)
    from_gallery = opened.gallery_pairs
    measures = with_main_measure(measures)
    estimates = []
    for name, model in vectors_by_name.items():
        scores = _scores(name, model, opened, pairs, sampled, from_gallery, max(cutoffs(measures), default=1))
        results = ranked_results(scores, pairs, sampled, from_gallery)
        estimates.append(estimate_measures(name, results, measures, pairs.query_items))
    known = {name: _file_lineage(name, model) for name, model in vectors_by_name.items()} | dict(lineages or {})
    screening = screen_models(known, label_set(opened.tables.catalog, _named_pairs(pairs), "this bundle"))
    table = results_table(estimates, opened.generators, screening.learned)
    for name, model in vectors_by_name.items():
        if isinstance(model, TrecRun):
            unknown = [str(one) for one in _undefined(model, pairs, from_gallery, missing, measures)]
            undefined = (pl.col("encoder") == name) & pl.col("measure").is_in(unknown)
            table = table.with_columns(
                pl.when(~undefined).then(pl.col("value", "low", "high")),
                n_queries=pl.when(undefined).then(0).otherwise("n_queries"),
            )
    whole = [one for one in estimates if not isinstance(vectors_by_name[one.encoder], TrecRun)]
    catalog = _whole_catalog(opened, [one.encoder for one in whole], vectors_by_name, screening.learned, measures)
    differences = difference_table(whole, opened.generators)
    n_different = different_generators(pairs, opened.tables.pool)
    return BundleResults(table, differences, screening.notes(list(vectors_by_name)), n_different, catalog)


def _whole_catalog(
    bundle: Bundle,
    names: Sequence[str],
    models: Mapping[str, BundleModel],
    learned: Sequence[str],
    measures: Sequence[Measure],
) -> WholeCatalog | None:
    """As a workspace has it: models that learned from these labels would predict them, so they are left out."""
    design, unknowing = bundle.card["pool"].get("design", "eds"), [name for name in names if name not in learned]
    if design == "eds" or not unknowing:
        return None
    pairs = bundle.tables.pairs
    rows = QueryGallery(pairs.queries, pairs.gallery, pairs.query_items, pairs.gallery_items)
    found = estimate_pool(
        bundle.tables.pool,
        bundle.tables.labels,
        rows,
        {name: _vectors(name, models[name], bundle, pairs) for name in unknowing},
        unknowing,
        ks=tuple(cutoffs(measures)) or (10,),
        one_per_item=bundle.card["pool"]["unit"] == ITEMS,
        update_rounds=bundle.card["pool"].get("update_rounds", ()),
        purpose=bundle.card["pool"].get("purpose"),
        generators=bundle.generators,
    )
    return None if found is None else found.tables(design)


def _file_lineage(name: str, model: BundleModel) -> Lineage:
    """What a file of vectors says about its model; arrays and runs say nothing."""
    path = model.path if isinstance(model, VectorFile) else model
    found = read_file_lineage(path) if isinstance(path, Path) else None
    return Lineage(unknown=(name,)) if found is None else found


def _named_pairs(pairs: JudgedPairs) -> pl.DataFrame:
    query, candidate = pl.Series(pairs.queries).gather(pairs.query), pl.Series(pairs.gallery).gather(pairs.candidate)
    return pl.DataFrame({"query": query, "candidate": candidate})


def _undefined(
    run: TrecRun, pairs: JudgedPairs, from_gallery: JudgedPairs, missing: MissingPairs, measures: Sequence[Measure]
) -> list[Measure]:
    """The measures that a run says nothing about."""
    has_no_lists = run.tag.endswith(f":{JUDGED}")
    lacks_judged, lacks_drawn = (
        missing == "undefined" and evaluate_run(run, each, 1, by_item=by_item).n_missing_pairs > 0
        for each, by_item in ((pairs, False), (from_gallery, True))
    )

    def undefined(measure: Measure) -> bool:
        if isinstance(measure, CutoffMeasure):
            return has_no_lists
        return lacks_drawn if treats_alike(str(measure)) else lacks_judged

    return [one for one in measures if undefined(one)]


def bundle_note(bundle: Bundle, command: str, results: BundleResults) -> ResultNote:
    """The note to write beside results on this bundle, dated now, with what the guard said about them."""
    labels = bundle.card["labels"]
    return ResultNote(
        benchmark=bundle.card["title"],
        benchmark_id=benchmark_id(bundle.tables.pairs),
        date=utc_now(),
        command=command,
        simulated=labels["simulated"],
        n_experts=labels["n_experts"],
        consensus=labels["rule"],
        lineage=list(results.notes),
        n_different=results.n_different,
    )


def _scores(
    name: str,
    model: BundleModel,
    bundle: Bundle,
    pairs: JudgedPairs,
    sampled: JudgedPairs | None,
    from_gallery: JudgedPairs,
    k: int,
) -> EncoderScores:
    if isinstance(model, TrecRun):  # it lists no sampled negative for certain, so it is not measured against them
        listed = evaluate_run(model, from_gallery, 1, by_item=True).measured.scores
        return replace(evaluate_run(model, pairs, k).measured, encoder=name, gallery_scores=listed)
    queries, gallery = (as_unit(side, f"{name} vectors") for side in _vectors(name, model, bundle, pairs))
    scores = score_encoder(name, pairs, queries, gallery, k)
    return replace(
        scores,
        sampled_scores=None if sampled is None else pair_scores(queries, gallery, sampled.query, sampled.candidate),
        gallery_scores=item_scores(queries, gallery, from_gallery),
    )


def _vectors(name: str, model: BundleModel, bundle: Bundle, pairs: JudgedPairs) -> EncoderVectors:
    """A model's vectors of the queries and of the gallery."""
    if isinstance(model, TrecRun):
        raise TypeError(f"{name} is a run, which has no vectors")
    if isinstance(model, Path):
        model = VectorFile(model)
    if isinstance(model, VectorFile):
        model = read_aligned_vectors(model.path, bundle.images, model.keys)
    row_of = {image: row for row, image in enumerate(bundle.images)}
    queries, gallery = ([row_of[image] for image in images] for images in (pairs.queries, pairs.gallery))
    return model.vectors[queries], model.vectors[gallery]
