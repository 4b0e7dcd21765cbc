"""An expert's current answer to a pair: the latest one that was not taken back."""

from collections.abc import Iterable

from likewise.labeling.store.models import ANSWERED, LATER, OPEN, PUT_OFF, UNDO
from likewise.labeling.votes import ANSWERS

Revision = tuple[int, str, int | None]  # revision, answer, the revision it undoes


def current_event(events: Iterable[Revision]) -> Revision | None:
    """The latest event that is neither an undo nor undone; the view `votes` says the same in SQL."""
    events = list(events)
    undone = {undoes for _, answer, undoes in events if answer == UNDO}
    left = [event for event in events if event[1] != UNDO and event[0] not in undone]
    return max(left, default=None, key=lambda event: event[0])


def queue_state_of(current: Revision | None) -> int:
    """The state of a pair's queue entry under its current answer."""
    if current is None:
        return OPEN
    return ANSWERED if current[1] in ANSWERS else PUT_OFF if current[1] == LATER else OPEN
