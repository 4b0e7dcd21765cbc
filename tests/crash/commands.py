"""Every command that writes, with the small workspaces it starts from."""

import shutil
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import polars as pl

from tests.crash.killing import Command, CommandServer

MINED = ("--concreteness", "none", "--min-images", "1", "--min-objects", "1", "--n-triplets", "20")
WORDS = ("red", "small", "wet", "happy", "old")
CHAIN = (
    ("new", "ws", "--wardrobe", "--items", "24", "--views", "2", "--seed", "1"),
    ("encode", "ws", "--with", "colour,layout,shape", "--workers", "1"),
    ("discover", "ws", "--with", "colour,layout", "--n-queries", "6", "--k", "4"),
    ("label", "simulate", "ws"),
    ("label", "consensus", "ws"),
)
SHOP = (
    ("new", "shop", "--wardrobe", "--items", "90", "--views", "1", "--seed", "2"),
    ("encode", "shop", "--with", "colour,layout", "--workers", "1"),
    ("discover", "shop", "--with", "colour,layout", "--n-queries", "12", "--k", "4"),
    ("label", "simulate", "shop"),
    ("label", "consensus", "shop"),
    ("train", "perceptual", "shop", "--with", "colour", "--name", "old", "--folds", "2"),
)
BUNDLED = ("--title", "Shapes", "--licence", "CC0")

CORE = (
    Command("new", ("new", "other", "photos")),
    Command("new --replace", ("new", "ws", "photos", "--replace")),
    Command("new from a table", ("new", "other", "rows.csv", "--root", "photos")),
    Command("update", ("update", "ws", "grown.csv", "--root", "ws/images", "--accept-removals")),
    Command("encode", ("encode", "ws", "--with", "texture", "--workers", "1")),
    Command("encode --import", ("encode", "ws", "--import", "mine.npy", "--keys", "mine.txt", "--name", "mine")),
    Command("discover --replace", ("discover", "ws", "--with", "shape", "--n-queries", "5", "--k", "3", "--replace")),
    Command(
        "discover --design sampled", ("discover", "bare", "--with", "colour", "--design", "sampled", "--labels", "40")
    ),
    Command("label import", ("label", "import", "ws", "votes.csv")),
    Command("label import --replace", ("label", "import", "ws", "labels.csv", "--replace")),
    Command("label import without a pool", ("label", "import", "bare", "labels.csv")),
    Command("label consensus", ("label", "consensus", "ws", "--rule", "dawid-skene")),
    Command("label simulate", ("label", "simulate", "asked", "--seed", "5")),
    Command("label add-pairs", ("label", "add-pairs", "ws", "--with", "shape")),
    Command("label export", ("label", "export", "ws", "labels.qrels")),
    Command("label sheet", ("label", "sheet", "ws", "sheet.csv", "--expert", "zoe")),
    Command("label settings", ("label", "settings", "ws", "--name", "Shapes")),
    Command("label goal", ("label", "goal", "ws", "--better", "colour", "--than", "layout")),
    Command("evaluate", ("evaluate", "ws"), but=("*.note.json",)),
    Command("report", ("report", "ws"), but=("*.note.json",)),
    Command("gate", ("gate", "ws", "--old", "colour", "--new", "layout", "--margin", "99")),
    Command("bundle", ("bundle", "benchmark", "ws", "made.zip", *BUNDLED)),
    Command("bundle --replace", ("bundle", "benchmark", "ws", "bundle", "--replace", "--with-images", *BUNDLED)),
    Command(
        "evaluate a bundle",
        ("evaluate", "bundle", "--vectors", "mine=mine.npy", "--keys", "mine.txt", "--output", "found.parquet"),
        but=("*.note.json",),
    ),
    Command("bundle vectors", ("bundle", "vectors", "ws", "colour.npy", "--with", "colour")),
    Command("bundle run", ("bundle", "run", "ws", "colour.run", "--with", "colour")),
)

CHECKED = (
    "--column",
    "category",
    "--trials",
    "2",
    "--steps",
    "10",
    "--evaluate-every",
    "5",
    "--reruns",
    "2",
    "--dim",
    "4",
)
EXTENSIONS = (
    Command(
        "train check",
        ("train", "check", "shop", "--methods", "triplet", "--with", "colour", *CHECKED, "--workers", "1"),
        but=("search.db",),
    ),
    Command("train perceptual", ("train", "perceptual", "shop", "--with", "colour,layout", "--folds", "2")),
    Command("train perceptual --force", ("train", "perceptual", "shop", "--name", "old", "--folds", "2", "--force")),
    Command("outfits generate", ("outfits", "generate", "shop", "--n", "6")),
    Command("outfits train", ("outfits", "train", "shop", "--n-outfits", "60", "--with", "colour", "--epochs", "2")),
    Command("outfits make-test", ("outfits", "make-test", "shop", "--outfits", "30", "--trust-categories")),
    Command("outfits wardrobe-test", ("outfits", "wardrobe-test", "test", "--n-lat", "4", "--n-aat", "27")),
    Command("condition build", ("condition", "build", "shop", "--name", "built", "--per-task", "6")),
    Command("condition mine", ("condition", "mine", "captions.tsv", *MINED, "--output", "mined", "--workers", "1")),
    Command("condition two-tower", ("condition", "two-tower", "shop", "shop/tower", "--steps", "4")),
)


def build_start(server: CommandServer, folder: Path) -> None:
    """The workspaces `ws` (labelled), `asked` (a pool) and `bare` (vectors alone), and files from elsewhere."""
    folder.mkdir(parents=True)
    _run(server, folder, CHAIN[:2])
    shutil.copytree(folder / "ws", folder / "bare")
    _run(server, folder, CHAIN[2:3])
    shutil.copytree(folder / "ws", folder / "asked")
    _run(server, folder, CHAIN[3:])
    images = folder / "ws" / "images"
    catalog = pl.read_parquet(folder / "ws" / "catalog.parquet")
    shutil.copytree(images, folder / "photos")
    catalog.select("image", "item", "category").write_csv(folder / "rows.csv")
    catalog.select("image", "item", "category").head(40).write_csv(folder / "grown.csv")
    pool = pl.read_parquet(folder / "ws" / "pool.parquet").select("query", "candidate").unique(maintain_order=True)
    pool.with_columns(expert=pl.lit("anna"), answer=pl.lit("yes")).write_csv(folder / "votes.csv")
    pool.with_columns(label=pl.int_range(pl.len()) % 2).write_csv(folder / "labels.csv")
    _run(server, folder, [("bundle", "vectors", "ws", "mine.npy", "--with", "colour")])
    (folder / "mine.npy.keys.txt").rename(folder / "mine.txt")
    _run(server, folder, [("bundle", "benchmark", "ws", "bundle", *BUNDLED)])


def _run(server: CommandServer, folder: Path, commands: Sequence[Sequence[str]]) -> None:
    for argv in commands:
        done = server.run(argv, folder)
        assert done.code == 0, done.output


def build_extension_start(server: CommandServer, folder: Path) -> None:
    """The labelled workspace `shop`, whose items make outfits, with an encoder `old` that experts taught; captions."""
    folder.mkdir(parents=True)
    _run(server, folder, SHOP)
    lines = [f"a {word} dog on the {place} beach\t{n}.jpg" for n, (word, place) in enumerate(product(WORDS, WORDS))]
    (folder / "captions.tsv").write_text("\n".join(lines * 6) + "\n")
