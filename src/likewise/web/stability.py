"""Would labelling more change the order of the models? Scores the labelled pairs with every model that has vectors."""

import numpy as np
from sqlalchemy import Engine

from likewise.catalog import read_catalog
from likewise.discovery.step import read_pool, retired_pairs
from likewise.encoders.storage.reading import common_images, read_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.auc import roc_auc, sort_pairs
from likewise.evaluation.exchange.labels_io import drop_random_pairs
from likewise.evaluation.pairs import build_judged_pairs
from likewise.evaluation.stored import unbiased_encoders
from likewise.labeling.consensus import consensus
from likewise.labeling.stability import Stability, order_stability
from likewise.labeling.step import current_rule
from likewise.labeling.store.read import read_votes
from likewise.neighbours import as_unit, pair_scores
from likewise.workspace import WorkspaceFolder


def ranking_stability(workspace: WorkspaceFolder, engine: Engine) -> Stability:
    """The verdict and how often the leading model stays first (`winner_share`, None where it cannot be said)."""
    try:
        return _ranking_stability(workspace, engine)
    except LikewiseError as error:  # e.g. vectors of another catalog: the dashboard has other things to show
        return Stability(f"Not known: {error}")


def _ranking_stability(workspace: WorkspaceFolder, engine: Engine) -> Stability:
    models = unbiased_encoders(workspace)
    if not models:
        return Stability("Not known: no model has vectors yet.")
    votes = read_votes(engine)
    if votes.is_empty():
        return Stability("Not known yet: there are no votes.")
    rule = current_rule(workspace)
    labels, catalog = consensus(votes, rule).labels, read_catalog(workspace)
    if workspace.pool_file.exists():
        labels = drop_random_pairs(labels, read_pool(workspace).rows, retired_pairs(workspace))
    queries = common_images(workspace, models, labels["query"].unique().sort().to_list())
    gallery = common_images(workspace, models, labels["candidate"].unique().sort().to_list())
    pairs = build_judged_pairs(catalog, labels, queries, gallery)
    if not len(pairs):
        return Stability("Not known: no labelled pair has vectors of every model.")
    per_query = []
    for model in models:
        scores = pair_scores(
            as_unit(read_vectors(workspace, model, queries), model),
            as_unit(read_vectors(workspace, model, gallery), model),
            pairs.query,
            pairs.candidate,
        )
        per_query.append(roc_auc(sort_pairs(pairs.query, scores, pairs.label, len(queries))))
    return order_stability(models, np.array(per_query))
