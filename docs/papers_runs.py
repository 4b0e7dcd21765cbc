"""The runs behind `papers.md`, in one working folder; what is there is not done again.

Photographs of a shop (classes by type and colour, attributes as a proxy for similarity), and the drawn wardrobe, whose
truth is known.
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
BANDS = "0-5,6-19,20-99,100-499"
CHECK: dict[str, Any] = {"preset": "quick", "trials": 4, "reruns": 3, "steps": 200}
ABLATION: dict[str, Any] = {"half": "train", "trials": 1, "reruns": 2, "steps": 30, "evaluate-every": 30}
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


def make_products(work: Path, data: Path) -> Path:
    """Photographs of classes of 4 to 12, with labels by attributes; pairs drawn by rank are labelled, too."""
    workspace, table = work / "products", work / "products.csv"
    if not (workspace / "catalog.parquet").exists():
        rows = pl.read_csv(data / "products" / "catalog.csv")
        rows = rows.with_columns(pl.format("{}, {}", "articleType", "baseColour").alias("type_colour"))
        rows = rows.with_columns(n=pl.len().over("type_colour"), place=pl.int_range(pl.len()).over("type_colour"))
        kept = rows.filter(pl.col("n") >= MIN_PER_CLASS, pl.col("place") < MAX_PER_CLASS)
        kept.drop("n", "place").write_csv(table)
        likewise("new", workspace, table, "--root", data / "products")
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


def vote_by_attributes(workspace: Path, table: str, name: str) -> None:
    """One vote for each pair: similar where type, colour and gender are the same."""
    catalog = pl.read_parquet(workspace / "catalog.parquet")
    known = {row["image"]: tuple(row[column] for column in PROXY) for row in catalog.iter_rows(named=True)}
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
    products, wardrobe, wild = make_products(work, data), make_wardrobe(work), make_wild(work)
    column = ("--column", "type_colour")
    claims = ("--claims", data / "reality_check" / "reported_precision_at_1.csv")
    check = ("train", "check", products, *column, "--workers", 1)
    factors = "crops,optimiser,batch-norm,batch-size,miner,embedding-size"
    small = ("--trunk", "small", "--with", "small?size=32", "--ablate", factors)
    whole = ("--with", "efficientnet-lite0?size=64", "--methods", "contrastive")
    tables = ("--protocol", "tables", "--unit", "images")
    return {
        "products_tables": stored(work / "products_tables.json", "evaluate", products, *tables),
        "products_bands": stored(work / "products_bands.json", "evaluate", products, "--protocol", "bands"),
        "wardrobe_tables": stored(work / "wardrobe_tables.json", "evaluate", wardrobe, *tables),
        "wardrobe_bands": stored(work / "wardrobe_bands.json", "evaluate", wardrobe, "--protocol", "bands"),
        "wild_tables": stored(work / "wild_tables.json", "evaluate", wild, *tables),
        "lessons": stored(
            work / "lessons.json", "train", "lessons", products, *column, "--max-images", 1500, "--random-points", 4000
        ),
        "check": stored(work / "check.json", *check, "--with", STORED, *options(CHECK), "--name", "photos", *claims),
        "ablation": stored(work / "ablation.json", *check, *small, *options(ABLATION), "--name", "ablation"),
        "paper": stored(work / "paper.json", *check, *whole, *options(PAPER), "--name", "paper"),
        "paper_seconds": json.loads((work / "paper_seconds.json").read_text())["seconds"],
    }


def read_finished(work: Path) -> dict[str, Any]:
    """The results that are there."""
    names = [f"{name}_tables" for name in ("products", "wardrobe", "wild")]
    names += ["products_bands", "wardrobe_bands", "lessons", "check", "ablation", "paper", "paper_seconds"]
    files = {name: work / f"{name}.json" for name in names}
    found = {
        name: json.loads(file.read_text()) for name, file in files.items() if file.exists() and file.stat().st_size
    }
    if "paper_seconds" in found:
        found["paper_seconds"] = found["paper_seconds"]["seconds"]
    return found
