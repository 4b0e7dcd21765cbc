"""Independent pieces of work on Ray: one function, many arguments, results in the order of the arguments.

A worker that is killed costs time only: its piece is given to another one.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from likewise.progress import ProgressCallback
from likewise.scale.cluster import cluster, to_likewise_error

Argument = TypeVar("Argument")
Result = TypeVar("Result")

MAX_RETRIES = 5  # of one piece whose worker died


def run_tasks(
    function: Callable[[Argument], Result],
    arguments: Sequence[Argument],
    address: str | None = None,
    *,
    cores_each: float = 1.0,
    on_progress: ProgressCallback | None = None,
) -> list[Result]:
    """`[function(each) for each in arguments]` on the cluster at `address`, or on the cores of this machine.

    The function is sent by name, so it must stand at the top of a module that the workers can import; arguments and
    results are pickled.  The stage of `on_progress` is "tasks".  A `LikewiseError` in a piece is raised here.
    """
    if not arguments:
        return []
    with cluster(address) as ray:
        remote = ray.remote(function).options(num_cpus=cores_each, max_retries=MAX_RETRIES)
        places = {remote.remote(each): place for place, each in enumerate(arguments)}
        results: dict[int, Any] = {}
        waiting = list(places)
        try:
            while waiting:
                finished, waiting = ray.wait(waiting, num_returns=1)
                for each in finished:
                    results[places[each]] = ray.get(each)
                if on_progress:
                    on_progress("tasks", len(results), len(arguments))
        except ray.exceptions.RayError as error:
            for each in waiting:
                ray.cancel(each, force=True)
            raise to_likewise_error(error) from error
    return [results[place] for place in range(len(arguments))]
