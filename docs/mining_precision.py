"""Tables of `mining.md`: how right mined triplets are by hand, and how often a negative is an answer.

    python docs/mining_precision.py --data FOLDER --work FOLDER

100 captions of photographs and 100 product titles were annotated by hand before any parser ran on them
(`tests/conditional/photo_relations.tsv`, `title_relations.tsv`).  Negatives are checked by what the miner did not see:
those of photographs mined by one caption by the other four, those of titles by the shop's column of colours.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from kept import measured_once
from marks import fill

from likewise.catalog.make import make_catalog
from likewise.conditional.mining.concreteness import singular_noun
from likewise.conditional.mining.filters import FILTERS
from likewise.conditional.mining.hand_annotations import (
    AnnotatedCaption,
    caption_digest,
    read_annotations,
    score_parser,
)
from likewise.conditional.mining.parsers import TEXTBLOB
from likewise.conditional.mining.relations import extract_attributes, extract_relations
from likewise.conditional.mining.step import mine_triplets, read_triplets
from likewise.conditional.mining.tagging import textblob_tagger
from likewise.workspace import WorkspaceFolder

DOCS = Path(__file__).parent
TESTS = DOCS.parent / "tests" / "conditional"
CAPTIONS = tuple(f"caption{number}" for number in range(1, 6))
N_TRIPLETS = 100_000
KINDS = {
    "captions of photographs": ("captioned", "photo_relations.tsv", CAPTIONS, False),
    "product titles": ("products", "title_relations.tsv", ("title",), False),
    "product titles, names kept": ("products", "title_relations.tsv", ("title",), True),
}
"""Data set, annotations, columns, and whether names may be attributes."""


def catalog_of(name: str, data: Path, work: Path) -> tuple[WorkspaceFolder, pl.DataFrame]:
    rows = pl.read_csv(data / name / "catalog.csv", infer_schema_length=None)
    found = WorkspaceFolder(work / name)
    if not found.catalog_file.exists():
        make_catalog(found, rows, data / name, name)
    return found, rows


def texts_of(rows: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """In the order that annotation files number them."""
    return [text or "" for row in rows.select(columns).iter_rows() for text in row]


def measure(data: Path, work: Path) -> dict[str, Any]:
    tag, found = textblob_tagger(), {}
    for kind, (name, file, columns, keep_names) in KINDS.items():
        workspace, rows = catalog_of(name, data, work)
        annotated, texts = read_annotations(TESTS / file), texts_of(rows, columns)
        captions = [texts[each.line] for each in annotated]
        assert [caption_digest(text) for text in captions] == [each.digest for each in annotated]
        tagged = tag(captions)
        relations = score_parser(_only(annotated, relation=True), [extract_relations(words) for words in tagged])
        attributes = score_parser(_only(annotated, relation=False), [extract_attributes(words) for words in tagged])
        folder = work / f"mined-all-{name}{'-names' if keep_names else ''}"
        mine_triplets(
            workspace.path,
            folder,
            ratings=None,
            rules=replace(FILTERS["none"], keep_names=keep_names),
            n_triplets=N_TRIPLETS,
            columns=columns,
            workers=1,
            parser=TEXTBLOB,
        )
        found[kind] = {
            "relations": [relations.precision, relations.recall, relations.n_found, relations.n_annotated],
            "attributes": [attributes.precision, attributes.recall, attributes.n_found, attributes.n_annotated],
            "triplets": triplet_precision(folder, annotated),
        }
    return {"precision": found, "negatives": negatives(data, work)}


def _only(annotated: Sequence[AnnotatedCaption], *, relation: bool) -> list[AnnotatedCaption]:
    return [
        AnnotatedCaption(each.line, each.digest, tuple(one for one in each.relations if any(one.relations) == relation))
        for each in annotated
    ]


def triplet_precision(folder: Path, annotated: Sequence[AnnotatedCaption]) -> dict[str, list[int]]:
    """Of triplets one of whose captions was annotated: how often what is said of that image is right; (right, all)."""
    read = {each.digest: each for each in annotated}
    captions = pl.read_parquet(folder / "captions.parquet").with_row_index("row")
    digests = captions.with_columns(
        pl.col("caption").map_elements(caption_digest, return_dtype=pl.String).alias("digest")
    )
    known = dict(digests.filter(pl.col("digest").is_in(list(read))).select("row", "digest").iter_rows())
    counts = {"target": [0, 0], "reference": [0, 0]}
    triplets = read_triplets(folder).with_columns(
        pl.col("condition").str.strip_suffix(pl.col("target_object")).str.strip_chars().alias("target_relation")
    )
    for side, row in (("target", "target_row"), ("reference", "reference_row")):
        rows = triplets.filter(pl.col(row).is_in(list(known)))
        columns = (row, "subject", f"{side}_relation", f"{side}_object")
        for number, subject, relation, thing in rows.select(columns).iter_rows():
            verdict = judged(read[known[number]], subject, relation, thing)
            if verdict is not None:
                counts[side][0] += verdict
                counts[side][1] += 1
    return counts


def judged(caption: AnnotatedCaption, subject: str, relation: str, thing: str) -> bool | None:
    """Right, wrong, or (None) neither, where the reader marked it so; words in singular."""
    said = [
        one
        for one in caption.relations
        if singular_noun(subject) in {singular_noun(word) for word in one.subjects}
        and singular_noun(thing) in {singular_noun(word) for word in one.objects}
        and relation.rsplit(" ", 1)[-1] in {text.rsplit(" ", 1)[-1] for text in one.relations}
    ]
    if any(not one.optional for one in said):
        return True
    return None if said else False


def negatives(data: Path, work: Path) -> list[dict[str, Any]]:
    """Distractors taken to be wrong that the evidence which the miner did not see says are answers."""
    rows = []
    photographs, captions = catalog_of("captioned", data, work)
    products, catalog = catalog_of("products", data, work)
    for kind, workspace, columns, unseen in (
        (
            "photographs, by one caption; checked by the other four",
            photographs,
            CAPTIONS[:1],
            _joined(captions, CAPTIONS[1:]),
        ),
        (
            "photographs, by four captions; checked by the fifth",
            photographs,
            CAPTIONS[:4],
            _joined(captions, CAPTIONS[4:]),
        ),
        (
            "product titles; checked by the column of colours",
            products,
            ("title",),
            _joined(catalog, ("baseColour",)),
        ),
    ):
        folder = work / f"mined-{'-'.join(columns)}"
        mine_triplets(
            workspace.path,
            folder,
            ratings=None,
            rules=FILTERS["none"],
            n_triplets=N_TRIPLETS // 2,
            columns=columns,
            workers=1,
            parser=TEXTBLOB,
        )
        rows.append({"kind": kind, **_wrong(read_triplets(folder), unseen, columns)})
    return rows


def _joined(rows: pl.DataFrame, columns: Sequence[str]) -> dict[str, str]:
    """What some columns say about each image, lower-case."""
    return {row["image"]: " ".join(str(row[name] or "") for name in columns).lower() for row in rows.to_dicts()}


def _wrong(triplets: pl.DataFrame, unseen: dict[str, str], columns: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    words = {text for text in unseen.values() if " " not in text} if columns == ("title",) else None
    for name, told in (("same_subject", "target_object"), ("same_object", "subject")):
        if words is not None and name == "same_object":
            continue  # the column says nothing about the subject
        kept = triplets.drop_nulls(name)
        if words is not None:
            kept = kept.filter(pl.col(told).is_in(list(words)))
        hits = [f" {singular_noun(word)}" in f" {unseen[image]}" for image, word in kept.select(name, told).iter_rows()]
        found[name] = [sum(hits), len(hits)]
    return found


def precision_block(found: dict[str, Any]) -> str:
    lines = [
        "| | relations: precision | recall | attributes: precision | recall | target right | reference right | both |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for kind, row in found.items():
        cells = []
        for name in ("relations", "attributes"):
            precision, recall, n_found, n_annotated = row[name]
            cells += [f"{precision:.2f} of {n_found}", f"{recall:.2f} of {n_annotated}"]
        shares = []
        for side in ("target", "reference"):
            right, n = row["triplets"][side]
            shares.append(right / n if n else float("nan"))
            cells.append(f"{shares[-1]:.2f} of {n:,}")
        lines.append(f"| {kind} | " + " | ".join(cells) + f" | {shares[0] * shares[1]:.2f} |")
    return "\n".join(lines)


def negatives_block(rows: list[dict[str, Any]]) -> str:
    lines = ["| mined from | same_subject that are answers | same_object that are answers |", "|---|---:|---:|"]
    for row in rows:
        cells = [
            f"{100 * row[name][0] / row[name][1]:.1f} % of {row[name][1]:,}" if row.get(name, [0, 0])[1] else "–"
            for name in ("same_subject", "same_object")
        ]
        lines.append(f"| {row['kind']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    found = measured_once(__doc__, "mining_precision.json", measure)
    blocks = {
        "mining-precision": precision_block(found["precision"]),
        "mining-negatives": negatives_block(found["negatives"]),
    }
    fill(DOCS / "mining.md", blocks)


if __name__ == "__main__":
    main()
