"""`likewise train lessons`: all lessons for one workspace, as tables in its folder `lessons/`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.column_classes import read_column_classes
from likewise.files import written_together
from likewise.optional_dependencies import installed_version
from likewise.progress import ProgressCallback
from likewise.training.lessons.own_encoders import (
    MAX_IMAGES,
    candidate_table,
    choose_images,
    growing_table,
    nmi_table,
    trade_off_table,
    trunk_table,
)
from likewise.training.lessons.spaces import random_table, toy_table
from likewise.training.lessons.untrained import untrained_name, untrained_vectors
from likewise.training.network import SMALL
from likewise.workspace import WorkspaceFolder, write_parquet

RANDOM_POINTS = 10_000
FOLDER = "lessons"
WITHOUT_NETWORKS = "no untrained network stands beside them: that needs torch (pip install 'likewise[torch]')"


@dataclass(frozen=True)
class MetricLessons:
    """The tables by name (toy, random, trunks, classes, nmi, trade_offs), and what the guard said."""

    tables: dict[str, pl.DataFrame]
    folder: Path
    column: str
    n_images: int
    n_classes: int
    notes: list[str]


def run_metric_lessons(
    workspace: WorkspaceFolder,
    column: str,
    encoders: Sequence[str] = (),
    *,
    max_images: int = MAX_IMAGES,
    random_points: int = RANDOM_POINTS,
    untrained: Sequence[str] | None = None,
    half: str | None = None,
    seed: int = 0,
    on_progress: ProgressCallback | None = None,
) -> MetricLessons:
    """Every lesson: on toy spaces, on random vectors, on the encoders of a workspace and the classes of a column.

    Networks named in `untrained` stand beside the encoders at their starting weights; the small one by default, where
    torch is installed.
    """
    known = read_column_classes(workspace, column, encoders, half=half)
    rows = choose_images(known.values, max_images)
    images, values = [known.images[row] for row in rows], [known.values[row] for row in rows]
    vectors = {name: read_vectors(workspace, name, images) for name in known.encoders}
    starting = _starting_networks(untrained)
    tables: dict[str, pl.DataFrame] = {}

    def nothing_learned() -> dict[str, Vectors]:
        return {untrained_name(name): untrained_vectors(workspace, name, images, seed) for name in starting}

    steps: dict[str, Callable[[], pl.DataFrame]] = {
        "toy": toy_table,
        "random": lambda: random_table(random_points, seed),
        "candidates": lambda: candidate_table(vectors, values),
        "trunks": lambda: trunk_table(tables["candidates"]),
        "classes": lambda: growing_table(vectors, values, seed),
        "nmi": lambda: nmi_table(vectors | nothing_learned(), values),
        "trade_offs": lambda: trade_off_table(tables["candidates"]),
    }
    for place, (name, make) in enumerate(steps.items()):
        if on_progress:
            on_progress(f"lesson {name}", place, len(steps))
        tables[name] = make()
    folder = workspace.path / FOLDER
    with written_together(folder) as staged:
        for name, table in tables.items():
            write_parquet(table, staged.place(folder / f"{name}.parquet"))
    notes = [*known.notes, *([] if starting else [WITHOUT_NETWORKS])]
    return MetricLessons(tables, folder, column, len(images), len(set(values)), notes)


def _starting_networks(named: Sequence[str] | None) -> list[str]:
    if named is not None:
        return list(dict.fromkeys(named))
    return [SMALL] if installed_version("torch") else []
