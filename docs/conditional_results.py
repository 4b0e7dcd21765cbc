"""The tables and figures of docs/combiner.md and docs/mining.md: the Combiner against the baselines, and mining.

    python docs/conditional_results.py --data FOLDER --work FOLDER

`--data` holds emoji/, captions/ and concreteness/; `--work` keeps everything that was made, so a second run only fills
in the pages, and what `python -m benchmarks.mining` printed as `benchmark.json`.  Items are divided: the encoder and
the Combiner learn from one part, settings are chosen on a second, the numbers are from an untouched third.
"""

import argparse
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from conditional_pages import benchmark_blocks, combiner_blocks, combiner_picture, mining_blocks
from marks import fill

from likewise.catalog import make_catalog
from likewise.conditional.combiner import SETTINGS as COMBINER_SETTINGS
from likewise.conditional.combiner import read_combiner
from likewise.conditional.composers import ComposerMethod, baseline_methods
from likewise.conditional.evaluate import recall_table, score_templates
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.methods import COMBINERS_FOLDER
from likewise.conditional.templates.files import read_templates, template_sets
from likewise.conditional.templates.step import build_template_set
from likewise.conditional.templates.workspace_annotations import AnnotationOptions
from likewise.conditional.towers import TwoTower
from likewise.conditional.training import TrainingSettings, train_combiner
from likewise.conditional.training_triplets import to_training_triplets
from likewise.conditional.two_tower import TwoTowerSettings, train_two_tower
from likewise.encoders.families.two_tower import SETTINGS as TOWER_SETTINGS
from likewise.encoders.families.two_tower import read_two_tower_config
from likewise.synthetic import build_wardrobe
from likewise.workspace import WARDROBE, WorkspaceFolder, read_json, write_json

DOCS = Path(__file__).parent
ITEMS, VIEWS, SEED = 2000, 2, 7
DIVISION_SEED = 11
PARTS = (("train", 0.5), ("validate", 0.2), ("test", 0.3))
PER_TASK = {"train": 2000, "validate": 200, "test": 500}
TOWER_STEPS = 300
COMBINER = TrainingSettings(steps=800, batch=128, validate_every=50, patience=3)
CHOICES = tuple(
    replace(COMBINER, dropout=dropout, learning_rate=rate) for dropout in (0.5, 0.2) for rate in (3e-4, 1e-3)
)
"""Settings to choose among, by the Recall@1 on the templates `validate`; a dropout of .5 is the paper's."""


@dataclass(frozen=True)
class Road:
    """One catalog, from its captions to a table."""

    name: str
    title: str
    columns: tuple[str, ...]
    annotations: AnnotationOptions


ROADS = (
    Road("wardrobe", "The drawn wardrobe", ("caption",), AnnotationOptions()),
    Road(
        "emoji",
        "Emoji",
        ("caption", "category", "subcategory", "vendor"),
        AnnotationOptions(attributes=["subcategory", "vendor"], words="caption"),
    ),
)


