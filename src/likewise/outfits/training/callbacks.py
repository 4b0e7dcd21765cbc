"""What a training calls after every epoch; batches are reported by `likewise.progress`."""

from collections.abc import Callable

EpochCallback = Callable[[int, int, dict[str, float]], None]
"""Epoch, epochs, the values of the curves."""
