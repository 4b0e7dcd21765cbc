"""The runs behind `papers.md`, in one working folder; what is there is not done again.

Photographs of a shop (classes by type and colour, attributes as a proxy for similarity), photographs of clothes taken
at home as queries for that shop (garments of the same kind), and the drawn wardrobe, whose truth is known.
"""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

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
BANDS = "0-5,6-19,20-99,100-499"


@dataclass(frozen=True)
class Sizes:
    """How large the runs are: options of commands, and how much of the data they see."""

    check: dict[str, Any]
    ablation: dict[str, Any]
    lessons: dict[str, Any]
    paper: dict[str, Any]
    factors: str = "crops,optimiser,batch-norm,batch-size,miner,embedding-size"
    n_classes: int | None = None
    n_queries: int = 300
    wardrobe_items: int = 400
    most_of_a_type: int = 150
    emoji_items: int | None = None


FULL = Sizes(
    check={"preset": "quick", "trials": 4, "reruns": 3, "steps": 200},
    ablation={"half": "train", "lr": 1e-5, "trials": 2, "reruns": 2, "steps": 16, "evaluate-every": 16},
    lessons={"max-images": 1500, "random-points": 4000, "untrained": "small,efficientnet-lite0?size=64"},
    paper={"preset": "paper", "half": "train", "trials": 1, "reruns": 1, "steps": 20, "evaluate-every": 20},
)
"""Those of the page. The ablation is of a pretrained network at 32 pixels, a size that it has not learned: few steps
teach it something. At 1e-4 RMSprop destroyed it; a small network from nothing was better untrained for 600 steps (fold
0, validation classes). The first trial of the contrastive loss draws margins that teach nothing, so there are two."""
QUICK = Sizes(
    check={"preset": "quick", "trials": 1, "reruns": 2, "steps": 10},
    ablation={"half": "train", "lr": 1e-5, "trials": 1, "reruns": 2, "steps": 2, "evaluate-every": 2},
    lessons={"max-images": 300, "random-points": 1000, "untrained": "small"},
    paper={"preset": "paper", "half": "train", "trials": 1, "reruns": 1, "steps": 2, "evaluate-every": 2},
    factors="optimiser,batch-norm",
    n_classes=48,
    n_queries=60,
    wardrobe_items=120,
    most_of_a_type=40,
    emoji_items=64,
)
"""Every step of the page in minutes, to see that the scripts run from nothing; its numbers mean nothing."""


