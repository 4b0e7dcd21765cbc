"""Compatibility models, one file each: five after published ones, three baselines and one of ours; one interface.

`open_model` makes any of them from a text; those that need torch import it only when they are made.
"""

from likewise.outfits.models.feature_source import FeatureSource, InMemoryFeatures, WorkspaceFeatures
from likewise.outfits.models.registry import MODEL_KINDS, TRAINABLE_KINDS, open_model

__all__ = ["MODEL_KINDS", "TRAINABLE_KINDS", "FeatureSource", "InMemoryFeatures", "WorkspaceFeatures", "open_model"]
