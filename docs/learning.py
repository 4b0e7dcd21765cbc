"""Train on the catalog and on people's answers, and write `learning.md`: `python docs/learning.py --data PATH`.

PATH holds the folders clothing, emoji, materials and products. `--work` keeps the workspaces: a stopped run goes on
there, and what is done is not done again. `--only` runs one part; the page is written from every part that is finished.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from learning_page import fill_page

from likewise.workspace import write_parquet

NETWORK = "efficientnet-lite0?size=64"
STORED = "efficientnet-lite0_size-64"
TASKS = ("id", "cat", "id+c", "dino")
BUILT_IN = "colour,texture,shape,layout"
SEES_MATERIALS = (*BUILT_IN.split(","), "efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2")
CROPS = ("", "?crop=0.7", "?crop=0.45")
MATERIAL_ENCODERS = ",".join(f"{encoder}{crop}" for crop in CROPS for encoder in SEES_MATERIALS)  # all, none picked
PROXY = ("articleType", "baseColour", "gender")
NOT_CATEGORIES = "Not sure,Other,Skip"


def likewise(*arguments: object) -> None:
    print("likewise", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", "likewise", *map(str, arguments)], check=True)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, required=True, help="the folder that holds these data sets")
    asked.add_argument("--work", type=Path, help="where the workspaces are made; a temporary folder by default")
    asked.add_argument("--only", choices=("materials", "wardrobe", "emoji", "clothing", "products", "page"))
    asked.add_argument("--items", type=int, default=240, help="items of the wardrobe, and of emoji")
    asked.add_argument("--queries", type=int, default=240, help="at most so many of the half that is not trained on")
    asked.add_argument("--epochs", type=int, default=8)
    asked.add_argument("--lr", type=float, default=3e-4, help="learning rate of the tasks with labels")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = given.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        data = given.data.resolve()
        parts: dict[str, Callable[[], None]] = {
            "materials": lambda: materials(work, data),
            "wardrobe": lambda: wardrobe(work, given.items, given.queries, given.epochs, given.lr),
            "emoji": lambda: emoji(work, data, given.items, given.queries, given.epochs, given.lr),
            "products": lambda: products(work, data, 4 * given.items, given.queries, given.epochs, given.lr),
            "clothing": lambda: clothing(work, data, 4 * given.items, given.epochs, given.lr),
        }
        for name, part in parts.items():
            if given.only in (None, name):
                part()
        fill_page(work, Path(__file__).parent)


def materials(work: Path, data: Path) -> None:
    """People's triplets: other answers about the same materials, and materials that no training answer names."""
    space = work / "materials"
    if not (space / "catalog.parquet").exists():
        likewise("new", space, data / "materials" / "catalog.csv")
    likewise("encode", space, "--with", MATERIAL_ENCODERS)
    answers = data / "materials" / "triplets.csv"
    if not (space / "runs" / "perceptual" / "encoder.json").exists():
        options = ("--test", "split=test", "--unseen", "answers,queries,items")
        likewise("train", "perceptual", space, "--triplets", answers, "--order", "anchor close far", *options)
    likewise("encode", space, "--with", NETWORK)  # to stand beside what it becomes
    if not (space / "runs" / "whole" / "encoder.json").exists():
        small = ("--unseen", "answers", "--folds", 2, "--steps", 64)
        named = ("--trunk", NETWORK, "--name", "whole", "--test", "split=test")
        likewise("train", "perceptual", space, "--triplets", answers, *named, *small)


def wardrobe(work: Path, items: int, queries: int, epochs: int, rate: float) -> None:
    """The drawn wardrobe with simulated experts; half of the items are for fine-tuning, queries are of the others."""
    space = work / "wardrobe"
    if not (space / "catalog.parquet").exists():
        likewise("new", space, "--wardrobe", "--items", items)
        catalog = pl.read_parquet(space / "catalog.parquet")
        write_parquet(with_split(catalog), space / "catalog.parquet")
    likewise("encode", space, "--with", f"{BUILT_IN},{NETWORK}")
    if not (space / "labels.json").exists():
        likewise("discover", space, "--queries", "split=test", "--n-queries", queries)
        likewise("label", "simulate", space)
    tuned(space, TASKS, epochs, rate)
    if not (space / "runs" / "perceptual" / "encoder.json").exists():
        likewise("train", "perceptual", space, "--with", f"{BUILT_IN},{STORED}", "--hidden", 0)


