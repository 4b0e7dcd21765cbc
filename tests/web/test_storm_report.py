"""What counts as a disturbance in benchmarks/label_storm.py, and what an answer between two of them is."""

import math

from benchmarks.label_load import EXPERTS
from benchmarks.label_storm import DISK_FREE, DISK_FULL, Answer, Fault, Storm


def storm(*faults: Fault, until: float = 40.0) -> Storm:
    """Every expert is answered at each full second, within 10 ms, and but from 10 s on, when it takes 2.5 s."""
    moments = [second for second in range(int(until)) if second not in (10, 11, 12)]
    answers = [Answer(expert, at, at + 0.01, at) for at in moments for expert in range(EXPERTS)]
    answers += [Answer(expert, 10.0, 12.5, 12.2) for expert in range(EXPERTS)]  # sent again until the server was back
    return Storm(answers=answers, faults=list(faults))


def test_an_outage_is_disturbed_until_every_page_was_answered_again() -> None:
    found = storm(Fault("server killed", 9.995, 10.0))
    assert found.disturbances() == [(9.995, 12.5)]
    assert {answer.sent for answer in found.undisturbed()} == set(range(40)) - {10, 11, 12}
    assert max(answer.milliseconds for answer in found.undisturbed()) < 11
    assert max(answer.milliseconds for answer in found.answers) == 2500
    assert max(round(answer.milliseconds_of_request) for answer in found.answers) == 300


def test_a_full_disk_disturbs_until_it_is_free() -> None:
    found = storm(Fault(DISK_FULL, 20.0, 20.1), Fault(DISK_FREE, 25.5, 25.6))
    assert found.disturbances() == [(20.0, 26.01), (25.5, 26.01)]


def test_a_page_that_never_comes_back_leaves_nothing_undisturbed_after_the_fault() -> None:
    found = storm(Fault("server killed", 5.0, 5.1))
    found.answers = [answer for answer in found.answers if answer.expert != 7 or answer.sent < 5]
    assert found.disturbances() == [(5.0, math.inf)]
    assert max(answer.sent for answer in found.undisturbed()) < 5
