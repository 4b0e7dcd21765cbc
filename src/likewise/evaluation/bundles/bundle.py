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
from likewise.evaluation.bundles.facts import Content, card_facts, content_of
from likewise.evaluation.bundles.files import (
    CARD,
    Entry,
    Open,
    Stored,
    check_name,
    describe,
    opened_entries,
    read_entry,
    verify_entry,
    write_entries,
)
from likewise.workspace import Workspace

TABLES = ("catalog", "queries", "gallery", "pool", "labels", "negatives")
LARGEST_TABLE = 4 << 30
COLUMNS = {
    "catalog": ("image", "item"),
    "queries": ("image",),
    "gallery": ("image",),
    "pool": ("query", "candidate", "generator"),
    "labels": ("query", "candidate", "label"),
    "negatives": ("query", "candidate"),
}


@dataclass(frozen=True)
class Bundle:
    """A verified bundle: its card and tables."""

    path: Path
    card: dict[str, Any]
    content: Content

    @property
    def images(self) -> list[str]:
        """Every image, in the order that vectors without keys must have."""
        return self.content.catalog["image"].to_list()

    @property
    def generators(self) -> list[str]:
        return list(self.card["pool"]["generators"])


def make_bundle(
    workspace: Workspace,
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
    """Write the bundle of a labelled workspace; `columns`: more of the catalog to publish; `seed`: draws negatives."""
    if not title.strip() or not licence.strip():
        raise LikewiseError("a bundle needs a title and a licence: say under which terms others may use it.")
    if path.exists() and not (replace and has_card(path, FORMAT)):
        hint = "add `--replace`" if has_card(path, FORMAT) else "it is no bundle; choose another path"
        raise LikewiseError(f"{path} already exists: {hint}.")
    content = content_of(workspace, columns, seed)
    facts = card_facts(
        workspace,
        content,
        {"title": title.strip(), "description": description.strip(), "licence": licence.strip()},
        labelled_by=labelled_by,
        sources=sources,
        seed=seed,
        with_images=with_images,
    )
    write_entries(path, _entries(workspace, content, facts))
    return open_bundle(path)


def open_bundle(path: Path, checksum: str | None = None) -> Bundle:
    """Read a bundle, every file verified; with `checksum`, only the bundle that has this very one."""
    with opened_entries(path) as open_entry:
        card = read_card(read_entry(open_entry, CARD, None, path), path, FORMAT, VERSION, "benchmark bundle")
        if checksum is not None and card["checksum"] != checksum.strip().lower():
            raise LikewiseError(f"{path} has checksum {card['checksum']}, not {checksum}: it is another bundle.")
        files = {name: Stored(each["bytes"], each["sha256"]) for name, each in card["files"].items()}
        tables = {name: _read_table(open_entry, name, files, path) for name in TABLES}
        for name, stored in files.items():
            if name.removesuffix(".parquet") not in TABLES:
                verify_entry(open_entry, name, stored, path)
    return Bundle(path, card, Content(**tables))


def _entries(workspace: Workspace, content: Content, facts: dict[str, Any]) -> Iterator[Entry]:
    """All files, the card last: it holds the sums of the others."""
    files: dict[str, Stored] = {}
    for name, data in _payload(workspace, content, with_images=facts["with_images"]):
        files[name] = describe(data)
        yield name, data
    text = card_text(facts, files).encode()
    files["card.md"] = describe(text)
    yield "card.md", text
    yield CARD, card_bytes(complete_card(facts, files))


def card_bytes(card: dict[str, Any]) -> bytes:
    return (json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode()


def _payload(workspace: Workspace, content: Content, *, with_images: bool) -> Iterator[Entry]:
    for name in TABLES:
        buffer = io.BytesIO()
        getattr(content, name).write_parquet(buffer, compression="zstd")
        yield f"{name}.parquet", buffer.getvalue()
    for image in content.catalog["image"] if with_images else ():
        check_name(f"images/{image}", str(workspace.catalog_file))
        try:
            yield f"images/{image}", (workspace.root / image).read_bytes()
        except OSError as error:
            raise LikewiseError(
                f"{workspace.root / image} cannot be read ({error.strerror}): bring it back."
            ) from error


def _read_table(open_entry: Open, name: str, files: dict[str, Stored], path: Path) -> pl.DataFrame:
    stored = files.get(f"{name}.parquet")
    if stored is None or stored.bytes > LARGEST_TABLE:
        raise LikewiseError(f"{path} has no {name}.parquet that could be read: it is not a complete bundle.")
    try:
        table = pl.read_parquet(io.BytesIO(read_entry(open_entry, f"{name}.parquet", stored, path)))
    except pl.exceptions.PolarsError as error:
        raise LikewiseError(f"{path}: {name}.parquet cannot be read ({error}): get the bundle again.") from error
    missing = [column for column in COLUMNS[name] if column not in table.columns]
    if missing:
        raise LikewiseError(f"{path}: {name}.parquet has no column {', '.join(missing)}: it is not a likewise bundle.")
    return table