def likewise(*words: object) -> str:
    """Run a command; what it prints."""
    print("likewise", *words, flush=True)
    command = [sys.executable, "-m", "likewise", *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def options(values: dict[str, Any]) -> list[str]:
    return [word for name, value in values.items() for word in (f"--{name}", str(value))]


def stored(file: Path, *words: object) -> Any:
    """The JSON that a command prints, kept in a file."""
    if not file.exists():
        started = time.monotonic()
        text = likewise(*words, "--json")
        file.write_text(text)
        clock = {"seconds": time.monotonic() - started}
        file.with_name(f"{file.stem}_seconds.json").write_text(json.dumps(clock))
    return json.loads(file.read_text())


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
        kept.drop("n", "place").write_csv(table)
        likewise("new", workspace, table, "--root", data / "products")
    return workspace


def make_products(work: Path, data: Path, sizes: Sizes) -> Path:
    """Photographs of classes of 4 to 12, with labels by attributes; pairs drawn by rank are labelled, too."""
    workspace = product_classes(work, data, sizes)
    if not (workspace / "vectors" / "layout").exists():
        likewise("encode", workspace, "--with", ENCODERS)
    if not (workspace / "pool.parquet").exists():
        likewise("discover", workspace, "--k", 6, "--n-queries", sizes.n_queries, "--random", 300)
        vote_by_attributes(workspace, "pool", "votes.csv")
    if not (workspace / "rank_bands.parquet").exists():
        likewise("label", "add-pairs", workspace, "--by-rank", BANDS, "--per-band", 300)
        vote_by_attributes(workspace, "rank_bands", "more.csv")
    return workspace


def make_wardrobe(work: Path, sizes: Sizes) -> Path:
    """Shop pictures as queries and gallery; simulated experts, and the truth for pairs drawn by rank."""
    workspace = work / "wardrobe"
    if not (workspace / "catalog.parquet").exists():
        likewise("new", workspace, "--wardrobe", "--items", sizes.wardrobe_items, "--views", 3, "--wild", 0.25)
        likewise("encode", workspace)
    if not (workspace / "pool.parquet").exists():
        shop = ("--queries", "domain=shop", "--gallery", "domain=shop")
        likewise("discover", workspace, "--k", 6, "--n-queries", sizes.n_queries * 2 // 5, "--random", 300, *shop)
        likewise("label", "simulate", workspace, "--experts", 3)
    if not (workspace / "rank_bands.parquet").exists():
        likewise("label", "add-pairs", workspace, "--by-rank", BANDS, "--per-band", 300)
        vote_by_truth(workspace)
    return workspace


def make_wild(work: Path, sizes: Sizes) -> Path:
    """The same with queries that are photographed elsewhere."""
    workspace = work / "wild"
    if not (workspace / "pool.parquet").exists():
        likewise("new", workspace, "--wardrobe", "--items", sizes.wardrobe_items, "--views", 3, "--wild", 0.25)
        likewise("encode", workspace)
        elsewhere = ("--queries", "domain=wild", "--gallery", "domain=shop")
        likewise("discover", workspace, "--k", 6, "--n-queries", sizes.n_queries * 4 // 15, "--random", 200, *elsewhere)
        likewise("label", "simulate", workspace, "--experts", 3)
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
        pl.concat(parts).write_csv(table)
        likewise("new", workspace, table, "--root", data)
    if not (workspace / "vectors" / "layout").exists():
        likewise("encode", workspace, "--with", ENCODERS)
    if not (workspace / "pool.parquet").exists():
        elsewhere = ("--queries", "domain=home", "--gallery", "domain=shop")
        likewise("discover", workspace, "--k", 6, "--n-queries", sizes.n_queries // 2, "--random", 300, *elsewhere)
        vote_by_attributes(workspace, "pool", "votes.csv", ("category",))
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
    """Answers to the pairs of a table that have none yet."""
    pairs = pl.read_parquet(workspace / f"{table}.parquet").select("query", "candidate").unique().sort(pl.all())
    labels = workspace / "labels.parquet"
    if labels.exists():
        pairs = pairs.join(pl.read_parquet(labels), on=["query", "candidate"], how="anti")
    votes = [(q, c, expert, "similar" if alike(q, c) else "not similar") for q, c in pairs.iter_rows()]
    columns = ["query", "candidate", "expert", "answer"]
    pl.DataFrame(votes, schema=columns, orient="row").write_csv(workspace / name)
    likewise("label", "import", workspace, workspace / name)


def run_all(work: Path, data: Path, sizes: Sizes) -> dict[str, Any]:
    """Every result, by name."""
    products, home = make_products(work, data, sizes), make_home(work, data, sizes)
    wardrobe, wild = make_wardrobe(work, sizes), make_wild(work, sizes)
    column = ("--column", "type_colour")
    claims = ("--claims", data / "reality_check" / "reported_precision_at_1.csv")
    check = ("train", "check", products, *column, "--workers", 1)
    low = ("--trunk", "whole", "--with", "efficientnet-lite0?size=32", "--ablate", sizes.factors)
    tables = ("--protocol", "tables", "--unit", "images")
    stored(work / "products_tables.json", "evaluate", products, *tables)
    stored(work / "products_bands.json", "evaluate", products, "--protocol", "bands")
    stored(work / "wardrobe_tables.json", "evaluate", wardrobe, *tables)
    stored(work / "wardrobe_bands.json", "evaluate", wardrobe, "--protocol", "bands")
    stored(work / "home_tables.json", "evaluate", home, *tables)
    stored(work / "wild_tables.json", "evaluate", wild, *tables)
    stored(work / "lessons.json", "train", "lessons", products, *column, *options(sizes.lessons))
    stored(work / "check.json", *check, "--with", STORED, *options(sizes.check), "--name", "photos", *claims)
    stored(work / "ablation.json", *check, *low, *options(sizes.ablation), "--name", "ablation")
    run_paper(work, "paper", products, "type_colour", sizes)
    run_emoji(work, data, sizes)
    return read_finished(work)


def run_emoji(work: Path, data: Path, sizes: Sizes) -> None:
    run_paper(work, "paper_emoji", make_emoji(work, data, sizes), "item", sizes)


def run_paper(work: Path, name: str, workspace: Path, column: str, sizes: Sizes) -> None:
    """The preset `paper`, cut."""
    whole = ("--with", "efficientnet-lite0?size=64", "--methods", "contrastive", *options(sizes.paper))
    command = ("train", "check", workspace, "--column", column, "--workers", 1)
    stored(work / f"{name}.json", *command, *whole, "--name", "paper")


def read_finished(work: Path) -> dict[str, Any]:
    """The results that are there, and how many seconds the presets took."""
    names = [f"{name}_tables" for name in ("products", "home", "wardrobe", "wild")]
    names += ["products_bands", "wardrobe_bands", "lessons", "check", "ablation", "paper", "paper_emoji"]
    files = {name: work / f"{name}.json" for name in names}
    found = {
        name: json.loads(file.read_text()) for name, file in files.items() if file.exists() and file.stat().st_size
    }
    clocks = {f"{name}_seconds": work / f"{name}_seconds.json" for name in ("paper", "paper_emoji")}
    return found | {name: json.loads(file.read_text())["seconds"] for name, file in clocks.items() if file.exists()}
