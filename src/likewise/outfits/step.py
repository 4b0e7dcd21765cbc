"""The step `likewise outfits generate` and its check, on the files of a workspace."""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from likewise.catalog.readers.table import read_table
from likewise.catalog.table import read_catalog, select_catalog_rows
from likewise.errors import LikewiseError
from likewise.files import finish_writing, written_together
from likewise.lineage.halves import select_half
from likewise.outfits.category_mapping import categorize_items, check_mapping, map_category
from likewise.outfits.generate import GeneratedOutfits, check_outfits, sample_outfits
from likewise.spreadsheets import restore_formulas
from likewise.workspace import WorkspaceFolder, write_json, write_parquet


def outfits_folder(workspace: WorkspaceFolder) -> Path:
    """Where everything about outfits of a workspace lies."""
    return workspace.path / "outfits"


def outfits_file(workspace: WorkspaceFolder) -> Path:
    return outfits_folder(workspace) / "outfits.parquet"


def generate_outfits(
    workspace: WorkspaceFolder,
    n_outfits: int,
    conditions: str | None = None,
    mapping: Mapping[str, str] | None = None,
    output: Path | None = None,
    seed: int = 0,
    *,
    half: str | None = None,
    replace: bool = False,
) -> GeneratedOutfits:
    """Outfits of a workspace's items, or of one half of them, written with a report beside them."""
    path = output or outfits_file(workspace)
    finish_writing(path.parent)
    if path.exists() and not replace:
        raise LikewiseError(f"{path} is there already: choose another place with `--output`, or add `--replace`.")
    items, left_out = categorize_items(
        select_catalog_rows(select_half(read_catalog(workspace), half), conditions), check_mapping(mapping or {})
    )
    made = sample_outfits(items, n_outfits, seed=seed)
    report = dataclasses.replace(made.report, left_out={word or "(none)": n for word, n in left_out.iter_rows()})
    with written_together(path.parent) as staged:
        write_parquet(made.table, staged.place(path))
        write_json(asdict(report), staged.place(path.with_suffix(".json")))
    return dataclasses.replace(made, report=report)


@dataclass(frozen=True)
class OutfitCheck:
    """How many outfits of a file are valid; the reasons against the others, counted and by outfit."""

    n_outfits: int
    n_valid: int
    reasons: dict[str, int]
    refused: dict[str, str]


def check_outfit_file(path: Path, mapping: Mapping[str, str] | None = None) -> OutfitCheck:
    """How many outfits of a file are valid, and the reasons against the others."""
    table = restore_formulas(read_table(path))
    if absent := [column for column in ("outfit", "item", "category") if column not in table.columns]:
        raise LikewiseError(f"{path} has no column {', '.join(absent)}: outfits are rows of outfit, item, category.")
    words = {word: map_category(word, mapping) or str(word) for word in table["category"].cast(pl.String).unique()}
    named = table.with_columns(
        pl.col("outfit").cast(pl.String), pl.col("category").cast(pl.String).replace_strict(words, default=None)
    )
    checked = check_outfits(named)
    refused = checked.filter(pl.col("reasons") != "")
    counts = Counter(reason for reasons in refused["reasons"] for reason in reasons.split("; "))
    reasons = dict(refused.select("outfit", "reasons").iter_rows())
    return OutfitCheck(len(checked), len(checked) - len(refused), dict(counts.most_common()), reasons)
