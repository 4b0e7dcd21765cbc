"""How long work reports its progress: one callback type for every step, called with (stage, done, total)."""

from collections.abc import Callable

ProgressCallback = Callable[[str, int, int], None]
