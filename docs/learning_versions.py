"""Does another version of `train perceptual` print the same? Fills a block of `learning.md`.

    python docs/learning_versions.py "what was compared=OLD/runs/perceptual,NEW/runs/perceptual" ...

Each folder is what one version left of the same answers and vectors. docs/learning.md says which versions, and what
was changed in the old one.
"""

import json
import sys
from pathlib import Path

import polars as pl
from marks import fill

KEYS = ("unseen", "encoder", "measure")


def compare(old: Path, new: Path) -> tuple[int, int, float]:
    """Numbers that are printed, those that differ as they are printed, and the largest difference in points."""
    first, second = (pl.read_parquet(run / "results.parquet").sort(KEYS) for run in (old, new))
    if not first.select(KEYS).equals(second.select(KEYS)):
        raise SystemExit(f"{old} and {new} are of other encoders or measures")
    shown, other, largest = 0, 0, 0.0
    for name in first.columns:
        if name in KEYS:
            continue
        for one, another in zip(first[name], second[name], strict=True):
            if one is None and another is None:
                continue
            shown += 1
            other += _printed(name, one) != _printed(name, another)
            largest = max(largest, 0.0 if name.startswith("n_") else 100 * abs(one - another))
    return shown, other, largest


def _printed(name: str, value: float) -> str:
    if name.startswith("n_"):
        return str(value)
    return f"{value:.3f}" if name == "p_holm" else f"{100 * value:.1f}"


def chosen(run: Path) -> str:
    return str(json.loads((run / "summary.json").read_text())["chosen"])


def main() -> None:
    lines = [
        "| answers, and the earlier solver | numbers printed | of them another last digit | largest difference, points "
        "| chosen |",
        "|---|--:|--:|--:|---|",
    ]
    for case in sys.argv[1:]:
        title, folders = case.split("=")
        old, new = map(Path, folders.split(","))
        shown, other, largest = compare(old, new)
        choice = f"both: {chosen(new)}" if chosen(old) == chosen(new) else f"{chosen(old)}; {chosen(new)}"
        lines.append(f"| {title} | {shown} | {other} | {largest:.3f} | {choice} |")
    fill(Path(__file__).parent / "learning.md", {"learning-versions": "\n".join(lines)})


if __name__ == "__main__":
    main()
