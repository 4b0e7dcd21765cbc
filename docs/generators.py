"""How often is the order of two models right? Pools drawn from worlds whose truth is known: fills in `generators.md`.

    python docs/generators.py --work DIR --data PATH [--pools 200]

A pool is drawn many times over: so many generators out of twenty models, so many queries; its pairs are labelled with
the truth, and every two models are put in order by each rule and by the same rule under the truth about all pairs of
the same queries. `--work` keeps the workspaces; `--data` holds the folder products, for the same on photographs.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import polars as pl
from generators_settled import settled_table, worst_comparison
from marks import fill, paragraph
from numpy.typing import NDArray
from scipy.stats import rankdata

from likewise.catalog import items_of, read_catalog
from likewise.catalog.truth import read_truth
from likewise.encoders.spec import spec_name
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.auc import roc_auc, sort_pairs
from likewise.evaluation.differences import ALPHA, holm_correction, paired_differences
from likewise.evaluation.different_generators import FEWEST_DIFFERENT
from likewise.evaluation.estimates.blocks import best_per_unit
from likewise.evaluation.gallery_negatives import draw_gallery_negatives
from likewise.evaluation.pairs import JudgedPairs, select_pairs
from likewise.evaluation.query_sums import QuerySums
from likewise.intervals import interval_of
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
ONE_KIND = (
    ("colour", "colour?crop=0.6", "colour?pca=8&on=all", "colour+texture"),
    ("shape", "shape?size=64", "shape?whiten=32&on=all", "texture+shape"),
    ("efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2", "efficientnet-lite0+colour"),
    ("blend", "blend?pca=16&on=all", "colour+shape", "shape+layout"),
)
K, N_QUERIES, FEWEST, MOST = 6, 100, 3, 6
REPORTED = 1000  # seeds from here on are reported; those below are for trying things out
LABELLED, OWN_LEFT_OUT = "labelled negatives", "labelled negatives, own pairs left out"
IMAGES, ITEMS = "images of the gallery", "items of the gallery, by their best image"
RULES = (LABELLED, OWN_LEFT_OUT, IMAGES, ITEMS)
KINDS = ("two new models", "a generator and a new model", "two generators")
CLEAR = 0.01  # a true difference of one point
SHOWN = ("colour", "texture", "shape", "blend", "efficientnet-lite0", "efficientnet-lite1")
SIZES, N_INTERVALS = (8, 15, 30, 100), 2000

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class World:
    """Models whose every score is known, and which items are truly similar; queries are images of the gallery."""

    models: list[str]
    images: list[str]
    items: Ints
    similar: Bools  # images x items, never the own one
    scores: list[NDArray[np.float32]]  # of each model, images x images
    best: list[NDArray[np.float32]]  # of each model, images x items: the item's best image
    lists: list[Ints]  # of each model, images x K: what it would propose
    truth: dict[str, Floats]  # by rule: models x images, the value where everything is labelled


def world_of(workspace: WorkspaceFolder, models: list[str], similar_items: Bools) -> World:
    """From stored vectors and the true similarity of items, in the order of their numbers."""
    catalog = read_catalog(workspace).sort("image")
    images, (_, items) = catalog["image"].to_list(), np.unique(items_of(catalog), return_inverse=True)
    n_items = int(items.max()) + 1
    numbers = np.unique(items_of(catalog))
    other = items[:, None] != np.arange(n_items)
    similar = similar_items[numbers[items]][:, numbers] & other
    scores, best, lists = [], [], []
    truth: dict[str, list[Floats]] = {IMAGES: [], ITEMS: []}
    for model in models:
        vectors = as_unit(read_vectors(workspace, model, images))
        scores.append(vectors @ vectors.T)
        best.append(best_per_unit(scores[-1], items, n_items))
        found = top_k(vectors, vectors, K, query_groups=items, gallery_groups=items, one_per_group=True)
        lists.append(found.indices)
        truth[ITEMS].append(row_auc(best[-1], similar, other & ~similar))
        if n_items < len(images):
            truth[IMAGES].append(row_auc(scores[-1], similar[:, items], (other & ~similar)[:, items]))
    by_items = np.array(truth[ITEMS])
    by_images = np.array(truth[IMAGES]) if n_items < len(images) else by_items
    limits = {LABELLED: by_images, OWN_LEFT_OUT: by_images, IMAGES: by_images, ITEMS: by_items}
    return World(models, images, items, similar, scores, best, lists, limits)


def row_auc(scores: NDArray[np.float32], positive: Bools, negative: Bools) -> Floats:
    """ROC-AUC of each row, of these columns against those; NaN where one class is missing. Ties count one half."""
    rank = rankdata(np.where(positive | negative, scores, -np.inf), axis=1)
    n_positive, n_negative = positive.sum(axis=1), negative.sum(axis=1)
    n_below = scores.shape[1] - n_positive - n_negative  # of neither class: they rank lowest
    above = np.where(positive, rank, 0.0).sum(axis=1) - n_positive * (n_below + (n_positive + 1) / 2.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(above / (n_positive * n_negative), dtype=np.float64)


@dataclass(frozen=True)
class DrawnPool:
    """Which models proposed, and every model's value by each rule, by this pool and in truth."""

    generators: set[int]
    values: dict[str, Floats]
    truth: dict[str, Floats]
    wrong: dict[str, Bools]  # models x models: significantly better by the pool, and worse in truth
    significant: dict[str, Bools]  # models x models: significantly better by the pool
    n_different: float  # generators, as `different_generators` counts them


