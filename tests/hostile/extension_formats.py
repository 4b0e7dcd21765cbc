"""Formats that the extensions read, and records that stand beside vectors and votes; as in formats.py."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import strategies as st
from PIL import Image

from likewise.conditional.mining.concreteness import Concreteness
from likewise.conditional.questions import read_questions
from likewise.conditional.run_files import read_query_vectors, read_run
from likewise.conditional.stored_features import StoredFeatures
from likewise.conditional.task_specific import read_detections
from likewise.evaluation.exchange.ranked_csv import read_run_file
from likewise.labeling.store import open_votes
from likewise.labeling.store.backup import backup_votes, restore_votes
from likewise.labeling.store.experts import invite_expert, read_experts
from likewise.labeling.store.pairs import add_pairs
from likewise.lineage.files import from_bytes, to_bytes
from likewise.lineage.record import IMAGE_SCHEMA, Examples, Lesson, Lineage
from likewise.outfits.import_test import read_published_test
from likewise.outfits.training.step import read_outfits
from likewise.training.claims import read_claims
from likewise.workspace import WorkspaceFolder
from tests.hostile.formats import (
    IMAGES,
    LABELS,
    Format,
    one_line,
    place_table,
    place_text,
    several,
    table_damage,
    text_damage,
    write_table,
)
from tests.hostile.mutations import damaged_bytes, damaged_json

CATALOG = pl.DataFrame(
    {"image": IMAGES, "item": [name.removesuffix(".png") for name in IMAGES], "category": ["tops", "shoes"] * 3}
)
RUN = pl.DataFrame({"question": [0, 0, 1, 1], "image": IMAGES[:4], "score": [0.9, 0.1, 0.8, 0.2]})
RUN_JSON = json.dumps({"0": IMAGES[:2], "1": IMAGES[2:4]})
RUN_LINES = "".join(f"colour/{row} Q0 {image} {row} {1 - row / 10} mine\n" for row, image in enumerate(IMAGES))
ASKED = pl.DataFrame(
    {"question": [0, 1], "reference": IMAGES[:2], "condition": ["red", "blue"], "targets": [IMAGES[2:3], IMAGES[3:5]]}
)
SEEN = pl.DataFrame({"image": IMAGES, "name": ["dog", "cat"] * 3, "score": [0.9] * 6})
CLAIMS = pl.DataFrame({"paper": ["a", "b"], "year": [2019, 2020], "loss": ["triplet"] * 2, "cub": [55.0, 60.5]})
RANKED = pl.DataFrame({"query": IMAGES[:1] * 3, "result": IMAGES[1:4], "rank": [1, 2, 3]})
WORN = pl.DataFrame({"outfit": ["1", "1", "2", "2"], "item": ["i0", "i1", "i2", "i3"]})
TASTE = pl.DataFrame(
    {
        "question": ["a", "b"],
        "kind": ["LAT", "AAT"],
        "items": ["i0.png i1.png"] * 2,
        "choices": ["i2.png i3.png i4.png"] * 2,
        "right": ["0", "i3.png"],
        "people": ["3 1 0", "0 2 1"],
        "dimension": ["", "color"],
        "blank": [1, 1],
    }
)


def read_ranked_run(path: Path) -> None:
    for answer in read_run(path, CATALOG).answers.values():
        assert set(answer) <= set(IMAGES)
        assert np.isfinite(list(answer.values())).all()


def place_query_vectors(name: str) -> Callable[[Path], Path]:
    def place(folder: Path) -> Path:
        vectors = np.random.default_rng(0).normal(size=(2, 4)).astype(np.float32)
        if name.endswith(".npz"):
            np.savez(folder / name, questions=np.arange(2), vectors=vectors)
        else:
            pl.DataFrame({"question": [0, 1], "vector": vectors.tolist()}).write_parquet(folder / name)
        return folder / name

    return place


def read_vectors_of_queries(path: Path) -> None:
    assert np.isfinite(read_query_vectors(path).vectors).all()


def place_features(folder: Path) -> Path:
    rows = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    path = folder / "features.npz"
    np.savez(path, images=np.array(IMAGES), image_features=rows, texts=np.array(["red"]), text_features=rows[:1])
    return path


def read_features(path: Path) -> None:
    stored = StoredFeatures(f"features:{path}")
    assert np.isfinite(stored.text_features(["red"])).all()


def read_asked(path: Path) -> None:
    for row in read_questions(path, CATALOG).iter_rows(named=True):
        assert {row["reference"], *row["targets"]} <= set(IMAGES)
        assert row["condition"].strip()


def read_seen(path: Path) -> None:
    bags = read_detections(path).bags
    one_line([image for image in bags if image.strip()])


def read_papers(path: Path) -> None:
    claims = read_claims(path)
    for table in (claims.reported, claims.improved):
        assert table is None or all(np.isfinite(table.select(pl.col(pl.Float64)).to_numpy()).ravel())


def read_ranked(path: Path) -> None:
    rows = read_run_file(path).rows
    one_line([*rows["query"], *rows["candidate"]])


def read_ratings(path: Path) -> None:
    assert np.isfinite(list(Concreteness.read(path).ratings.values())).all()


def read_worn(path: Path) -> None:
    outfits, _ = read_outfits(WorkspaceFolder(path.parent), CATALOG, path)
    assert {item.image for outfit in outfits for item in outfit.items} <= set(IMAGES)
    one_line([outfit.name for outfit in outfits])


def place_taste(name: str) -> Callable[[Path], Path]:
    def place(folder: Path) -> Path:
        for image in IMAGES:
            Image.new("RGB", (16, 16)).save(folder / image)
        return write_table(TASTE, folder / name)

    return place


def read_taste(path: Path) -> None:
    found = read_published_test(path)
    for question in found.questions:
        assert question.right is None or 0 <= question.right < len(question.choices)
        assert not question.people or len(question.people) == len(question.choices)
        assert all(count >= 0 for count in question.people)
        for item in (*question.items, *question.choices):
            assert (found.root / item.image).resolve().is_relative_to(path.parent.resolve())
    one_line([question.name for question in found.questions])


def place_lineage(folder: Path) -> Path:
    images = pl.DataFrame([(name, name, None) for name in IMAGES], schema=IMAGE_SCHEMA, orient="row")
    lesson = Lesson("outfits", "train", "ws", Examples(images))
    (folder / "lineage.parquet").write_bytes(to_bytes(Lineage((lesson,))))
    return folder / "lineage.parquet"


def read_lineage_file(path: Path) -> None:
    for lesson in from_bytes(path.read_bytes(), str(path)).lessons:
        assert lesson.examples.images.schema == IMAGE_SCHEMA


def place_backup(folder: Path) -> Path:
    engine = open_votes(f"sqlite:///{folder}/votes.db")
    add_pairs(engine, LABELS.select("query", "candidate"))
    invite_expert(engine, "Anna")
    backup_votes(engine, folder / "votes.zip")
    engine.dispose()
    (folder / "votes.db").unlink()
    return folder / "votes.zip"


def backup_damage(path: Path) -> "st.SearchStrategy[Callable[[], object]]":
    """Bytes, or one of its parts, written again with a sum that fits."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}

    def write(name: str) -> "st.SearchStrategy[Callable[[], object]]":
        def act(content: bytes) -> Callable[[], object]:
            def again() -> None:
                with zipfile.ZipFile(path, "w") as made:
                    for other, kept in parts.items():
                        made.writestr(other, content if other == name else kept)

            return again

        line, _, rest = parts[name].partition(b"\n")
        changed = damaged_json(parts[name]) if name.endswith(".json") else damaged_json(line or b"[]")
        return changed.map(lambda new: act(new if name.endswith(".json") else new + b"\n" + rest))

    raw = damaged_bytes(path.read_bytes()).map(lambda content: lambda: path.write_bytes(content))
    return st.one_of(st.sampled_from(sorted(parts)).flatmap(write), raw)


