"""EDS, efficient discovery of similarities: what to show the experts, and what it costs."""

from likewise.discovery.budget import budget_table
from likewise.discovery.overlap import duplicate_share, generator_table, overlap_table
from likewise.discovery.pool import RANDOM, QueryGallery, draw_random_pairs, pairs_to_label, pool_pairs, propose_pairs
from likewise.discovery.prevalence import Prevalence, prevalence
from likewise.discovery.queries import sample_queries

__all__ = [
    "RANDOM",
    "Prevalence",
    "QueryGallery",
    "budget_table",
    "draw_random_pairs",
    "duplicate_share",
    "generator_table",
    "overlap_table",
    "pairs_to_label",
    "pool_pairs",
    "prevalence",
    "propose_pairs",
    "sample_queries",
]
