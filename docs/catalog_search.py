"""The shopper's table of `conditions.md`: the first 12 results of a whole catalog of products.

    python docs/catalog_search.py --data FOLDER --work FOLDER

The two-tower encoder learns the titles, colours and categories of one half of the products; the questions ("this, but
in red") and the catalog searched are the other half.  What is there already is not made again.
"""

from pathlib import Path
from typing import Any

import polars as pl
from kept import measured_once
from marks import fill, paragraph

from likewise.catalog import make_catalog
from likewise.conditional.catalog_search import (
    SHARES,
    CatalogFeatures,
    CatalogSearchSettings,
    ThreeScores,
    catalog_table,
    draw_questions,
)
from likewise.conditional.catalog_step import search_catalog
from likewise.conditional.towers import TwoTower
from likewise.conditional.two_tower import TwoTowerSettings, train_two_tower
from likewise.encoders.families.two_tower import SETTINGS as TOWER_SETTINGS
from likewise.workspace import WorkspaceFolder

DOCS = Path(__file__).parent
LEARNING = TwoTowerSettings(columns=("title", "baseColour", "category"), half="train", steps=700)
ASKED = CatalogSearchSettings(["baseColour"], half="test", n=300)
METHODS = ("image", "text", "image+text", "image+text:unscaled")
TEXT_WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def measured(data: Path, work: Path) -> dict[str, Any]:
    workspace = WorkspaceFolder(work / "products")
    if not workspace.catalog_file.exists():
        rows = pl.read_csv(data / "products" / "catalog.csv", infer_schema_length=None)
        make_catalog(workspace, rows, data / "products", "products")
    folder = work / "ptower"
    if not (folder / TOWER_SETTINGS).exists():
        train_two_tower(workspace, folder, LEARNING, workers=1)
    tower = TwoTower.from_spec(f"two-tower:{folder}")
    found = search_catalog(workspace, ASKED, tower.spec, METHODS, workers=1)
    questions = draw_questions(workspace, ASKED)
    features = CatalogFeatures.load(workspace, tower, questions)
    curve = [(ThreeScores(1.0, weight, 0.0, f"{weight:g}"), False) for weight in TEXT_WEIGHTS]
    return {
        "rows": found.table.to_dicts(),
        "notes": found.notes,
        "curve": catalog_table(tower.name, questions, features, curve, ASKED.top_k).to_dicts(),
        "n_questions": found.n_questions,
        "n_images": len(questions.images),
    }


def blocks(found: dict[str, Any]) -> dict[str, str]:
    chosen = next(note for note in found["notes"] if note.startswith("three scores: "))
    said = (
        f"{found['n_questions']} questions about the colour over {found['n_images']:,} products of the half that the "
        f"encoder did not learn from; in percent, with 95 % intervals over questions. {chosen[0].upper()}{chosen[1:]}."
    )
    return {
        "conditions-catalog-summary": paragraph(said),
        "conditions-catalog-table": _table(found["rows"], "method"),
        "conditions-catalog-curve": _table(found["curve"], "weight of the text"),
    }


def _table(rows: list[dict[str, Any]], first: str) -> str:
    lines = [f"| {first} | {' | '.join(SHARES)} |", "|---|" + "---|" * len(SHARES)]
    for start in range(0, len(rows), len(SHARES)):
        group = rows[start : start + len(SHARES)]
        name = group[0]["method"] + (", category kept" if group[0]["kept"] else "")
        cells = [f"{100 * row['value']:.1f} ({100 * row['low']:.1f}–{100 * row['high']:.1f})" for row in group]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    fill(DOCS / "conditions.md", blocks(measured_once(__doc__, "catalog_search.json", measured)))


if __name__ == "__main__":
    main()
