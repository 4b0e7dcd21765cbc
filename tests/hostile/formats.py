"""Every format that comes from elsewhere: a valid file, how to damage it, how to read it, and what must hold then."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from likewise.catalog.make import check_catalog
from likewise.catalog.readers.table import read as read_catalog_table
from likewise.encoders.normalization import refuse_unusable_rows
from likewise.encoders.storage.external_vectors import read_external_vectors, read_keys
from likewise.encoders.storage.file_lineage import read_file_lineage
from likewise.evaluation.bundles.bundle import card_bytes, open_bundle
from likewise.evaluation.bundles.card import checksum_of
from likewise.evaluation.bundles.evaluate import evaluate_bundle
from likewise.evaluation.bundles.files import file_record
from likewise.evaluation.exchange.labels_io import read_labels_file
from likewise.evaluation.exchange.trec import read_run
from likewise.evaluation.exchange.vectors_io import align_vectors
from likewise.evaluation.triplet_file import read_triplets
from likewise.labeling.gold_file import read_gold_file
from likewise.labeling.imports import read_votes_file
from likewise.labeling.pairs_file import read_pairs_file
from likewise.labeling.votes import ANSWERS
from likewise.outfits.bundle import open_test
from likewise.outfits.results import read_answers
from tests.hostile.mutations import damaged_bytes, damaged_csv, damaged_json, damaged_table

Damage = Callable[[Path], "st.SearchStrategy[Any]"]
IMAGES = [f"i{number}.png" for number in range(6)]
PAIRS = [(IMAGES[a], IMAGES[b]) for a in range(3) for b in range(3, 6)]
"""What a damaged table or text becomes is written by `write`."""


@dataclass(frozen=True)
class Format:
    """One kind of file: `place` writes a valid one below a folder, `damage` gives what to do to it, `read` reads it."""

    name: str
    place: Callable[[Path], Path]
    damage: Damage
    read: Callable[[Path], None]


def one_line(texts: list[Any]) -> None:
    for text in texts:
        assert isinstance(text, str)
        assert text.strip()
        assert not set(text) & {"\x00", "\n", "\r"}
        assert len(text) <= 5000
        text.encode()


def text_damage(path: Path) -> "st.SearchStrategy[Any]":
    content = path.read_bytes()
    kinds: list[st.SearchStrategy[bytes]] = [damaged_bytes(content)]
    if path.suffix in (".csv", ".tsv"):
        kinds.append(damaged_csv(content, "\t" if path.suffix == ".tsv" else ","))
    elif path.suffix == ".json":
        kinds.append(damaged_json(content))
    elif path.suffix == ".jsonl":
        first, rest = content.split(b"\n", 1)
        kinds.append(damaged_json(first).map(lambda line: line + b"\n" + rest))
    elif path.suffix not in (".npz", ".npy", ".safetensors"):
        kinds.append(damaged_csv(content, " "))
    return st.one_of(kinds).map(lambda damaged: lambda: path.write_bytes(damaged))


def table_damage(path: Path) -> "st.SearchStrategy[Any]":
    tables = damaged_table(pl.read_parquet(path)).map(lambda table: lambda: table.write_parquet(path))
    content = damaged_bytes(path.read_bytes()).map(lambda damaged: lambda: path.write_bytes(damaged))
    return st.one_of(tables, tables, tables, content)


def write_table(table: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        table.write_parquet(path)
    elif path.suffix == ".jsonl":
        table.write_ndjson(path)
    else:
        table.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    return path


VOTES = pl.DataFrame(PAIRS, ["query", "candidate"], orient="row").with_columns(
    expert=pl.lit("anna"), answer=pl.lit("similar"), time=pl.lit("2026-01-31T14:05:00Z")
)
LABELS = VOTES.select("query", "candidate", label=pl.int_range(pl.len()) % 2)


def read_votes(path: Path) -> None:
    votes = read_votes_file(path).votes
    for column in ("query", "candidate", "expert"):
        one_line(votes[column].to_list())
    assert set(votes["answer"]) <= set(ANSWERS)
    assert not (votes["query"] == votes["candidate"]).any()
    assert all(time is None or "1970" <= time < "2200" for time in votes["time"])


def read_labels(path: Path) -> None:
    labels = read_labels_file(path).labels
    one_line([*labels["query"], *labels["candidate"]])
    assert set(labels["label"]) <= {0, 1}
    assert not labels.select("query", "candidate").is_duplicated().any()
    assert not (labels["query"] == labels["candidate"]).any()


def place_labels(name: str) -> Callable[[Path], Path]:
    from tests.evaluation.label_files import write_labels_file

    def place(folder: Path) -> Path:
        labels = (
            LABELS.with_columns(inclusion_probability=pl.lit(0.5), round=pl.lit(1))
            if name.endswith("prels")
            else LABELS
        )
        write_labels_file(labels, folder / name)
        return folder / name

    return place


def place_catalog(name: str) -> Callable[[Path], Path]:
    def place(folder: Path) -> Path:
        for number, image in enumerate(IMAGES):
            from PIL import Image

            Image.new("RGB", (16, 16), (number * 40, 90, 20)).save(folder / image)
        rows = pl.DataFrame({"image": IMAGES, "item": ["1", "2", "3"] * 2, "price": [1.5] * 6, "caption": ["a b"] * 6})
        return write_table(rows, folder / name)

    return place


def read_catalog(path: Path) -> None:
    reading = read_catalog_table(path)
    catalog = check_catalog(reading.rows, reading.root).catalog
    one_line(catalog["image"].to_list())
    assert catalog["image"].n_unique() == len(catalog)
    assert not [image for image in catalog["image"] if image.startswith("/") or ".." in Path(image).parts]
    one_line([*catalog["item"], *catalog["category"].drop_nulls()])


def place_vectors(name: str) -> Callable[[Path], Path]:
    def place(folder: Path) -> Path:
        vectors = np.random.default_rng(0).normal(size=(6, 4))
        path = folder / name
        if path.suffix == ".npz":
            np.savez(path, images=np.array(IMAGES), vectors=vectors)
        elif path.suffix == ".parquet":
            pl.DataFrame({"image": IMAGES, "vector": vectors.tolist()}).write_parquet(path)
        else:
            from safetensors.numpy import save_file

            save_file({"vectors": vectors}, path, {"images": json.dumps(IMAGES)})
        return path

    return place


def read_vectors(path: Path) -> None:
    found = read_external_vectors(path, None)
    refuse_unusable_rows(np.asarray(found.vectors), found.images, str(path))
    assert len(found.images) == len(found.vectors)
    lengths = np.linalg.norm(np.asarray(found.vectors, np.float64), axis=1)
    assert ((lengths > 1e-13) & (lengths < 1e31)).all()
    assert found.vectors.shape[1] > 1
    one_line(list(found.images))
    read_file_lineage(path)


def place_keys(name: str) -> Callable[[Path], Path]:
    def place(folder: Path) -> Path:
        path = folder / name
        if path.suffix == ".json":
            path.write_text(json.dumps(IMAGES))
        elif path.suffix == ".npy":
            np.save(path, np.array(IMAGES))
        else:
            write_table(pl.DataFrame({"image": IMAGES}), path)
        return path

    return place


def read_list_of_keys(path: Path) -> None:
    keys = read_keys(path)
    assert keys
    one_line(keys)


def resigned_card(folder: Path, card: dict[str, Any]) -> None:
    """The card with sums that fit, as whoever makes a hostile bundle would write it."""
    for name in list(card["files"]) if isinstance(card.get("files"), dict) else ():
        if (folder / name).is_file():
            record = file_record((folder / name).read_bytes())
            card["files"][name] = {"bytes": record.bytes, "sha256": record.sha256}
    card["checksum"] = checksum_of(card)
    (folder / "card.json").write_bytes(card_bytes(card))


def bundle_damage(path: Path) -> "st.SearchStrategy[Any]":
    """Tables and cards damaged, with sums that fit."""
    names = sorted(file.name for file in path.glob("*.parquet"))
    card = json.loads((path / "card.json").read_text())
    bare = {name: value for name, value in card.items() if name not in ("files", "checksum", "format", "version")}

    def table(name: str) -> "st.SearchStrategy[Any]":
        def write(damaged: pl.DataFrame) -> Callable[[], None]:
            def act() -> None:
                damaged.write_parquet(path / name)
                resigned_card(path, json.loads((path / "card.json").read_text()))

            return act

        return damaged_table(pl.read_parquet(path / name)).map(write)

    def write_card(content: bytes) -> Callable[[], None]:
        def act() -> None:
            try:
                changed = json.loads(content)
            except ValueError:
                changed = {}
            if isinstance(changed, dict):
                kept = {name: card[name] for name in ("files", "format", "version")}
                try:
                    resigned_card(path, changed | kept)
                except UnicodeEncodeError:  # half a character has no sum
                    (path / "card.json").write_text(json.dumps(changed | kept))
            else:
                (path / "card.json").write_bytes(content)

        return act

    cards = damaged_json(json.dumps(bare).encode()).filter(lambda content: len(content) < 100_000).map(write_card)
    raw = damaged_bytes((path / "card.json").read_bytes()).map(
        lambda content: lambda: (path / "card.json").write_bytes(content)
    )
    return st.one_of(st.sampled_from(names).flatmap(table), st.sampled_from(names).flatmap(table), cards, raw)


def read_bundle(path: Path) -> None:
    bundle = open_bundle(path)
    assert {*bundle.tables.pool["query"], *bundle.tables.pool["candidate"]} <= set(bundle.images)
    assert set(bundle.tables.labels["label"].cast(pl.Int64)) <= {0, 1}
    vectors = np.random.default_rng(0).normal(size=(len(bundle.images), 4)).astype(np.float32)
    results = evaluate_bundle(bundle, {"mine": align_vectors(vectors, bundle.images)}).results
    assert len(results)


def read_outfit_test(path: Path) -> None:
    for question in open_test(path).questions:
        assert question.right is None or 0 <= question.right < len(question.choices)


def read_outfit_answers(path: Path) -> None:
    questions = open_test(path.parent / "test").questions
    answers = read_answers(path, questions)
    assert np.isfinite(answers).any()
    for row, question in zip(answers, questions, strict=True):
        given = row[: len(question.choices)]
        assert np.isnan(given).all() or np.isfinite(given).all()


def read_run_file(path: Path) -> None:
    rows = read_run(path).rows
    one_line([*rows["query"], *rows["candidate"]])
    assert np.isfinite(rows["score"].to_numpy()).all()


def run_text() -> str:
    return "".join(
        f"{query} Q0 {candidate} {rank} {1 - rank / 10} mine\n" for rank, (query, candidate) in enumerate(PAIRS)
    )


def place_text(name: str, text: str) -> Callable[[Path], Path]:
    def place(folder: Path) -> Path:
        (folder / name).write_text(text)
        return folder / name

    return place


def place_table(name: str, table: pl.DataFrame) -> Callable[[Path], Path]:
    return lambda folder: write_table(table, folder / name)


TRIPLETS = pl.DataFrame({"anchor": IMAGES[:3], "positive": IMAGES[1:4], "negative": IMAGES[3:]})
GOLD = LABELS.select("query", "candidate", answer=pl.lit("similar"), note=pl.lit("look"))


def read_triplets_file(path: Path) -> None:
    triplets = read_triplets(path, "anchor close far")
    one_line([*triplets["anchor"], *triplets["close"], *triplets["far"]])


def read_gold(path: Path) -> None:
    for query, candidate, _, _ in read_gold_file(path, set(IMAGES)):
        assert {query, candidate} <= set(IMAGES)


def read_pairs(path: Path) -> None:
    pairs = read_pairs_file(path, set(IMAGES))
    one_line([*pairs["query"], *pairs["candidate"]])
    assert not (pairs["query"] == pairs["candidate"]).any()


def several(
    name: str, ends: str, place: Callable[[str], Callable[[Path], Path]], read: Callable[[Path], None]
) -> list[Format]:
    """One kind of content in several formats."""
    return [
        Format(name + end, place(name + end), table_damage if end == ".parquet" else text_damage, read)
        for end in ends.split()
    ]


FORMATS = [
    *several("votes", ".csv .tsv .jsonl .parquet", lambda name: place_table(name, VOTES), read_votes),
    *several("labels", ".csv .json .qrels .prels .parquet", place_labels, read_labels),
    *several("catalog", ".csv .jsonl .parquet", place_catalog, read_catalog),
    *several("vectors", ".npz .parquet .safetensors", place_vectors, read_vectors),
    *several("keys", ".csv .json .npy .parquet", place_keys, read_list_of_keys),
    Format("run", place_text("mine.run", run_text()), text_damage, read_run_file),
    Format("triplets", place_table("triplets.csv", TRIPLETS), text_damage, read_triplets_file),
    Format("gold", place_table("gold.csv", GOLD), text_damage, read_gold),
    Format("pairs", place_table("pairs.parquet", LABELS), table_damage, read_pairs),
]
