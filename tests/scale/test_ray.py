"""On Ray everything comes out as on one machine, also when a worker is killed in the middle."""

from pathlib import Path
from typing import Any

import pytest

from likewise.errors import LikewiseError
from likewise.scale.tasks import run_tasks
from tests.scale.deadly import square_or_die
from tests.scale.namespace import run_alone

Answers = dict[str, Any]


def fails(number: int) -> int:
    raise LikewiseError(f"number {number} is not liked.")


def on_the_cluster(folder: Path) -> Answers:
    """Runs inside the namespace: everything that needs a cluster, on one."""
    from likewise.scale.cluster import cluster

    with cluster(cores=2):
        return {"tasks": tasks(folder), "mistake": mistake()}


def tasks(folder: Path) -> Answers:
    marker = folder / "task-died"
    steps: list[tuple[int, int]] = []
    found = run_tasks(
        square_or_die, [(number, str(marker)) for number in range(7)], on_done=lambda done, n: steps.append((done, n))
    )
    return {"found": found, "died": marker.exists(), "last": steps[-1]}


def mistake() -> str:
    try:
        run_tasks(fails, [8])
    except LikewiseError as error:
        return str(error)
    return "nothing was raised"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    found: Answers = run_alone("tests.scale.test_ray:on_the_cluster", tmp_path_factory.mktemp("ray"))
    return found


def test_tasks_keep_their_order_and_survive_a_killed_worker(answers: Answers) -> None:
    assert answers["tasks"] == {"found": [n * n for n in range(7)], "died": True, "last": [7, 7]}


def test_a_mistake_found_by_a_worker_is_told_in_its_own_sentence(answers: Answers) -> None:
    assert answers["mistake"] == "number 8 is not liked."
