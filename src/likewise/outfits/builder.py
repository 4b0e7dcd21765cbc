"""The plan of a test in the making, and the files of its folder (`WS/outfits/tests/NAME/`), one per finished stage."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import polars as pl

from likewise.errors import LikewiseError
from likewise.files import StagedFiles, finish_writing
from likewise.outfits.lat import N_DISTRACTORS, QUOTAS
from likewise.outfits.protocol import OutfitQuestion
from likewise.outfits.step import outfits_folder
from likewise.outfits.tables import answer_table, item_table, question_table, questions_from_tables
from likewise.workspace import WorkspaceFolder, read_json, read_parquet, write_json, write_parquet

STAGES = ("sort", "generate", "keep", "rate", "blank", "panel", "rounds", "final", "crowd")
CONSENT = (
    "You will see outfits with one piece missing, and a few pieces to choose from. Choose the one that you find fits "
    "best: there is no right or wrong, we want to know what people like.\n\n"
    "Taking part is voluntary, takes a few minutes and can be ended at any time. We store your choices and how long "
    "each took, and nothing that says who you are."
)


@dataclass(frozen=True)
class OutfitTestPlan:
    """A100's own numbers where it gives any."""

    sort: bool = True
    """False: the catalog's categories are trusted, nobody cleans and sorts the images."""
    n_seed_outfits: int = 50_000
    n_experts: int = 5
    """Shares of the keep-or-delete stage, and how many people rate."""
    n_best: int = 2000
    n_panel: int = 10
    n_consistent: int = 500
    n_rounds: int = 3
    days_between_rounds: float = 3.0
    n_questions: int = 100
    n_distractors: int = N_DISTRACTORS
    quotas: dict[str, int] = field(default_factory=lambda: dict(QUOTAS))
    max_guests: int = 10_000
    title: str = "Which one fits best?"
    consent: str = CONSENT
    where: str | None = None
    """Which images of the catalog, such as `domain=shop`."""
    mapping: dict[str, str] = field(default_factory=dict)
    seed: int = 0


@dataclass(frozen=True)
class OutfitTestBuilder:
    """A test in the making."""

    workspace: WorkspaceFolder
    name: str

    @property
    def folder(self) -> Path:
        return outfits_folder(self.workspace) / "tests" / self.name

    def slug(self, stage: str) -> str:
        """The questionnaire of a stage."""
        return f"{self.name}-{stage}"

    def stage_file(self, stage: str) -> Path:
        """What a finished stage leaves; its being there is what finishes the stage."""
        return self.folder / f"{STAGES.index(stage.split('-')[0]) + 1}-{stage}.parquet"

    def is_done(self, stage: str) -> bool:
        return self.stage_file(stage).exists()

    def plan(self) -> OutfitTestPlan:
        finish_writing(self.folder)
        path = self.folder / "plan.json"
        if not path.exists():
            raise LikewiseError(f"{self.folder} has no plan.json: begin with `likewise outfits make-test`.")
        stored: dict[str, Any] = read_json(path)
        if "most_guests" in stored:  # plans of version 0.1
            stored["max_guests"] = stored.pop("most_guests")
        return OutfitTestPlan(
            **{each.name: stored[each.name] for each in fields(OutfitTestPlan) if each.name in stored}
        )

    def start(self, plan: OutfitTestPlan, *, given: Sequence[str] = ()) -> OutfitTestPlan:
        """Write the plan down; a plan that is there already stays, and whoever gives other settings is told so."""
        path = self.folder / "plan.json"
        if not self.name or not all(c.isascii() and (c.isalnum() or c == "-") for c in self.name):
            raise LikewiseError(f"a test's name has letters, digits and dashes only, not {self.name!r}.")
        if not path.exists():
            write_json(asdict(plan), path)
            return plan
        stored = self.plan()
        changed = [name for name in given if getattr(stored, name) != getattr(plan, name)]
        if changed:
            raise LikewiseError(
                f"{path} says {changed[0]} = {getattr(stored, changed[0])!r}: a test that is being made keeps "
                "its plan; give another --name for another test."
            )
        return stored

    def read_stage(self, stage: str) -> pl.DataFrame:
        return read_parquet(
            self.stage_file(stage), f"likewise outfits make-test {self.workspace.quoted} --name {self.name}"
        )

    def write_questions(self, stage: str, questions: Sequence[OutfitQuestion], staged: StagedFiles) -> None:
        """Questions with what is right and what people chose, together with the file that finishes the stage."""
        if not questions:
            raise LikewiseError(f"no question is left after the stage {stage} of {self.name}: loosen the plan.")
        write_parquet(item_table(questions), staged.staging / f"{stage}-items.parquet")
        write_parquet(answer_table(questions), staged.staging / f"{stage}-answers.parquet")
        write_parquet(question_table(questions), staged.place(self.stage_file(stage)))

    def questions(self, stage: str) -> list[OutfitQuestion]:
        asked = self.read_stage(stage)
        items, answers = (read_parquet(self.folder / f"{stage}-{part}.parquet", "") for part in ("items", "answers"))
        return questions_from_tables(asked, items, answers)


def list_builders(workspace: WorkspaceFolder) -> list[OutfitTestBuilder]:
    """The tests that are being made in a workspace."""
    folder = outfits_folder(workspace) / "tests"
    return [OutfitTestBuilder(workspace, path.parent.name) for path in sorted(folder.glob("*/plan.json"))]
