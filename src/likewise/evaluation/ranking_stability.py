"""Would labelling more change the order of the report? On the labels of now, by the models and measure it ranks.

`evaluate` stores the same answer with its results. Here only what the ranking needs is scored, and nothing is written,
so that the owner of a labelling site can look as often as he likes.
"""

from likewise.errors import LikewiseError
from likewise.evaluation.discovery import ranked_results
from likewise.evaluation.gallery_negatives import draw_gallery_negatives
from likewise.evaluation.judged import StoredVectors, read_inputs
from likewise.evaluation.measurements import score_pairs
from likewise.evaluation.query_items import over_items, shared_items
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.ranking import MAIN
from likewise.evaluation.stability import Stability, order_stability
from likewise.evaluation.stored import read_summary
from likewise.evaluation.summary import DEFAULT_SETTINGS
from likewise.labeling.step import current_labels
from likewise.workspace import WorkspaceFolder


def ranking_stability(workspace: WorkspaceFolder) -> Stability:
    """The answer for now; one that says why there is none where models, labels or vectors are missing."""
    if not workspace.encoders():
        return Stability("Not known: no model has vectors yet.")
    try:
        return order_stability(main_values(workspace))
    except LikewiseError as error:  # e.g. vectors of another catalog: the dashboard has other things to show
        return Stability(f"Not known: {error}")


def main_values(workspace: WorkspaceFolder) -> dict[str, QuerySums]:
    """Every model's value, query by query, of the measure that ranks them, on the labels of now."""
    before = read_summary(workspace)
    settings = DEFAULT_SETTINGS if before is None else before.settings
    inputs = read_inputs(workspace, current_labels(workspace), None, settings)
    pairs, vectors = inputs.pairs, StoredVectors(workspace, inputs.pairs)
    gallery = draw_gallery_negatives(pairs, settings.seed, settings.gallery_per_query, inputs.labelled)
    values = {}
    for name in inputs.encoders:
        results = ranked_results(score_pairs(name, vectors, pairs, gallery), pairs, gallery=gallery)
        estimate = over_items(MAIN.estimate(results), shared_items(pairs.query_items))
        if isinstance(estimate, QuerySums):
            values[name] = estimate
    return values
