"""Every command of the core that writes, with the small workspaces it starts from."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from tests.crash.killing import Command, CommandServer

CHAIN = (
    ("new", "ws", "--wardrobe", "--items", "24", "--views", "2", "--seed", "1"),
    ("encode", "ws", "--with", "colour,layout,shape", "--workers", "1"),
    ("discover", "ws", "--with", "colour,layout", "--n-queries", "6", "--k", "4"),
    ("label", "simulate", "ws"),
    ("label", "consensus", "ws"),
)
IMAGE = "shop/bags/bags-0000-v0.jpg"
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
    Command("evaluate", ("evaluate", "ws"), timed=("*.note.json",)),
    Command("report", ("report", "ws"), timed=("*.note.json",)),
    Command("gate", ("gate", "ws", "--old", "colour", "--new", "layout", "--margin", "99"), code=3),  # undecided
    Command("bundle", ("bundle", "benchmark", "ws", "made.zip", *BUNDLED)),
    Command("bundle --replace", ("bundle", "benchmark", "ws", "bundle", "--replace", "--with-images", *BUNDLED)),
    Command(
        "evaluate a bundle",
        ("evaluate", "bundle", "--vectors", "mine=mine.npy", "--keys", "mine.txt", "--output", "found.parquet"),
        timed=("*.note.json",),
    ),
    Command("bundle vectors", ("bundle", "vectors", "ws", "colour.npy", "--with", "colour")),
    Command("bundle run", ("bundle", "run", "ws", "colour.run", "--with", "colour")),
    Command(
        "bundle mteb-results", ("bundle", "mteb-results", "ws", "mteb", "--task", "Shapes"), timed=("Shapes.json",)
    ),
    Command("bundle leaderboard", ("bundle", "leaderboard", "board.html", "measured")),
    Command("encode --force", ("encode", "ws", "--with", "colour", "--force", "--workers", "1")),
    Command("discover", ("discover", "bare", "--with", "colour,layout", "--n-queries", "5", "--k", "3")),
    Command("evaluate --classes", ("evaluate", "ws", "--classes", "category", "--clusters")),
    Command("search", ("search", "ws", "--image", IMAGE, "--save", "found.svg")),
    Command("label invite", ("label", "invite", "asked", "--name", "Zoe"), but=("votes.db",)),
    Command("label revoke", ("label", "revoke", "invited", "--expert", "Zoe")),
    Command("label pause", ("label", "pause", "ws")),
    Command("label resume", ("label", "resume", "paused")),
    Command("label remove-votes", ("label", "remove-votes", "ws", "--expert", "simulated-1", "--reason", "tired")),
    Command("label backup", ("label", "backup", "ws", "votes.zip"), timed=("votes.zip",)),
    Command("label restore", ("label", "restore", "ws", "saved.zip", "--replace")),
    Command(
        "label judge",
        ("label", "judge", "drawn", "--judge", "python:tests.crash.judging:brightness", "--pairs", "60"),
        timed=("answers.parquet",),
    ),
    Command("plan labels", ("plan", "labels", "ws", "--with", "colour", "--n-queries", "5")),
    Command("label settings --examples", ("label", "settings", "ws", "--examples", "gold.csv", "--catch", "gold.csv")),
)
# Commands of the core that write nothing.
WRITE_NOTHING = {
    "status": ("status", "ws"),
    "label status": ("label", "status", "ws"),
    "plan compute": ("plan", "compute", "--images", "1000"),
    "list encoders": ("list", "encoders"),
    "list readers": ("list", "readers"),
    "list measures": ("list", "measures"),
    "list extensions": ("list", "extensions"),
    "list lineage": ("list", "lineage", "ws"),
}
# Those that are not ended at every write here, and why.
TRIED_ELSEWHERE = {
    "demo": "runs the other commands one after the other",
    "label serve": "killed under load by tests/web/test_faults.py and benchmarks/label_storm.py",
    "explore": "the same site as `label serve`",
}


LIKE_ASKED = {
    "invited": ("label", "invite", "invited", "--name", "Zoe"),
    "paused": ("label", "pause", "paused"),
}
DRAWN = (
    ("discover", "drawn", "--with", "colour", "--design", "sampled", "--labels", "40"),
    ("label", "simulate", "drawn"),
    ("label", "consensus", "drawn"),
)


def build_start(server: CommandServer, folder: Path) -> None:
    """The workspaces `ws` (labelled), `asked` (a pool) and `bare` (vectors alone), and files from elsewhere."""
    folder.mkdir(parents=True)
    run_all(server, folder, CHAIN[:2])
    shutil.copytree(folder / "ws", folder / "bare")
    run_all(server, folder, CHAIN[2:3])
    shutil.copytree(folder / "ws", folder / "asked")
    run_all(server, folder, CHAIN[3:])
    images = folder / "ws" / "images"
    catalog = pl.read_parquet(folder / "ws" / "catalog.parquet")
    shutil.copytree(images, folder / "photos")
    catalog.select("image", "item", "category").write_csv(folder / "rows.csv")
    catalog.select("image", "item", "category").head(40).write_csv(folder / "grown.csv")
    pool = pl.read_parquet(folder / "ws" / "pool.parquet").select("query", "candidate").unique(maintain_order=True)
    pool.with_columns(expert=pl.lit("anna"), answer=pl.lit("yes")).write_csv(folder / "votes.csv")
    pool.with_columns(label=pl.int_range(pl.len()) % 2).write_csv(folder / "labels.csv")
    run_all(server, folder, [("bundle", "vectors", "ws", "mine.npy", "--with", "colour")])
    (folder / "mine.npy.keys.txt").rename(folder / "mine.txt")
    run_all(server, folder, [("bundle", "benchmark", "ws", "bundle", *BUNDLED)])
    run_all(server, folder, [("label", "backup", "asked", "saved.zip")])
    pool.head(4).with_columns(answer=pl.lit("similar"), note=pl.lit("")).write_csv(folder / "gold.csv")
    for name, command in LIKE_ASKED.items():
        shutil.copytree(folder / "asked", folder / name)
        run_all(server, folder, [command])
    shutil.copytree(folder / "ws", folder / "measured")
    run_all(server, folder, [("evaluate", "measured")])
    shutil.copytree(folder / "bare", folder / "drawn")
    run_all(server, folder, DRAWN)


def run_all(server: CommandServer, folder: Path, commands: Sequence[Sequence[str]]) -> None:
    for argv in commands:
        done = server.run(argv, folder)
        assert done.code == 0, done.output
