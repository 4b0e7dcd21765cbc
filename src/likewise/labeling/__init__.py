"""People -> labels: votes are kept in a store, and become one label per pair.

The store's names are loaded when first used, so that arithmetic on votes does not wait for SQLAlchemy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from likewise.labeling.agreement import InterAnnotatorAgreement, agreement
from likewise.labeling.consensus import Consensus, ConsensusSummary, consensus
from likewise.labeling.dawid_skene import DawidSkene, dawid_skene
from likewise.labeling.imports import CheckedVotes, ParsedVotes, check_votes, read_votes_file
from likewise.labeling.sheet import voting_sheet
from likewise.labeling.votes import ANSWERS, CANNOT_TELL, NOT_SIMILAR, SIMILAR, tidy_votes

if TYPE_CHECKING:
    from likewise.labeling.store import AddedVotes, add_votes, open_votes, read_votes

__all__ = [
    "ANSWERS",
    "CANNOT_TELL",
    "NOT_SIMILAR",
    "SIMILAR",
    "AddedVotes",
    "CheckedVotes",
    "Consensus",
    "ConsensusSummary",
    "DawidSkene",
    "InterAnnotatorAgreement",
    "ParsedVotes",
    "add_votes",
    "agreement",
    "check_votes",
    "consensus",
    "dawid_skene",
    "open_votes",
    "read_votes",
    "read_votes_file",
    "tidy_votes",
    "voting_sheet",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("likewise.labeling.store"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
