"""How often is the order of two models right? Pools drawn from worlds whose truth is known: fills in `generators.md`.

    python docs/generators.py --work DIR [--data PATH] [--pools 200]

A pool is drawn many times over: so many generators out of twenty models, so many queries; its pairs are labelled with
the truth, and every two models are put in order by each rule and by the truth of all pairs of the same queries.
`--work` keeps the workspaces; `--data` holds the folder products, for the same on photographs.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from marks import fill
from numpy.typing import NDArray

from likewise.catalog import items_of, read_catalog
from likewise.catalog.truth import read_truth
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.auc import roc_auc, sort_pairs
from likewise.evaluation.gallery_negatives import draw_gallery_negatives
from likewise.evaluation.pairs import JudgedPairs, select_pairs
from likewise.neighbours import as_unit, top_k
from likewise.workspace import WorkspaceFolder

HERE = Path(__file__).parent
MODELS = (
    *(
        "colour",
        "texture",
        "shape",
        "layout",
        "blend",
        "efficientnet-lite0",
        "efficientnet-lite1",
        "efficientnet-lite2",
    ),
    *("colour+texture", "colour+shape", "colour+layout", "texture+shape", "texture+layout", "shape+layout"),
    *("efficientnet-lite0+colour", "colour?crop=0.6", "shape?size=64"),
    *("blend?pca=16&on=all", "colour?pca=8&on=all", "shape?whiten=32&on=all"),
)
K, N_QUERIES, FEWEST, MOST = 6, 100, 3, 6
REPORTED = 1000  # seeds from here on are reported; those below are for trying things out
LABELLED, OWN_LEFT_OUT, GALLERY = "labelled pairs", "labelled pairs, own left out", "gallery"
RULES = (LABELLED, OWN_LEFT_OUT, GALLERY)
KINDS = ("two new models", "a generator and a new model", "two generators")
CLEAR = 0.01  # a true difference of one point

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class World:
    """Models whose every score is known, and which images are truly similar; queries are images of the gallery."""

    models: list[str]
    images: list[str]
    items: Ints
    similar: Bools  # images x images, never of one item
    scores: list[NDArray[np.float32]]  # of each model, images x images
    lists: list[Ints]  # of each model, images x K: what it would propose
    truth: Floats  # models x images: ROC-AUC over all candidates


def world_of(workspace: WorkspaceFolder, models: list[str], similar_items: Bools) -> World:
    """From stored vectors and the true similarity of items, in the order of their numbers."""
    catalog = read_catalog(workspace).sort("image")
    images, items = catalog["image"].to_list(), items_of(catalog)
    other = items[:, None] != items[None, :]
    similar = similar_items[items[:, None], items[None, :]] & other
    scores, lists, truth = [], [], []
    for model in models:
        vectors = as_unit(read_vectors(workspace, model, images))
        scores.append(vectors @ vectors.T)
        found = top_k(vectors, vectors, K, query_groups=items, gallery_groups=items, one_per_group=True)
        lists.append(found.indices)
        truth.append(true_auc(scores[-1], similar, other))
    return World(models, images, items, similar, scores, lists, np.array(truth))


def true_auc(scores: NDArray[np.float32], similar: Bools, other: Bools) -> Floats:
    """Of each query, over all candidates of other items; NaN where nothing is similar."""
    query, candidate = np.nonzero(other)
    label = similar[query, candidate].astype(np.int8)
    return roc_auc(sort_pairs(query, scores[query, candidate].astype(np.float64), label, len(scores)))


@dataclass(frozen=True)
class DrawnPool:
    """Which models proposed, and every model's value by each rule and in truth."""

    generators: set[int]
    values: dict[str, Floats]
    truth: Floats


def draw_pools(world: World, seeds: range) -> Iterator[DrawnPool]:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n_generators = rng.integers(FEWEST, MOST + 1)
        generators = rng.choice(len(world.models), n_generators, replace=False)
        queries = np.sort(rng.choice(len(world.images), min(N_QUERIES, len(world.images)), replace=False))
        values = pool_values(world, generators, queries, seed)
        yield DrawnPool(set(generators.tolist()), values, np.nanmean(world.truth[:, queries], axis=1))


def pool_values(world: World, generators: Ints, queries: Ints, seed: int) -> dict[str, Floats]:
    """Every model's value by each rule, where experts say the truth about what these generators propose."""
    proposed = {model: world.lists[model][queries] for model in generators}
    rows = np.repeat(np.arange(len(queries)), K)
    width = len(world.images)
    own = {model: np.unique(rows * width + each.ravel()) for model, each in proposed.items()}
    cells = np.unique(np.concatenate(list(own.values())))
    query, candidate = cells // width, cells % width
    names = [world.images[row] for row in queries]
    label = world.similar[queries[query], candidate].astype(np.int8)
    pairs = JudgedPairs(names, world.images, world.items[queries], world.items, query, candidate, label)
    drawn = draw_gallery_negatives(pairs, seed)
    found: dict[str, list[float]] = {rule: [] for rule in RULES}
    for model in range(len(world.models)):
        left = select_pairs(pairs, ~np.isin(cells, own[model])) if model in own else pairs
        for rule, used in ((LABELLED, pairs), (OWN_LEFT_OUT, left), (GALLERY, drawn)):
            scores = world.scores[model][queries[used.query], used.candidate].astype(np.float64)
            found[rule].append(float(np.nanmean(roc_auc(sort_pairs(used.query, scores, used.label, len(queries))))))
    return {rule: np.array(values) for rule, values in found.items()}


