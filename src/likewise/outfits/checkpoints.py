"""Table 4 of A100: which checkpoint of a training to keep, and who may choose it.

Four judges look at every epoch: the loss and the accuracy on the training data's own validation outfits, LAT, and AAT
(the paper's first judge is the loss). Each chooses the epoch it likes best
(the earliest of equals), and the chosen models are measured on everything. A test that chose an epoch flatters it, so a
second test, made apart from the first, may be given for reporting.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.errors import LikewiseError
from likewise.outfits.polyvore import OutfitBenchmark, evaluate_benchmark
from likewise.outfits.protocol import OutfitModel, OutfitQuestion
from likewise.outfits.scoring import grade_answers, score_table
from likewise.progress import ProgressCallback

JUDGES = {"loss": "own loss", "validation": "own accuracy", "LATs": "LAT", "AATs": "AAT"}
CURVE_SCHEMA = pl.Schema({"epoch": pl.Int64(), "name": pl.String(), "value": pl.Float64()})
RESULT_SCHEMA = pl.Schema(
    {
        "judge": pl.String(),
        "epoch": pl.Int64(),
        "test": pl.String(),
        "value": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "chance": pl.Float64(),
        "n": pl.Int64(),
        "n_total": pl.Int64(),
    }
)


@dataclass(frozen=True)
class CheckpointComparison:
    """`curves`: every judge's opinion of every epoch; `chosen`: judge -> epoch; `table`: the chosen ones measured."""

    curves: pl.DataFrame
    chosen: dict[str, int]
    table: pl.DataFrame


def compare_checkpoints(
    model_at: Callable[[int], OutfitModel],
    validation: Mapping[int, float],
    questions: Sequence[OutfitQuestion],
    *,
    losses: Mapping[int, float] | None = None,
    reported: Sequence[OutfitQuestion] | None = None,
    report_model_at: Callable[[int], OutfitModel] | None = None,
    sets: Mapping[str, tuple[Callable[[int], OutfitModel], OutfitBenchmark]] | None = None,
    on_progress: ProgressCallback | None = None,
) -> CheckpointComparison:
    """`model_at` opens the model of an epoch on the judging test, `report_model_at` on the reported one.

    `validation` is the accuracy after every epoch, `losses` the loss where it is known.

    `sets`: further test sets by name, each with its own way to open the model there and its questions and lines.
    """
    if not validation:
        raise LikewiseError("there is no epoch to choose from: train a model that keeps its epochs first.")
    rows = []
    for place, epoch in enumerate(sorted(validation)):
        rows.append((epoch, "validation", validation[epoch]))
        rows += [(epoch, "loss", losses[epoch])] if losses and epoch in losses else []
        rows += [(epoch, score, value) for score, value in _scores(model_at(epoch), questions).items()]
        if on_progress is not None:
            on_progress("epochs", place + 1, len(validation))
    curves = pl.DataFrame(rows, schema=CURVE_SCHEMA, orient="row")
    chosen = choose_epochs(curves)
    measured = [
        _measure_chosen(
            judge, epoch, (report_model_at or model_at)(epoch), reported or questions, sets or {}, validation
        )
        for judge, epoch in chosen.items()
    ]
    return CheckpointComparison(curves, chosen, pl.concat(measured))


def choose_epochs(curves: pl.DataFrame) -> dict[str, int]:
    """Each judge's favourite epoch: the highest value (of losses the lowest), the earliest of equals."""
    opinion = pl.when(pl.col("name") == "loss").then(-pl.col("value")).otherwise("value").alias("opinion")
    best = curves.filter(pl.col("name").is_in(list(JUDGES))).sort(opinion, "epoch", descending=[True, False])
    first = dict(best.select("name", "epoch").reverse().iter_rows())
    return {judge: first[judge] for judge in JUDGES if judge in first}


def _scores(model: OutfitModel, questions: Sequence[OutfitQuestion]) -> dict[str, float]:
    table = score_table(grade_answers(model.name, questions, model.answer(questions)), questions)
    whole = table.filter(pl.col("score").is_in(["LATs", "mLATs", "AATs"]))
    return dict(whole.select("score", "value").iter_rows())


def _measure_chosen(
    judge: str,
    epoch: int,
    model: OutfitModel,
    questions: Sequence[OutfitQuestion],
    sets: Mapping[str, tuple[Callable[[int], OutfitModel], OutfitBenchmark]],
    validation: Mapping[int, float],
) -> pl.DataFrame:
    rows: list[tuple[object, ...]] = [(judge, epoch, "validation", validation[epoch], None, None, None, None, None)]
    for name, (load_epoch, benchmark) in sets.items():
        for row in evaluate_benchmark(load_epoch(epoch), benchmark).iter_rows(named=True):
            numbers = [row[column] for column in ("value", "low", "high", "chance", "n", "n_total")]
            rows.append((judge, epoch, f"{name} {row['test']}", *numbers))
    scores = score_table(grade_answers(model.name, questions, model.answer(questions)), questions)
    for row in scores.filter(pl.col("score").is_in(["LATs", "mLATs", "AATs"])).iter_rows(named=True):
        columns = ("value", "low", "high", "chance", "n_questions", "n_questions_total")
        rows.append((judge, epoch, row["score"], *(row[column] for column in columns)))
    return pl.DataFrame(rows, schema=RESULT_SCHEMA, orient="row")


def count_wins(table: pl.DataFrame, judge: str, against: str = "validation") -> tuple[int, int, int]:
    """On how many tests (not its own) a judge's model is better, equal and worse than another judge's."""
    cells = {(row["judge"], row["test"]): row["value"] for row in table.iter_rows(named=True)}
    own = {judge, against, "validation", *({"mLATs"} if "LATs" in (judge, against) else ())}
    tests = [test for test in table["test"].unique(maintain_order=True) if test not in own]
    signs = [(cells[judge, test] or 0.0) - (cells[against, test] or 0.0) for test in tests]
    return sum(s > 0 for s in signs), sum(s == 0 for s in signs), sum(s < 0 for s in signs)


def validation_curve(folder: Path, name: str = "validation accuracy") -> dict[int, float]:
    """epoch -> the training's own validation, of a trained model whose epochs are kept; {} where none was recorded."""
    curves = folder / "curves.parquet"
    if not curves.exists():
        raise LikewiseError(f"{folder} has no curves.parquet: it is not the folder of a trained model.")
    table = pl.read_parquet(curves, glob=False).filter(pl.col("name") == name)
    kept = {int(path.stem) for path in (folder / "epochs").glob("*.safetensors")}
    return {epoch: value for epoch, value in table.select("epoch", "value").iter_rows() if epoch in kept}
