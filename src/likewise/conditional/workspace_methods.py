"""What similarity under a condition adds to `likewise.Workspace`, beside building and auditing sets of templates."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from likewise.api.table_result import CurveResult, IntervalResult, TableResult
from likewise.conditional.combiner import SETTINGS
from likewise.conditional.evaluate import AVERAGE
from likewise.conditional.methods import BASELINES, COMBINERS_FOLDER
from likewise.conditional.protocol import check_name
from likewise.conditional.step import RecallSettings
from likewise.conditional.step import evaluate_conditions as measure_recall
from likewise.conditional.towers import TwoTower
from likewise.conditional.training import CombinerTrainingResult, TrainingSettings, recommended_settings
from likewise.conditional.training import train_combiner as fit_combiner
from likewise.conditional.training_triplets import read_training_triplets, read_validation, triplets_of_half
from likewise.conditional.two_tower import TwoTowerSettings
from likewise.conditional.two_tower import train_two_tower as fit_two_tower
from likewise.errors import LikewiseError
from likewise.files import finish_writing
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True, repr=False)
class ConditionsResult(IntervalResult):
    """Recall of every method, per task and on average; `repr` and `plot` show the average where there is one."""

    name_column: str = "method"

    def shown_rows(self) -> pl.DataFrame:
        whole = self.table.filter(task=AVERAGE)
        rows = self.table if whole.is_empty() else whole
        parts = [name for name in ("templates", "encoder", "method", "task") if rows[name].n_unique() > 1]
        return rows.with_columns(pl.concat_str(parts or ["method"], separator=", ").alias("method"))


@dataclass(frozen=True, repr=False, kw_only=True)
class CombinerResult(CurveResult):
    """`table` has a row per validation: step, loss, recall; `trained` holds the Combiner itself."""

    trained: CombinerTrainingResult


def evaluate_conditions(
    workspace: WorkspaceFolder,
    encoders: Sequence[str] = (),
    *,
    methods: Sequence[str] = BASELINES,
    templates: str | None = None,
    split: str | None = None,
    official: bool = False,
    questions: Path | None = None,
    workers: int | None = 1,
    on_progress: ProgressCallback | None = None,
) -> ConditionsResult:
    """Recall@k of two-tower encoders on a set of templates, on a whole split or on questions; stored in results/."""
    settings = RecallSettings(encoders, methods, templates, split, official=official, questions=questions)
    done = measure_recall(workspace, settings, workers=workers, on_progress=on_progress)
    names = ", ".join(done.table["templates"].unique(maintain_order=True))
    note = "; ".join(["%, with 95 % intervals over templates", *done.notes])
    return ConditionsResult(done.table, f"{workspace.path}: recall on {names}", f"{note}.")


def train_two_tower(
    workspace: WorkspaceFolder,
    folder: str | Path,
    settings: TwoTowerSettings | None = None,
    *,
    workers: int | None = 1,
    force: bool = False,
    on_progress: ProgressCallback | None = None,
) -> TableResult:
    """Train a small encoder of images and texts on the catalog's captions; `two-tower:FOLDER` then names it."""
    done = fit_two_tower(workspace, Path(folder), settings, workers=workers, force=force, on_progress=on_progress)
    title = f"two-tower:{folder} learned from {done.n_images:,} images"
    note = f"{done.n_held_out:,} held-out images look for their own caption among {done.n_captions:,}."
    row = asdict(done) | {"folder": str(folder), "notes": list(done.notes)}
    return TableResult(pl.DataFrame([row]), title, note)


def train_combiner(
    workspace: WorkspaceFolder,
    encoder: str,
    triplets: str,
    *,
    name: str = "combiner",
    validate: str | None = None,
    half: str | None = None,
    settings: TrainingSettings | None = None,
    force: bool = False,
    on_progress: ProgressCallback | None = None,
) -> CombinerResult:
    """Train a Combiner for a two-tower encoder on mined triplets or templates; it goes to combiners/NAME.

    `half="train"` keeps the triplets of one half of the catalog's items.  Without `settings`, mined triplets train a
    conjunctive Combiner, templates and CIRR's triplets a gated one.
    """
    settings = settings or recommended_settings(triplets)
    folder = workspace.path / COMBINERS_FOLDER / check_name(name, "a Combiner")
    finish_writing(folder)
    if (folder / SETTINGS).exists() and not force:
        raise LikewiseError(f"{folder} holds a Combiner already: choose another `--name`, or add `--force`.")
    learned = triplets_of_half(read_training_triplets(triplets, workspace), workspace, half)
    held = read_validation(validate, workspace)
    tower = TwoTower.from_spec(encoder)
    done = fit_combiner(workspace, tower, learned, held, folder, settings, half=half, on_progress=on_progress)
    title = f"{folder}: a Combiner for {done.tower.spec}, from {done.n_triplets:,} triplets"
    note = f"best at step {done.best_step:,}: Recall@1 {100 * done.best_recall:.1f} % on {done.n_templates:,} templates"
    return CombinerResult(pl.DataFrame(done.history), title, note, folder=folder, y=("loss", "recall"), trained=done)
