"""The folder of a check, `runs/<name>/`: what was asked, every trial, every rerun, the tables, the page, the encoder.

settings.json            what is trained on what, with which numbers; a run is never continued with others
search.db                the trials (Optuna; elsewhere with --storage)
trials.parquet           one row per trial and hyper-parameter
reruns/<method>/0.*      one rerun: test values per query (parquet), training curves (json); failed.json if it failed
reruns/<method>/0.discovery.parquet    where experts labelled: gallery ROC-AUC of that rerun per query
reruns/<method>/1/       the winner's further reruns as encoders, to measure discovery over all of them
accuracy.parquet         the paper's Tables 3 to 5: mean and interval over the reruns
differences.parquet      every two methods, over reruns and test classes
summary.json, card.md, index.html, encoder/
"""

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from likewise.errors import LikewiseError
from likewise.files import finish_writing
from likewise.training.context import CheckConfig
from likewise.training.plan import TrainingPlan
from likewise.workspace import WorkspaceFolder, read_json, read_parquet, write_json

FORMAT = 1
EARLIER_COLUMNS = {"metric": "measure", "real": "significant", "R-Precision": "R_Precision"}
EARLIER_MEASURES = {"R-Precision": "R_Precision", "ROC-AUC": "ROC_AUC", "PR-AUC": "AP"}


@dataclass(frozen=True)
class RunFolder:
    """Paths of one run."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def settings_file(self) -> Path:
        return self.path / "settings.json"

    @property
    def search_file(self) -> Path:
        return self.path / "search.db"

    @property
    def summary_file(self) -> Path:
        return self.path / "summary.json"

    @property
    def card_file(self) -> Path:
        return self.path / "card.md"

    @property
    def encoder_folder(self) -> Path:
        return self.path / "encoder"

    def table_file(self, name: str) -> Path:
        return self.path / f"{name}.parquet"

    def rerun_file(self, method: str, number: int) -> Path:
        """The test values of one rerun, per query; written last, so it says that the rerun is done."""
        return self.path / "reruns" / folder_name(method) / f"{number}.parquet"

    def discovery_file(self, method: str, number: int) -> Path:
        """What one rerun finds of what looks alike, per labelled query."""
        return self.rerun_file(method, number).with_suffix(".discovery.parquet")

    def failure_file(self, method: str, number: int) -> Path:
        """Why one rerun gave no model; it is not tried again, for its seed would fail again."""
        return self.rerun_file(method, number).with_suffix(".failed.json")

    def rerun_ended(self, method: str, number: int) -> bool:
        return self.rerun_file(method, number).exists() or self.failure_file(method, number).exists()

    def finished_reruns(self, method: str, n_reruns: int) -> list[int]:
        """Those that were measured."""
        return [number for number in range(n_reruns) if self.rerun_file(method, number).exists()]

    def failed_reruns(self, method: str, n_reruns: int) -> list[int]:
        return [number for number in range(n_reruns) if self.failure_file(method, number).exists()]

    def rerun_encoder_folder(self, method: str, number: int) -> Path:
        """A further rerun of the winner as an encoder."""
        return self.rerun_file(method, number).with_suffix("")

    def curves_file(self, method: str, number: int) -> Path:
        return self.rerun_file(method, number).with_suffix(".json")

    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = read_json(self.settings_file)
        return settings


def folder_name(method: str) -> str:
    """A method's name as the name of a folder."""
    return re.sub(r"[^\w.=-]+", "-", method).strip("-.")


def run_folder(workspace: WorkspaceFolder, name: str) -> RunFolder:
    if not name or name != folder_name(name):
        raise LikewiseError(f"{name!r} cannot name a run: use letters, digits, dots and dashes.")
    return RunFolder(workspace.path / "runs" / name)


def read_run_table(path: Path, made_by: str) -> pl.DataFrame:
    """A table of a run; one that an earlier version wrote gets the names of today."""
    table = read_parquet(path, made_by).rename(EARLIER_COLUMNS, strict=False)
    return table.with_columns(pl.col("measure").replace(EARLIER_MEASURES)) if "measure" in table.columns else table


def begin_run(run: RunFolder, config: CheckConfig, methods: list[str], seed: int, catalog: str) -> None:
    """Write the settings of a new run, or make sure that an old one is continued with the same."""
    settings_now = {
        "format": FORMAT,
        "column": config.column,
        "encoder": config.encoder,
        "plan": asdict(config.plan),
        "methods": methods,
        "seed": seed,
        "catalog": catalog,
        "half": config.half,
    }
    finish_writing(run.path)
    if not run.settings_file.exists():
        write_json(settings_now, run.settings_file)
        return
    there = run.settings()
    there["plan"] = asdict(TrainingPlan(**there["plan"]))  # options that came later have their defaults
    different = [key for key, value in settings_now.items() if there.get(key) != value]
    if different:
        key = different[0]
        raise LikewiseError(
            f"{run.path} was begun with another {key} ({there.get(key)!r}, now {settings_now[key]!r}): "
            "continue it with the same options, or give this run another --name."
        )
