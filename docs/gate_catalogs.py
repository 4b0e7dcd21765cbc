"""The gate in a catalog that it was not tuned on, with labels of an EDS pool and with drawn ones. Fills docs/gate.md.

    python docs/gate_catalogs.py [--work FOLDER] [--gates N] [--drawn N] [--tuning]
    python docs/gate_catalogs.py --photographs --data FOLDER [--work FOLDER] [--gates N] [--drawn N]

1,200 drawn items with real descriptors, 17 categories of unequal size, similarity as the wardrobe defines it. The old
model is `blend`; colour, shape and texture feed the pool with it. With `--photographs` 1,200 products of a shop,
similar where type and colour are the same; the old model is a network. Every row damages the old model in one way.
What is true is the difference with every item as a query and every pair labelled. *At the margin* is the share of
gates that pass when the margin is exactly what the model truly loses: it should be at most 5 %.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from marks import fill, paragraph
from numpy.typing import NDArray
from photographs import NETWORK, categories, photographs_bench
from sampling_bench import Bench
from seasons import REPORTED, TUNING, wardrobe

from likewise.catalog import read_catalog
from likewise.discovery.designs.drawn_pool import sampled_pool
from likewise.discovery.pool import QueryGallery
from likewise.discovery.step import Pool, PoolSettings
from likewise.evaluation.gate.decision import BoundedDifferences, Evidence, decide_gate
from likewise.evaluation.gate.drawn_labels import drawn_differences
from likewise.evaluation.gate.labels_needed import labelling_order, labels_needed
from likewise.evaluation.gate.list_differences import ListComparison, compare_lists
from likewise.evaluation.measures import CutoffMeasure, nDCG
from likewise.evaluation.measures.ranked import UNJUDGED
from likewise.evaluation.pairs import JudgedPairs
from likewise.workspace import WorkspaceFolder

N_ITEMS, N_QUERIES, LABELS_PER_QUERY, K, EDS_K, DEPTH, MARGIN = 1200, 300, 25, 10, 10, 512, 0.01
MOST_QUERIES = 3000
PAGE = Path(__file__).parent / "gate.md"
MEASURE: CutoffMeasure = nDCG @ K
GENERATORS = ("blend", "colour", "shape", "texture")
OF_PHOTOGRAPHS = (NETWORK, *GENERATORS[1:])
Vectors = NDArray[np.float32]
Ints = NDArray[np.int64]
Rng = np.random.Generator


@dataclass(frozen=True)
class Shop:
    """Items with the vectors of the generators, of which the first is the old model; categories; which are similar."""

    vectors: dict[str, Vectors]
    category: NDArray[np.str_]
    similar: NDArray[np.bool_]

    @property
    def old(self) -> Vectors:
        return next(iter(self.vectors.values()))


@dataclass(frozen=True)
class Damage:
    """A new model made from the old one's vectors."""

    name: str
    change: Callable[[Shop, Vectors, Rng], Vectors]


@dataclass
class Counts:
    """Verdicts of one kind of labels, and how often models pass whose loss is the margin."""

    verdicts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("pass", "fail", "undecided"), 0))
    passed_at_margin: int = 0
    n_lost: int = 0
    wrong_fails: int = 0
    n_good: int = 0

    def add(self, overall: Evidence, categories: dict[str, Evidence], true_loss: float, good: bool) -> None:
        verdict = decide_gate(overall, categories, MARGIN).verdict
        self.verdicts[verdict] += 1
        if good:
            self.n_good += 1
            self.wrong_fails += verdict == "fail"
        if true_loss > 0.0:
            self.n_lost += 1
            self.passed_at_margin += decide_gate(overall, {}, true_loss).overall.verdict == "pass"

    @property
    def n(self) -> int:
        return sum(self.verdicts.values())


@dataclass
class Asked:
    """Of undecided gates that asked for labels (or queries): how many, and how often the answer decides."""

    asked: list[int] = field(default_factory=list)
    decided: int = 0

    @property
    def n(self) -> int:
        return len(self.asked)

    def add(self, n_asked: int, told: BoundedDifferences) -> None:
        self.asked.append(n_asked)
        self.decided += decide_gate(told, {}, MARGIN).verdict != "undecided"


def make_shop(bench: Bench, category: NDArray[np.str_], generators: tuple[str, ...], rng: Rng) -> Shop:
    chosen = np.sort(rng.permutation(bench.n_items)[:N_ITEMS])
    vectors = {name: bench.vectors[bench.names.index(name)][chosen] for name in generators}
    return Shop(vectors, category[chosen], bench.similar[np.ix_(chosen, chosen)])


