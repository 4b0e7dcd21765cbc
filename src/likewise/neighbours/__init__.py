"""Vectors -> neighbours: exact cosine search whose results do not depend on batch sizes."""

from likewise.search.band import top_k_and_band
from likewise.search.exact import NO_INDEX, Neighbours, top_k
from likewise.search.scores import as_unit, pair_scores
from likewise.search.shards import merge_neighbours

__all__ = ["NO_INDEX", "Neighbours", "as_unit", "merge_neighbours", "pair_scores", "top_k", "top_k_and_band"]
