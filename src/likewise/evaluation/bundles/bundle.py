"""A benchmark bundle: everything needed to measure a model on this catalog's labels, in one folder or zip.

catalog.parquet   image, item, category, digest of every query and gallery image, sorted by key: the image order
queries.parquet, gallery.parquet   image
pool.parquet      who proposed which pair, random pairs among them
labels.parquet    query, candidate, label and, where votes were given, their counts
negatives.parquet query, candidate: sampled negatives, drawn from the generators' lists when the bundle was made
images/           the pictures, if wanted
card.json, card.md

Opening verifies every file against the card and refuses the bundle if one of them differs.
"""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from likewise.errors import LikewiseError
from likewise.evaluation.bundles.card import FORMAT, VERSION, card_text, complete_card, has_card, read_card
from likewise.evaluation.bundles.contents import BundleTables, card_fields, collect_tables
from likewise.evaluation.bundles.files import (
    CARD,
    Entry,
    FileRecord,
    OpenEntry,
    check_name,
    file_record,
    open_entries,
    read_entry,
    refuse_existing,
    verify_entry,
    write_entries,
)
from likewise.evaluation.gallery_negatives import draw_gallery_negatives
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.sampled_negatives import DEFAULT_SAMPLING
from likewise.evaluation.stored import read_summary
from likewise.untrusted import TEXT, ColumnRule, check_columns, check_shape, read_untrusted_parquet
from likewise.workspace import WorkspaceFolder

TABLES = ("catalog", "queries", "gallery", "pool", "labels", "negatives")
MAX_TABLE_BYTES = 4 << 30
PAIR_COLUMNS = {"query": TEXT, "candidate": TEXT}
COUNT = ColumnRule("whole", null=True, optional=True, low=0)
COLUMNS: dict[str, dict[str, ColumnRule]] = {
    "catalog": {"image": TEXT, "item": TEXT, "category": ColumnRule(null=True, optional=True)},
    "queries": {"image": TEXT},
    "gallery": {"image": TEXT},
    "pool": {
        **PAIR_COLUMNS,
        "generator": TEXT,
        "rank": ColumnRule("whole", null=True, optional=True, low=0),
        "score": ColumnRule("number", null=True, optional=True),
        "probability": ColumnRule("number", null=True, optional=True, low=0, high=1),
        "round": ColumnRule("whole", null=True, optional=True, low=0),
    },
    "labels": {
        **PAIR_COLUMNS,
        "label": ColumnRule("truth"),
        "generators": ColumnRule(null=True, optional=True),
        "grade": ColumnRule("number", null=True, optional=True),
        **dict.fromkeys(("similar", "not_similar", "cannot_tell"), COUNT),
        "probability": ColumnRule("number", null=True, optional=True, low=0, high=1),
    },
    "negatives": PAIR_COLUMNS,
}
ONE_ROW_EACH = {
    "catalog": ["image"],
    "queries": ["image"],
    "gallery": ["image"],
    "labels": ["query", "candidate"],
    "negatives": ["query", "candidate"],
}
MEASURED = {"value": (float, int, None)}
CARD_SHAPE = {
    **dict.fromkeys(("title", "description", "licence", "likewise"), str),
    "sources": [str],
    "with_images": bool,
    "sizes": dict.fromkeys(("images", "items", "queries", "gallery", "labels", "judged_pairs", "pool_pairs"), int),
    "labels": {
        "labelled_by": str,
        "rule": str,
        "n_similar": int,
        "n_experts": (int, None),
        "n_votes": (int, None),
        "simulated": bool,
        "fleiss_kappa": MEASURED,
        "krippendorff_alpha": MEASURED,
    },
    "pool": {"generators": [str], "k": (int, None), "seed": int, "unit": str, "design": str},
    "negatives": {"n": int, "ranks": [int], "per_positive": (int, float), "seed": int},
}


@dataclass(frozen=True)
class Bundle:
    """A verified bundle: its card and tables."""

    path: Path
    card: dict[str, Any]
    tables: BundleTables

    @property
    def images(self) -> list[str]:
        """Every image, in the order that vectors without keys must have."""
        return self.tables.catalog["image"].to_list()

    @property
    def gallery_pairs(self) -> JudgedPairs:
        """The labelled positives against candidates of the gallery, the same ones whoever opens the bundle."""
        return draw_gallery_negatives(
            self.tables.pairs, self.card["negatives"]["seed"], labelled=self.tables.labelled_pairs
        )

    @property
    def generators(self) -> list[str]:
        return list(self.card["pool"]["generators"])


def make_bundle(
    workspace: WorkspaceFolder,
    path: Path,
    *,
    title: str,
    licence: str,
    description: str = "",
    labelled_by: str | None = None,
    sources: Sequence[str] | None = None,
    columns: Sequence[str] = (),
    seed: int = 0,
    with_images: bool = False,
    replace: bool = False,
) -> Bundle:
    """Write the bundle of a labelled workspace; `columns`: more of the catalog to publish; `seed`: draws negatives.

    Negatives are sampled as in the workspace's stored evaluation.
    """
    if not title.strip() or not licence.strip():
        raise LikewiseError("a bundle needs a title and a licence: say under which terms others may use it.")
    refuse_existing(path, is_ours=has_card(path, FORMAT), replace=replace, what="bundle")
    evaluated = read_summary(workspace)
    sampling = DEFAULT_SAMPLING if evaluated is None else evaluated.settings.negatives
    tables = collect_tables(workspace, columns, seed, sampling)
    facts = card_fields(
        workspace,
        tables,
        {"title": title.strip(), "description": description.strip(), "licence": licence.strip()},
        labelled_by=labelled_by,
        sources=sources,
        seed=seed,
        sampling=sampling,
        with_images=with_images,
    )
    write_entries(path, _entries(workspace, tables, facts))
    return open_bundle(path)


