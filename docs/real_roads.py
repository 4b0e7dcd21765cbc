"""The road on real data, command by command, and where the votes come from."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

ENCODERS = (
    *("colour", "texture", "shape", "layout", "blend"),
    *("efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2"),
)
PROXY = "proxy, not experts"
NO_CATEGORY = ("Not sure", "Other", "Skip")  # how the clothing photos say that nobody knows


@dataclass(frozen=True)
class Road:
    """One data set from pictures to a report."""

    name: str
    n_queries: int
    k: int
    votes: Callable[[pl.DataFrame, pl.DataFrame, Path], pl.DataFrame]
    """From the pool, the catalog and the folder of the data to votes."""
    votes_file: str
    options: tuple[str, ...] = ()


def likewise(folder: Path, *words: object) -> None:
    print("likewise", *words, flush=True)
    subprocess.run([sys.executable, "-m", "likewise", *map(str, words)], cwd=folder, check=True)


def walk(road: Road, data: Path, folder: Path, n_items: int | None, encoders: tuple[str, ...]) -> Path:
    """All five commands in `folder`; what is there already is not done again. Returns the workspace."""
    workspace = folder / road.name
    source = data / road.name
    table = source / "catalog.csv"
    if n_items is not None:
        table = folder / f"{road.name}.csv"
        some_items(pl.read_csv(source / "catalog.csv", infer_schema=False), n_items).write_csv(table)
    if not (workspace / "catalog.parquet").exists():
        likewise(folder, "new", road.name, table, "--root", source)
    likewise(folder, "encode", road.name, "--with", ",".join(encoders))
    settings = ("--k", road.k, "--n-queries", road.n_queries, "--random", 1000, "--replace")
    likewise(folder, "discover", road.name, "--with", ",".join(encoders), *settings, *road.options)
    pool, catalog = (pl.read_parquet(workspace / f"{name}.parquet") for name in ("pool", "catalog"))
    road.votes(pool, catalog, source).write_csv(folder / road.votes_file)
    for old in workspace.glob("votes.db*"):  # of an earlier run of this script
        old.unlink()
    likewise(folder, "label", "import", road.name, road.votes_file)
    likewise(folder, "evaluate", road.name)
    likewise(folder, "report", road.name)
    return workspace


def some_items(catalog: pl.DataFrame, n_items: int) -> pl.DataFrame:
    """All rows of a few items, for a trial."""
    key = "item" if "item" in catalog.columns else "image"
    chosen = catalog[key].unique(maintain_order=True).sample(min(n_items, catalog[key].n_unique()), seed=0)
    return catalog.filter(pl.col(key).is_in(chosen.to_list()))


def pairs_with(pool: pl.DataFrame, catalog: pl.DataFrame, column: str) -> pl.DataFrame:
    """Every pair of the pool once, with a column of the catalog for both sides."""
    value = catalog.select("image", column)
    return (
        pool.select("query", "candidate")
        .unique()
        .sort("query", "candidate")
        .join(value.rename({"image": "query", column: "left"}), on="query")
        .join(value.rename({"image": "candidate", column: "right"}), on="candidate")
        .sort("query", "candidate")
    )


def votes_by(column: str) -> Callable[[pl.DataFrame, pl.DataFrame, Path], pl.DataFrame]:
    """A stand-in for experts: two images are called similar when this column of the catalog is the same."""

    def votes(pool: pl.DataFrame, catalog: pl.DataFrame, _: Path) -> pl.DataFrame:
        unknown = pl.col("left").is_in(NO_CATEGORY) | pl.col("right").is_in(NO_CATEGORY)
        same = pl.when(pl.col("left") == pl.col("right")).then(pl.lit("similar")).otherwise(pl.lit("not similar"))
        answer = pl.when(unknown).then(pl.lit("cannot tell")).otherwise(same)
        expert = pl.lit(f"{column} ({PROXY})")
        return pairs_with(pool, catalog, column).select("query", "candidate", expert=expert, answer=answer)

    return votes


def wins(triplets: Path) -> pl.DataFrame:
    """For every reference and material: how many answers preferred it to another one, and how many the other."""
    asked = pl.read_csv(triplets)
    sides = [("chosen", "votes_chosen", "votes_other"), ("other", "votes_other", "votes_chosen")]
    both = [asked.select("reference", item=item, won=won, lost=lost) for item, won, lost in sides]
    summed = pl.concat(both).group_by("reference", "item").agg(pl.col("won", "lost").sum()).sort("reference", "item")
    return summed.with_columns(rate=pl.col("won") / (pl.col("won") + pl.col("lost")))


def votes_of_people(pool: pl.DataFrame, catalog: pl.DataFrame, source: Path) -> pl.DataFrame:
    """Every answer in which a material stood beside another one, as a vote on how well it matches the reference.

    The voters are anonymous, so they are numbered anew for every pair.
    """
    asked = wins(source / "triplets.csv").rename({"reference": "left", "item": "right"})
    pairs = pairs_with(pool, catalog, "item").join(asked, on=["left", "right"], how="inner").sort("query", "candidate")
    rows = [
        (query, candidate, f"voter {number + 1:02}", "similar" if number < won else "not similar")
        for query, candidate, won, lost in pairs.select("query", "candidate", "won", "lost").iter_rows()
        for number in range(won + lost)
    ]
    return pl.DataFrame(rows, schema=["query", "candidate", "expert", "answer"], orient="row")