def emoji(work: Path, data: Path, items: int, queries: int, epochs: int, rate: float) -> None:
    """Emoji by four artists; "similar" stands for "of the same subcategory", which is no expert's opinion."""
    space = work / "emoji"
    if not (space / "catalog.parquet").exists():
        catalog = pl.read_csv(data / "emoji" / "catalog.csv", infer_schema=False)
        chosen = catalog["item"].unique().sort().sample(items, seed=0)
        catalog = with_split(catalog.filter(pl.col("item").is_in(chosen.implode())))
        catalog.write_csv(work / "emoji.csv")
        likewise("new", space, work / "emoji.csv", "--root", data / "emoji")
    likewise("encode", space, "--with", f"{BUILT_IN},{NETWORK}")
    if not (space / "labels.json").exists():
        likewise("discover", space, "--queries", "split=test", "--n-queries", queries)
        votes = votes_by(space, "subcategory")
        votes.write_csv(work / "subcategory-proxy-not-experts.csv")
        likewise("label", "import", space, work / "subcategory-proxy-not-experts.csv")
    tuned(space, TASKS, epochs, rate)


def products(work: Path, data: Path, images: int, queries: int, epochs: int, rate: float) -> None:
    """Photographs of a shop, one an item; "similar" stands for the same type, colour and gender."""
    space = work / "products"
    if not (space / "catalog.parquet").exists():
        catalog = pl.read_csv(data / "products" / "catalog.csv", infer_schema=False)
        catalog = catalog.with_columns(proxy=pl.concat_str(PROXY, separator=", "))
        catalog = catalog.filter(pl.len().over("proxy") >= 4, pl.int_range(pl.len()).over("proxy") < 12)
        classes = catalog["proxy"].unique().sort().sample(fraction=1.0, shuffle=True, seed=0).to_frame()
        catalog = classes.join(catalog, on="proxy", how="left", maintain_order="left").head(images)
        with_split(catalog.sort("image")).write_csv(work / "products.csv")
        likewise("new", space, work / "products.csv", "--root", data / "products")
    likewise("encode", space, "--with", f"{BUILT_IN},{NETWORK}")
    if not (space / "labels.json").exists():
        likewise("discover", space, "--queries", "split=test", "--n-queries", queries)
        votes_by(space, "proxy").write_csv(work / "attributes-proxy-not-experts.csv")
        likewise("label", "import", space, work / "attributes-proxy-not-experts.csv")
    tuned(space, ("cat",), epochs, rate)
    if not (space / "runs" / "perceptual" / "encoder.json").exists():
        likewise("train", "perceptual", space, "--with", f"{BUILT_IN},{STORED}", "--hidden", 0)


def clothing(work: Path, data: Path, images: int, epochs: int, rate: float) -> None:
    """Photos of clothes without item ids: categories alone, and whether they carry over to other photos."""
    space = work / "clothing"
    if not (space / "catalog.parquet").exists():
        catalog = pl.read_csv(data / "clothing" / "catalog.csv", infer_schema=False)
        catalog = catalog.filter(~pl.col("category").is_in(NOT_CATEGORIES.split(",")))
        catalog = with_split(catalog.sample(images, seed=0).sort("image"), "image")
        catalog.write_csv(work / "clothing.csv")
        likewise("new", space, work / "clothing.csv", "--root", data / "clothing")
    likewise("encode", space, "--with", NETWORK)
    tuned(space, ("cat",), epochs, rate, evaluated=False)


def tuned(space: Path, tasks: tuple[str, ...], epochs: int, rate: float, *, evaluated: bool = True) -> None:
    """Fine-tune on the training half, one encoder per task, and measure all of them."""
    for task in tasks:
        name = f"lite0-{task.replace('+', '')}"
        if not (space / "runs" / name / "encoder.json").exists():
            passes = max(1, epochs // 2) if task == "dino" else epochs  # its four views of a picture cost more
            more = ("--small-crops", 2) if task == "dino" else ("--lr", rate)
            options = ("--task", task, "--where", "split=train", "--epochs", passes, "--name", name)
            likewise("train", "finetune", space, "--with", NETWORK, *options, *more)
        likewise("encode", space, "--with", f"run:{name}")
    if evaluated:
        likewise("report", space)


def with_split(catalog: pl.DataFrame, by: str = "item") -> pl.DataFrame:
    """Half of the items (with all their images) for training, half to be measured on."""
    names = catalog[by].unique().sort()
    train = names.gather(np.random.default_rng(0).permutation(len(names))[: len(names) // 2])
    is_train = pl.col(by).is_in(train.implode())
    return catalog.with_columns(split=pl.when(is_train).then(pl.lit("train")).otherwise(pl.lit("test")))


def votes_by(space: Path, column: str) -> pl.DataFrame:
    """One vote per pair of the pool: similar where the column has the same value."""
    catalog = pl.read_parquet(space / "catalog.parquet")
    value = dict(zip(catalog["image"], catalog[column], strict=True))
    pairs = pl.read_parquet(space / "pool.parquet").select("query", "candidate").unique().sort("query", "candidate")
    same = [value[query] == value[candidate] for query, candidate in pairs.iter_rows()]
    return pairs.with_columns(
        expert=pl.lit("proxy"), answer=pl.Series(["similar" if each else "not similar" for each in same])
    )


if __name__ == "__main__":
    main()
