"""The paper's ablations (Table 5) and scaling (Figures 5 and 6) on any source of triplets, several seeds each.

An arm is one way to train; every arm is trained once per seed and measured on the same test templates.  Finished
trainings stay in the study's folder, so a study that is stopped goes on where it was.
"""

import hashlib
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
import polars.selectors as cs

from likewise.conditional.combiner import WEIGHTS
from likewise.conditional.composers import ComposerMethod, baseline_methods
from likewise.conditional.evaluate import AVERAGE, TaskResults, recall_table, score_templates
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.protocol import ConditionalMethod
from likewise.conditional.screening import combiner_lineage, question_set
from likewise.conditional.towers import TwoTower
from likewise.conditional.training import MODALITIES, TrainingSettings, train_combiner
from likewise.conditional.validation import ValidationSet
from likewise.encoders.digests import file_digest
from likewise.encoders.registry import get_encoder
from likewise.errors import LikewiseError
from likewise.files import finish_writing
from likewise.lineage.guard import Screening, screen_models
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_json, write_json

ABLATION, SCALING, BACKBONES, BASELINE = "ablation", "scaling", "backbones", "baseline"
SCALING_DIVISOR = 4
"""From one point of the scaling to the next, as in the paper."""
MIN_TRIPLETS = 32


@dataclass(frozen=True)
class Arm:
    """One way to train."""

    part: str
    name: str
    triplets: pl.DataFrame
    tower: str
    settings: TrainingSettings
    series: str = ""
    """The line of a plot it belongs to."""


def ablation_arms(
    triplets: pl.DataFrame,
    tower: str,
    settings: TrainingSettings,
    *,
    unfiltered: pl.DataFrame | None = None,
    other: pl.DataFrame | None = None,
) -> list[Arm]:
    """Table 5: everything trained, then without the filter, with one or both sides frozen, from another source."""
    full = replace(settings, tune=MODALITIES)
    arms = [
        Arm(ABLATION, "full", triplets, tower, full),
        Arm(ABLATION, "frozen image side", triplets, tower, replace(settings, tune=("text",))),
        Arm(ABLATION, "frozen text side", triplets, tower, replace(settings, tune=("image",))),
        Arm(ABLATION, "both sides frozen", triplets, tower, replace(settings, tune=())),
        Arm(ABLATION, "batch negatives only", triplets, tower, replace(settings, tune=(), negatives_per_triplet=0)),
    ]
    if unfiltered is not None:
        arms.append(Arm(ABLATION, "no concreteness filter", unfiltered, tower, full))
    if other is not None:
        arms.append(Arm(ABLATION, "other source", other, tower, full))
    return arms


def scaling_arms(
    triplets: pl.DataFrame,
    tower: str,
    settings: TrainingSettings,
    *,
    unfiltered: pl.DataFrame | None = None,
    points: int = 4,
    seed: int = 0,
) -> list[Arm]:
    """Figure 5: all triplets, a quarter, a sixteenth, ...; the same again for triplets mined without the filter."""
    arms = []
    sources = [("filtered", triplets), *([("unfiltered", unfiltered)] if unfiltered is not None else [])]
    for series, source in sources:
        order = np.random.default_rng([seed, 11]).permutation(source.height)
        for point in range(points):
            n = source.height // SCALING_DIVISOR**point
            if n < MIN_TRIPLETS:
                break
            part = source[np.sort(order[:n])]
            arms.append(Arm(SCALING, f"{series}, {n:,} triplets", part, tower, settings, series))
    return arms


def backbone_arms(triplets: pl.DataFrame, towers: Sequence[str], settings: TrainingSettings) -> list[Arm]:
    """Figure 6: the same training on several encoders."""
    frozen = replace(settings, tune=())
    return [Arm(BACKBONES, TwoTower.from_spec(spec).name, triplets, spec, frozen, "combiner") for spec in towers]


STUDY_SCHEMA = {
    "part": pl.String(),
    "arm": pl.String(),
    "series": pl.String(),
    "encoder": pl.String(),
    "seed": pl.Int64(),
    "n_triplets": pl.Int64(),
    "task": pl.String(),
    "recall_at_1": pl.Float64(),
    "n": pl.Int64(),
}


def run_study(
    workspace: WorkspaceFolder,
    arms: Sequence[Arm],
    validation: ValidationSet | None,
    test: pl.DataFrame,
    folder: Path,
    *,
    seeds: int = 3,
    on_progress: ProgressCallback | None = None,
) -> pl.DataFrame:
    """Train and measure every arm with every seed; `report/study.py` writes what comes out."""
    if seeds < 1 or not arms:
        raise LikewiseError("a study needs at least one seed and one part: ablation, scaling or backbones.")
    screen_arms(workspace, arms, validation, test).refuse_learned()
    rows: list[dict[str, object]] = []
    for spec in dict.fromkeys(arm.tower for arm in arms):
        rows += _baseline_rows(workspace, spec, test)
    done, total = 0, len(arms) * seeds
    for arm in arms:
        for seed in range(seeds):
            if on_progress:
                on_progress(f"{arm.part}: {arm.name}", done, total)
            rows += _run_arm(workspace, arm, seed, validation, test, folder)
            done += 1
    if on_progress:
        on_progress("study", total, total)
    return pl.DataFrame(rows, schema=STUDY_SCHEMA)


