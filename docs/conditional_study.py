"""The study of `conditional_results.py`: a Combiner that learns from mined captions of the wardrobe, in many ways.

The catalog's own captions put everything before the noun ("a red wool coat"), where mining finds no relation; for
this study the same annotations are told in the way of the captions of photographs: "a coat in red, made of wool".
Everything is trained on items of the part `train`, stopped on templates of `validate` and measured on those of
`test`; it is the command that a user types, and what it printed.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog import read_catalog
from likewise.conditional.combiner import read_combiner
from likewise.conditional.mining.step import mine_triplets
from likewise.conditional.report.study import study_figure
from likewise.conditional.two_tower import TwoTowerSettings, train_two_tower
from likewise.encoders.families.two_tower import SETTINGS as TOWER_SETTINGS
from likewise.workspace import WorkspaceFolder, read_json, write_json, write_parquet

N_TRIPLETS = 8_192
SEEDS, STEPS, BATCH, TOWER_STEPS = 3, 250, 64, 300
TOWERS = {
    "lite0-16": ("efficientnet-lite0?pooling=stages", 16),
    "lite0-32": ("efficientnet-lite0?pooling=stages", 32),
}
"""Further encoders for the part `backbones`: their base and their width; that of `wardrobe-tower` is 128."""


SAID = {"colour": "in", "material": "made of", "pattern": "with", "season": "for"}
"""What stands before the value of an attribute."""
UNSAID = "solid"


def in_relations(row: dict[str, Any]) -> str:
    """For example: "a bag in burgundy, made of leather, with pinstripes, for spring"."""
    phrase = str(row["caption"]).split(",")[0].split(" with ")[0].split(" without ")[0]
    noun = phrase.split()[-1]
    said = [f"{word} {row[name]}" for name, word in SAID.items() if row[name] and row[name] != UNSAID]
    return f"{'some' if 'pair of' in phrase else 'a'} {noun} " + ", ".join(said)


def studied(data: Path, work: Path, docs: Path) -> None:
    """Run the study, keep what it printed as `work/study.json`, and draw its pictures."""
    if not (work / "study.json").exists():
        _run(data, work)
    table = pl.DataFrame(read_json(work / "study.json")["summary"])
    for part in ("ablation", "scaling", "backbones"):
        study_figure(table, part, docs / f"combiner_{part}.png")


def _run(data: Path, work: Path) -> None:
    workspace = WorkspaceFolder(work / "wardrobe")
    captions = work / "wardrobe-captions.parquet"
    if not captions.exists():
        rows = read_catalog(workspace).filter(split="train")
        told = pl.Series("caption", [in_relations(row) for row in rows.iter_rows(named=True)])
        write_parquet(rows.select("image", told), captions)
    ratings = next((data / "concreteness").glob("*.txt"))
    funnels = {}
    for name, known in (("filtered", ratings), ("unfiltered", None)):
        found = mine_triplets(captions, work / name, ratings=known, n_triplets=N_TRIPLETS, workers=1, parser="textblob")
        funnels[name] = found.n_triplets
    more = []
    for name, (base, dim) in TOWERS.items():
        folder = work / f"wardrobe-{name}"
        if not (folder / TOWER_SETTINGS).exists():
            train_two_tower(
                workspace, folder, TwoTowerSettings(base, where="split=train", dim=dim, steps=TOWER_STEPS), workers=1
            )
        more.append(f"two-tower:{folder}")
    chosen: dict[str, Any] = read_json(work / "wardrobe.json")["combiner"]["settings"]
    options: dict[str, object] = {
        "with": f"two-tower:{work / 'wardrobe-tower'}",
        "on": work / "filtered",
        "unfiltered": work / "unfiltered",
        "other": "train",
        "validate": "validate",
        "test": "test",
        "backbones": ",".join(more),
        "seeds": SEEDS,
        "steps": STEPS,
        "batch": BATCH,
        "rate": chosen["learning_rate"],
        "to": work / "study",
    }
    words = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    asked = ["condition", "study", str(workspace.path), *words]
    ran = subprocess.run(
        [sys.executable, "-m", "likewise", *asked, "--json"], check=True, stdout=subprocess.PIPE, text=True
    )
    shown = shlex.join(["likewise", *asked]).replace(f"{work}/", "")
    steps = {
        place.name: read_combiner(place).about["best_step"] for place in sorted((work / "study" / "runs").iterdir())
    }
    printed = {**json.loads(ran.stdout), "command": shown, "n_mined": funnels, "best_steps": steps}
    write_json(printed, work / "study.json")
