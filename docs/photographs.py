"""Photographs of a shop's products as a catalog of known truth, beside the drawn wardrobe, for `seasons.py` and the
gate's scripts.

Similar are products of the same type and colour, a proxy: attributes that the shop gave, not what people would say.
"""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from papers_catalogs import likewise
from sampling_bench import Bench, make_bench

from likewise.catalog import read_catalog
from likewise.encoders.storage.reading import read_vectors
from likewise.workspace import WorkspaceFolder

PROXY = ("articleType", "baseColour")
CATEGORY = "subCategory"
NETWORK, OTHER_NETWORK = "efficientnet-lite0", "efficientnet-lite1"
GENERATORS = (NETWORK, "colour", "shape", "layout", "texture")
MEASURED = (NETWORK, "colour", "shape", OTHER_NETWORK, "noisy network")  # the last two feed no pool
PIXELS = 96
N_STOCK, SEED = 2400, 2
Vectors = NDArray[np.float32]


def make_workspace(work: Path, data: Path, n_items: int, encoders: tuple[str, ...]) -> WorkspaceFolder:
    """So many products, drawn once, with vectors; the networks see PIXELS."""
    folder, table = work / f"products-{n_items}", work / f"products-{n_items}.csv"
    if not (folder / "catalog.parquet").exists():
        rows = pl.read_csv(data / "products" / "catalog.csv")
        chosen = np.sort(np.random.default_rng(SEED).permutation(len(rows))[:n_items])
        rows[chosen].write_csv(table)
        likewise("new", folder, table, "--root", data / "products")
    missing = [name for name in encoders if stored_name(name) not in WorkspaceFolder(folder).encoders()]
    if missing:
        likewise("encode", folder, "--with", ",".join(encoder(name) for name in missing))
    return WorkspaceFolder(folder)


def encoder(name: str) -> str:
    return f"{name}?size={PIXELS}" if name.startswith("efficientnet") else name


def stored_name(name: str) -> str:
    return encoder(name).replace("?", "_").replace("=", "-")


def read_products(workspace: WorkspaceFolder, encoders: tuple[str, ...]) -> tuple[pl.DataFrame, dict[str, Vectors]]:
    """Products in the order of their items, and their vectors at unit length."""
    catalog = read_catalog(workspace).sort("item")
    seen = {name: read_vectors(workspace, stored_name(name), catalog["image"].to_list()) for name in encoders}
    return catalog, {name: unit(each) for name, each in seen.items()}


def unit(vectors: NDArray[np.floating]) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def group_numbers(catalog: pl.DataFrame) -> NDArray[np.int64]:
    """Products of one number are similar."""
    return catalog.select(pl.concat_str(PROXY, separator=", ").rank("dense")).to_series().to_numpy().astype(np.int64)


def photographs_bench(work: Path, data: Path, n_items: int = N_STOCK) -> Bench:
    """So many products as `seasons.wardrobe` has drawn items; five models feed the pool."""
    encoders = (*GENERATORS, OTHER_NETWORK)
    catalog, seen = read_products(make_workspace(work, data, n_items, encoders), encoders)
    noise = unit(np.random.default_rng(0).standard_normal(seen[NETWORK].shape))
    seen["noisy network"] = unit(unit(seen[NETWORK] - seen[NETWORK].mean(axis=0)) + np.float32(1.0) * noise)
    group = group_numbers(catalog)
    similar = group[:, None] == group[None, :]
    np.fill_diagonal(similar, False)
    title = f"{len(catalog):,} photographs of products"
    every = np.arange(len(catalog))
    return make_bench("photographs", title, seen, len(GENERATORS), every, similar, len(catalog))


def categories(work: Path) -> NDArray[np.str_]:
    """Of the products of `photographs_bench`, in its order."""
    catalog = read_catalog(WorkspaceFolder(work / f"products-{N_STOCK}")).sort("item")
    return catalog[CATEGORY].to_numpy().astype(str)