def read_backup(path: Path) -> None:
    engine = open_votes(f"sqlite:///{path.parent}/restored.db")
    try:
        restore_votes(engine, path)
        one_line([expert.name for expert in read_experts(engine)])
    finally:
        engine.dispose()


EXTENSION_FORMATS = [
    *several("answers of a run", ".csv .jsonl .parquet", lambda name: place_table(name, RUN), read_ranked_run),
    *several("answers of a run", ".json", lambda name: place_text(name, RUN_JSON), read_ranked_run),
    *several("answers of a run", ".trec", lambda name: place_text(name, RUN_LINES), read_ranked_run),
    *several("query vectors", ".npz .parquet", place_query_vectors, read_vectors_of_queries),
    Format("features", place_features, text_damage, read_features),
    *several("questions", ".jsonl .parquet", lambda name: place_table(name, ASKED), read_asked),
    *several("detections", ".csv .jsonl .parquet", lambda name: place_table(name, SEEN), read_seen),
    Format("claims", place_table("claims.csv", CLAIMS), text_damage, read_papers),
    Format("ranked run", place_table("ranked.csv", RANKED), text_damage, read_ranked),
    Format("concreteness", place_text("words.tsv", "Word\tConc.M\ndog\t4.9\nidea\t1.6\n"), text_damage, read_ratings),
    *several("outfits", ".csv .parquet", lambda name: place_table(name, WORN), read_worn),
    *several("published test", ".csv .jsonl .parquet", place_taste, read_taste),
    Format("lineage", place_lineage, table_damage, read_lineage_file),
    Format("backup of votes", place_backup, backup_damage, read_backup),
]