def wardrobe_categories(folder: Path) -> NDArray[np.str_]:
    catalog = read_catalog(WorkspaceFolder(folder)).unique("item", keep="first", maintain_order=True).sort("item")
    return catalog["category"].to_numpy().astype(str)


def unit(vectors: NDArray[np.floating]) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def noisy(vectors: Vectors, level: float, rng: Rng) -> Vectors:
    return unit(vectors + level * unit(rng.normal(size=vectors.shape)))


def blind(share: float) -> Callable[[Shop, Vectors, Rng], Vectors]:
    def change(shop: Shop, old: Vectors, rng: Rng) -> Vectors:
        names, sizes = np.unique(shop.category, return_counts=True)
        members = np.flatnonzero(shop.category == rng.choice(names[sizes >= np.median(sizes)]))
        hit = rng.choice(members, max(1, round(share * len(members))), replace=False)
        new = old.copy()
        new[hit] = noisy(unit(np.repeat(old[members].mean(axis=0, keepdims=True), len(hit), axis=0)), 0.5, rng)
        return new

    return change


def shuffled(share: float) -> Callable[[Shop, Vectors, Rng], Vectors]:
    def change(shop: Shop, old: Vectors, rng: Rng) -> Vectors:
        hit = rng.choice(N_ITEMS, round(share * N_ITEMS), replace=False)
        new = old.copy()
        new[hit] = new[np.roll(hit, 1)]
        return new

    return change


def fewer_bits(levels: int) -> Callable[[Shop, Vectors, Rng], Vectors]:
    """Vectors stored in a coarser grid."""

    def change(shop: Shop, old: Vectors, rng: Rng) -> Vectors:
        step = float(np.abs(old).max()) / levels
        return unit(np.round(old / step) * step + 1e-6)

    return change


def more_noise(level: float) -> Callable[[Shop, Vectors, Rng], Vectors]:
    return lambda shop, old, rng: noisy(old, level, rng)


DAMAGES = (
    Damage("none: trained again, as good", lambda shop, old, rng: noisy(shop.old, 0.3, rng)),
    *(Damage(f"stored in {2 * n + 1} levels", fewer_bits(n)) for n in (16, 4)),
    *(Damage(f"{100 * share:g} % of a category blind", blind(share)) for share in (0.5, 1.0)),
    *(Damage(f"{100 * share:g} % of the vectors shuffled", shuffled(share)) for share in (0.005, 0.02, 0.05)),
    *(Damage(f"noise of {level:g} on every vector", more_noise(level)) for level in (0.2, 0.5)),
)


def lists_of(vectors: Vectors, depth: int) -> Ints:
    scores = vectors @ vectors.T
    np.fill_diagonal(scores, -np.inf)
    return np.argsort(-scores, axis=1, kind="stable")[:, :depth].astype(np.int64)


def judged(shop: Shop, queries: Ints, listed: list[Ints]) -> JudgedPairs:
    """True labels of the listed candidates of some queries; `None` of the others."""
    cells = np.unique(
        np.concatenate(
            [np.repeat(np.arange(len(queries)), each.shape[1]) * N_ITEMS + each[queries].ravel() for each in listed]
        )
    )
    row, candidate = cells // N_ITEMS, cells % N_ITEMS
    label = shop.similar[queries[row], candidate].astype(np.int8)
    names = [f"{item:05d}" for item in range(N_ITEMS)]
    return JudgedPairs([names[item] for item in queries], names, queries, np.arange(N_ITEMS), row, candidate, label)


def of_categories(found: BoundedDifferences, category: NDArray[np.str_]) -> dict[str, Evidence]:
    each = {str(name): found.of(category == name) for name in np.unique(category)}
    return {name: one for name, one in each.items() if one.n_queries}


def answer(shop: Shop, lists: ListComparison, queries: Ints, n_labels: int) -> ListComparison:
    """The same after the first pairs to label were labelled."""
    labels = np.full(len(lists.query), UNJUDGED)
    first = labelling_order(lists)[:n_labels]
    labels[first] = shop.similar[queries[lists.query[first]], lists.candidate[first]]
    return lists.labelled_as(labels)