def screen_arms(
    workspace: WorkspaceFolder, arms: Sequence[Arm], validation: ValidationSet | None, test: pl.DataFrame
) -> Screening:
    """What the guard says about every arm before it is trained: its encoder, its triplets, what would stop it."""
    lineages = {
        f"{arm.part}: {arm.name}": combiner_lineage(workspace, TwoTower.from_spec(arm.tower), arm.triplets, validation)
        for arm in arms
    }
    return screen_models(lineages, question_set(workspace, test, "the test templates"))


def _baseline_rows(workspace: WorkspaceFolder, spec: str, test: pl.DataFrame) -> list[dict[str, object]]:
    tower = TwoTower.from_spec(spec)
    tower.encode(workspace)
    methods: list[ConditionalMethod] = list(baseline_methods())
    found = score_templates(test, ImageTextFeatures.load(workspace, tower, test), methods)
    return [
        row
        for name, tasks in found.items()
        for row in _rows(Arm(BASELINE, name, test, spec, TrainingSettings()), 0, {name: tasks}, 0)
    ]


def _run_arm(
    workspace: WorkspaceFolder, arm: Arm, seed: int, validation: ValidationSet | None, test: pl.DataFrame, folder: Path
) -> list[dict[str, object]]:
    """The rows of one training, from the folder where it is finished already."""
    name = "".join(sign if sign.isalnum() else "-" for sign in f"{arm.part} {arm.name}")
    place = folder / "runs" / f"{name}-{seed}"
    kept = place / "measured.json"
    settings = replace(arm.settings, seed=seed)
    wanted = {
        "settings": settings.to_stored(),
        "tower": arm.tower,
        "version": get_encoder(TwoTower.from_spec(arm.tower).unscaled).version,
        "lessons": _digest(arm.triplets),
        "validation": None if validation is None else _validation_digest(validation),
        "test": _digest(test),
    }
    finish_writing(place)
    if kept.exists() and (place / WEIGHTS).exists():
        stored = read_json(kept)
        # a run that was stopped between training and measuring has numbers of other weights, or none
        if stored["made_by"] == wanted and stored.get("weights") == file_digest(place / WEIGHTS):
            rows: list[dict[str, object]] = stored["rows"]
            return rows
    trained = train_combiner(workspace, TwoTower.from_spec(arm.tower), arm.triplets, validation, place, settings)
    trained.tower.encode(workspace)
    method = ComposerMethod(trained.combiner)
    found = score_templates(test, ImageTextFeatures.load(workspace, trained.tower, test), [method])
    rows = _rows(arm, seed, found, arm.triplets.height)
    write_json({"made_by": wanted, "weights": file_digest(place / WEIGHTS), "rows": rows}, kept)
    return rows


def _digest(table: pl.DataFrame) -> str:
    """Of the content of a table: a run is used again only for the same triplets and the same templates."""
    flat = table.with_columns(cs.list().list.join("\x1f"))
    return hashlib.blake2b(flat.write_csv().encode(), digest_size=8).hexdigest()


def _validation_digest(validation: ValidationSet) -> str:
    if isinstance(validation, pl.DataFrame):
        return _digest(validation)
    return " ".join(f"{split.name} {_digest(split.queries)} {len(split.gallery)}" for split in validation)


def _rows(arm: Arm, seed: int, found: TaskResults, n_triplets: int) -> list[dict[str, object]]:
    table = recall_table({arm.tower: found}, ks=(1,))
    if AVERAGE not in table["task"]:
        table = pl.concat([table, table.with_columns(pl.lit(AVERAGE).alias("task"))])
    return [
        {
            "part": arm.part,
            "arm": arm.name,
            "series": arm.series,
            "encoder": arm.tower,
            "seed": seed,
            "n_triplets": n_triplets,
            "task": row["task"],
            "recall_at_1": row["value"],
            "n": row["n"],
        }
        for row in table.iter_rows(named=True)
    ]


def summarize_study(study: pl.DataFrame) -> pl.DataFrame:
    """Per arm the mean of the average Recall@1 over seeds and its standard deviation (null for one seed)."""
    average = study.filter(pl.col("task") == AVERAGE)
    rows = []
    for keys, same in average.group_by(["part", "arm", "series", "encoder"], maintain_order=True):
        values = same["recall_at_1"].to_list()
        spread = statistics.stdev(values) if len(values) > 1 else None
        rows.append((*keys, same["n_triplets"][0], statistics.fmean(values), spread, len(values), same["n"][0]))
    names = ["part", "arm", "series", "encoder", "n_triplets", "mean", "sd", "n_seeds", "n"]
    return pl.DataFrame(rows, schema=names, orient="row")
