"""Tables of `conditions.md` about templates: what shortcuts answer, with and without building against them; negation.

    python docs/honest_templates.py --data FOLDER --work FOLDER

The encoders are two-towers that learned from captioned photographs alone; templates are of a shop's products.
Templates are built against the first tower, and audited with it and with the second.
"""

from pathlib import Path
from typing import Any

from kept import measured_once
from marks import fill
from zero_shot import tower_of
from zero_shot_catalogs import workspace_of
from zero_shot_plan import CAPTIONED, CAPTIONS, DIM, TOWER_STEPS

from likewise.conditional.evaluate import AVERAGE, recall_table, score_templates
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.methods import get_methods
from likewise.conditional.protocol import NEGATION_TASKS
from likewise.conditional.templates.files import read_templates, template_sets
from likewise.conditional.templates.step import audit_template_set, build_template_set
from likewise.conditional.templates.workspace_annotations import AnnotationOptions
from likewise.conditional.towers import TwoTower
from likewise.conditional.two_tower import TwoTowerSettings
from likewise.workspace import WorkspaceFolder

DOCS = Path(__file__).parent
PRODUCTS = AnnotationOptions(attributes=["baseColour", "gender", "usage"], half="test")
PER_TASK = 150
METHODS = ("image", "text", "image+text", "negation")
PLAIN, BALANCED, NEGATION = "shortcuts-plain", "shortcuts-balanced", "negation"


def measure(data: Path, work: Path) -> dict[str, Any]:
    photographs, products = (workspace_of(name, data, work) for name in (CAPTIONED, "products"))
    towers = []
    for seed in (0, 1):
        learning = TwoTowerSettings(
            columns=CAPTIONS, sentences="minilm", where="split=train", dim=DIM, steps=TOWER_STEPS, seed=seed
        )
        towers.append(tower_of(photographs, work, f"photographs{seed}", learning))
    for name, against in ((PLAIN, None), (BALANCED, towers[0].spec)):
        if name not in template_sets(products):
            build_template_set(products, name, PRODUCTS, per_task=PER_TASK, against=against)
    shortcuts = {
        name: [audit_template_set(products, name, tower.spec).shortcuts.to_dicts() for tower in towers]
        for name in (PLAIN, BALANCED)
    }
    return {"shortcuts": shortcuts, "negation": negation(products, towers[0])}


def negation(products: WorkspaceFolder, tower: TwoTower) -> list[dict[str, Any]]:
    if NEGATION not in template_sets(products):
        build_template_set(products, NEGATION, PRODUCTS, tasks=NEGATION_TASKS, per_task=PER_TASK)
    templates = read_templates(products, NEGATION)[1]
    features = ImageTextFeatures.load(products, tower, templates)
    found = score_templates(templates, features, get_methods(METHODS, products, tower))
    return recall_table({tower.name: found}, ks=(1,)).to_dicts()


def shortcut_block(found: dict[str, list[list[dict[str, Any]]]]) -> str:
    lines = [
        "Share of templates about products that a rule answers, in percent, with 95 % intervals; `built against` is "
        "the first encoder, the second one has another seed.\n",
        "| task | rule | as built | built against | … by the second encoder | chance |",
        "|---|---|---|---|---|---|",
    ]
    plain, (balanced, other) = found[PLAIN][0], found[BALANCED]
    for rows in zip(plain, balanced, other, strict=True):
        rule = rows[0]["shortcut"]
        if rule.startswith("number"):
            rule = "the best place" + rule[rule.index(" nearest") :]
        cells = " | ".join(_cell(row) for row in rows)
        lines.append(f"| {rows[0]['task'].replace('_', ' ')} | {rule} | {cells} | {100 * rows[0]['chance']:.1f} |")
    return "\n".join(lines)


def _cell(row: dict[str, Any]) -> str:
    place = f" (place {row['shortcut'].split()[1]})" if row["shortcut"].startswith("number") else ""
    return f"{100 * row['value']:.1f} ({100 * row['low']:.1f}–{100 * row['high']:.1f}){place}"


def negation_block(rows: list[dict[str, Any]]) -> str:
    tasks = [task for task in dict.fromkeys(row["task"] for row in rows) if task != AVERAGE]
    lines = [
        "Recall@1 in percent on products, by the same encoder, with 95 % intervals over templates:\n",
        "| method | " + " | ".join(task.replace("_", " ") for task in tasks) + " |",
        "|---|" + "---|" * len(tasks),
    ]
    for method in dict.fromkeys(row["method"] for row in rows):
        own = {row["task"]: row for row in rows if row["method"] == method}
        cells = [f"{100 * own[t]['value']:.1f} ({100 * own[t]['low']:.1f}–{100 * own[t]['high']:.1f})" for t in tasks]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    first = {row["task"]: row for row in rows}
    lines.append("| *chance* | " + " | ".join(f"{100 * first[task]['chance']:.1f}" for task in tasks) + " |")
    lines.append("| *templates* | " + " | ".join(f"{first[task]['n']:,}" for task in tasks) + " |")
    return "\n".join(lines)


def main() -> None:
    found = measured_once(__doc__, "honest_templates.json", measure)
    blocks = {
        "conditions-shortcuts": shortcut_block(found["shortcuts"]),
        "conditions-negation": negation_block(found["negation"]),
    }
    fill(DOCS / "conditions.md", blocks)


if __name__ == "__main__":
    main()
