"""Table 4 on files: a trained model's epochs, a test that chooses, a test to report on, data sets in workspaces."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from likewise.outfits.bundle import open_test
from likewise.outfits.checkpoints import Experiment, run_experiment
from likewise.outfits.models.registry import load_model
from likewise.outfits.models.sight import Sight, WorkspaceSight
from likewise.outfits.polyvore import read_benchmark
from likewise.outfits.protocol import Model
from likewise.outfits.taking import Say, Taking, TakingSight
from likewise.workspace import Workspace, write_json, write_parquet


def checkpoint_experiment(
    model: Path,
    validation: Mapping[int, float],
    test: Path,
    output: Path,
    report_on: Path | None = None,
    sets: Sequence[Path] = (),
    split: str = "test",
    say: Say | None = None,
) -> Experiment:
    """Run the experiment and write curves.parquet, table.parquet and chosen.json into `output`."""
    judging = Taking(open_test(test), output / "judging")
    reporting = Taking(open_test(report_on), output / "reporting") if report_on is not None else None
    workspaces = {path.name: Workspace(path) for path in sets}
    made = run_experiment(
        opener(model, TakingSight(judging, say)),
        validation,
        judging.test.questions,
        reported=reporting.test.questions if reporting else None,
        report_model_at=opener(model, TakingSight(reporting, say)) if reporting else None,
        sets={
            name: (opener(model, WorkspaceSight(workspace)), read_benchmark(workspace, split))
            for name, workspace in workspaces.items()
        },
        on_progress=(lambda done, total: say("epochs", done, total)) if say else None,
    )
    write_parquet(made.curves, output / "curves.parquet")
    write_parquet(made.table, output / "table.parquet")
    write_json(made.chosen, output / "chosen.json")
    return made


def opener(folder: Path, sight: Sight) -> Callable[[int], Model]:
    """A function that opens the model as it was after an epoch."""
    return lambda epoch: load_model(folder, sight, epoch)