def divided(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with a `split`, whole items apart."""
    items = rows["item"].cast(pl.String).unique().sort().to_list()
    places = np.random.default_rng(DIVISION_SEED).permutation(len(items))
    ends = np.cumsum([share for _, share in PARTS]) * len(items)
    part = {items[item]: PARTS[int(np.searchsorted(ends, place, side="right"))][0] for place, item in enumerate(places)}
    return rows.with_columns(pl.col("item").cast(pl.String).replace_strict(part).alias("split"))


def workspace_of(road: Road, data: Path, work: Path) -> WorkspaceFolder:
    found = WorkspaceFolder(work / road.name)
    if found.catalog_file.exists():
        return found
    if road.name == "wardrobe":
        pictures = work / "pictures"
        rows = build_wardrobe(pictures, n_items=ITEMS, views_per_item=VIEWS, seed=SEED, workers=1)
        make_catalog(found, divided(rows), pictures, WARDROBE)
    else:
        rows = pl.read_csv(data / "emoji" / "catalog.csv")
        make_catalog(found, divided(rows), data / "emoji", "emoji")
    return found


def travel(road: Road, data: Path, work: Path) -> None:
    """Everything from the catalog to `work/<name>.json`; what is there is not made again."""
    if (work / f"{road.name}.json").exists():
        return
    workspace = workspace_of(road, data, work)
    folder = work / f"{road.name}-tower"
    if not (folder / TOWER_SETTINGS).exists():
        settings = TwoTowerSettings(columns=road.columns, where="split=train", steps=TOWER_STEPS)
        trained = train_two_tower(workspace, folder, settings, workers=1)
        print(road.name, "tower", round(trained.recall_at_1, 3), round(trained.seconds), "s", flush=True)
    tower = TwoTower.from_spec(f"two-tower:{folder}")
    tower.encode(workspace, workers=1)
    for part, per_task in PER_TASK.items():
        if part not in template_sets(workspace):
            options = replace(road.annotations, where=f"split={part}")
            build_template_set(workspace, part, options, per_task=per_task)
    sets = {part: read_templates(workspace, part)[1] for part in PER_TASK}
    chosen, choices = choose(workspace, tower, sets)
    combiner = read_combiner(chosen, "combiner")
    test = sets["test"]
    table = recall_table(
        {
            tower.name: score_templates(
                test, ImageTextFeatures.load(workspace, tower, test), [*baseline_methods(), ComposerMethod(combiner)]
            )
        }
    )
    about = read_two_tower_config(folder).about
    write_json(
        {
            "table": table.to_dicts(),
            "choices": choices,
            "tower": {"n_images": about["n_images"], **about["held_out"]},
            "combiner": {"n_triplets": sets["train"].height, **combiner.about},
            "n_validate": sets["validate"].height,
        },
        work / f"{road.name}.json",
    )


def choose(
    workspace: WorkspaceFolder, tower: TwoTower, sets: dict[str, pl.DataFrame]
) -> tuple[Path, list[dict[str, Any]]]:
    """Train every choice, and the folder of the one that is best on the validation templates."""
    rows, folders = [], []
    for settings in CHOICES:
        place = workspace.path / COMBINERS_FOLDER / f"dropout{settings.dropout:g}-rate{settings.learning_rate:g}"
        if not (place / COMBINER_SETTINGS).exists():
            train_combiner(workspace, tower, to_training_triplets(sets["train"]), sets["validate"], place, settings)
        about = read_combiner(place).about
        rows.append(
            {
                "dropout": settings.dropout,
                "learning_rate": settings.learning_rate,
                "best_step": about["best_step"],
                "validation": about["validation_recall_at_1"],
            }
        )
        folders.append(place)
        print(workspace.path.name, rows[-1], flush=True)
    best = max(range(len(rows)), key=lambda row: float(rows[row]["validation"]))
    return folders[best], rows


def mined(data: Path, work: Path) -> None:
    """Precision and recall of the parser, and the funnel of the real captions."""
    if (work / "mining.json").exists():
        return
    from likewise.conditional.mining.filters import FILTERS
    from likewise.conditional.mining.hand_annotations import read_annotations, score_parser
    from likewise.conditional.mining.relations import extract_relations
    from likewise.conditional.mining.step import mine_triplets
    from likewise.conditional.mining.tagging import textblob_tagger

    captions = data / "captions" / "cc3m_validation.tsv"
    lines = captions.read_text(encoding="utf-8").split("\n")
    annotated = read_annotations(DOCS.parent / "tests" / "conditional" / "relations.tsv")
    texts = [lines[each.line].split("\t")[0] for each in annotated]
    agreed = score_parser(annotated, [extract_relations(words) for words in textblob_tagger()(texts)])
    ratings = next((data / "concreteness").glob("*.txt"))
    run = mine_triplets(
        captions,
        work / "mined",
        ratings=ratings,
        rules=FILTERS["genecis"],
        n_triplets=20_000,
        workers=1,
        parser="textblob",
    )
    funnel = [asdict(step) for step in run.funnel]
    measured = {**asdict(agreed), "precision": agreed.precision, "recall": agreed.recall, "funnel": funnel}
    write_json(measured, work / "mining.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--pages", default="mining,combiner", help="which pages to write")
    asked = parser.parse_args()
    if "mining" in asked.pages.split(","):
        mined(asked.data, asked.work)
        fill(DOCS / "mining.md", mining_blocks(read_json(asked.work / "mining.json")))
        benchmark = asked.work / "benchmark.json"  # what `python -m benchmarks.mining` printed, if it was kept
        if benchmark.exists():
            fill(DOCS / "mining.md", benchmark_blocks(read_json(benchmark)))
    if "combiner" in asked.pages.split(","):
        for road in ROADS:
            travel(road, asked.data, asked.work)
        found = {road.name: read_json(asked.work / f"{road.name}.json") for road in ROADS}
        combiner_picture({road.title: found[road.name] for road in ROADS}, DOCS / "combiner.png")
        fill(DOCS / "combiner.md", combiner_blocks(found["wardrobe"], found["emoji"]))


if __name__ == "__main__":
    main()
