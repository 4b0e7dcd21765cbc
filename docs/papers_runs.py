"""The runs behind `papers.md`, in one working folder; what is there is not done again.

Photographs of a shop (classes by type and colour, attributes as a proxy for similarity), photographs of clothes taken
at home as queries for that shop (garments of the same kind), and the drawn wardrobe, whose truth is known.
"""

import json
import subprocess
import sys
import time
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
MOST_OF_A_TYPE = 150
BANDS = "0-5,6-19,20-99,100-499"
CHECK: dict[str, Any] = {"preset": "quick", "trials": 4, "reruns": 3, "steps": 200}
ABLATION: dict[str, Any] = {
    "half": "train",
    "lr": 1e-5,
    "trials": 2,
    "reruns": 2,
    "steps": 16,
    "evaluate-every": 16,
}
"""Of a pretrained network at 32 pixels, a size that it has not learned: few steps teach it something. At 1e-4 RMSprop
destroyed it; a small network from nothing was better untrained for 600 steps (fold 0, validation classes). The first
trial of the contrastive loss draws margins that teach nothing, so there are two."""
LESSONS = {"max-images": 1500, "random-points": 4000, "untrained": "small,efficientnet-lite0?size=64"}
PAPER: dict[str, Any] = {
    "preset": "paper",
    "half": "train",
    "trials": 1,
    "reruns": 1,
    "steps": 20,
    "evaluate-every": 20,
}


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


def product_classes(work: Path, data: Path) -> Path:
    """A catalog of photographs whose column `type_colour` has classes of 4 to 12."""
    workspace, table = work / "products", work / "products.csv"
    if not (workspace / "catalog.parquet").exists():
        rows = pl.read_csv(data / "products" / "catalog.csv")
        rows = rows.with_columns(pl.format("{}, {}", "articleType", "baseColour").alias("type_colour"))
        rows = rows.with_columns(n=pl.len().over("type_colour"), place=pl.int_range(pl.len()).over("type_colour"))
        kept = rows.filter(pl.col("n") >= MIN_PER_CLASS, pl.col("place") < MAX_PER_CLASS)
        kept.drop("n", "place").write_csv(table)
        likewise("new", workspace, table, "--root", data / "products")
    return workspace


def make_products(work: Path, data: Path) -> Path:
    """Photographs of classes of 4 to 12, with labels by attributes; pairs drawn by rank are labelled, too."""
    workspace = product_classes(work, data)
    if not (workspace / "vectors" / "layout").exists():
        likewise("encode", workspace, "--with", ENCODERS)
    if not (workspace / "pool.parquet").exists():
        likewise("discover", workspace, "--k", 6, "--n-queries", 300, "--random", 300)
        vote_by_attributes(workspace, "pool", "votes.csv")
    if not (workspace / "rank_bands.parquet").exists():
        likewise("label", "add-pairs", workspace, "--by-rank", BANDS, "--per-band", 300)
        vote_by_attributes(workspace, "rank_bands", "more.csv")
    return workspace


def make_wardrobe(work: Path) -> Path:
    """Shop pictures as queries and gallery; simulated experts, and the truth for pairs drawn by rank."""
    workspace = work / "wardrobe"
    if not (workspace / "catalog.parquet").exists():
        likewise("new", workspace, "--wardrobe", "--items", 400, "--views", 3, "--wild", 0.25)
        likewise("encode", workspace)
    if not (workspace / "pool.parquet").exists():
        shop = ("--queries", "domain=shop", "--gallery", "domain=shop")
        likewise("discover", workspace, "--k", 6, "--n-queries", 120, "--random", 300, *shop)
        likewise("label", "simulate", workspace, "--experts", 3)
    if not (workspace / "rank_bands.parquet").exists():
        likewise("label", "add-pairs", workspace, "--by-rank", BANDS, "--per-band", 300)
        vote_by_truth(workspace)
    return workspace


def make_wild(work: Path) -> Path:
    """The same with queries that are photographed elsewhere."""
    workspace = work / "wild"
    if not (workspace / "pool.parquet").exists():
        likewise("new", workspace, "--wardrobe", "--items", 400, "--views", 3, "--wild", 0.25)
        likewise("encode", workspace)
        elsewhere = ("--queries", "domain=wild", "--gallery", "domain=shop")
        likewise("discover", workspace, "--k", 6, "--n-queries", 80, "--random", 200, *elsewhere)
        likewise("label", "simulate", workspace, "--experts", 3)
    return workspace


