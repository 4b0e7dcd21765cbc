"""What training changed (VSD, RQ2 and RQ3): each trained network against the one it was trained from, both ways.

Discovery (gallery ROC-AUC) asks what looks alike, identification the same item; supervision by ids should help the
second and need not help the first. Differences and their t-tests are paired over the same queries; p is corrected
by Holm over the trained networks of a question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
import polars as pl

from likewise.encoders.families.run_files import SETTINGS, TrainedRun, read_run
from likewise.encoders.spec import parse_spec, spec_name
from likewise.encoders.storage.files import read_meta, resolve_stored_spec, vectors_folder
from likewise.evaluation.differences import holm_correction, paired_difference
from likewise.evaluation.measures import Measure
from likewise.evaluation.query_sums import QuerySums
from likewise.workspace import WorkspaceFolder

DISCOVERY, IDENTIFICATION = "discovery", "identification"
TRAINED_SCHEMA = pl.Schema(
    {
        "encoder": pl.String,
        "base": pl.String,
        "task": pl.String,
        "question": pl.String,
        "measure": pl.String,
        "before": pl.Float64,
        "after": pl.Float64,
        "gain": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "p_holm": pl.Float64,
        "n_queries": pl.Int64,
    }
)


@dataclass(frozen=True)
class TrainedFromBase:
    """A network that was trained from another one whose vectors are there too."""

    encoder: str
    base: str
    task: str


def trained_from_base(workspace: WorkspaceFolder, encoders: Sequence[str]) -> list[TrainedFromBase]:
    """The trained networks among the encoders, with what they come from."""
    found = []
    for encoder in encoders:
        run = _run_of(workspace, encoder)
        if run is None or run.kind != "trunk" or "task" not in run.about:
            continue
        base = spec_name(run.bases[0])
        if base in encoders:
            found.append(TrainedFromBase(encoder, base, str(run.about.get("task", ""))))
    return found


def _run_of(workspace: WorkspaceFolder, encoder: str) -> TrainedRun | None:
    """The run of this workspace that made an encoder's vectors, if one did."""
    meta = read_meta(vectors_folder(workspace, encoder))
    if meta is None or not meta.spec.startswith("run:"):
        return None
    [part, *others] = parse_spec(resolve_stored_spec(workspace, encoder))
    folder = workspace.path / "runs" / PurePath(part.target).name
    return read_run(folder) if not others and (folder / SETTINGS).is_file() else None


def trained_table(
    trained: list[TrainedFromBase], questions: Mapping[str, tuple[Measure, Mapping[str, QuerySums]]]
) -> pl.DataFrame:
    """One row per trained network and question; `questions` has the measure and every encoder's sums."""
    rows = []
    for question, (measure, sums) in questions.items():
        gains = [paired_difference(sums[each.encoder], sums[each.base]) for each in trained]
        corrected = holm_correction(np.array([gain.p for gain in gains]))
        for each, gain, p in zip(trained, gains, corrected, strict=True):
            named = each.encoder, each.base, each.task, question, str(measure)
            values = sums[each.base].value(), sums[each.encoder].value(), gain.value, gain.low, gain.high
            rows.append((*named, *values, float(p), gain.n_queries))
    return pl.DataFrame(rows, schema=TRAINED_SCHEMA, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))
