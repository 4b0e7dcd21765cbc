"""The gate of a workspace: two models, the labels, and the verdict; nothing but vectors that are missing is written."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog import read_catalog
from likewise.discovery.step import Pool, read_pool
from likewise.encoders.storage.reading import common_images, read_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.gate.decision import (
    BoundedDifferences,
    EqualLists,
    Evidence,
    GateDecision,
    decide_gate,
)
from likewise.evaluation.gate.drawn_labels import DrawnDifferences, drawn_differences
from likewise.evaluation.gate.labels_needed import drawn_labels_needed, labels_needed
from likewise.evaluation.gate.list_differences import ListComparison, compare_lists
from likewise.evaluation.gate.models import GateModel, find_model, model_lists
from likewise.evaluation.gate.result import OVERALL, GateResult
from likewise.evaluation.gate.tables import group_table, largest_changes, pairs_to_label
from likewise.evaluation.measurements import EncoderVectors
from likewise.evaluation.measures import CutoffMeasure, Judged, parse_measure
from likewise.evaluation.pairs import JudgedPairs, build_judged_pairs, refuse_queries_without_candidates
from likewise.evaluation.screening import label_set, pairs_among
from likewise.labeling.step import read_labels
from likewise.lineage.guard import screen_models
from likewise.lineage.halves import select_half
from likewise.lineage.states import earlier_states
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

LARGEST_DEFAULT_CUTOFF = 10
MARGIN_POINTS = 1.0
N_COMPARED = 2000  # images beside the queries whose lists are compared before two models are called equal
NO_CATEGORY = "no category"


def run_gate(
    workspace: WorkspaceFolder,
    old: str,
    new: str,
    *,
    measure: str | None = None,
    margin_points: float = MARGIN_POINTS,
    half: str | None = None,
    seed: int = 0,
    on_progress: ProgressCallback | None = None,
) -> GateResult:
    """Is `new` at least as good as `old` on the labels, overall and by category?"""
    catalog, labels, pool = read_catalog(workspace), read_labels(workspace), read_pool(workspace)
    chosen = _list_measure(measure or default_measure(pool))
    if not 0.0 <= margin_points <= 100.0:
        raise LikewiseError(f"a margin is between 0 and 100 points, not {margin_points:g}.")
    k, margin = chosen.cutoff, margin_points / 100.0
    models = [find_model(workspace, text, on_progress) for text in (old, new)]
    if half is not None:
        labels = pairs_among(labels, select_half(catalog, half)["image"])
    asked = label_set(catalog, labels, earlier=earlier_states(workspace))
    screening = screen_models({one.name: one.lineage for one in models}, asked)
    screening.refuse_learned()
    pairs = _judged_pairs(workspace, models, catalog, labels, pool, half)
    listed = [model_lists(workspace, model, pairs, k) for model in models]
    lists = compare_lists(chosen, listed[0].lists, listed[1].lists, pairs)
    category = _categories(catalog, pairs.queries)
    notes = [*screening.notes([one.name for one in models]), *(note for one in listed for note in one.notes)]
    if half is None:
        notes += _left_out(pool, pairs)
    differences, drawn = lists.bounds(), None
    if not lists.changed.any() and _equal_elsewhere(workspace, models, catalog, pairs, k, seed):
        decision = decide_gate(EqualLists(differences.n_queries), {}, margin)
    else:
        drawn = _estimated_from_drawn(workspace, models, pool, labels, pairs, chosen, category, seed)
        if drawn is None:
            decision = decide_gate(differences, _by_category(differences, category), margin)
            notes += _hinges_on_shared(lists, decision, category, margin)
        else:
            decision, notes = decide_gate(drawn.overall, drawn.categories, margin), [*notes, *drawn.notes()]
    needed, to_label = None, pairs_to_label(lists, pairs, category)
    if drawn is not None:  # labels of other pairs than the drawn ones do not enter the estimates
        to_label = to_label.clear()
    if decision.verdict == "undecided":
        needed = labels_needed(lists, margin, seed) if drawn is None else drawn_labels_needed(drawn.overall, margin)
    return GateResult(
        old=models[0].name,
        new=models[1].name,
        measure=str(chosen),
        margin=margin,
        decision=decision,
        groups=group_table(decision, lists, category, drawn),
        pairs=to_label,
        needed=needed,
        changes=largest_changes(lists, differences, pairs, category),
        n_changed=int(lists.changed.sum()),
        n_queries=len(pairs.queries),
        notes=tuple(notes),
        estimated=drawn is not None,
    )


def default_measure(pool: Pool) -> str:
    """nDCG@10; of an EDS pool of shorter lists nDCG at their length, because nobody labelled what comes after."""
    labelled_to = pool.settings.k if pool.settings.design == "eds" and not pool.settings.of_labels else None
    return f"nDCG@{min(labelled_to or LARGEST_DEFAULT_CUTOFF, LARGEST_DEFAULT_CUTOFF)}"


def _list_measure(name: str) -> CutoffMeasure:
    chosen = parse_measure(name)
    if not isinstance(chosen, CutoffMeasure) or isinstance(chosen, type(Judged)):
        raise LikewiseError(f"a gate compares lists, and {name} has none: choose one such as nDCG@10, P@5, MRR@10.")
    return chosen


def _estimated_from_drawn(
    workspace: WorkspaceFolder,
    models: Sequence[GateModel],
    pool: Pool,
    labels: pl.DataFrame,
    pairs: JudgedPairs,
    measure: CutoffMeasure,
    category: NDArray[np.str_],
    seed: int,
) -> DrawnDifferences | None:
    """None where one of the models is a run, which says nothing of pairs that it does not list."""
    if any(one.run is not None for one in models):
        return None
    vectors = {one.name: _vectors(workspace, one.name, pairs) for one in models}
    return drawn_differences(pool, labels, pairs, vectors, measure, category, seed)


def _vectors(workspace: WorkspaceFolder, encoder: str, pairs: JudgedPairs) -> EncoderVectors:
    return read_vectors(workspace, encoder, pairs.queries), read_vectors(workspace, encoder, pairs.gallery)


def _judged_pairs(
    workspace: WorkspaceFolder,
    models: Sequence[GateModel],
    catalog: pl.DataFrame,
    labels: pl.DataFrame,
    pool: Pool,
    half: str | None,
) -> JudgedPairs:
    """Every label of the pool's queries, over the images that both models have."""
    encoders = [one.name for one in models if one.run is None]
    _refuse_lacking(workspace, models, pool)
    inside = set(catalog["image"] if half is None else select_half(catalog, half)["image"])
    queries, gallery = (
        [image for image in common_images(workspace, encoders, each) if image in inside]
        for each in (pool.query_gallery.queries, pool.query_gallery.gallery)
    )
    pairs = build_judged_pairs(catalog, labels, queries, gallery)
    refuse_queries_without_candidates(pairs)
    if not len(pairs):
        raise LikewiseError(
            "none of the labels belongs to a query and candidate of the pool that both models know: "
            f"see `likewise status {workspace.quoted}`."
        )
    return pairs


