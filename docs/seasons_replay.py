"""One replay of a catalog over seasons: items go and come, the workspace is updated, new pairs are labelled.

Everything but the pictures is the real thing: a workspace with its history (`update`), imported vectors, the pool as
`discover` makes and grows it, and the estimates of `evaluate`. Labels come from the known truth.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image
from sampling_bench import Bench

from likewise.catalog.make import make_catalog
from likewise.discovery.grow import grow_pool
from likewise.discovery.rounds import extend_by_round
from likewise.discovery.step import Design, Pool, PoolSettings, make_pool, read_pool, store_pool
from likewise.encoders.storage.importing import import_vectors
from likewise.evaluation.estimates.step import estimate_pool
from likewise.update import update_catalog
from likewise.workspace import WorkspaceFolder

N_ITEMS, N_SEASONS, EXCHANGED, COMEBACK = 600, 12, 0.2, 7
N_QUERIES, LABELS_PER_QUERY, ROUNDS, EDS_K = 60, 25, 5, 6
MODELS = ("colour", "shape", "blend", "attributes", "noisy blend")  # the first three feed the pool, with two others
MEASURES, KS = ("P@5", "nDCG@10", "ROC_AUC"), (5, 10)
TABLES = ("kept", "full", "truth")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Season:
    """After a season: estimates (models x value, low, high) of both ways, what is true, and what each way cost."""

    number: int
    n_items: int
    n_new_labels: int
    n_full_labels: int
    kept: dict[str, Floats]
    full: dict[str, Floats]
    truth: dict[str, Floats]

    def to_json(self) -> dict[str, object]:
        tables = {name: {key: rows.tolist() for key, rows in getattr(self, name).items()} for name in TABLES}
        return {**self.__dict__, **tables}

    @staticmethod
    def from_json(stored: dict[str, Any]) -> "Season":
        tables = {name: {key: np.array(rows) for key, rows in stored[name].items()} for name in TABLES}
        return Season(**{**stored, **tables})


def image_name(item: int) -> str:
    return f"{item:05d}.png"


def items_of_images(images: list[str]) -> NDArray[np.int64]:
    return np.array([int(image[:5]) for image in images], dtype=np.int64)


def save_pictures(folder: Path, n_items: int) -> None:
    """A small picture of its own for every item: what an update tells images apart by."""
    folder.mkdir(parents=True, exist_ok=True)
    for item in range(n_items):
        if not (folder / image_name(item)).exists():
            pixels = np.random.default_rng(item).integers(0, 256, (8, 8, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / image_name(item))


class Stock:
    """A workspace over a catalog of which some items are present."""

    def __init__(
        self, bench: Bench, models: tuple[str, ...], folder: Path, pictures: Path, design: Design, seed: int
    ) -> None:
        self.bench, self.folder, self.pictures = bench, folder, pictures
        self.measured = {name: bench.vectors[bench.names.index(name)] for name in models}
        self.rng = np.random.default_rng(seed)
        self.stock = self.rng.permutation(bench.n_items).tolist()
        self.present = sorted(self.stock.pop() for _ in range(N_ITEMS))
        self.gone: list[int] = []
        self.workspace = WorkspaceFolder(folder / "workspace")
        self.generators = tuple(f"{bench.names[place]}-descriptor" for place in bench.generators)
        make_catalog(self.workspace, self._rows(), pictures, "table")
        self._bring_vectors()
        drawn = design != "eds"
        self.settings = PoolSettings(
            self.generators,
            k=EDS_K,
            n_queries=N_QUERIES,
            seed=seed,
            design=design,
            n_random=0,
            n_labels=LABELS_PER_QUERY * N_QUERIES if drawn else None,
            n_rounds=ROUNDS if design == "adaptive" else 1,
            purpose="comparing" if design == "adaptive" else None,
        )
        store_pool(self.workspace, self._all_rounds(make_pool(self.workspace, self.settings)))

    def exchange(self, season: int) -> None:
        """A fifth goes and new items come; in one season half of all that had gone come back instead."""
        n_leaving = round(EXCHANGED * len(self.present))
        leaving = set(self.rng.choice(self.present, n_leaving, replace=False).tolist())
        if season == COMEBACK:
            coming = self.rng.choice(self.gone, len(self.gone) // 2, replace=False).tolist()
        else:
            coming = [self.stock.pop() for _ in range(n_leaving)]
        self.gone = sorted((set(self.gone) | leaving) - set(coming))
        self.present = sorted((set(self.present) - leaving) | set(coming))
        update_catalog(self.workspace, self._rows(), self.pictures)
        self._bring_vectors()

    def grow(self) -> int:
        """Let `discover` add what is new; how many labels that asks for."""
        grown = grow_pool(self.workspace, labels=self.labels(read_pool(self.workspace)))
        store_pool(self.workspace, grown.pool, replace=True)
        return grown.n_new_pairs

    def full_pool(self, seed: int) -> Pool:
        """The same design from the beginning, over the catalog of now; nothing is stored."""
        settings = PoolSettings(**{**self.settings.__dict__, "seed": seed})
        return self._all_rounds(make_pool(self.workspace, settings))

    def estimate(self, pool: Pool) -> dict[str, Floats]:
        """Per measure a row for every model: value, low, high."""
        over, labels = pool.query_gallery, self.labels(pool)
        queries, gallery = items_of_images(over.queries), items_of_images(over.gallery)
        vectors = {name: (each[queries], each[gallery]) for name, each in self.measured.items()}
        found = estimate_pool(pool.rows, labels, over, vectors, tuple(vectors), ks=KS, update_rounds=pool.update_rounds)
        assert found is not None
        by_model = found.estimates.by_encoder
        return {
            name: np.array([(one[name].value, *one[name].share_interval()) for one in by_model]) for name in MEASURES
        }

    def truth(self, pool: Pool | None = None) -> dict[str, Floats]:
        """Every pair labelled: of every item as a query, or of a pool's queries alone."""
        items = np.array(self.present)
        asked = items if pool is None else items_of_images(pool.query_gallery.queries)
        own, similar = asked[:, None] == items[None, :], self.bench.similar[np.ix_(asked, items)]
        scores = (each[asked] @ each[items].T for each in self.measured.values())
        values = np.array([true_values(np.where(own, -np.inf, each), similar) for each in scores])
        return dict(zip(MEASURES, values.T, strict=True))

    def labels(self, pool: Pool) -> pl.DataFrame:
        """What perfect experts say of every pair of a pool."""
        pairs = pool.rows.select("query", "candidate").unique()
        query, candidate = (items_of_images(pairs[name].to_list()) for name in ("query", "candidate"))
        return pairs.with_columns(label=pl.Series(self.bench.similar[query, candidate].astype(np.int64)))

    def _all_rounds(self, pool: Pool) -> Pool:
        for _ in range(pool.settings.n_rounds - 1):
            pool = extend_by_round(self.workspace, pool, self.labels(pool))
        return pool

    def _rows(self) -> pl.DataFrame:
        names = [image_name(item) for item in self.present]
        return pl.DataFrame({"image": names, "item": [name[:5] for name in names]})

    def _bring_vectors(self) -> None:
        images = np.array([image_name(item) for item in self.present])
        for place, name in zip(self.bench.generators, self.generators, strict=True):
            file = self.folder / "vectors.npz"
            np.savez(file, images=images, vectors=self.bench.vectors[place][self.present])
            import_vectors(self.workspace, name, file)


