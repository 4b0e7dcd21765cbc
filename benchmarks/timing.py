"""Time several ways of doing the same thing in one run, in turn, so that a noisy machine is noisy for all of them."""

import statistics
import time
from collections.abc import Callable


def medians(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds of each way over `rounds` interleaved rounds, after one round that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            if number:
                seconds[name].append(time.perf_counter() - started)
    return {name: statistics.median(values) for name, values in seconds.items()}


def print_beside(title: str, seconds: dict[str, float], base: str) -> None:
    """Each way's median and its ratio to `base`."""
    print(f"\n{title}")
    for name, value in seconds.items():
        print(f"  {name:<44}{1000 * value:>12,.2f} ms   {value / seconds[base]:>8.3f} x")
