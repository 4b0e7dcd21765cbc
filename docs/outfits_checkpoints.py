"""Make outfits_checkpoints.md again: `python docs/outfits_checkpoints.py FOLDER` (trains; keeps what is there)."""

import subprocess
import sys
from pathlib import Path

import polars as pl

from likewise.outfits.checkpoints import JUDGES, wins

HERE = Path(__file__).parent
ENCODERS = "colour+shape+texture"
KINDS = ("type-aware", "set-transformer")
EPOCHS, OUTFITS = 8, 2000
SIZES = ("--n-lat", "40", "--n-aat", "54", "--n-items", "300")


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, seed in (("choose", "7"), ("report", "8")):
        if not (folder / name).exists():
            likewise(folder, "outfits", "wardrobe-test", name, *SIZES, "--seed", seed)
    if not (folder / "ws").exists():
        likewise(folder, "new", "ws", "--wardrobe", "--items", "300", "--views", "1")
    likewise(folder, "encode", "ws", "--with", ENCODERS.replace("+", ","))
    parts = [table(folder, kind) for kind in KINDS]
    page = PAGE.format(epochs=EPOCHS, outfits=f"{OUTFITS:,}", parts="\n\n".join(parts))
    (HERE / "outfits_checkpoints.md").write_text(page)


PAGE = """# Which checkpoint? (Table 4)

Two models are trained on {outfits} outfits of the drawn wardrobe, {epochs} epochs each. The data's own validation, the
LAT and the AAT of one test each choose an epoch; the chosen models are measured on a second test that chose nothing.
Made by `docs/outfits_checkpoints.py`.

{parts}
"""


def table(folder: Path, kind: str) -> str:
    """Train, choose, measure; one Markdown table."""
    name = f"{kind}-{EPOCHS}"
    train = ("--model", kind, "--with", ENCODERS, "--preset", "quick", "--epochs", str(EPOCHS), "--name", name)
    apart = ("--n-outfits", str(OUTFITS), "--test", "choose", "--test", "report")
    likewise(folder, "outfits", "train", "ws", *train, *apart)
    model = f"ws/outfit_models/{name}"
    likewise(folder, "outfits", "checkpoints", model, "choose", "--report-on", "report", "--output", "checkpoints")
    rows = pl.read_parquet(folder / "checkpoints" / "table.parquet")
    tests = rows["test"].unique(maintain_order=True).to_list()
    lines = [f"**{kind}**", "", f"| chosen by | epoch | {' | '.join(tests)} |", "|---" * (2 + len(tests)) + "|"]
    for (judge, epoch), mine in rows.group_by("judge", "epoch", maintain_order=True):
        cells = [cell(row) for row in mine.iter_rows(named=True)]
        lines.append(f"| {JUDGES[str(judge)]} | {epoch} | {' | '.join(cells)} |")
    for judge in ("LATs", "AATs"):
        better, equal, worse = wins(rows, judge)
        lines += ["", f"{JUDGES[judge]} against own validation, on scores of neither: "
                  f"{better} better, {equal} equal, {worse} worse."]  # fmt: skip
    lines += [
        "",
        f"Scores on which the intervals of two judges' models are apart: {told_apart(rows)} of {len(tests) - 1}.",
    ]
    return "\n".join(lines)


def told_apart(rows: pl.DataFrame) -> int:
    """How many scores tell two of the chosen models apart by their intervals."""
    bounds = rows.filter(pl.col("low").is_not_null()).group_by("test").agg(pl.col("low").max(), pl.col("high").min())
    return int((bounds["low"] > bounds["high"]).sum())


def cell(row: dict[str, object]) -> str:
    value, low, high = (row[name] for name in ("value", "low", "high"))
    assert isinstance(value, float)
    if not isinstance(low, float) or not isinstance(high, float):
        return f"{100 * value:.1f}"
    return f"{100 * value:.1f} ({100 * low:.1f}–{100 * high:.1f}, n {row['n']})"


def likewise(folder: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "likewise", *words], cwd=folder, check=True)


if __name__ == "__main__":
    main()