def ordered_pairs(pools: Iterator[DrawnPool]) -> pl.DataFrame:
    """Every two models of every pool: of which kind, how far apart in truth, and which rules order them so."""
    rows = []
    for number, pool in enumerate(pools):
        for a, b in combinations(range(len(pool.truth)), 2):
            apart = pool.truth[a] - pool.truth[b]
            right = {rule: bool(apart * (pool.values[rule][a] - pool.values[rule][b]) > 0) for rule in RULES}
            kind = KINDS[(a in pool.generators) + (b in pool.generators)]
            rows.append({"pool": number, "kind": kind, "apart": abs(apart)} | right)
    return pl.DataFrame(rows)


def lost_points(pools: list[DrawnPool]) -> dict[str, float]:
    """By each rule: how far the model it puts first lies below the truly best one, on average."""
    return {
        rule: float(np.mean([pool.truth.max() - pool.truth[np.argmax(pool.values[rule])] for pool in pools]))
        for rule in RULES
    }


def table(pools: list[DrawnPool]) -> str:
    every = ordered_pairs(iter(pools))
    clear = every.filter(pl.col("apart") > CLEAR)
    lost = lost_points(pools)
    lines = [
        f"| ranked by ROC-AUC against | all pairs of models | {' | '.join(KINDS)} | more than a point apart | lost |",
        "|---|---|---|---|---|---|---|",
    ]
    for rule in RULES:
        shares = [every[rule].mean(), *(every.filter(kind=kind)[rule].mean() for kind in KINDS), clear[rule].mean()]
        cells = [f"{100 * float(share):.1f}" for share in shares]  # type: ignore[arg-type]
        lines.append(f"| {rule} | {' | '.join(cells)} | {100 * lost[rule]:.1f} |")
    return "\n".join(lines)


def likewise(folder: Path, *words: object) -> None:
    print("likewise", *words, flush=True)
    subprocess.run([sys.executable, "-m", "likewise", *map(str, words)], cwd=folder, check=True)


def wardrobe(folder: Path) -> World:
    """600 drawn items in three views, whose true similarity is known."""
    if not (folder / "wardrobe" / "catalog.parquet").exists():
        likewise(folder, "new", "wardrobe", "--wardrobe", "--items", 600)
    return encoded(folder / "wardrobe", truth_of_items)


def products(folder: Path, data: Path, n_items: int) -> World:
    """Photographs of a shop, one an item; a proxy for the truth: the same article type and the same colour."""
    if not (folder / "products" / "catalog.parquet").exists():
        every = pl.read_csv(data / "products" / "catalog.csv", infer_schema=False)
        every.sample(min(n_items, len(every)), seed=0).sort("image").write_csv(folder / "products.csv")
        likewise(folder, "new", "products", folder / "products.csv", "--root", data / "products")
    return encoded(folder / "products", same_type_and_colour)


def encoded(folder: Path, similar: Callable[[WorkspaceFolder], Bools]) -> World:
    from likewise.encoders.spec import spec_name

    likewise(folder.parent, "encode", folder.name, "--with", ",".join(MODELS))
    workspace = WorkspaceFolder(folder)
    return world_of(workspace, [spec_name(model) for model in MODELS], similar(workspace))


def truth_of_items(workspace: WorkspaceFolder) -> Bools:
    """items x items, by truth.parquet."""
    catalog = read_catalog(workspace)
    number = dict(zip(catalog["item"], items_of(catalog).tolist(), strict=True))
    similar = np.zeros((max(number.values()) + 1,) * 2, dtype=np.bool_)
    for a, b in read_truth(workspace).iter_rows():
        similar[number[a], number[b]] = similar[number[b], number[a]] = True
    return similar


def same_type_and_colour(workspace: WorkspaceFolder) -> Bools:
    catalog = read_catalog(workspace)
    said = dict(zip(items_of(catalog).tolist(), catalog.select("articleType", "baseColour").iter_rows(), strict=True))
    names = np.array(["\0".join(map(str, said.get(item, (item,)))) for item in range(max(said) + 1)])
    return np.asarray(names[:, None] == names[None, :])


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--work", type=Path, required=True, help="where the workspaces are made and kept")
    asked.add_argument("--data", type=Path, help="the folder that holds products")
    asked.add_argument("--pools", type=int, default=200)
    asked.add_argument("--items", type=int, default=2000, help="how many products")
    asked.add_argument("--first-seed", type=int, default=REPORTED)
    given = asked.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    seeds = range(given.first_seed, given.first_seed + given.pools)
    blocks = {"generators-wardrobe": table(list(draw_pools(wardrobe(given.work.resolve()), seeds)))}
    if given.data:
        photographs = products(given.work.resolve(), given.data.resolve(), given.items)
        blocks["generators-products"] = table(list(draw_pools(photographs, seeds)))
    print(*blocks.values(), sep="\n\n")
    if given.first_seed == REPORTED and given.pools == 200:
        fill(HERE / "generators.md", blocks)


if __name__ == "__main__":
    main()
