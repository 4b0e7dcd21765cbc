"""The winner among the encoders of the workspace on *discovery*: does it find what looks alike to people?

Classes taught it which images belong together; experts' labels ask something else.  Macro ROC-AUC over the labelled
pairs, for all queries and for those whose class was never trained on.
"""

import numpy as np

from likewise.catalog.table import read_catalog
from likewise.discovery.step import read_pool
from likewise.encoders.families.run_files import TrainedRun, apply_layers, read_layers
from likewise.encoders.lineage import encoder_lineage
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.reading import common_images
from likewise.evaluation.auc import roc_auc, sort_pairs
from likewise.evaluation.exchange.labels_export import evaluated_labels
from likewise.evaluation.pairs import JudgedPairs, build_judged_pairs
from likewise.evaluation.query_sums import Floats, QuerySums
from likewise.evaluation.screening import label_set
from likewise.intervals import interval_of
from likewise.labeling.step import read_labels_if_any
from likewise.lineage.files import read_model_lineage
from likewise.lineage.guard import screen_models
from likewise.neighbours import pair_scores
from likewise.training.context import TrainingContext
from likewise.training.final_evaluation import concatenate_embeddings, load_network
from likewise.training.summary import DiscoveryScore
from likewise.training.trainer import embed


def evaluate_discovery(context: TrainingContext, winner: TrainedRun) -> tuple[DiscoveryScore, ...] | None:
    """One line per encoder and set of queries; None where there are no labels."""
    workspace = context.guard.workspace
    if read_labels_if_any(workspace) is None or not workspace.pool_file.exists():
        return None
    pool, catalog = read_pool(workspace), read_catalog(workspace)
    labels, name = evaluated_labels(workspace), f"run:{winner.about['run']}"
    lineages = {each: encoder_lineage(workspace, each) for each in workspace.encoders()}
    lineages[name] = read_model_lineage(winner.folder, name)
    clean = screen_models(lineages, label_set(catalog, labels)).choose(None)
    encoders = [each for each in clean if each != name]
    known = set(context.split.images)
    images = [
        [image for image in common_images(workspace, encoders, each) if image in known]
        for each in (pool.query_gallery.queries, pool.query_gallery.gallery)
    ]
    pairs = build_judged_pairs(catalog, labels, *images)
    if not len(pairs):
        return None
    scores = []
    unseen = frozenset(context.split.keys(context.split.test))
    for each in clean:
        values = auc_per_query(context, winner, each, pairs)
        for queries, chosen in (("all", None), ("of test classes", unseen)):
            scores.append(DiscoveryScore(each, queries, *_mean_with_interval(values, pairs, chosen)))
    return tuple(scores)


def auc_per_query(context: TrainingContext, winner: TrainedRun, encoder: str, pairs: JudgedPairs) -> Floats:
    queries, gallery = (embed_images(context, winner, encoder, images) for images in (pairs.queries, pairs.gallery))
    scores = pair_scores(queries, gallery, pairs.query, pairs.candidate)
    return roc_auc(sort_pairs(pairs.query, scores, pairs.label, len(pairs.queries)))


def embed_images(context: TrainingContext, winner: TrainedRun, encoder: str, images: list[str]) -> Vectors:
    """Stored vectors, or the winner's."""
    if not encoder.startswith("run:"):
        return context.guard.vectors(encoder, images)
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


def _mean_with_interval(
    values: Floats, pairs: JudgedPairs, chosen: frozenset[str] | None
) -> tuple[float | None, float | None, float | None, int]:
    kept = np.array([chosen is None or query in chosen for query in pairs.queries])
    sums = QuerySums.mean_of(np.where(kept, values, np.nan))
    value, low, high = (None if np.isnan(number) else number for number in (sums.value(), *interval_of(sums)))
    return value, low, high, sums.n_defined
