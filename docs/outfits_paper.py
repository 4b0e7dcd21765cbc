"""The table of outfits.md on the presets `paper`, about ten minutes of one core:
`python docs/outfits_paper.py --workspace LOOKS --outfits FILE`.

Every model that has a paper is trained whole with its published settings, on all outfits of the table but those that
choose the epoch. The page is filled after each; a model that was trained before is not trained again.
"""

import argparse
import json
import time
from pathlib import Path

from marks import fill, paragraph

from likewise.intervals import wilson_interval
from likewise.outfits.models.card import models_folder
from likewise.outfits.training.presets import PAPER
from likewise.outfits.training.step import TrainingRequest, train_outfit_model
from likewise.workspace import WorkspaceFolder

PAGE = Path(__file__).with_name("outfits.md")
ENCODER = "efficientnet-lite0?pooling=stages"
ORDER = ("type-aware", "sce-net", "ngnn", "fhn", "bi-lstm")  # the shortest first


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--outfits", type=Path, required=True)
    given = parser.parse_args()
    torch.set_num_threads(1)
    workspace, found = WorkspaceFolder(given.workspace), dict[str, dict[str, float]]()
    for kind in ORDER:
        found[kind] = train(workspace, kind, given.outfits)
        print(kind, found[kind], flush=True)
        fill(PAGE, {"outfits-paper": table(found)})


def train(workspace: WorkspaceFolder, kind: str, outfits: Path) -> dict[str, float]:
    """One whole training; how long it took is kept beside it."""
    kept = models_folder(workspace) / "paper" / f"{kind}.json"
    if kept.exists():
        known: dict[str, float] = json.loads(kept.read_text())
        return known
    began = time.process_time()
    asked = TrainingRequest(kind, f"paper/{kind}", ENCODER, preset="paper", outfits=outfits)
    about = train_outfit_model(workspace, asked, force=True).training
    assert about.validation_accuracy is not None and about.n_validation is not None and about.epoch is not None
    measured = {
        "seconds": time.process_time() - began,
        "n_outfits": float(about.n_outfits),
        "epoch": float(about.epoch),
        "accuracy": about.validation_accuracy,
        "n_blanks": float(about.n_validation),
    }
    kept.write_text(json.dumps(measured))
    return measured


def table(found: dict[str, dict[str, float]]) -> str:
    one = next(iter(found.values()))
    told = (
        f"Trained whole on {one['n_outfits']:,.0f} outfits of the stylists above, with vectors of `{ENCODER}` instead "
        f"of a network that is trained along; seconds of one core. Blanks are the {one['n_blanks']:,.0f} of the "
        "outfits that choose the epoch, so they flatter; five choices, chance 20 %:"
    )
    lines = [
        "| model | width | batch | optimizer, rate | epochs | best epoch | blanks right (%) | time |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind in PAPER:
        preset, row = PAPER[kind], found.get(kind)
        settings = (
            f"{preset.width} | {preset.batch_size} | {preset.optimizer}, {preset.learning_rate:g} | {preset.epochs}"
        )
        if row is None:
            lines.append(f"| {kind} | {settings} | | not run | |")
            continue
        low, high = (100 * end for end in wilson_interval(row["accuracy"], row["n_blanks"]))
        value = f"{100 * row['accuracy']:.1f} ({low:.1f}–{high:.1f})"
        lines.append(f"| {kind} | {settings} | {row['epoch']:.0f} | {value} | {row['seconds']:.0f} s |")
    return f"{paragraph(told)}\n\n" + "\n".join(lines)


if __name__ == "__main__":
    main()
