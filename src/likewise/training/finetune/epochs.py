"""Epochs that survive a kill: after each one everything that decides the next is on disk.

Chance starts anew in every epoch from the run's seed and the epoch's number, so a run that was stopped and continued
has the same weights as one that was not.
"""

import io
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional
from likewise.progress import ProgressCallback
from likewise.training.seeds import derive_seed
from likewise.workspace import discard_result, write_atomically

STATE_FILE = "state.pt"
EpochMeans = dict[str, float]


class Learner(Protocol):
    """Something that learns for an epoch at a time."""

    @property
    def n_batches(self) -> int:
        """Of one epoch."""

    def state(self) -> dict[str, Any]:
        """Weights, optimiser and whatever else the next epoch depends on."""

    def load(self, state: dict[str, Any]) -> None: ...

    def train_epoch(self, number: int, rng: np.random.Generator, on_progress: ProgressCallback) -> EpochMeans:
        """Learn from every image once; the means of what should be plotted."""


def run_epochs(
    learner: Learner,
    folder: Path,
    n_epochs: int,
    seed: int,
    settings: dict[str, Any],
    on_progress: ProgressCallback | None = None,
) -> pl.DataFrame:
    """Learn until `n_epochs` are done, going on where an earlier run with the same settings stopped; one row each."""
    torch = import_optional("torch", "training")
    rows: list[EpochMeans] = []
    path = folder / STATE_FILE
    if path.exists():
        stored = torch.load(path, map_location="cpu", weights_only=True)
        different = [key for key, value in settings.items() if stored["settings"].get(key) != value]
        if different:
            key = different[0]
            raise LikewiseError(
                f"{folder} was begun with another {key} ({stored['settings'].get(key)!r}, now {settings[key]!r}): "
                "continue it with the same options, or give this run another --name."
            )
        learner.load(stored["learner"])
        rows = list(stored["rows"])
    total = n_epochs * learner.n_batches
    for number in range(len(rows), n_epochs):
        torch.manual_seed(derive_seed(seed, "epoch", number))
        rng = np.random.default_rng(derive_seed(seed, "crops", number))

        def on_batch(stage: str, done: int, _: int, before: int = number * learner.n_batches) -> None:
            if on_progress:
                on_progress(stage, before + done, total)

        means = learner.train_epoch(number, rng, on_batch)
        if not all(np.isfinite(value) for value in means.values()):
            raise LikewiseError(
                f"the loss of epoch {number + 1} is not a number: use a smaller --lr; finished epochs are in {path}."
            )
        rows.append(means)
        _save(torch, {"settings": settings, "rows": rows, "learner": learner.state()}, path)
    return pl.DataFrame([{"epoch": number, **row} for number, row in enumerate(rows, 1)])


def _save(torch: Any, state: dict[str, Any], path: Path) -> None:
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_atomically(path, lambda file: discard_result(file.write(buffer.getvalue())))