def open_bundle(path: Path, checksum: str | None = None) -> Bundle:
    """Read a bundle, every file verified; with `checksum`, only the bundle that has this very one."""
    with open_entries(path) as open_entry:
        card = read_card(read_entry(open_entry, CARD, None, path), path, FORMAT, VERSION, "benchmark bundle", checksum)
        files = {name: FileRecord(each["bytes"], each["sha256"]) for name, each in card["files"].items()}
        read = {name: _read_table(open_entry, name, files, path) for name in TABLES}
        for name, stored in files.items():
            if name.removesuffix(".parquet") not in TABLES:
                verify_entry(open_entry, name, stored, path)
    check_shape(card, CARD_SHAPE, f"{path}: {CARD}")
    bundle = Bundle(path, card, BundleTables(**read))
    _refuse_contradictions(bundle)
    return bundle


def _refuse_contradictions(bundle: Bundle) -> None:
    """Sums that fit prove that nobody changed a file, not that whoever made them meant well."""
    tables, path = bundle.tables, bundle.path
    for name, keys in ONE_ROW_EACH.items():
        table: pl.DataFrame = getattr(tables, name)
        twice = table.filter(pl.struct(keys).is_duplicated()).select(keys)
        if len(twice):
            raise LikewiseError(
                f"{path}: {name}.parquet has two rows of {', '.join(twice.row(0))}: get another bundle."
            )
    images = set(tables.catalog["image"])
    for query, candidate in tables.pool.select("query", "candidate").iter_rows():
        if query not in images or candidate not in images or query == candidate:
            raise LikewiseError(
                f"{path}: pool.parquet has the pair ({query}, {candidate}), which is none of two images of the "
                "catalog: get another bundle."
            )
    queries, gallery = set(tables.queries["image"]), set(tables.gallery["image"])
    for name in ("labels", "negatives"):
        table = getattr(tables, name)
        for query, candidate in table.select("query", "candidate").iter_rows():
            if query not in queries or candidate not in gallery or query == candidate:
                raise LikewiseError(
                    f"{path}: {name}.parquet has the pair ({query}, {candidate}), which is none of a query and "
                    "another image of the gallery: get another bundle."
                )
    sizes, said = {name: len(getattr(tables, name)) for name in ("queries", "gallery", "labels")}, bundle.card["sizes"]
    sizes |= {"images": len(tables.catalog), "items": tables.catalog["item"].n_unique()}
    sizes["pool_pairs"] = tables.pool.select("query", "candidate").n_unique()
    if wrong := [name for name, size in sizes.items() if said[name] != size]:
        what = wrong[0].replace("_", " ")
        raise LikewiseError(
            f"{path}: the card speaks of {said[wrong[0]]:,} {what}, the tables have {sizes[wrong[0]]:,}: it was "
            "put together wrongly."
        )


def _entries(workspace: WorkspaceFolder, tables: BundleTables, facts: dict[str, Any]) -> Iterator[Entry]:
    """All files, the card last: it holds the sums of the others."""
    files: dict[str, FileRecord] = {}
    for name, data in _payload(workspace, tables, with_images=facts["with_images"]):
        files[name] = file_record(data)
        yield name, data
    text = card_text(facts, files).encode()
    files["card.md"] = file_record(text)
    yield "card.md", text
    yield CARD, card_bytes(complete_card(facts, files))


def card_bytes(card: dict[str, Any]) -> bytes:
    return (json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode()


def _payload(workspace: WorkspaceFolder, tables: BundleTables, *, with_images: bool) -> Iterator[Entry]:
    for name in TABLES:
        buffer = io.BytesIO()
        getattr(tables, name).write_parquet(buffer, compression="zstd")
        yield f"{name}.parquet", buffer.getvalue()
    for image in tables.catalog["image"] if with_images else ():
        check_name(f"images/{image}", str(workspace.catalog_file))
        try:
            yield f"images/{image}", (workspace.root / image).read_bytes()
        except OSError as error:
            raise LikewiseError(
                f"{workspace.root / image} cannot be read ({error.strerror}): bring it back."
            ) from error


def _read_table(open_entry: OpenEntry, name: str, files: dict[str, FileRecord], path: Path) -> pl.DataFrame:
    stored = files.get(f"{name}.parquet")
    if stored is None or stored.bytes > MAX_TABLE_BYTES:
        raise LikewiseError(f"{path} has no {name}.parquet that could be read: it is not a complete bundle.")
    content = read_entry(open_entry, f"{name}.parquet", stored, path)
    return check_columns(read_untrusted_parquet(content, where := f"{path}: {name}.parquet"), COLUMNS[name], where)