def make_home(work: Path, data: Path) -> Path:
    """Photographs taken at home as queries, those of a shop as the gallery; similar are garments of the same kind."""
    workspace, table = work / "home", work / "home.csv"
    if not (workspace / "catalog.parquet").exists():
        kind_of = {shop: kind for kind, types in KINDS.items() for shop in types}
        shop = pl.read_csv(data / "products" / "catalog.csv", infer_schema=False)
        shop = shop.filter(pl.int_range(pl.len()).over("articleType") < MOST_OF_A_TYPE)
        parts = [
            photographs(shop, "products", pl.col("articleType").replace_strict(kind_of, default=None), "shop"),
            photographs(
                pl.read_csv(data / "clothing" / "catalog.csv", infer_schema=False),
                "clothing",
                pl.when(pl.col("category").is_in(list(KINDS))).then(pl.col("category")),
                "home",
            ),
        ]
        pl.concat(parts).write_csv(table)
        likewise("new", workspace, table, "--root", data)
    if not (workspace / "vectors" / "layout").exists():
        likewise("encode", workspace, "--with", ENCODERS)
    if not (workspace / "pool.parquet").exists():
        elsewhere = ("--queries", "domain=home", "--gallery", "domain=shop")
        likewise("discover", workspace, "--k", 6, "--n-queries", 150, "--random", 300, *elsewhere)
        vote_by_attributes(workspace, "pool", "votes.csv", ("category",))
    return workspace


def photographs(catalog: pl.DataFrame, folder: str, kind: pl.Expr, domain: str) -> pl.DataFrame:
    """Those of a known kind, each an item of its own."""
    image = pl.format("{}/{}", pl.lit(folder), "image")
    chosen = catalog.select(image=image, item=image, category=kind, domain=pl.lit(domain)).drop_nulls("category")
    return chosen.filter(pl.int_range(pl.len()).over("category") < MOST_OF_A_TYPE)


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


def run_all(work: Path, data: Path) -> dict[str, Any]:
    """Every result, by name."""
    products, home = make_products(work, data), make_home(work, data)
    wardrobe, wild = make_wardrobe(work), make_wild(work)
    column = ("--column", "type_colour")
    claims = ("--claims", data / "reality_check" / "reported_precision_at_1.csv")
    check = ("train", "check", products, *column, "--workers", 1)
    factors = "crops,optimiser,batch-norm,batch-size,miner,embedding-size"
    low = ("--trunk", "whole", "--with", "efficientnet-lite0?size=32", "--ablate", factors)
    whole = ("--with", "efficientnet-lite0?size=64", "--methods", "contrastive")
    tables = ("--protocol", "tables", "--unit", "images")
    found = {
        "products_tables": stored(work / "products_tables.json", "evaluate", products, *tables),
        "products_bands": stored(work / "products_bands.json", "evaluate", products, "--protocol", "bands"),
        "wardrobe_tables": stored(work / "wardrobe_tables.json", "evaluate", wardrobe, *tables),
        "wardrobe_bands": stored(work / "wardrobe_bands.json", "evaluate", wardrobe, "--protocol", "bands"),
        "home_tables": stored(work / "home_tables.json", "evaluate", home, *tables),
        "wild_tables": stored(work / "wild_tables.json", "evaluate", wild, *tables),
        "lessons": stored(work / "lessons.json", "train", "lessons", products, *column, *options(LESSONS)),
        "check": stored(work / "check.json", *check, "--with", STORED, *options(CHECK), "--name", "photos", *claims),
        "ablation": stored(work / "ablation.json", *check, *low, *options(ABLATION), "--name", "ablation"),
        "paper": stored(work / "paper.json", *check, *whole, *options(PAPER), "--name", "paper"),
    }
    return found | {"paper_seconds": json.loads((work / "paper_seconds.json").read_text())["seconds"]}


def read_finished(work: Path) -> dict[str, Any]:
    """The results that are there."""
    names = [f"{name}_tables" for name in ("products", "home", "wardrobe", "wild")]
    names += ["products_bands", "wardrobe_bands", "lessons", "check", "ablation", "paper", "paper_seconds"]
    files = {name: work / f"{name}.json" for name in names}
    found = {
        name: json.loads(file.read_text()) for name, file in files.items() if file.exists() and file.stat().st_size
    }
    if "paper_seconds" in found:
        found["paper_seconds"] = found["paper_seconds"]["seconds"]
    return found
