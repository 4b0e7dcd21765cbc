"""Who wants to hear how a training goes."""

from collections.abc import Callable

OnEpoch = Callable[[int, int, dict[str, float]], None]
"""Epoch, epochs, the values of the curves."""
OnBatch = Callable[[int, int], None]
"""Batches done, of how many."""