def _refuse_lacking(workspace: WorkspaceFolder, models: Sequence[GateModel], pool: Pool) -> None:
    """A new model without vectors of what the old one knows would not be judged there, and could pass blindfold.

    A run is judged on every query, and an old one knows every image.
    """
    old, new = models
    if new.run is not None:
        return
    asked = list(dict.fromkeys([*pool.query_gallery.queries, *pool.query_gallery.gallery]))
    of_old = asked if old.run is not None else common_images(workspace, [old.name], asked)
    known = set(common_images(workspace, [new.name], asked))
    lacking = [image for image in of_old if image not in known]
    if lacking:
        new.forget_if_brought(workspace)
        has = "the pool" if old.run is not None else old.name
        raise LikewiseError(
            f"{new.name} has no vector of {len(lacking):,} images that {has} has, {lacking[0]} for instance, and "
            "cannot be judged there: encode or import them first."
        )


def _hinges_on_shared(
    lists: ListComparison, decision: GateDecision, category: NDArray[np.str_], margin: float
) -> list[str]:
    """A verdict that labels nobody is asked for could turn: of results that both models list at the same place."""
    if decision.verdict == "undecided" or not len(lists.shared[0]):
        return []
    wider = lists.bounds_if_shared_were_similar()
    if decide_gate(wider, _by_category(wider, category), margin).verdict == decision.verdict:
        return []
    return [
        f"{len(lists.shared[0]):,} results that both models list at the same place have no label and count as not "
        f"similar: if they were, every difference would be smaller, and it would not be a {decision.verdict}"
    ]


def _left_out(pool: Pool, pairs: JudgedPairs) -> list[str]:
    """A model that skips images could choose which ones it is judged on: say how many they are."""
    n_queries = len(pool.query_gallery.queries) - len(pairs.queries)
    n_gallery = len(pool.query_gallery.gallery) - len(pairs.gallery)
    if not n_queries and not n_gallery:
        return []
    counted = f"{n_queries} queries and {n_gallery} images of the gallery"
    return [f"{counted} are left out: one of the models has no vector of them"]


def _categories(catalog: pl.DataFrame, queries: Sequence[str]) -> NDArray[np.str_]:
    known = dict(catalog.select("image", "category").iter_rows())
    found = [known.get(query) or NO_CATEGORY for query in queries]
    return np.array([f"category {name}" if name == OVERALL else name for name in found])


def _by_category(differences: BoundedDifferences, category: NDArray[np.str_]) -> dict[str, Evidence]:
    """The categories that have a query with a positive, where there is more than one."""
    names = np.unique(category).tolist()
    found = {name: differences.of(category == name) for name in names} if len(names) > 1 else {}
    return {name: one for name, one in found.items() if one.n_queries}


def _equal_elsewhere(
    workspace: WorkspaceFolder,
    models: Sequence[GateModel],
    catalog: pl.DataFrame,
    pairs: JudgedPairs,
    k: int,
    seed: int,
) -> bool:
    """Whether the models list the same for other images as well, as far as that can be seen without labels."""
    if any(one.run is not None for one in models):
        return all(one.run is not None for one in models)
    others = sorted(set(pairs.gallery) - set(pairs.queries))
    drawn = np.random.default_rng(seed).permutation(len(others))[:N_COMPARED]
    more = build_judged_pairs(
        catalog,
        pl.DataFrame(schema={"query": pl.String, "candidate": pl.String, "label": pl.Int64}),
        [others[row] for row in sorted(drawn.tolist())],
        pairs.gallery,
    )
    old, new = (model_lists(workspace, model, more, k).lists for model in models)
    return bool((old == new).all())