def draw_pools(world: World, seeds: range) -> Iterator[DrawnPool]:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n_generators = rng.integers(FEWEST, MOST + 1)
        generators = rng.choice(len(world.models), n_generators, replace=False)
        queries = np.sort(rng.choice(len(world.images), min(N_QUERIES, len(world.images)), replace=False))
        values = pool_values(world, generators, queries, seed)
        truth = {rule: np.nanmean(world.truth[rule][:, queries], axis=1) for rule in RULES}
        better = {rule: significantly_better(each) for rule, each in values.items()}
        wrong = {rule: better[rule] & (truth[rule][:, None] < truth[rule][None]) for rule in RULES}
        means = {rule: np.nanmean(each, axis=1) for rule, each in values.items()}
        yield DrawnPool(set(generators.tolist()), means, truth, wrong, better, n_different(world, generators, queries))


def n_different(world: World, generators: Ints, queries: Ints) -> float:
    """How many different items all generators propose for each one that the largest does."""
    proposed = np.concatenate([world.items[world.lists[model][queries]] for model in generators], axis=1)
    return sum(len(np.unique(row)) for row in proposed) / (K * len(queries))


def significantly_better(values: Floats) -> Bools:
    """Models x models: a's lead over b, tested as `evaluate` does."""
    sums = {str(model): QuerySums.mean_of(each) for model, each in enumerate(values)}
    compared = paired_differences(sums)
    p_holm = holm_correction(np.array([found.p for found in compared.values()]))
    better = np.zeros((len(values), len(values)), dtype=np.bool_)
    for ((a, b), found), p in zip(compared.items(), p_holm, strict=True):
        if p < ALPHA:
            better[(int(a), int(b)) if found.value > 0 else (int(b), int(a))] = True
    return better


def pool_values(
    world: World, generators: Ints, queries: Ints, seed: int, rules: Sequence[str] = RULES
) -> dict[str, Floats]:
    """Models x queries by each rule, where experts say the truth about what these generators propose."""
    proposed = {model: world.lists[model][queries] for model in generators}
    rows = np.repeat(np.arange(len(queries)), K)
    width = len(world.images)
    own = {model: np.unique(rows * width + each.ravel()) for model, each in proposed.items()}
    cells = np.unique(np.concatenate(list(own.values())))
    query, candidate = cells // width, cells % width
    names = [world.images[row] for row in queries]
    label = world.similar[queries[query], world.items[candidate]].astype(np.int8)
    pairs = JudgedPairs(names, world.images, world.items[queries], world.items, query, candidate, label)
    drawn = draw_gallery_negatives(pairs, seed)
    similar, others = np.zeros((2, len(queries), int(world.items.max()) + 1), dtype=np.bool_)
    similar[drawn.query[drawn.label == 1], world.items[drawn.candidate[drawn.label == 1]]] = True
    others[drawn.query[drawn.label == 0], world.items[drawn.candidate[drawn.label == 0]]] = True
    seen = np.zeros((len(queries), width), dtype=np.bool_)
    seen[query[label == 1], candidate[label == 1]] = True
    found: dict[str, list[Floats]] = {rule: [] for rule in rules}
    for model in range(len(world.models)):
        found[ITEMS].append(row_auc(world.best[model][queries], similar, others))
        if len(rules) == 1:
            continue
        left = select_pairs(pairs, ~np.isin(cells, own[model])) if model in own else pairs
        for rule, used in ((LABELLED, pairs), (OWN_LEFT_OUT, left)):
            scores = world.scores[model][queries[used.query], used.candidate].astype(np.float64)
            found[rule].append(roc_auc(sort_pairs(used.query, scores, used.label, len(queries))))
        if len(others[0]) < width:  # items with several images: the labelled one against all images of other items
            found[IMAGES].append(row_auc(world.scores[model][queries], seen, others[:, world.items]))
    if IMAGES in found:
        found[IMAGES] = found[IMAGES] or found[ITEMS]
    return {rule: np.array(values) for rule, values in found.items()}


