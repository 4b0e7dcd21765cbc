"""What this machine has: the cores that a process may use, not those that are built in."""

import subprocess
import sys

import pytest

from likewise.errors import LikewiseError
from likewise.machine import one_blas_thread, this_machine, usable_cores


@pytest.mark.skipif(sys.platform != "linux", reason="not run: only Linux binds a process to cores like this")
def test_a_process_bound_to_one_core_uses_one() -> None:
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); from likewise.machine import *; "
    code += "print(usable_cores(), this_machine().cores)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["1", "1"]


def test_what_the_user_says_counts() -> None:
    assert (this_machine(7, 3.5).cores, this_machine(7, 3.5).memory_gb) == (7, 3.5)
    assert this_machine().cores == usable_cores()
    assert this_machine().memory_gb > 0.1
    for cores, memory_gb in ((0, 8.0), (2, 0.0)):
        with pytest.raises(LikewiseError, match="at least one core and some memory"):
            this_machine(cores, memory_gb)


def test_whoever_leaves_last_gives_the_threads_back() -> None:
    import numpy as np
    from threadpoolctl import threadpool_info

    def threads() -> set[int]:
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    assert np.ones((2, 2)).sum() == 4.0
    before = threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == {1}  # the other one is still at work
    second.__exit__(None, None, None)
    assert threads() == before
