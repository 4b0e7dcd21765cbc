"""Which of an expert's answers to a pair stands: the latest one that was not taken back."""

from collections.abc import Iterable

from likewise.labeling.store.models import ANSWERED, LATER, OPEN, PUT_OFF, UNDO
from likewise.labeling.votes import ANSWERS

Revision = tuple[int, str, int | None]  # revision, answer, the revision it undoes


def standing_event(events: Iterable[Revision]) -> Revision | None:
    """The latest event that is neither an undo nor undone; the view `votes` says the same in SQL."""
    events = list(events)
    undone = {undoes for _, answer, undoes in events if answer == UNDO}
    left = [event for event in events if event[1] != UNDO and event[0] not in undone]
    return max(left, default=None, key=lambda event: event[0])


def state_of(standing: Revision | None) -> int:
    """The state of a pair's place in the queue under its standing answer."""
    if standing is None:
        return OPEN
    return ANSWERED if standing[1] in ANSWERS else PUT_OFF if standing[1] == LATER else OPEN
