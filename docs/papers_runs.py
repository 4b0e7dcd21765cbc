"""The runs behind `papers.md`, in one working folder; what is there is not done again."""

import json
import resource
from pathlib import Path
from typing import Any

from papers_catalogs import (
    FIXED_LOSS,
    STORED,
    Sizes,
    few_classes,
    known_recall,
    likewise,
    make_drawings,
    make_emoji,
    make_home,
    make_products,
    make_wardrobe,
    make_wild,
    options,
    pool_by_size,
)
from papers_identification import effects_on_materials, effects_on_pool, learn_own_ids, make_materials


def stored(file: Path, *words: object) -> Any:
    """The JSON that a command prints, kept in a file, and its processor time."""
    if not file.exists():
        before = processor_seconds()
        text = likewise(*words, "--json")
        file.write_text(text)
        clock = {"seconds": processor_seconds() - before}
        file.with_name(f"{file.stem}_seconds.json").write_text(json.dumps(clock))
    return json.loads(file.read_text())


def processor_seconds() -> float:
    """Of all commands that have ended, with their workers."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def run_all(work: Path, data: Path, sizes: Sizes) -> dict[str, Any]:
    """Every result, by name."""
    products, home = make_products(work, data, sizes), make_home(work, data, sizes)
    wardrobe, drawings = make_wardrobe(work, sizes), make_drawings(work, data, sizes)
    learn_own_ids(wardrobe, "domain=shop", sizes.epochs_of_own)
    learn_own_ids(drawings, None, sizes.epochs_of_own_drawings)
    materials, wild = make_materials(work, data, sizes), make_wild(work, sizes)
    column = ("--column", "type_colour")
    claims = ("--claims", data / "reality_check" / "reported_precision_at_1.csv")
    check, one = ("train", "check"), (*column, "--workers", 1)
    of_head = (
        "--methods",
        FIXED_LOSS,
        "--with",
        STORED,
        "--ablate",
        sizes.factors_of_head,
        *options(sizes.head_ablation),
    )
    low = ("--trunk", "whole", "--with", "efficientnet-lite0?size=32", "--ablate", sizes.factors_of_trunk)
    of_trunk = (*low, *options(sizes.trunk_ablation))
    tables = ("--protocol", "tables", "--unit", "images", "--store")
    stored(work / "products_tables.json", "evaluate", products, *tables)
    stored(work / "products_bands.json", "evaluate", products, "--protocol", "bands")
    stored(work / "wardrobe_tables.json", "evaluate", wardrobe, *tables)
    stored(work / "wardrobe_bands.json", "evaluate", wardrobe, "--protocol", "bands")
    stored(work / "home_tables.json", "evaluate", home, *tables)
    stored(work / "wild_tables.json", "evaluate", wild, *tables)
    stored(work / "drawings_tables.json", "evaluate", drawings, *tables)
    (work / "products_recall.json").write_text(json.dumps(known_recall(products)))
    for workspace in (products, wardrobe):
        (work / f"{workspace.name}_sizes.json").write_text(json.dumps(pool_by_size(workspace)))
    (work / "materials_identification.json").write_text(json.dumps(effects_on_materials(materials, data)))
    for workspace in (wardrobe, drawings):
        (work / f"{workspace.name}_identification.json").write_text(json.dumps(effects_on_pool(workspace)))
    heads = (*one, "--with", STORED, *options(sizes.check), "--name", "photos", *claims)
    stored(work / "trunk_ablation.json", *check, few_classes(work, data, sizes), *one, *of_trunk)
    stored(work / "check.json", *check, products, *heads)
    stored(work / "lessons.json", "train", "lessons", products, *column, *options(sizes.lessons))
    stored(work / "head_ablation.json", *check, products, *one, *of_head)
    run_paper(work, "paper", products, "type_colour", sizes)
    run_emoji(work, data, sizes)
    return read_finished(work)


def run_emoji(work: Path, data: Path, sizes: Sizes) -> None:
    run_paper(work, "paper_emoji", make_emoji(work, data, sizes), "item", sizes)


def run_paper(work: Path, name: str, workspace: Path, column: str, sizes: Sizes) -> None:
    """The preset `paper`, cut."""
    whole = ("--with", "efficientnet-lite0?size=64", "--methods", "contrastive", *options(sizes.paper))
    command = ("train", "check", workspace, "--column", column, "--workers", 1)
    stored(work / f"{name}.json", *command, *whole, "--name", "paper")


def read_finished(work: Path) -> dict[str, Any]:
    """The results that are there, and the processor time of the presets."""
    names = [f"{name}_tables" for name in ("products", "home", "wardrobe", "wild", "drawings")]
    names += [f"{name}_identification" for name in ("wardrobe", "drawings", "materials")]
    names += ["products_sizes", "wardrobe_sizes"]
    names += [
        "products_recall",
        "products_bands",
        "wardrobe_bands",
        "lessons",
        "check",
        "head_ablation",
        "trunk_ablation",
        "paper",
        "paper_emoji",
    ]
    files = {name: work / f"{name}.json" for name in names}
    found = {
        name: json.loads(file.read_text()) for name, file in files.items() if file.exists() and file.stat().st_size
    }
    clocks = {f"{name}_seconds": work / f"{name}_seconds.json" for name in ("paper", "paper_emoji")}
    return found | {name: json.loads(file.read_text())["seconds"] for name, file in clocks.items() if file.exists()}
