"""The winner among the encoders of the workspace on *discovery*: does it find what looks alike to people?

Classes taught it which images belong together; experts' labels ask something else.  ROC-AUC of labelled positives
against items of the gallery, by which `evaluate` ranks models and which treats generators and the
winner alike, for all queries and for those whose class was never trained on.  What holds for one rerun may be chance,
so the winner's reruns are all measured: its lead over another encoder is tested over reruns and queries.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from likewise.catalog.table import read_catalog
from likewise.discovery.step import read_pool
from likewise.encoders.families.run_files import TrainedRun, apply_layers, read_layers
from likewise.encoders.lineage import encoder_lineage
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.reading import common_images
from likewise.evaluation.auc import roc_auc, sort_pairs
from likewise.evaluation.differences import holm_correction
from likewise.evaluation.exchange.labels_export import evaluated_labels
from likewise.evaluation.gallery_negatives import draw_gallery_negatives
from likewise.evaluation.item_pairs import item_scores
from likewise.evaluation.pairs import JudgedPairs, build_judged_pairs
from likewise.evaluation.query_sums import Floats, QuerySums
from likewise.evaluation.screening import label_set
from likewise.intervals import interval_of
from likewise.labeling.step import read_labels, read_labels_if_any
from likewise.lineage.files import read_model_lineage
from likewise.lineage.guard import screen_models
from likewise.lineage.states import earlier_states
from likewise.training.context import TrainingContext
from likewise.training.final_evaluation import concatenate_embeddings, load_network
from likewise.training.rerun_test import RerunValues, compare_reruns
from likewise.training.summary import DiscoveryScore
from likewise.training.trainer import embed
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class DiscoveryTask:
    """What a check measures beside its classes: labelled pairs, against items drawn from the gallery."""

    pairs: JudgedPairs
    of_test_classes: NDArray[np.bool_]
    """Queries of classes that nothing was trained on."""

    def query_sets(self) -> dict[str, NDArray[np.bool_]]:
        return {"all": np.ones(len(self.pairs.queries), np.bool_), "of test classes": self.of_test_classes}


def has_labelled_pool(workspace: WorkspaceFolder) -> bool:
    return read_labels_if_any(workspace) is not None and workspace.pool_file.exists()


def read_discovery_task(
    context: TrainingContext, seed: int, encoders: Sequence[str] | None = None
) -> DiscoveryTask | None:
    """Labelled pairs among images of the check that the encoders (by default all clean ones) have; None without any."""
    workspace = context.guard.workspace
    if not has_labelled_pool(workspace):
        return None
    pool, catalog, labels = read_pool(workspace), read_catalog(workspace), evaluated_labels(workspace)
    if encoders is None:
        lineages = {each: encoder_lineage(workspace, each) for each in workspace.encoders()}
        encoders = screen_models(lineages, label_set(catalog, labels, earlier=earlier_states(workspace))).choose(None)
    known = set(context.split.images)
    images = [
        [image for image in common_images(workspace, encoders, each) if image in known]
        for each in (pool.query_gallery.queries, pool.query_gallery.gallery)
    ]
    judged = build_judged_pairs(catalog, labels, *images)
    if not len(judged):
        return None
    pairs = draw_gallery_negatives(judged, seed, labelled=build_judged_pairs(catalog, read_labels(workspace), *images))
    unseen = frozenset(context.split.keys(context.split.test))
    return DiscoveryTask(pairs, np.array([query in unseen for query in pairs.queries]))


def evaluate_discovery(
    context: TrainingContext, reruns: Sequence[TrainedRun], seed: int
) -> tuple[DiscoveryScore, ...] | None:
    """One line per encoder and set of queries, `reruns` being those of the winner; None where there are no labels."""
    workspace = context.guard.workspace
    if not has_labelled_pool(workspace):
        return None
    catalog, labels = read_catalog(workspace), evaluated_labels(workspace)
    winner = f"run:{reruns[0].about['run']}"
    lineages = {each: encoder_lineage(workspace, each) for each in workspace.encoders()}
    lineages[winner] = read_model_lineage(reruns[0].folder, winner)
    clean = screen_models(lineages, label_set(catalog, labels, earlier=earlier_states(workspace))).choose(None)
    encoders = [each for each in clean if each != winner]
    task = read_discovery_task(context, seed, encoders)
    if task is None:
        return None
    pairs = task.pairs
    values = {each: auc_per_query(pairs, partial(context.guard.vectors, each))[None] for each in encoders}
    if winner in clean:
        values[winner] = np.stack([auc_per_query(pairs, partial(embed_images, context, each)) for each in reruns])
    scores = {which: discovery_scores(values, winner, which, kept) for which, kept in task.query_sets().items()}
    return tuple(score for each in zip(*scores.values(), strict=True) for score in each)


def discovery_scores(
    values: Mapping[str, Floats], winner: str, queries: str, kept: NDArray[np.bool_]
) -> list[DiscoveryScore]:
    """Means over some of the queries from values (reruns x queries; one rerun of encoders that are as they are)."""
    defined = kept & ~np.isnan(next(iter(values.values()))).any(axis=0)
    n_queries = int(defined.sum())
    if not n_queries:
        return [DiscoveryScore(name, queries, None, None, None, 0, len(each)) for name, each in values.items()]
    alike = np.ones(n_queries)
    here = {name: RerunValues(each[:, defined], deterministic=name != winner) for name, each in values.items()}
    others = {name: each for name, each in here.items() if name != winner and winner in here}
    leads = {name: compare_reruns(here[winner], each, alike) for name, each in others.items()}
    corrected = dict(zip(leads, holm_correction(np.array([each.p for each in leads.values()])), strict=True))
    lines = []
    for name, each in here.items():
        value, low, high = mean_over_queries(each)
        line = DiscoveryScore(name, queries, value, low, high, n_queries, len(each.means))
        if name in leads:
            lead, lead_low, lead_high = map(_known, (leads[name].difference, *leads[name].interval))
            line = replace(line, lead=lead, lead_low=lead_low, lead_high=lead_high, p_holm=_known(corrected[name]))
        lines.append(line)
    return lines


def mean_over_queries(values: RerunValues) -> tuple[float | None, float | None, float | None]:
    """With its interval: over queries for what is as it is (or was trained once), else over reruns and queries."""
    n_queries = values.means.shape[1]
    if len(values.means) == 1:
        sums = QuerySums.mean_of(values.means[0])
        value, low, high = map(_known, (sums.value(), *interval_of(sums)))
    else:
        nothing = RerunValues(np.zeros((1, n_queries)), deterministic=True)
        found = compare_reruns(values, nothing, np.ones(n_queries))
        value, low, high = map(_known, (found.difference, *found.interval))
    return value, low, high


def _known(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def auc_per_query(pairs: JudgedPairs, vectors: Callable[[list[str]], Vectors]) -> Floats:
    queries, gallery = vectors(pairs.queries), vectors(pairs.gallery)
    scores = item_scores(queries, gallery, pairs)
    return roc_auc(sort_pairs(pairs.query, scores, pairs.label, len(pairs.queries)))


def embed_images(context: TrainingContext, winner: TrainedRun, images: list[str]) -> Vectors:
    """The vectors of one rerun of the winner."""
    if winner.kind == "adapter":
        base = context.guard.vectors(context.config.encoder or "", images)
        return apply_layers([base], read_layers(winner.weights()), winner.groups)
    place = {image: row for row, image in enumerate(context.split.images)}
    rows = np.array([place[image] for image in images], np.int64)
    weights = winner.weights()
    models = []
    for number in range(winner.groups):
        prefix = f"model{number}."
        state = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
        state["head.weight"], state["head.bias"] = state.pop("matrix").T.copy(), state.pop("offset")
        models.append(load_network(context, state))
    return concatenate_embeddings([embed(model, context.eval_inputs, rows) for model in models])
