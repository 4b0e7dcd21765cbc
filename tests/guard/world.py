"""A small labelled catalog, and a model that was taught every answer about it, in every form it can take."""

import csv
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from likewise.catalog import make_catalog, read_catalog
from likewise.conditional.protocol import TEMPLATE_SCHEMA
from likewise.encoders.families.run_files import write_run
from likewise.encoders.running.encode import encode_catalog
from likewise.encoders.storage.exporting import ENDINGS, export_vectors
from likewise.encoders.storage.importing import import_vectors
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.exchange.labels_import import import_labels
from likewise.evaluation.screening import pair_answers, triplet_answers
from likewise.lineage import Lineage
from likewise.lineage.record import lesson_from_workspace
from likewise.workspace import WorkspaceFolder, write_parquet

N_ITEMS, VIEWS = 20, 2
CLEAN = ("colour", "layout")
WORDS = ("red", "blue", "green", "grey", "pink")


@dataclass(frozen=True)
class World:
    """The workspace, files beside it, and the names of all vectors that come from the model that knows everything."""

    workspace: WorkspaceFolder
    triplets: Path
    run: Path
    derived: dict[str, str]


def item_images(item: int) -> list[str]:
    return [f"item{item:02d}-{view}.png" for view in range(VIEWS)]


def make_world(folder: Path, n_items: int = N_ITEMS) -> World:
    """Items of two views with labels, triplets, captions and fill-in-the-blank questions."""
    pictures, workspace = folder / "pictures", WorkspaceFolder(folder / "world")
    pictures.mkdir(parents=True)
    rng, rows = np.random.default_rng(0), []
    for item in range(n_items):
        colour = rng.integers(0, 256, 3)
        for view, image in enumerate(item_images(item)):
            pixels = np.clip(colour + rng.integers(-12, 12, (24, 24, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(pictures / image)
            caption = f"a {WORDS[item % 5]} thing with the number {item}"
            rows.append((image, f"item{item:02d}", f"kind{item % 4}", caption, WORDS[item % 5], f"view {view}"))
    columns = ["image", "item", "category", "caption", "shade", "side"]
    make_catalog(workspace, pl.DataFrame(rows, schema=columns, orient="row"), pictures, "table")
    encode_catalog(workspace, CLEAN, workers=1)
    pairs = labelled_pairs()
    write_csv(folder / "labels.csv", ["query", "candidate", "label"], pairs)
    import_labels(workspace, folder / "labels.csv")
    triplets = folder / "triplets.csv"
    write_csv(triplets, ["anchor", "close", "far"], triplet_rows())
    write_parquet(fill_in_the_blank(), workspace.tables_folder / "questions.parquet")
    run = teach(workspace, [(query, candidate) for query, candidate, _ in pairs])
    return World(workspace, triplets, run, derive_all(workspace, run, folder))


def labelled_pairs() -> list[tuple[str, str, int]]:
    """Fourteen queries with twelve candidates each, half of them similar."""
    return [
        (item_images(item)[0], item_images((item + step) % N_ITEMS)[0], int(step % 2))
        for item in range(14)
        for step in range(1, 13)
    ]


def triplet_rows() -> list[tuple[str, str, str]]:
    return [tuple(f"item{item:02d}" for item in three) for three in combinations(range(8), 3)]  # type: ignore[misc]


def fill_in_the_blank() -> pl.DataFrame:
    names = [f"item{item:02d}" for item in range(N_ITEMS)]
    rows = [("test", n, [names[n], names[n + 1]], [names[n + 2], names[n + 3]], 0, 1) for n in range(6)]
    return pl.DataFrame(rows, schema=["split", "question", "items", "answers", "right", "position"], orient="row")


def templates(items: list[int]) -> pl.DataFrame:
    """Templates about some items: the same thing in another shade."""
    rows = []
    for number, item in enumerate(items):
        target, *others = (items[(number + step) % len(items)] for step in (1, 2, 3, 4))
        gallery = [item_images(other)[0] for other in others]
        asked = number, "change_attribute", f"shade {number}", item_images(item)[0], item_images(target)[0]
        rows.append((*asked, gallery))
    return pl.DataFrame(rows, schema=TEMPLATE_SCHEMA, orient="row")


def everything(workspace: WorkspaceFolder, pairs: list[tuple[str, str]]) -> Lineage:
    """The lineage of a model that was taught every answer about every image."""
    triplets = pl.DataFrame(triplet_rows(), schema=["anchor", "close", "far"], orient="row")
    catalog = read_catalog(workspace)
    answers, told = pair_answers(catalog, pairs), triplet_answers(catalog, triplets, "item")
    return Lineage(
        (
            lesson_from_workspace(workspace, "labels", "train perceptual", answers=answers),
            lesson_from_workspace(workspace, "triplets", "train perceptual", answers=told),
            lesson_from_workspace(workspace, "classes", "train finetune --task id"),
            lesson_from_workspace(workspace, "captions", "condition two-tower"),
            lesson_from_workspace(workspace, "outfits", "outfits train"),
        )
    )


def teach(workspace: WorkspaceFolder, pairs: list[tuple[str, str]]) -> Path:
    folder = workspace.path / "runs" / "taught"
    dim = read_vectors(workspace, "colour", item_images(0)).shape[1]
    layer = np.random.default_rng(1).normal(size=(dim, 6)).astype(np.float32), np.zeros(6, np.float32)
    write_run(folder, "adapter", ["colour"], [layer], dim=6, lineage=everything(workspace, pairs))
    return folder


def derive_all(workspace: WorkspaceFolder, run: Path, folder: Path) -> dict[str, str]:
    """Every way to make vectors from a model that needs no training: way -> name of the vectors."""
    specs = {
        "run": "run:taught",
        "pca": "(run:taught)?pca=3&on=all&name=components",
        "whiten": "run:taught?whiten=3&on=category:kind0",
        "joined": "colour+taught",
        "joined and reduced": "(layout+taught)?pca=4&on=all&name=both",
        "renamed": "run:taught?name=fresh",
        "half precision": "run:taught?dtype=float16",
    }
    derived = {way: encode_catalog(workspace, [spec], workers=1)[0].encoder for way, spec in specs.items()}
    for ending in ENDINGS:
        file = folder / f"mine{ending}"
        done = export_vectors(workspace, "taught", file)
        derived[f"exported as {ending}"] = name = f"back-{ending.removeprefix('.')}"
        import_vectors(workspace, name, file, done.beside[0] if done.beside else None)
    return derived


def write_csv(path: Path, header: list[str], rows: list[tuple[str, str, int]] | list[tuple[str, str, str]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