def ordered_pairs(pools: list[DrawnPool]) -> pl.DataFrame:
    """Every two models of every pool and each rule: of which kind, how far apart in truth, and whether in its order."""
    rows = []
    for number, pool in enumerate(pools):
        for rule in RULES:
            for a, b in combinations(range(len(pool.truth[rule])), 2):
                apart = pool.truth[rule][a] - pool.truth[rule][b]
                right = bool(apart * (pool.values[rule][a] - pool.values[rule][b]) > 0)
                kind = KINDS[(a in pool.generators) + (b in pool.generators)]
                rows.append((number, rule, kind, abs(apart), right))
    return pl.DataFrame(rows, schema=["pool", "rule", "kind", "apart", "right"], orient="row")


def lost_points(pools: list[DrawnPool], rule: str) -> float:
    """How far the model that a rule puts first lies below the truly best one, on average."""
    return float(np.mean([one.truth[rule].max() - one.truth[rule][np.argmax(one.values[rule])] for one in pools]))


def table(pools: list[DrawnPool]) -> str:
    every = ordered_pairs(pools)
    lines = [
        f"| ROC-AUC against | all pairs of models | {' | '.join(KINDS)} | more than a point apart "
        "| significant, but wrong | pools at 95 % or more | lost |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for rule in RULES:
        here = every.filter(rule=rule)
        chosen = [here, *(here.filter(kind=kind) for kind in KINDS), here.filter(pl.col("apart") > CLEAR)]
        shares = [float(np.mean(each["right"].to_numpy())) for each in chosen]
        significant = sum(int(one.significant[rule].sum()) for one in pools)
        shares.append(sum(int(one.wrong[rule].sum()) for one in pools) / max(1, significant))
        by_pool = here.group_by("pool").agg(pl.col("right").mean())
        shares.append(float(np.mean(by_pool["right"].to_numpy() >= 0.95)))
        cells = " | ".join(f"{100 * share:.1f}" for share in shares)
        lines.append(f"| {rule} | {cells} | {100 * lost_points(pools, rule):.1f} |")
    return "\n".join(lines)


def settled(pools: list[DrawnPool]) -> str:
    names = [spec_name(model) for model in MODELS]
    worst = paragraph(worst_comparison(pools, ITEMS, names, FEWEST_DIFFERENT))
    return f"{settled_table(pools, (LABELLED, ITEMS), FEWEST_DIFFERENT)}\n\n{worst}"


def different_table(world: World, seeds: range) -> str:
    """How often the order is right by how different the generators are: one to six of any kind, or some of one kind."""
    rows = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        chosen = rng.choice(len(world.models), rng.integers(1, MOST + 1), replace=False)
        if seed % 2:
            family = ONE_KIND[rng.integers(len(ONE_KIND))]
            chosen = np.array([world.models.index(spec_name(model)) for model in family])[: rng.integers(2, 5)]
        queries = np.sort(rng.choice(len(world.images), min(N_QUERIES, len(world.images)), replace=False))
        distinct = n_different(world, chosen, queries)
        values = pool_values(world, chosen, queries, seed, [ITEMS])[ITEMS]
        truth, means = np.nanmean(world.truth[ITEMS][:, queries], axis=1), np.nanmean(values, axis=1)
        right = [(truth[a] - truth[b]) * (means[a] - means[b]) > 0 for a, b in combinations(range(len(truth)), 2)]
        better = significantly_better(values)
        wrong = int((better & (truth[:, None] < truth[None])).sum())
        rows.append((distinct, float(np.mean(right)), wrong, int(better.sum()), truth.max() - truth[np.argmax(means)]))
    found = np.array(rows)
    lines = [
        "| different generators | pools | all pairs of models | the worst pool | significant, but wrong | lost |",
        "|---|---|---|---|---|---|",
    ]
    for low, high in pairwise((1.0, 1.5, FEWEST_DIFFERENT, 2.5, float(MOST + 1))):
        here = found[(found[:, 0] >= low) & (found[:, 0] < high)]
        if len(here):
            wrong_share = here[:, 2].sum() / max(1.0, here[:, 3].sum())
            shares = here[:, 1].mean(), here[:, 1].min(), wrong_share, here[:, 4].mean()
            upto = f"{low:g} to {high:g}" if high <= MOST else f"{low:g} and more"
            lines.append(f"| {upto} | {len(here)} | {' | '.join(f'{100 * share:.1f}' for share in shares)} |")
    return "\n".join(lines)


def units(world: World) -> str:
    """How often the truth about images and the truth about items put two models in the same order."""
    by_images, by_items = (np.nanmean(world.truth[rule], axis=1) for rule in (IMAGES, ITEMS))
    same = [
        (by_images[a] - by_images[b]) * (by_items[a] - by_items[b]) > 0
        for a, b in combinations(range(len(by_items)), 2)
    ]
    return (
        "On the wardrobe the full truth about images and the full truth about items put two of the twenty models in "
        f"the same order in {100 * float(np.mean(same)):.1f} % of cases; each rule is compared with the truth in its "
        "own unit."
    )


def coverage(world: World, seed: int) -> str:
    """How often the printed interval holds the mean over all queries, for models from poor to near perfect."""
    rng = np.random.default_rng(seed)
    lines = [f"| model | value | {' | '.join(f'{n} queries' for n in SIZES)} |", "|---|---|" + "---|" * len(SIZES)]
    for model in SHOWN:
        values = world.truth[ITEMS][world.models.index(model)]
        values = values[~np.isnan(values)]
        held = []
        for n in SIZES:
            drawn = (interval_of(QuerySums.mean_of(rng.choice(values, n))) for _ in range(N_INTERVALS))
            held.append(float(np.mean([low <= values.mean() <= high for low, high in drawn])))
        cells = " | ".join(f"{100 * share:.1f}" for share in held)
        lines.append(f"| {model} | {100 * values.mean():.1f} | {cells} |")
    return "\n".join(lines)


def likewise(folder: Path, *words: object) -> None:
    print("likewise", *words, flush=True)
    subprocess.run([sys.executable, "-m", "likewise", *map(str, words)], cwd=folder, check=True)


def wardrobe(folder: Path, models: Sequence[str] = MODELS) -> World:
    """600 drawn items in three views, whose true similarity is known."""
    if not (folder / "wardrobe" / "catalog.parquet").exists():
        likewise(folder, "new", "wardrobe", "--wardrobe", "--items", 600)
    return encoded(folder / "wardrobe", truth_of_items, models)


def products(folder: Path, data: Path, n_items: int, models: Sequence[str] = MODELS) -> World:
    """Photographs of a shop, one an item; a proxy for the truth: the same article type and the same colour."""
    if not (folder / "products" / "catalog.parquet").exists():
        every = pl.read_csv(data / "products" / "catalog.csv", infer_schema=False)
        every.sample(min(n_items, len(every)), seed=0).sort("image").write_csv(folder / "products.csv")
        likewise(folder, "new", "products", folder / "products.csv", "--root", data / "products")
    return encoded(folder / "products", same_type_and_colour, models)


def encoded(folder: Path, similar: Callable[[WorkspaceFolder], Bools], models: Sequence[str]) -> World:
    likewise(folder.parent, "encode", folder.name, "--with", ",".join(models))
    workspace = WorkspaceFolder(folder)
    return world_of(workspace, [spec_name(model) for model in models], similar(workspace))


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
    asked.add_argument("--data", type=Path, required=True, help="the folder that holds products")
    asked.add_argument("--only", nargs="+", help="make some blocks of the page")
    asked.add_argument("--pools", type=int, default=200)
    asked.add_argument("--items", type=int, default=2000, help="how many products")
    asked.add_argument("--first-seed", type=int, default=REPORTED)
    given = asked.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    seeds = range(given.first_seed, given.first_seed + given.pools)
    folder, data = given.work.resolve(), given.data.resolve()
    worlds = cache(lambda name: wardrobe(folder) if name == "wardrobe" else products(folder, data, given.items))
    pools = cache(lambda name: list(draw_pools(worlds(name), seeds)))
    makers: dict[str, Callable[[], str]] = {
        "generators-wardrobe": lambda: table(pools("wardrobe")),
        "generators-settled": lambda: settled(pools("wardrobe")),
        "generators-units": lambda: units(worlds("wardrobe")),
        "generators-products": lambda: table(pools("products")),
        "generators-different": lambda: different_table(worlds("wardrobe"), seeds),
        "generators-different-products": lambda: different_table(worlds("products"), seeds),
        "generators-coverage": lambda: coverage(wardrobe(folder, SHOWN), given.first_seed),
        "generators-coverage-products": lambda: coverage(products(folder, data, given.items, SHOWN), given.first_seed),
    }
    blocks = {name: make() for name, make in makers.items() if name in (given.only or makers)}
    print(*blocks.values(), sep="\n\n")
    if given.first_seed == REPORTED and given.pools == 200:
        fill(HERE / "generators.md", blocks)


if __name__ == "__main__":
    main()
