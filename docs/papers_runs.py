"""The runs behind `papers.md`, in one working folder; what is there is not done again."""

import json
import time
from pathlib import Path
from typing import Any

from papers_catalogs import (
    STORED,
    Sizes,
    known_recall,
    likewise,
    make_drawings,
    make_emoji,
    make_home,
    make_products,
    make_wardrobe,
    make_wild,
    options,
)


def stored(file: Path, *words: object) -> Any:
    """The JSON that a command prints, kept in a file."""
    if not file.exists():
        started = time.monotonic()
        text = likewise(*words, "--json")
        file.write_text(text)
        clock = {"seconds": time.monotonic() - started}
        file.with_name(f"{file.stem}_seconds.json").write_text(json.dumps(clock))
    return json.loads(file.read_text())


def run_all(work: Path, data: Path, sizes: Sizes) -> dict[str, Any]:
    """Every result, by name."""
    products, home = make_products(work, data, sizes), make_home(work, data, sizes)
    wardrobe, drawings = make_wardrobe(work, sizes), make_drawings(work, data, sizes)
    wild = make_wild(work, sizes)
    column = ("--column", "type_colour")
    claims = ("--claims", data / "reality_check" / "reported_precision_at_1.csv")
    check = ("train", "check", products, *column, "--workers", 1)
    low = ("--trunk", "whole", "--with", "efficientnet-lite0?size=32", "--ablate", sizes.factors)
    tables = ("--protocol", "tables", "--unit", "images")
    stored(work / "products_tables.json", "evaluate", products, *tables)
    stored(work / "products_bands.json", "evaluate", products, "--protocol", "bands")
    stored(work / "wardrobe_tables.json", "evaluate", wardrobe, *tables)
    stored(work / "wardrobe_bands.json", "evaluate", wardrobe, "--protocol", "bands")
    stored(work / "home_tables.json", "evaluate", home, *tables)
    stored(work / "wild_tables.json", "evaluate", wild, *tables)
    stored(work / "drawings_tables.json", "evaluate", drawings, *tables)
    (work / "products_recall.json").write_text(json.dumps(known_recall(products)))
    stored(work / "lessons.json", "train", "lessons", products, *column, *options(sizes.lessons))
    stored(work / "check.json", *check, "--with", STORED, *options(sizes.check), "--name", "photos", *claims)
    stored(work / "ablation.json", *check, *low, *options(sizes.ablation), "--name", "ablation")
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
    """The results that are there, and how many seconds the presets took."""
    names = [f"{name}_tables" for name in ("products", "home", "wardrobe", "wild", "drawings")]
    names += [
        "products_recall",
        "products_bands",
        "wardrobe_bands",
        "lessons",
        "check",
        "ablation",
        "paper",
        "paper_emoji",
    ]
    files = {name: work / f"{name}.json" for name in names}
    found = {
        name: json.loads(file.read_text()) for name, file in files.items() if file.exists() and file.stat().st_size
    }
    clocks = {f"{name}_seconds": work / f"{name}_seconds.json" for name in ("paper", "paper_emoji")}
    return found | {name: json.loads(file.read_text())["seconds"] for name, file in clocks.items() if file.exists()}