def true_values(scores: NDArray[np.float32], similar: NDArray[np.bool_]) -> tuple[float, float, float]:
    """P@5, nDCG@10 and ROC_AUC by their formulas, over the queries (the last two: those with a similar item).

    The query itself has the lowest score.
    """
    order = np.argsort(-scores, axis=1, kind="stable")[:, :-1]
    listed = np.take_along_axis(similar, order, 1)
    n_similar, n = listed.sum(axis=1), listed.shape[1]
    some = n_similar > 0
    gain = 1.0 / np.log2(np.arange(2, 12))
    ndcg = (listed[:, :10] @ gain)[some] / np.cumsum(gain)[np.minimum(n_similar[some], 10) - 1]
    above = (listed * np.arange(n)).sum(axis=1)[some] - n_similar[some] * (n_similar[some] - 1) / 2.0
    area = 1.0 - above / (n_similar[some] * (n - n_similar[some]))
    return float(listed[:, :5].mean()), float(ndcg.mean()), float(area.mean())


def replay(
    bench: Bench, models: tuple[str, ...], folder: Path, pictures: Path, design: Design, seed: int
) -> list[Season]:
    """The seasons of one stock, the first one included."""
    stock, seasons = Stock(bench, models, folder, pictures, design, seed), []
    for number in range(N_SEASONS + 1):
        n_new = 0
        if number:
            stock.exchange(number)
            n_new = stock.grow()
        pool, full = read_pool(stock.workspace), stock.full_pool(1000 * seed + number)
        n_full, n_queries = full.rows.select("query", "candidate").n_unique(), len(full.query_gallery.queries)
        n_full = round(n_full * len(pool.query_gallery.queries) / n_queries)
        kept, anew = ({}, {}) if design == "eds" else (stock.estimate(pool), stock.estimate(full))
        seasons.append(Season(number, len(stock.present), n_new, n_full, kept, anew, stock.truth()))
    return seasons


def own_errors(
    bench: Bench, models: tuple[str, ...], folder: Path, pictures: Path, design: Design, seed: int
) -> list[list[float]]:
    """Of the updated pools, a row for every season: mean error of each measure against the truth of their queries."""
    stock, rows = Stock(bench, models, folder, pictures, design, seed), []
    for number in range(N_SEASONS + 1):
        if number:
            stock.exchange(number)
            stock.grow()
        pool = read_pool(stock.workspace)
        kept, truth = stock.estimate(pool), stock.truth(pool)
        rows.append([float((kept[name][:, 0] - truth[name]).mean()) for name in MEASURES])
    return rows
