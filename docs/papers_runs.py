"""The runs behind `papers.md`, in one working folder; what is there is not done again."""

import json
from collections.abc import Callable, Sequence
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
from papers_clock import read_clock, timed
from papers_identification import effects_on_materials, effects_on_pool, learn_own_ids, make_materials


def stored(file: Path, *words: object) -> Any:
    """The JSON that a command prints, kept in a file."""
    if not file.exists():
        text = likewise(*words, "--json")
        file.write_text(text)
    return json.loads(file.read_text())


def run_all(work: Path, data: Path, sizes: Sizes, only: Sequence[str] = ()) -> dict[str, Any]:
    """Every result, by name; each part's processor time is noted. With `only` these parts alone are run."""
    parts: dict[str, Callable[[], object]] = {
        "photographs": lambda: run_products(work, data, sizes),
        "check": lambda: run_check(work, data, sizes),
        "lessons": lambda: run_lessons(work, sizes),
        "paper": lambda: run_paper(work, "paper", few_classes(work, data, sizes), "type_colour", sizes),
        "paper_emoji": lambda: run_emoji(work, data, sizes),
        "trunk_ablation": lambda: run_trunk_ablation(work, data, sizes),
        "head_ablation": lambda: run_head_ablation(work, sizes),
        "home": lambda: stored(work / "home_tables.json", "evaluate", make_home(work, data, sizes), *TABLES),
        "wardrobe": lambda: run_wardrobe(work, sizes),
        "wild": lambda: stored(work / "wild_tables.json", "evaluate", make_wild(work, sizes), *TABLES),
        "emoji": lambda: run_drawings(work, data, sizes),
        "materials": lambda: run_materials(work, data, sizes),
    }
    for name in only or parts:
        with timed(work, name):
            parts[name]()
    return read_finished(work)


TABLES = ("--protocol", "tables", "--unit", "images", "--store")
ON_CLASSES = ("--column", "type_colour", "--workers", 1)


def run_products(work: Path, data: Path, sizes: Sizes) -> None:
    products = make_products(work, data, sizes)
    stored(work / "products_tables.json", "evaluate", products, *TABLES)
    stored(work / "products_bands.json", "evaluate", products, "--protocol", "bands")
    write(work / "products_recall.json", lambda: known_recall(products))
    write(work / "products_sizes.json", lambda: pool_by_size(products))


def run_wardrobe(work: Path, sizes: Sizes) -> None:
    wardrobe = make_wardrobe(work, sizes)
    learn_own_ids(wardrobe, "domain=shop", sizes.epochs_of_own)
    stored(work / "wardrobe_tables.json", "evaluate", wardrobe, *TABLES)
    stored(work / "wardrobe_bands.json", "evaluate", wardrobe, "--protocol", "bands")
    write(work / "wardrobe_sizes.json", lambda: pool_by_size(wardrobe))
    write(work / "wardrobe_identification.json", lambda: effects_on_pool(wardrobe))


def run_drawings(work: Path, data: Path, sizes: Sizes) -> None:
    drawings = make_drawings(work, data, sizes)
    learn_own_ids(drawings, None, sizes.epochs_of_own_drawings)
    stored(work / "drawings_tables.json", "evaluate", drawings, *TABLES)
    write(work / "drawings_identification.json", lambda: effects_on_pool(drawings))


def run_materials(work: Path, data: Path, sizes: Sizes) -> None:
    materials = make_materials(work, data, sizes)
    write(work / "materials_identification.json", lambda: effects_on_materials(materials, data))


def run_check(work: Path, data: Path, sizes: Sizes) -> None:
    """The twelve losses on photographs."""
    claims = ("--claims", data / "reality_check" / "reported_precision_at_1.csv")
    heads = (*ON_CLASSES, "--with", STORED, *options(sizes.check), "--name", "photos", *claims)
    stored(work / "check.json", "train", "check", work / "products", *heads)


def run_lessons(work: Path, sizes: Sizes) -> None:
    asked = ("--column", "type_colour", *options(sizes.lessons))
    stored(work / "lessons.json", "train", "lessons", work / "products", *asked)


def run_head_ablation(work: Path, sizes: Sizes) -> None:
    heads = ("--with", STORED, "--methods", FIXED_LOSS, "--ablate", sizes.factors_of_head)
    asked = (*ON_CLASSES, *heads, *options(sizes.head_ablation))
    stored(work / "head_ablation.json", "train", "check", work / "products", *asked)


def run_trunk_ablation(work: Path, data: Path, sizes: Sizes) -> None:
    low = ("--trunk", "whole", "--with", "efficientnet-lite0?size=32", "--ablate", sizes.factors_of_trunk)
    asked = (*ON_CLASSES, *low, *options(sizes.trunk_ablation))
    stored(work / "trunk_ablation.json", "train", "check", few_classes(work, data, sizes), *asked)


def write(file: Path, compute: Callable[[], object]) -> None:
    """A result that no command prints."""
    if not file.exists():
        file.write_text(json.dumps(compute()))


def run_emoji(work: Path, data: Path, sizes: Sizes) -> None:
    run_paper(work, "paper_emoji", make_emoji(work, data, sizes), "item", sizes)


def run_paper(work: Path, name: str, workspace: Path, column: str, sizes: Sizes) -> None:
    """The preset `paper`, cut."""
    whole = ("--with", "efficientnet-lite0?size=64", "--methods", "contrastive", *options(sizes.paper))
    command = ("train", "check", workspace, "--column", column, "--workers", 1)
    stored(work / f"{name}.json", *command, *whole, "--name", "paper")


def read_finished(work: Path) -> dict[str, Any]:
    """The results that are there, and the processor time of the parts."""
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
    return found | {"clock": read_clock(work)}
