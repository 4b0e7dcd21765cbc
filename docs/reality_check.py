"""Measure again, and fill in the tables of `training.md`: `python docs/reality_check.py --data FOLDER --work FOLDER`.

The first folder holds the data set `emoji` and the claims in `reality_check`; in the second one the
work is done, and goes on where it stopped. The twelve losses, heads on stored vectors of EfficientNet-Lite0: the search
of the preset `quick`, with the ten reruns of `standard`.
"""

import argparse
from pathlib import Path
from typing import Any

import polars as pl
from marks import fill, paragraph
from papers_catalogs import likewise
from papers_clock import processor_seconds

from likewise.training.differences import check_verdict
from likewise.training.report.check_sentences import describe_power
from likewise.training.runs import read_run_table
from likewise.workspace import read_json, write_json

HERE = Path(__file__).parent
ENCODER = "efficientnet-lite0?size=96"


def emoji(work: Path, data: Path) -> Path:
    workspace = work / "emoji"
    if not workspace.exists():
        likewise("new", workspace, data / "emoji" / "catalog.csv")
    return workspace


def check(workspace: Path, column: str, claims: Path) -> dict[str, Any]:
    """Run or continue one check; its facts, with the processor time where it ran in one go."""
    folder, note = workspace / "runs" / "check", workspace / "runs" / "check" / "seconds.json"
    if not (folder / "summary.json").exists():
        fresh, used = not folder.exists(), processor_seconds()
        likewise("encode", workspace, "--with", ENCODER)
        options = ("--preset", "quick", "--reruns", 10, "--with", ENCODER, "--column", column, "--claims", claims)
        likewise("train", "check", workspace, *options)
        if fresh:
            write_json({"processor_seconds": processor_seconds() - used}, note)
    return {
        "summary": read_json(folder / "summary.json"),
        "seconds": read_json(note)["processor_seconds"] if note.exists() else None,
    }


def section(workspace: Path, found: dict[str, Any]) -> str:
    """What was done, the paper's table, and which differences are significant."""
    summary, plan = found["summary"], found["summary"]["plan"]
    folder = workspace / "runs" / "check"
    tables = (
        read_run_table(folder / f"{each}.parquet", "likewise train check") for each in ("accuracy", "differences")
    )
    accuracy, differences = tables
    titles = {each: facts["title"] for each, facts in summary["methods"].items()} | {"pretrained": "Without training"}
    done = (
        f"{plan['n_trials']} trials a method, at most {plan['max_steps']} steps a model, learning rate {plan['lr']:g}, "
        f"{plan['n_reruns']} reruns; {summary['n_images']:,} images of {summary['n_classes']:,} classes, tested on the "
        f"{summary['n_test_images']:,} images of {summary['n_test_classes']:,} classes never trained on. Percent, mean "
        f"and half of the 95 % interval over reruns."
    )
    if found["seconds"] is not None:
        done += f" It took {found['seconds'] / 60:.0f} minutes of processor time."
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
    asked = parser.parse_args()
    claims = asked.data / "reality_check" / "reported_precision_at_1.csv"
    workspace = emoji(asked.work, asked.data)
    fill(HERE / "training.md", {"training-emoji": section(workspace, check(workspace, "item", claims))})


if __name__ == "__main__":
    main()
