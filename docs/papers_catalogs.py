"""The catalogs behind `papers.md`, in one working folder; what is there is not made again.

Photographs of a shop (classes by type and colour, attributes as a proxy for similarity), photographs of clothes taken
at home as queries for that shop (garments of the same kind), emoji drawn by several artists, and the drawn wardrobe,
whose truth is known.
"""

import subprocess
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from papers_rows import BEFORE_TUNING

from likewise.workspace import WorkspaceFolder, write_parquet

MIN_PER_CLASS, MAX_PER_CLASS = 4, 12
ENCODERS = "efficientnet-lite0?size=96,colour,texture,shape,layout"
STORED = "efficientnet-lite0_size-96"
PROXY = ("articleType", "baseColour", "gender")
KINDS = {
    "T-Shirt": ("Tshirts",),
    "Shirt": ("Shirts",),
    "Pants": ("Jeans", "Trousers", "Track Pants"),
    "Shoes": ("Casual Shoes", "Sports Shoes", "Formal Shoes"),
    "Dress": ("Dresses",),
    "Outwear": ("Jackets",),
    "Shorts": ("Shorts",),
    "Hat": ("Caps",),
    "Skirt": ("Skirts",),
    "Undershirt": ("Innerwear Vests",),
    "Blazer": ("Blazers",),
    "Hoodie": ("Sweatshirts",),
    "Top": ("Tops",),
}
"""Of a photograph taken at home the category, and the shop's types that are the same kind of garment."""
EXPERTS = 5
FIXED_LOSS = "ContrastiveLoss?pos_margin=0&neg_margin=0.5"
"""The contrastive loss of heads that are changed, near the best margins that the Reality Check publishes."""
BANDS = "0-5,6-19,20-99,100-499"
TUNED_FROM = "efficientnet-lite0?size=64"
"""It proposes no candidates either, as the eight further models of the VSD paper's supplement."""
TUNED = ("id", "cat", "id+c", "dino")
RATE = 3e-4
"""Learning rate of what is fine-tuned with labels, as in `learning.py`."""
TEST, TRAIN = "split=test", "split=train"


@dataclass(frozen=True)
class Sizes:
    """How large the runs are: options of commands, and how much of the data they see."""

    check: dict[str, Any]
    head_ablation: dict[str, Any]
    trunk_ablation: dict[str, Any]
    lessons: dict[str, Any]
    paper: dict[str, Any]
    factors_of_head: str = "optimiser,batch-size,miner,embedding-size"
    factors_of_trunk: str = "crops,batch-norm"
    n_classes: int | None = None
    n_queries: int = 300
    wardrobe_items: int = 240
    most_of_a_type: int = 60
    emoji_items: int = 400
    drawn_items: int = 160
    ablation_classes: int = 96
    epochs: int = 8
    epochs_of_shop: int = 2
    epochs_of_own: int = 20
    epochs_of_own_drawings: int = 14


FULL = Sizes(
    check={"preset": "quick", "trials": 4, "reruns": 4, "steps": 200},
    head_ablation={"preset": "quick", "half": "train", "trials": 1, "reruns": 4, "steps": 200, "evaluate-every": 100},
    trunk_ablation={"lr": 1e-5, "trials": 2, "reruns": 4, "steps": 20, "evaluate-every": 20},
    lessons={"max-images": 1500, "random-points": 4000, "untrained": "small,efficientnet-lite0?size=64"},
    paper={"preset": "paper", "half": "train", "trials": 2, "reruns": 2, "steps": 100, "evaluate-every": 50},
)
"""Those of the page. Heads: on validation classes 200 steps of RMSprop at 3e-5 raised MAP@R from 14.6 to 18.6 and from
14.5 to 15.0 in two folds. A network at 32 pixels: 20 steps of RMSprop at 1e-5 raised it from 12.9 to 17.1 with margins
0 and 0.5; the margins that two trials draw may teach nothing."""
QUICK = Sizes(
    check={"preset": "quick", "trials": 1, "reruns": 2, "steps": 10},
    head_ablation={"preset": "quick", "half": "train", "trials": 1, "reruns": 2, "steps": 10},
    trunk_ablation={"lr": 1e-5, "trials": 1, "reruns": 2, "steps": 2, "evaluate-every": 2},
    lessons={"max-images": 300, "random-points": 1000, "untrained": "small"},
    paper={"preset": "paper", "half": "train", "trials": 1, "reruns": 1, "steps": 2, "evaluate-every": 2},
    factors_of_head="optimiser",
    factors_of_trunk="batch-norm",
    n_classes=24,
    n_queries=60,
    wardrobe_items=100,
    most_of_a_type=15,
    emoji_items=64,
    drawn_items=60,
    ablation_classes=24,
    epochs=1,
    epochs_of_shop=1,
    epochs_of_own=2,
    epochs_of_own_drawings=2,
)
"""Every step of the page in minutes, to see that the scripts run from nothing; its numbers mean nothing."""