def gate_drawn(
    shop: Shop, old: Vectors, new: Vectors, queries: Ints, lists: list[Ints], seed: int
) -> tuple[Evidence, dict[str, Evidence]]:
    names = [f"{item:05d}" for item in range(N_ITEMS)]
    over = QueryGallery([names[item] for item in queries], names, queries, np.arange(N_ITEMS))
    n_labels = LABELS_PER_QUERY * len(queries)
    rows = sampled_pool(over, [each[queries] for each in lists], n_labels, seed)
    said = shop.similar[rows["query"].cast(pl.Int64).to_numpy(), rows["candidate"].cast(pl.Int64).to_numpy()]
    labels = rows.select("query", "candidate", label=pl.Series(said.astype(np.int64)))
    pool = Pool(rows, PoolSettings(GENERATORS, design="sampled", n_labels=n_labels), over)
    pairs = JudgedPairs(
        over.queries, names, queries, over.gallery_items, *(np.empty(0, np.int64),) * 2, np.empty(0, np.int8)
    )
    vectors = {"old": (old[queries], old), "new": (new[queries], new)}
    found = drawn_differences(pool, labels, pairs, vectors, MEASURE, shop.category[queries], seed)
    assert found is not None
    return found.overall, dict(found.categories)


@dataclass
class Row:
    """All gates of one damage."""

    losses: list[float] = field(default_factory=list)
    worst: list[float] = field(default_factory=list)
    before: Counts = field(default_factory=Counts)
    after: Counts = field(default_factory=Counts)
    drawn: Counts = field(default_factory=Counts)
    labels: Asked = field(default_factory=Asked)
    queries: Asked = field(default_factory=Asked)

    def power(self, name: str) -> str:
        cells = [name, points(-float(np.mean(self.losses))), points(float(np.mean(self.worst)))]
        for one in (self.before, self.after, self.drawn):
            cells += [share(one.verdicts[verdict], one.n) for verdict in ("pass", "fail")]
        at_margin = [share(one.passed_at_margin, one.n) for one in (self.after, self.drawn)]
        return f"| {' | '.join([*cells, *(at_margin if np.mean(self.losses) > 0.001 else ['', ''])])} |"

    def needed(self, name: str) -> str:
        cells = [name]
        for one in (self.labels, self.queries):
            cells += [
                f"{one.n}",
                *([f"{np.mean(one.asked):,.0f}", f"{100 * one.decided / one.n:.0f}"] if one.n else ["", ""]),
            ]
        return f"| {' | '.join(cells)} |"


def simulate(
    bench: Bench, category: NDArray[np.str_], generators: tuple[str, ...], n_gates: int, n_drawn: int
) -> Iterator[dict[str, Row]]:
    """The rows so far, after every gate: a run that is stopped has something to show."""
    rows = {damage.name: Row() for damage in DAMAGES}
    for number in range(n_gates):
        rng = np.random.default_rng(number)
        shop = make_shop(bench, category, generators, rng)
        old = noisy(shop.old, 0.3, rng)
        deep = [lists_of(each, DEPTH) for each in (old, *list(shop.vectors.values())[1:])]
        queries = np.sort(rng.choice(N_ITEMS, N_QUERIES, replace=False))
        for damage in DAMAGES:
            gate_once(
                shop,
                old,
                damage.change(shop, old, rng),
                queries,
                deep,
                rows[damage.name],
                number,
                number < n_drawn,
                damage.name.startswith("none"),
            )
        print(f"gate {number + 1} of {n_gates}", flush=True)
        yield rows


def gate_once(
    shop: Shop,
    old: Vectors,
    new: Vectors,
    queries: Ints,
    deep: list[Ints],
    row: Row,
    seed: int,
    also_drawn: bool,
    as_good: bool,
) -> None:
    pool, category = [each[:, :EDS_K] for each in deep], shop.category[queries]
    both = deep[0][:, :K], lists_of(new, K)
    truth = true_differences(shop, *both)
    loss = -float(np.nanmean(truth))
    row.losses.append(loss)
    defined = ~np.isnan(truth)
    known = np.unique(shop.category[defined])
    row.worst.append(min(float(truth[defined & (shop.category == name)].mean()) for name in known))
    good = min(row.worst[-1], -loss) >= -MARGIN or as_good
    lists = compare_lists(MEASURE, both[0][queries], both[1][queries], judged(shop, queries, pool))
    bounds = lists.bounds()
    row.before.add(bounds, of_categories(bounds, category), loss, good)
    whole = answer(shop, lists, queries, len(lists.query)).bounds()
    row.after.add(whole, of_categories(whole, category), loss, good)
    if decide_gate(bounds, {}, MARGIN).verdict == "undecided":
        needed = labels_needed(lists, MARGIN, seed)
        if needed.n_labels is not None:
            told = answer(shop, lists, queries, needed.n_labels).bounds()
            row.labels.add(needed.n_labels, told)
        elif needed.n_queries is not None and needed.n_queries <= MOST_QUERIES:
            values = truth[np.random.default_rng(seed).integers(N_ITEMS, size=needed.n_queries)]
            row.queries.add(needed.n_queries, BoundedDifferences(values, values, values))
    if also_drawn:
        row.drawn.add(*gate_drawn(shop, old, new, queries, deep, seed), loss, good)


