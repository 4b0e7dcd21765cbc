"""Identification is not discovery (VSD paper, RQ3): networks that learn which pictures show one item, and what they
then make of "which looks alike?".

The paper's identification models learned the ids of the gallery itself. Here one network learns these (`own`), another
one the ids of other items (`id`); both are measured on the same queries.
"""

from pathlib import Path
from typing import Any

import polars as pl
from marks import paragraph
from papers_catalogs import RATE, TUNED_FROM, Sizes, encode_untuned, has_vectors, likewise
from papers_rows import BEFORE_TUNING, percent, table

from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.differences import ALPHA, paired_difference
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.retrieval import retrieval
from likewise.evaluation.triplet_file import read_triplets
from likewise.evaluation.triplets import MAJORITY, mean_item_vectors, triplet_agreement
from likewise.workspace import WorkspaceFolder

OTHERS, OWN = "id", "own"
TITLES = {BEFORE_TUNING: "none", OTHERS: "of other items", OWN: "of the gallery's items, as in the paper"}
CATALOGS = {"wardrobe": "drawn wardrobe, simulated experts", "drawings": "emoji, by subcategory"}
MATERIALS = "materials under two lights, a crowd's answers"
QUESTIONS = {"identification": "the same item, %", "discovery": "what looks alike, %"}
ORDER = "anchor close far"


def learn_own_ids(workspace: Path, where: str | None, epochs: int) -> None:
    """A network that learns the ids of the gallery, the queries' items included."""
    if not (workspace / "runs" / OWN / "encoder.json").exists():
        images = () if where is None else ("--where", where)
        passes = ("--epochs", epochs, "--lr", RATE)
        likewise("train", "finetune", workspace, "--with", TUNED_FROM, "--task", "id", *images, *passes, "--name", OWN)
    if not has_vectors(workspace, OWN):
        likewise("encode", workspace, "--with", f"run:{OWN}")


def make_materials(work: Path, data: Path, sizes: Sizes) -> Path:
    """Materials, each rendered under two lights; a crowd said which of two looks more like a third."""
    workspace = work / "materials"
    if not (workspace / "catalog.parquet").exists():
        likewise("new", workspace, data / "materials" / "catalog.csv", "--root", data / "materials")
    encode_untuned(workspace)
    learn_own_ids(workspace, None, sizes.epochs_of_own)
    return workspace


def effects_on_pool(workspace: Path) -> list[dict[str, Any]]:
    """Before and after of both questions, as `likewise evaluate` stored them."""
    rows = pl.read_parquet(workspace / "results" / "trained.parquet")
    return rows.filter(pl.col("encoder").is_in([OTHERS, OWN])).to_dicts()


def effects_on_materials(workspace: Path, data: Path) -> list[dict[str, Any]]:
    """The other light among all pictures, and agreement with the crowd's majority; over materials, paired."""
    folder = WorkspaceFolder(workspace)
    catalog = pl.read_parquet(workspace / "catalog.parquet").sort("item", "image")
    images, items = catalog["image"].to_list(), catalog["item"].to_list()
    answers = read_triplets(data / "materials" / "triplets.csv", ORDER)
    sums: dict[str, dict[str, QuerySums]] = {"identification": {}, "discovery": {}}
    for name in (BEFORE_TUNING, OWN):
        vectors = read_vectors(folder, name, images)
        hits = catalog.with_columns(hit=retrieval(vectors, items, whole_rank=False).per_query("P@1"))
        of_items = hits.group_by("item", maintain_order=True).agg(pl.col("hit").mean())["hit"].to_numpy()
        sums["identification"][name] = QuerySums.mean_of(of_items)
        sums["discovery"][name] = triplet_agreement(answers, mean_item_vectors(vectors, items)).sums(MAJORITY)
    rows = []
    for question, both in sums.items():
        gain = paired_difference(both[OWN], both[BEFORE_TUNING])
        values = {"before": both[BEFORE_TUNING].value(), "after": both[OWN].value(), "p_holm": gain.p}
        ends = {"gain": gain.value, "low": gain.low, "high": gain.high, "n_queries": gain.n_queries}
        rows.append({"encoder": OWN, "question": question, **values, **ends})
    return rows


def identification_table(found: dict[str, Any], sizes: Sizes) -> str:
    """Both questions, without training and after it."""
    lines = []
    for name, title in (*CATALOGS.items(), ("materials", MATERIALS)):
        rows = {(row["encoder"], row["question"]): row for row in found[f"{name}_identification"]}
        first = rows[OWN, "identification"], rows[OWN, "discovery"]
        areas = {} if name == "materials" else micro_areas(found[f"{name}_tables"])
        before = (cell for row in first for cell in (percent(row["before"]), "–"))
        lines.append((title, TITLES[BEFORE_TUNING], *before, *areas_of(areas)))
        for encoder in (OTHERS, OWN):
            if (encoder, "identification") in rows:
                pair = rows[encoder, "identification"], rows[encoder, "discovery"]
                values = (percent(row["after"]) for row in pair)
                same, alike = ((value, gain(row)) for value, row in zip(values, pair, strict=True))
                lines.append((title, TITLES[encoder], *same, *alike, *areas_of(areas, encoder)))
    changes = [(name, "change, points") for name in QUESTIONS.values()]
    heads = ("catalog", "ids learned", *changes[0], *changes[1], "micro ROC-AUC, labelled pairs, %")
    n = found["materials_identification"][0]["n_queries"]
    said = f"""The same item: HR@5 as in Table 4; of materials, whether the other light is the nearest of all pictures.
    What looks alike: gallery ROC-AUC; of materials, agreement with the majority of the crowd ({n} materials).
    {sizes.epochs} epochs on other items, {sizes.epochs_of_own} on the gallery's own (emoji
    {sizes.epochs_of_own_drawings}), at {RATE:g}. Intervals are 95 %,
    paired over queries or materials; * significant at 5 %, after Holm's correction where several networks were
    trained."""
    return f"{table(heads, lines)}\n\n{paragraph(said)}"


def micro_areas(made: dict[str, Any]) -> dict[str, float]:
    return {row["encoder"]: row["ROC-AUC micro annotated"] for row in made["tables"]["table_5"]}


def areas_of(areas: dict[str, float], encoder: str = BEFORE_TUNING) -> tuple[str]:
    return (percent(areas[encoder]) if areas else "–",)


def gain(row: dict[str, Any]) -> str:
    ends = f"({100 * row['low']:+.1f} to {100 * row['high']:+.1f})"
    return f"{100 * row['gain']:+.1f} {ends}{' *' if row['p_holm'] < ALPHA else ''}"