def likewise(*words: object) -> str:
    """Run a command; what it prints."""
    print("likewise", *words, flush=True)
    command = [sys.executable, "-m", "likewise", *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def options(values: dict[str, Any]) -> list[str]:
    return [word for name, value in values.items() for word in (f"--{name}", str(value))]


def has_vectors(workspace: Path, encoder: str) -> bool:
    """Complete ones: what an interrupted command left does not count."""
    return encoder in WorkspaceFolder(workspace).encoders()


def encode_untuned(workspace: Path) -> None:
    if not has_vectors(workspace, BEFORE_TUNING):
        likewise("encode", workspace, "--with", TUNED_FROM)


def product_classes(work: Path, data: Path, sizes: Sizes) -> Path:
    """A catalog of photographs whose column `type_colour` has classes of 4 to 12."""
    workspace, table = work / "products", work / "products.csv"
    if not (workspace / "catalog.parquet").exists():
        rows = pl.read_csv(data / "products" / "catalog.csv")
        rows = rows.with_columns(pl.format("{}, {}", "articleType", "baseColour").alias("type_colour"))
        rows = rows.with_columns(n=pl.len().over("type_colour"), place=pl.int_range(pl.len()).over("type_colour"))
        kept = rows.filter(pl.col("n") >= MIN_PER_CLASS, pl.col("place") < MAX_PER_CLASS)
        some = kept["type_colour"].unique(maintain_order=True)[: sizes.n_classes]
        kept = kept.filter(pl.col("type_colour").is_in(some.implode()))
        with_split(kept.drop("n", "place")).write_csv(table)
        likewise("new", workspace, table, "--root", data / "products")
    return workspace


def few_classes(work: Path, data: Path, sizes: Sizes) -> Path:
    """Some of these classes with all their photographs, for networks that are trained whole."""
    workspace, table = work / "classes", work / "classes.csv"
    if not (workspace / "catalog.parquet").exists():
        rows = pl.read_csv(work / "products.csv", infer_schema=False)
        classes = rows["type_colour"].unique().sort()
        some = classes.sample(min(sizes.ablation_classes, len(classes)), seed=0)
        rows.filter(pl.col("type_colour").is_in(some.implode())).write_csv(table)
        likewise("new", workspace, table, "--root", data / "products")
    return workspace


def make_products(work: Path, data: Path, sizes: Sizes) -> Path:
    """Photographs of classes of 4 to 12, with labels by attributes; pairs drawn by rank are labelled, too.

    New models learn from one half of the products; the queries are of the other.
    """
    workspace = product_classes(work, data, sizes)
    if not has_vectors(workspace, "layout"):
        likewise("encode", workspace, "--with", ENCODERS)
    if not (workspace / "pool.parquet").exists():
        asked = ("--n-queries", sizes.n_queries, "--random", 300, "--queries", TEST)
        likewise("discover", workspace, "--k", 6, *asked)
    vote_by_attributes(workspace, "pool", "votes.csv")
    fine_tune(workspace, ("cat",), TRAIN, sizes.epochs_of_shop)
    if not (workspace / "rank_bands.parquet").exists():
        likewise("label", "add-pairs", workspace, "--by-rank", BANDS, "--per-band", 300)
    vote_by_attributes(workspace, "rank_bands", "more.csv")
    return workspace


def make_wardrobe(work: Path, sizes: Sizes) -> Path:
    """Shop pictures as queries and gallery; simulated experts, and the truth for pairs drawn by rank."""
    workspace = draw_wardrobe(work / "wardrobe", sizes)
    if not (workspace / "pool.parquet").exists():
        shop = ("--queries", f"domain=shop,{TEST}", "--gallery", "domain=shop")
        likewise("discover", workspace, "--k", 6, "--n-queries", sizes.n_queries * 2 // 5, "--random", 300, *shop)
    simulate_experts(workspace)
    if not (workspace / "rank_bands.parquet").exists():
        likewise("label", "add-pairs", workspace, "--by-rank", BANDS, "--per-band", 300)
    vote_by_truth(workspace)
    fine_tune(workspace, TUNED, f"domain=shop,{TRAIN}", sizes.epochs)
    return workspace


def draw_wardrobe(workspace: Path, sizes: Sizes) -> Path:
    """Half of its items are for training."""
    if not (workspace / "catalog.parquet").exists():
        likewise("new", workspace, "--wardrobe", "--items", sizes.wardrobe_items, "--views", 3, "--wild", 0.25)
        catalog = pl.read_parquet(workspace / "catalog.parquet")
        write_parquet(with_split(catalog), workspace / "catalog.parquet")
        likewise("encode", workspace)
    return workspace


def simulate_experts(workspace: Path) -> None:
    if not (workspace / "labels.parquet").exists():
        likewise("label", "simulate", workspace, "--experts", EXPERTS)


def make_wild(work: Path, sizes: Sizes) -> Path:
    """The same with queries that are photographed elsewhere, and what the other workspace trained."""
    workspace = draw_wardrobe(work / "wild", sizes)
    if not (workspace / "pool.parquet").exists():
        elsewhere = ("--queries", f"domain=wild,{TEST}", "--gallery", "domain=shop")
        likewise("discover", workspace, "--k", 6, "--n-queries", sizes.n_queries * 4 // 15, "--random", 200, *elsewhere)
    simulate_experts(workspace)
    for task in TUNED:
        name = task.replace("+", "")
        if not has_vectors(workspace, name):
            likewise("encode", workspace, "--with", f"run:{work / 'wardrobe' / 'runs' / name}")
    encode_untuned(workspace)
    return workspace


def make_home(work: Path, data: Path, sizes: Sizes) -> Path:
    """Photographs taken at home as queries, those of a shop as the gallery; similar are garments of the same kind."""
    workspace, table = work / "home", work / "home.csv"
    if not (workspace / "catalog.parquet").exists():
        kind_of = {shop: kind for kind, types in KINDS.items() for shop in types}
        shop = pl.read_csv(data / "products" / "catalog.csv", infer_schema=False)
        shop = shop.filter(pl.int_range(pl.len()).over("articleType") < sizes.most_of_a_type)
        parts = [
            photographs(shop, "products", pl.col("articleType").replace_strict(kind_of, default=None), "shop", sizes),
            photographs(
                pl.read_csv(data / "clothing" / "catalog.csv", infer_schema=False),
                "clothing",
                pl.when(pl.col("category").is_in(list(KINDS))).then(pl.col("category")),
                "home",
                sizes,
            ),
        ]
        with_split(pl.concat(parts)).write_csv(table)
        likewise("new", workspace, table, "--root", data)
    if not has_vectors(workspace, "layout"):
        likewise("encode", workspace, "--with", ENCODERS)
    if not (workspace / "pool.parquet").exists():
        elsewhere = ("--queries", "domain=home", "--gallery", "domain=shop")
        likewise("discover", workspace, "--k", 6, "--n-queries", sizes.n_queries // 2, "--random", 300, *elsewhere)
    vote_by_attributes(workspace, "pool", "votes.csv", ("category",))
    fine_tune(workspace, ("cat",), f"domain=shop,{TRAIN}", sizes.epochs)
    return workspace


def photographs(catalog: pl.DataFrame, folder: str, kind: pl.Expr, domain: str, sizes: Sizes) -> pl.DataFrame:
    """Those of a known kind, each an item of its own."""
    image = pl.format("{}/{}", pl.lit(folder), "image")
    chosen = catalog.select(image=image, item=image, category=kind, domain=pl.lit(domain)).drop_nulls("category")
    return chosen.filter(pl.int_range(pl.len()).over("category") < sizes.most_of_a_type)


def make_emoji(work: Path, data: Path, sizes: Sizes) -> Path:
    """Drawings of four artists; an item is a class, of four pictures."""
    workspace, table = work / "emoji", work / "emoji.csv"
    if not (workspace / "catalog.parquet").exists():
        rows = pl.read_csv(data / "emoji" / "catalog.csv", infer_schema=False)
        some = rows["item"].unique(maintain_order=True)[: sizes.emoji_items]
        rows.filter(pl.col("item").is_in(some.implode())).write_csv(table)
        likewise("new", workspace, table, "--root", data / "emoji")
    return workspace


def make_drawings(work: Path, data: Path, sizes: Sizes) -> Path:
    """Emoji of which each of four artists drew a picture: the other three are the same item."""
    workspace, table = work / "drawings", work / "drawings.csv"
    if not (workspace / "catalog.parquet").exists():
        rows = pl.read_csv(data / "emoji" / "catalog.csv", infer_schema=False)
        some = rows["item"].unique().sort().sample(sizes.drawn_items, seed=0)
        with_split(rows.filter(pl.col("item").is_in(some.implode()))).write_csv(table)
        likewise("new", workspace, table, "--root", data / "emoji")
    if not has_vectors(workspace, "layout"):
        likewise("encode", workspace, "--with", ENCODERS)
    if not (workspace / "pool.parquet").exists():
        asked = ("--n-queries", sizes.n_queries // 2, "--random", 0, "--queries", TEST)
        likewise("discover", workspace, "--k", 6, *asked)
    vote_by_attributes(workspace, "pool", "votes.csv", ("subcategory",))
    fine_tune(workspace, ("id",), TRAIN, sizes.epochs)
    return workspace


def with_split(catalog: pl.DataFrame) -> pl.DataFrame:
    """Half of the items (with all their images) are for training, the queries are of the others."""
    names = catalog["item"].unique().sort()
    train = names.sample(len(names) // 2, seed=0)
    is_train = pl.col("item").is_in(train.implode())
    return catalog.with_columns(split=pl.when(is_train).then(pl.lit("train")).otherwise(pl.lit("test")))


def fine_tune(workspace: Path, tasks: tuple[str, ...], where: str, epochs: int) -> None:
    """The new models of the VSD paper's tables 5 and 6, and what they were before; none of them proposes candidates."""
    for task in tasks:
        name = task.replace("+", "")
        if not (workspace / "runs" / name / "encoder.json").exists():
            labelled = ("--epochs", epochs, "--lr", RATE)
            passes = ("--epochs", 1, "--small-crops", 2) if task == "dino" else labelled
            asked = ("--task", task, "--where", where, *passes, "--name", name)
            likewise("train", "finetune", workspace, "--with", TUNED_FROM, *asked)
        if not has_vectors(workspace, name):
            likewise("encode", workspace, "--with", f"run:{name}")
    encode_untuned(workspace)


def known_recall(workspace: Path, columns: tuple[str, ...] = PROXY) -> float:
    """Of the images that have the columns of a query, the share that the pool holds."""
    catalog = pl.read_parquet(workspace / "catalog.parquet").select(
        "image", kind=pl.concat_str(columns, separator=", ")
    )
    pairs = pl.read_parquet(workspace / "pool.parquet").filter(pl.col("generator") != "random")
    pairs = pairs.select("query", "candidate").unique()
    kinds = dict(catalog.iter_rows())
    counts = dict(catalog.group_by("kind").len().iter_rows())
    found = sum(kinds[query] == kinds[candidate] for query, candidate in pairs.iter_rows())
    return float(found / sum(counts[kinds[query]] - 1 for query in pairs["query"].unique()))


def pool_by_size(workspace: Path) -> dict[str, list[tuple[int, float, float]]]:
    """Of the pool's similar pairs, and of its pairs to label, the shares that fewer candidates or generators leave.

    By `k`, and by the number of `generators`, the mean over all choices of so many.
    """
    pool = pl.read_parquet(workspace / "pool.parquet").filter(pl.col("generator") != "random")
    labels = pl.read_parquet(workspace / "labels.parquet").select("query", "candidate", "label")
    pool = pool.join(labels, on=["query", "candidate"])
    names = pool["generator"].unique().sort().to_list()

    def counts(rows: pl.DataFrame) -> np.ndarray[Any, np.dtype[np.float64]]:
        pairs = rows.unique(["query", "candidate"])
        return np.array([pairs["label"].sum(), len(pairs)], np.float64)

    every, largest = counts(pool), int(pool["rank"].max()) + 1  # type: ignore[arg-type]
    found: dict[str, list[tuple[int, float, float]]] = {"k": [], "generators": []}
    for k in range(1, largest + 1):
        found["k"].append((k, *(counts(pool.filter(pl.col("rank") < k)) / every).tolist()))
    for n in range(1, len(names) + 1):
        some = [counts(pool.filter(pl.col("generator").is_in(each))) for each in combinations(names, n)]
        found["generators"].append((n, *(np.mean(some, axis=0) / every).tolist()))
    return found


def vote_by_attributes(workspace: Path, table: str, name: str, columns: tuple[str, ...] = PROXY) -> None:
    """One vote for each pair: similar where all of these columns are the same."""
    catalog = pl.read_parquet(workspace / "catalog.parquet")
    known = {row["image"]: tuple(row[column] for column in columns) for row in catalog.iter_rows(named=True)}
    import_votes(workspace, table, name, "attributes", lambda query, candidate: known[query] == known[candidate])


def vote_by_truth(workspace: Path) -> None:
    catalog, truth = pl.read_parquet(workspace / "catalog.parquet"), pl.read_parquet(workspace / "truth.parquet")
    item = dict(catalog.select("image", "item").iter_rows())
    similar = {frozenset(pair) for pair in truth.select("item_a", "item_b").iter_rows()}
    import_votes(
        workspace,
        "rank_bands",
        "more.csv",
        "truth",
        lambda query, other: frozenset((item[query], item[other])) in similar,
    )


def import_votes(workspace: Path, table: str, name: str, expert: str, alike: Any) -> None:
    """Answers to the pairs of a table that have none yet; the file has its name when they are imported."""
    if (workspace / name).exists():
        return
    pairs = pl.read_parquet(workspace / f"{table}.parquet").select("query", "candidate").unique().sort(pl.all())
    labels, unfinished = workspace / "labels.parquet", workspace / f"new_{name}"
    if labels.exists():
        pairs = pairs.join(pl.read_parquet(labels), on=["query", "candidate"], how="anti")
    votes = [(q, c, expert, "similar" if alike(q, c) else "not similar") for q, c in pairs.iter_rows()]
    columns = ["query", "candidate", "expert", "answer"]
    pl.DataFrame(votes, schema=dict.fromkeys(columns, pl.String), orient="row").write_csv(unfinished)
    if votes:
        likewise("label", "import", workspace, unfinished)
    unfinished.rename(workspace / name)
