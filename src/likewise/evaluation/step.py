"""The evaluate step of a workspace: read vectors and labels, compute every table, and store them in results/."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from likewise.catalog import read_catalog
from likewise.catalog.versions import catalog_version
from likewise.chain import table_digest
from likewise.discovery import duplicate_share, generator_table, overlap_table, prevalence
from likewise.discovery.pool import IMPORTED
from likewise.discovery.proposals import named_proposals
from likewise.errors import LikewiseError
from likewise.evaluation.compute import (
    Evaluation,
    evaluate_vectors,
    identification_sums,
    incomplete_table,
    main_identification,
    next_pairs_table,
    orders_of,
    with_main_measure,
)
from likewise.evaluation.curves import curve_table
from likewise.evaluation.different_generators import different_generators
from likewise.evaluation.estimates.step import CATALOG_SCHEMA, DIFFERENCE_SCHEMA, WholeCatalog
from likewise.evaluation.estimates.workspace import estimate_workspace, usable_judge, why_no_estimates
from likewise.evaluation.expert_groups import ExpertGroups, expert_groups
from likewise.evaluation.fidelity import truth_coverage
from likewise.evaluation.identification import identification_table
from likewise.evaluation.incomplete import open_pairs
from likewise.evaluation.judged import EvaluationInputs, StoredVectors, read_inputs
from likewise.evaluation.leave_one_out import leave_one_out
from likewise.evaluation.measured_encoders import left_behind_notes
from likewise.evaluation.mistakes import mistake_table
from likewise.evaluation.own_pairs import own_pairs_table
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.pool_recall import pool_recall
from likewise.evaluation.rank_bands import rank_band_table
from likewise.evaluation.ranking import MAIN
from likewise.evaluation.sampled_negatives import NegativeSampling
from likewise.evaluation.screening import copy_notes, screen_classes
from likewise.evaluation.stability import order_stability
from likewise.evaluation.stored import read_summary, results_basis, store_evaluation
from likewise.evaluation.summary import (
    DEFAULT_SETTINGS,
    EvaluationSettings,
    EvaluationSummary,
    LabelsNote,
    LineageNotes,
    PoolNote,
    from_json,
)
from likewise.evaluation.training_gains import (
    DISCOVERY,
    IDENTIFICATION,
    TrainedFromBase,
    trained_from_base,
    trained_table,
)
from likewise.evaluation.truth import ground_truth
from likewise.evaluation.vsd_tables import vsd_tables
from likewise.labeling.state import read_labels_note, read_votes_behind_labels
from likewise.labeling.step import read_labels
from likewise.labeling.store.owner import ADJUDICATOR_NAME
from likewise.lineage.guard import Screening
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class Evaluated:
    """All tables by name (`discovery` is the long one), and the facts that go with them."""

    tables: dict[str, pl.DataFrame]
    summary: EvaluationSummary
    pairs: JudgedPairs
    evaluation: Evaluation
    stored: bool = False
    design: str = "eds"
    replaced: EvaluationSettings | None = None  # the other settings of the evaluation that was stored before

    @property
    def results(self) -> pl.DataFrame:
        return self.tables["discovery"]


@dataclass(frozen=True)
class Findings:
    """What an evaluation computed, for its summary; None where votes of several experts or drawn labels are missing."""

    evaluation: Evaluation
    tables: dict[str, pl.DataFrame]
    same_item: Screening
    lineage: LineageNotes
    groups: ExpertGroups | None
    whole: WholeCatalog | None


def evaluate(
    workspace: WorkspaceFolder,
    encoders: Sequence[str] | None = None,
    settings: EvaluationSettings = DEFAULT_SETTINGS,
    *,
    store: bool | None = None,
    command: str = "likewise.evaluate",
    on_progress: ProgressCallback | None = None,
) -> Evaluated:
    """Measure every encoder that has vectors (or the ones named) under every protocol.

    Those that learned from these very labels are measured only when they are named. An evaluation of all encoders is
    stored in results/ where its settings are the default ones or those stored there, or where `store` is true; the
    report shows what is stored. `command` is what a leaderboard will say made these results.
    """
    if store and encoders is not None:
        raise LikewiseError(
            "results/ is about every encoder, as the report is: leave the names of encoders out to store an evaluation."
        )
    if store and workspace.as_of is not None:
        raise LikewiseError("the report shows today's catalog: leave --as-of out to store an evaluation.")
    before = read_summary(workspace)
    replaced = None if before is None or before.settings == settings else before.settings
    usual = settings == DEFAULT_SETTINGS or (before is not None and replaced is None)
    done = evaluate_workspace(workspace, encoders, settings, on_progress)
    if workspace.as_of is not None or not (store or (store is None and encoders is None and usual)):
        return done
    store_evaluation(workspace, done.tables, done.summary, done.pairs, command)
    return replace(done, stored=True, replaced=replaced)


def renew_results(workspace: WorkspaceFolder, command: str, on_progress: ProgressCallback | None = None) -> Evaluated:
    """Evaluate again with the options of the evaluation before, where there was one."""
    before = read_summary(workspace)
    settings = DEFAULT_SETTINGS if before is None else before.settings
    return evaluate(workspace, None, settings, store=True, command=command, on_progress=on_progress)


def evaluate_workspace(
    workspace: WorkspaceFolder,
    encoders: Sequence[str] | None,
    settings: EvaluationSettings,
    on_progress: ProgressCallback | None = None,
) -> Evaluated:
    """Everything that `evaluate` stores, computed; nothing is written."""
    if not encoders and not workspace.encoders():
        raise LikewiseError(f"there are no vectors in {workspace.path} yet: run `likewise encode {workspace.quoted}`.")
    inputs = read_inputs(workspace, read_labels(workspace), encoders, settings)
    names, generators, pairs = inputs.encoders, inputs.generators, inputs.pairs
    rests_on = results_basis(workspace, names, generators, settings)
    done = evaluate_vectors(
        StoredVectors(workspace, pairs),
        pairs,
        settings.parsed_measures(),
        encoders=names,
        generators=generators,
        learned=inputs.screening.learned,
        labelled=inputs.labelled,
        gallery_per_query=settings.gallery_per_query,
        ks=settings.ks,
        seed=settings.seed,
        sampling=settings.negatives,
        on_progress=on_progress,
    )
    same_item = screen_classes(workspace, names, [*pairs.queries, *pairs.gallery], "which images show one item")
    proposals, trained = named_proposals(inputs.labels), trained_from_base(workspace, names)
    tables = protocol_tables(done, proposals, settings, trained, same_item.learned)
    tables |= _pool_tables(workspace, inputs, settings)
    tables |= vsd_tables(tables, settings.ks)
    groups = _expert_groups(workspace, done, settings.seed)
    if groups is not None:
        tables["expert_groups"] = groups.values
    estimated = estimate_workspace(workspace, inputs, settings.ks, settings.seed)
    whole = None if estimated is None else estimated.tables(inputs.pool.settings.design)
    tables["catalog"] = pl.DataFrame(schema=CATALOG_SCHEMA) if whole is None else whole.values
    tables["catalog_differences"] = pl.DataFrame(schema=DIFFERENCE_SCHEMA) if whole is None else whole.differences
    lineage = _lineage_notes(workspace, inputs, same_item, encoders)
    summary = _summarize(
        workspace, inputs, settings, Findings(done, tables, same_item, lineage, groups, whole), rests_on
    )
    return Evaluated(tables, summary, pairs, done, design=inputs.pool.settings.design)


def _pool_tables(
    workspace: WorkspaceFolder, inputs: EvaluationInputs, settings: EvaluationSettings
) -> dict[str, pl.DataFrame]:
    """What the pool says of its generators, and which pairs to ask next where a design drew them."""
    labels, pool, tables = inputs.labels, inputs.pool, dict[str, pl.DataFrame]()
    if pool.settings.design != "eds":
        tables["next_pairs"] = open_pairs(pool.rows, labels, settings.n_next_pairs, settings.seed)
    tables["generators"] = generator_table(pool.rows, labels)
    tables["overlap"] = overlap_table(pool.rows, len(pool.query_gallery.queries), pool.settings.k)
    tables["rank_bands"] = rank_band_table(workspace, labels)
    return tables


def _lineage_notes(
    workspace: WorkspaceFolder, inputs: EvaluationInputs, same_item: Screening, named: Sequence[str] | None
) -> LineageNotes:
    names, screening, pairs = inputs.encoders, inputs.screening, inputs.pairs
    untaught = [name for name in names if name not in screening.learned]
    judge = usable_judge(workspace, names)
    of_judge = [judge.why_not] if judge.why_not else [] if judge.judge is None else judge.judge.note.notes
    no_estimates = why_no_estimates(inputs)
    notes = [
        *([no_estimates] if no_estimates else []),
        *screening.notes(names),
        *(f"identification: {note}" for note in same_item.learned_notes(names)),
        *copy_notes(workspace, untaught, [*pairs.queries, *pairs.gallery]),
        *of_judge,
        *left_behind_notes(workspace, named),
    ]
    return LineageNotes(screening.learned, same_item.learned, notes)


def _summarize(
    workspace: WorkspaceFolder,
    inputs: EvaluationInputs,
    settings: EvaluationSettings,
    found: Findings,
    rests_on: dict[str, str],
) -> EvaluationSummary:
    """The facts that go with the tables."""
    labels, pool, pairs, asked = inputs.labels, inputs.pool, inputs.pairs, inputs.pool.query_gallery
    counter = asked.counter(settings.unit or pool.settings.unit)
    drawn, catalog = pool.rows_in(counter.unit), read_catalog(workspace)
    sampled, n_different = found.evaluation.gathered.sampled, different_generators(pairs, named_proposals(labels))
    why_none = None if sampled is not None else _why_none(workspace, inputs.generators, pairs, settings.negatives)
    truth = ground_truth(workspace, asked) if workspace.has_truth else None
    of_pool = pool.settings
    return EvaluationSummary(
        prevalence=prevalence(drawn, labels, counter, settings.seconds_per_pair),
        labels=from_json(LabelsNote, read_labels_note(workspace)),
        pool=PoolNote(list(inputs.generators), of_pool.k, of_pool.seed, duplicate_share(pool.rows), n_different),
        n_images=len(catalog),
        n_items=catalog["item"].n_unique(),
        n_queries=len(pairs.queries),
        n_query_items=len(np.unique(pairs.query_items)),
        n_gallery=len(pairs.gallery),
        n_queries_without_vectors=len(asked.queries) - len(pairs.queries),
        n_gallery_without_vectors=len(asked.gallery) - len(pairs.gallery),
        n_labels_outside=len(labels) - len(inputs.labelled),
        encoders=inputs.encoders,
        lineage=found.lineage,
        settings=settings,
        rests_on=rests_on,
        catalog_version=catalog_version(workspace),
        tables={name: table_digest(table) for name, table in found.tables.items()},
        sampled_negatives=None if sampled is None else int((sampled.label == 0).sum()),
        no_sampled_negatives=why_none,
        pool_recall=pool_recall(drawn, labels, counter),
        truth=None if truth is None else truth_coverage(asked, truth, pool.rows, labels, counter.unit),
        orders=orders_of(found.evaluation, settings.ks, {*inputs.screening.learned, *found.same_item.learned}),
        expert_groups=None if found.groups is None else found.groups.summary,
        stability=order_stability(found.evaluation.sums_over_items(MAIN)),
        catalog=None if found.whole is None else found.whole.facts,
    )


def protocol_tables(
    done: Evaluation,
    proposals: pl.DataFrame,
    settings: EvaluationSettings,
    trained: list[TrainedFromBase],
    learned_items: Sequence[str] = (),
) -> dict[str, pl.DataFrame]:
    """The tables of every protocol, by the name they are stored under; pure.

    `proposals` say who proposed the judged pairs; `learned_items` were taught which images show one item:
    identification marks them.
    """
    knows_items = pl.col("encoder").is_in(learned_items).alias("learned")
    found, pairs = done.gathered, done.gathered.pairs
    measures = with_main_measure(settings.parsed_measures())
    left_out = leave_one_out(found.scored, pairs, found.gallery, proposals, measures)
    same_item = main_identification(settings.ks)
    questions = {
        DISCOVERY: (MAIN, done.sums(MAIN)),
        IDENTIFICATION: (same_item, identification_sums(done, same_item)),
    }
    return {
        "discovery": done.results,
        "differences": done.differences,
        "own_pairs": own_pairs_table(found.scored, pairs, found.gallery, proposals, measures),
        "leave_one_out": left_out.models,
        "leave_one_out_orders": left_out.orders,
        "identification": identification_table(found.identified, pairs.query_items).with_columns(knows_items),
        "trained": trained_table(trained, questions).with_columns(knows_items & (pl.col("question") == IDENTIFICATION)),
        "incomplete": incomplete_table(done, max(settings.ks)),
        "next_pairs": next_pairs_table(done, settings.n_next_pairs),
        "curves": curve_table(found.scored, pairs),
        "mistakes": mistake_table(found.scored, pairs),
    }


def _expert_groups(workspace: WorkspaceFolder, done: Evaluation, seed: int) -> ExpertGroups | None:
    """None where the labels come without votes of several experts."""
    if read_labels_note(workspace)["consensus"]["rule"] == IMPORTED:
        return None
    votes = read_votes_behind_labels(workspace)
    if votes is not None:  # an adjudicator is no member of a group of experts: they only settle its ties
        votes = votes.filter(pl.col("expert") != ADJUDICATOR_NAME)
    if votes is None or votes["expert"].n_unique() < 2:
        return None
    found = done.gathered
    return expert_groups(found.scored, found.pairs, found.gallery, votes, seed)


def _why_none(
    workspace: WorkspaceFolder, generators: Sequence[str], pairs: JudgedPairs, sampling: NegativeSampling
) -> str:
    if not generators:
        return "no generator proposed the pairs of these labels, and they are drawn from the generators' lists"
    gone = [name for name in generators if name not in workspace.encoders()]
    if gone:
        return f"the vectors of {', '.join(gone)}, which contributed to the pool, are gone"
    return f"the gallery of {len(pairs.gallery)} images is too small: they are drawn from {sampling}"
