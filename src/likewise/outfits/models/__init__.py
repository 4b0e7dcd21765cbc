"""Compatibility models, one file each: five after published ones, three baselines and one of ours; one interface.

`open_model` makes any of them from a text; those that need torch import it only when they are made.
"""

from likewise.outfits.models.registry import KINDS, TRAINED, open_model
from likewise.outfits.models.sight import GivenSight, Sight, WorkspaceSight

__all__ = ["KINDS", "TRAINED", "GivenSight", "Sight", "WorkspaceSight", "open_model"]
