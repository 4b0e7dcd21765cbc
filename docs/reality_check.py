"""Measure again, and fill in the tables of `training.md`: `python docs/reality_check.py --data FOLDER --work FOLDER`.

The first folder holds the data set `emoji` and the claims in `reality_check`; in the second one the work is done, and
goes on where it stopped. The standard and the quick check of the twelve losses, heads on stored vectors of
EfficientNet-Lite0 at 96 pixels, and the quick one of a small network trained whole at 32 pixels.  A check that ran in
one go tells how long it took; for one that was stopped and continued, `--time NAME` times one trial of every method,
alone on the machine, and the page multiplies.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
from marks import fill, paragraph

from likewise.training.context import CheckConfig, FoldTask, run_fold
from likewise.training.differences import check_verdict
from likewise.training.plan import TrainingPlan
from likewise.training.report.check_sentences import describe_power
from likewise.training.runs import read_run_table
from likewise.training.workers import training_processes
from likewise.workspace import read_json, write_json

HERE = Path(__file__).parent
TRIALS, WORKERS = "trial_seconds.json", 2
ENCODER = "efficientnet-lite0?size=96"
RUNS = {
    "standard": ["--preset", "standard", "--with", ENCODER],
    "quick": ["--preset", "quick", "--with", ENCODER],
    "small": ["--preset", "quick", "--trunk", "small", "--with", "small?size=32"],
}
BLOCKS = {"training-standard": "standard", "training-quick": "quick", "training-small": "small"}


def likewise(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "likewise", *words], check=True, stdout=subprocess.DEVNULL)


def processor_seconds() -> float:
    """Of all commands that have ended, with their workers."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def check(workspace: Path, name: str, options: list[str], claims: Path) -> dict[str, Any]:
    """Run or continue one check; its facts, with the seconds it took where it ran in one go."""
    folder, note = workspace / "runs" / name, workspace / "runs" / name / "seconds.json"
    if not (folder / "summary.json").exists():
        fresh, started, used = not folder.exists(), time.monotonic(), processor_seconds()
        likewise("train", "check", str(workspace), "--name", name, "--claims", str(claims), *options)
        if fresh:
            took = {"seconds": time.monotonic() - started, "processor_seconds": processor_seconds() - used}
            write_json(took, note)
    timed = folder / TRIALS
    return {
        "summary": read_json(folder / "summary.json"),
        "seconds": read_json(note) if note.exists() else None,
        "trials": read_json(timed) if timed.exists() else None,
    }


def time_trials(workspace: Path, name: str) -> None:
    """Seconds of one trial of every method with its best values, the folds in two single-threaded processes."""
    summary = read_json(workspace / "runs" / name / "summary.json")
    config = CheckConfig(workspace.resolve(), summary["column"], summary["encoder"], TrainingPlan(**summary["plan"]))
    seconds = {}
    with training_processes(WORKERS) as run:
        for method, facts in [
            next(iter(summary["methods"].items())),
            *summary["methods"].items(),
        ]:  # the first starts them
            folds = [
                FoldTask(config, method, facts["best"]["params"], fold, fold) for fold in range(config.plan.n_folds)
            ]
            started = time.monotonic()
            run(run_fold, folds)
            seconds[method] = time.monotonic() - started
            print(f"{method}: {seconds[method]:.1f} s", flush=True)
    write_json(seconds, workspace / "runs" / name / TRIALS)


def time_taken(found: dict[str, Any]) -> str:
    plan = found["summary"]["plan"]
    if found["seconds"] is not None:
        minutes, used = (found["seconds"][name] / 60 for name in ("seconds", "processor_seconds"))
        return f" It took {minutes:.0f} minutes by the clock and {used:.0f} of processor time."
    if found["trials"] is None:
        return ""
    one_each = sum(found["trials"].values())
    trials, all_of_it = (one_each * n / 60 for n in (plan["n_trials"], plan["n_trials"] + plan["n_reruns"]))
    return (
        f" One trial of each method, timed alone with its folds in {WORKERS} single-threaded processes, takes "
        f"{one_each:.0f} s for all together, so that {plan['n_trials']} trials of each take {trials:.0f} minutes, with "
        f"the reruns {all_of_it:.0f}."
    )


def section(workspace: Path, name: str, found: dict[str, Any]) -> str:
    """What was done, the paper's table, and which differences are significant."""
    summary, plan = found["summary"], found["summary"]["plan"]
    folder = workspace / "runs" / name
    tables = (
        read_run_table(folder / f"{each}.parquet", "likewise train check") for each in ("accuracy", "differences")
    )
    accuracy, differences = tables
    titles = {each: facts["title"] for each, facts in summary["methods"].items()} | {"pretrained": "Without training"}
    done = (
        f"{plan['n_trials']} trials a method, at most {plan['max_steps']} steps a model, learning rate {plan['lr']:g}, "
        f"{plan['n_reruns']} reruns; {summary['n_images']:,} images of {summary['n_classes']:,} classes, tested on the "
        f"{summary['n_test_images']:,} images of {summary['n_test_classes']:,} classes never trained on. Percent, mean "
        f"and half of the 95 % interval over reruns.{time_taken(found)}"
    )
    lines = [
        paragraph(done),
        "",
        "| method | P@1, concatenated | R_Precision | MAP@R | P@1, separated | R_Precision | MAP@R |",
        "|---|---|---|---|---|---|---|",
    ]
    cells = {(row["method"], row["embedding"], row["measure"]): row for row in accuracy.iter_rows(named=True)}
    for method in accuracy["method"].unique(maintain_order=True):
        values = []
        for embedding in ("concatenated", "separated"):
            values += [_cell(cells[method, embedding, measure]) for measure in ("P@1", "R_Precision", "MAP@R")]
        lines.append(f"| {titles[method]} | " + " | ".join(values) + " |")
    return "\n".join([*lines, "", _verdict(accuracy, differences, titles, summary)])


def _cell(row: dict[str, Any]) -> str:
    half = "" if row["low"] is None else f" ± {100 * (row['high'] - row['low']) / 2:.2f}"
    return f"{100 * row['value']:.2f}{half}"


def _verdict(accuracy: pl.DataFrame, differences: pl.DataFrame, titles: dict[str, str], summary: dict[str, Any]) -> str:
    found = check_verdict(accuracy, differences)
    alike = ", ".join(titles[name] for name in found.not_different)
    rest = f"not significantly different from it: {alike}" if alike else "every other method is significantly worse"
    chosen = f"Chosen by validation: {titles[summary['winner']]}."
    power = describe_power(found, summary["plan"]["n_reruns"])
    return paragraph(f"Highest concatenated MAP@R: {titles[found.best]}; {rest}. {chosen} {power}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", help="one of the runs, or several separated by commas", default=",".join(RUNS))
    parser.add_argument("--time", help="time one trial of every method of this finished run, and end")
    options = parser.parse_args()
    workspace = options.work / "emoji"
    if options.time:
        time_trials(workspace, options.time)
        return
    if not workspace.exists():
        likewise("new", str(workspace), str(options.data / "emoji" / "catalog.csv"))
    likewise("encode", str(workspace), "--with", ENCODER)
    claims = options.data / "reality_check" / "reported_precision_at_1.csv"
    fill(
        HERE / "training.md",
        {
            block: section(workspace, name, check(workspace, name, RUNS[name], claims))
            for block, name in BLOCKS.items()
            if name in options.only.split(",")
        },
    )


if __name__ == "__main__":
    main()