def true_differences(shop: Shop, old: Ints, new: Ints) -> NDArray[np.float64]:
    """nDCG@10 of every item as a query, new minus old, with every label known."""
    gain = 1.0 / np.log2(np.arange(2, K + 2))
    n_similar = shop.similar.sum(axis=1)
    ideal = np.append(np.nan, np.cumsum(gain))[np.minimum(n_similar, K)]
    values = [np.take_along_axis(shop.similar, each, 1) @ gain / ideal for each in (old, new)]
    return np.asarray(values[1] - values[0])


def share(part: int, n: int) -> str:
    return f"{100 * part / n:.0f}" if n else ""


def points(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−").replace("−0.0", "+0.0")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "likewise-seasons")
    options.add_argument("--gates", type=int, default=40)
    options.add_argument("--drawn", type=int, default=20)
    options.add_argument("--tuning", action="store_true", help="the wardrobe that settings are chosen on; prints")
    options.add_argument("--photographs", action="store_true")
    options.add_argument("--data", type=Path)
    chosen = options.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    seed = TUNING if chosen.tuning else REPORTED
    if chosen.photographs:
        bench, generators = photographs_bench(chosen.work, chosen.data), OF_PHOTOGRAPHS
        category = categories(chosen.work)
    else:
        bench, generators = wardrobe(chosen.work, seed), GENERATORS
        category = wardrobe_categories(chosen.work / f"wardrobe-{seed}")
    for rows in simulate(bench, category, generators, chosen.gates, chosen.drawn):
        power, needed = power_table(rows), needed_table(rows)
        if chosen.photographs:
            fill(PAGE, {"gate-photographs": power, "gate-photographs-needed": needed})
        elif not chosen.tuning:
            fill(PAGE, {"gate-catalogs": power, "gate-needed": needed})
    if chosen.tuning:
        print(f"{power}\n\n{needed}")


def power_table(rows: dict[str, Row]) -> str:
    heads = ["damage", "truly lost or won", "in the worst category", "EDS labels: pass %", "fail %"]
    heads += ["all asked labelled: pass %", "fail %", "drawn labels: pass %", "fail %"]
    heads += ["passes at the margin, all asked labelled %", "drawn labels %"]
    one = next(iter(rows.values()))
    every = list(rows.values())
    good = [
        (sum(getattr(row, labels).wrong_fails for row in every), sum(getattr(row, labels).n_good for row in every))
        for labels in ("after", "drawn")
    ]
    at_margin = [
        (sum(getattr(row, labels).passed_at_margin for row in every), sum(getattr(row, labels).n_lost for row in every))
        for labels in ("after", "drawn")
    ]
    drawn = one.drawn.n > 0
    said = f"""{one.before.n} gates of each row with EDS labels, {one.drawn.n or "none"} with drawn ones; {N_QUERIES}
    queries; {MEASURE}, margin {100 * MARGIN:g} point. Of the models that truly lose at most the margin, overall and in
    every category, or are as good as the old one, {good[0][0]} of {good[0][1]} fail with everything asked
    labelled{f" and {good[1][0]} of {good[1][1]} with drawn labels" if drawn else ""}. At the margin {at_margin[0][0]}
    of {at_margin[0][1]}{f" and {at_margin[1][0]} of {at_margin[1][1]}" if drawn else ""} pass, over all rows in which
    something is lost."""
    return table(heads, [row.power(name) for name, row in rows.items()]) + f"\n\n{paragraph(said)}"


def needed_table(rows: dict[str, Row]) -> str:
    heads = ["damage", "gates that ask for labels", "how many", "then decided %"]
    heads += ["gates that ask for queries", "how many", "then decided %"]
    return table(heads, [row.needed(name) for name, row in rows.items()])


def table(heads: list[str], rows: list[str]) -> str:
    return "\n".join([f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *rows])


if __name__ == "__main__":
    main()
