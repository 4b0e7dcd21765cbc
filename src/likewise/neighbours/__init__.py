"""Vectors -> neighbours: exact cosine search whose results do not depend on batch sizes."""

from likewise.neighbours.band import top_k_and_band
from likewise.neighbours.exact import NO_INDEX, Neighbours, top_k
from likewise.neighbours.scores import as_unit, pair_scores
from likewise.neighbours.shards import merge_neighbours

__all__ = ["NO_INDEX", "Neighbours", "as_unit", "merge_neighbours", "pair_scores", "top_k", "top_k_and_band"]
