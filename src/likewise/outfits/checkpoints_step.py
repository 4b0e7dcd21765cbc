"""Table 4 on files: a trained model's epochs, a test that chooses, a test to report on, data sets in workspaces."""

from collections.abc import Callable, Sequence
from pathlib import Path

from likewise.catalog.table import read_catalog
from likewise.files import written_together
from likewise.lineage.files import read_model_lineage
from likewise.lineage.guard import screen_models
from likewise.outfits.bundle import open_test
from likewise.outfits.checkpoints import CheckpointComparison, compare_checkpoints, validation_curve
from likewise.outfits.models.feature_source import FeatureSource, WorkspaceFeatures
from likewise.outfits.models.registry import load_model
from likewise.outfits.polyvore import read_outfit_benchmark
from likewise.outfits.protocol import OutfitModel
from likewise.outfits.results import OutfitTestFeatures, OutfitTestResults
from likewise.outfits.screening import benchmark_set, outfit_test_set
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, write_json, write_parquet


def compare_checkpoint_files(
    model: Path,
    test: Path,
    output: Path,
    report_on: Path | None = None,
    sets: Sequence[Path] = (),
    split: str = "test",
    on_progress: ProgressCallback | None = None,
) -> CheckpointComparison:
    """Run the experiment and write curves.parquet, table.parquet and chosen.json into `output`."""
    judging = OutfitTestResults(open_test(test), output / "judging")
    reporting = OutfitTestResults(open_test(report_on), output / "reporting") if report_on is not None else None
    workspaces = {path.name: WorkspaceFolder(path) for path in sets}
    benchmarks = {name: read_outfit_benchmark(workspace, split) for name, workspace in workspaces.items()}
    asked = [outfit_test_set(each.test) for each in (judging, reporting) if each is not None]
    asked += [benchmark_set(benchmarks[name], read_catalog(each), name) for name, each in workspaces.items()]
    for each in asked:
        screen_models({model.name: read_model_lineage(model, model.name)}, each).refuse_learned()
    made = compare_checkpoints(
        epoch_loader(model, OutfitTestFeatures(judging, on_progress)),
        validation_curve(model),
        judging.test.questions,
        losses=validation_curve(model, "validation loss"),
        reported=reporting.test.questions if reporting else None,
        report_model_at=epoch_loader(model, OutfitTestFeatures(reporting, on_progress)) if reporting else None,
        sets={
            name: (epoch_loader(model, WorkspaceFeatures(workspace)), benchmarks[name])
            for name, workspace in workspaces.items()
        },
        on_progress=on_progress,
    )
    with written_together(output) as staged:
        write_parquet(made.curves, staged.staging / "curves.parquet")
        write_parquet(made.table, staged.staging / "table.parquet")
        write_json(made.chosen, staged.staging / "chosen.json")
    return made


def epoch_loader(folder: Path, features: FeatureSource) -> Callable[[int], OutfitModel]:
    """A function that opens the model as it was after an epoch."""
    return lambda epoch: load_model(folder, features, epoch)
