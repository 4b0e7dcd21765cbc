"""Which encoders feed a pool by default, measured on real data: `python docs/default_encoders.py --data PATH`.

PATH holds the folders clothing, emoji and materials.  Queries are divided into halves: the choice is made on one, and
the tables of `encoders.md` show the other.  `--work` keeps the workspaces, so that a stopped run goes on.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from encoders_page import table
from marks import fill, paragraph
from numpy.typing import NDArray
from real_roads import NO_CATEGORY, likewise, some_items, wins

from likewise.encoders.model_cards import BUILT_IN, DEFAULT_ENCODERS
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.auc import roc_auc, sort_pairs
from likewise.evaluation.triplet_file import read_triplets
from likewise.evaluation.triplets import MeanItemVectors, mean_item_vectors, triplet_agreement
from likewise.workspace import WorkspaceFolder

PAGE = Path(__file__).with_name("encoders.md")
DEEP = "efficientnet-lite0"
CANDIDATES = (DEEP, *BUILT_IN)
K = 6
N_QUERIES = 300  # in each half; of the materials all 50
N_PHOTOS, N_THINGS = 2_400, 600
MIN_SHARE = 0.05
"""An encoder stays that alone finds so many of the pool's similar pairs, on average over the three data sets."""
WON = 0.75  # of the answers about it: then people find a material like the reference
NOT_ALLOWED = -2.0  # below every cosine

Scores = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Task:
    """Queries against a gallery: which candidates may be proposed, which are similar, and every encoder's scores."""

    name: str
    allowed: Mask
    similar: Mask
    scores: dict[str, Scores]
    agreement: dict[str, float]
    """With the majority of people on triplets; empty where there are none."""

    def proposed(self, encoder: str, k: int = K) -> Mask:
        """The k best candidates of every query."""
        ranked = np.argsort(-np.where(self.allowed, self.scores[encoder], NOT_ALLOWED), axis=1, kind="stable")[:, :k]
        found = np.zeros_like(self.allowed)
        np.put_along_axis(found, ranked, True, axis=1)
        return found & self.allowed

    def only(self, encoder: str, encoders: Sequence[str]) -> float:
        """The share of the pool's similar pairs that this encoder finds and no other one does."""
        others = np.any([self.proposed(each) for each in encoders if each != encoder], axis=0)
        own = self.proposed(encoder) & self.similar
        return float((own & ~others).sum() / ((own | others) & self.similar).sum())

    def precision(self, encoder: str) -> float:
        return float(self.similar[self.proposed(encoder)].mean())

    def macro_auc(self, encoder: str) -> float:
        """Over all candidates, not only those of a pool."""
        query, candidate = np.nonzero(self.allowed)
        label = self.similar[query, candidate].astype(np.int64)
        pairs = sort_pairs(query, self.scores[encoder][query, candidate], label, len(self.allowed))
        return float(np.nanmean(roc_auc(pairs)))

    def map_at_r(self, encoder: str) -> float:
        """Mean over queries of the precision at each similar one among the first R, R being how many there are."""
        values = []
        ranked = np.argsort(-np.where(self.allowed, self.scores[encoder], NOT_ALLOWED), axis=1, kind="stable")
        for order, similar in zip(ranked, self.similar, strict=True):
            n_similar = int(similar.sum())
            if n_similar:
                hits = similar[order[:n_similar]]
                values.append(float((hits * np.cumsum(hits) / np.arange(1, n_similar + 1)).sum() / n_similar))
        return float(np.mean(values))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, required=True, help="the folder that holds clothing, emoji and materials")
    asked.add_argument("--work", type=Path, help="where the workspaces are made; a temporary folder by default")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.work or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        data = given.data.resolve()
        pairs = [clothing(data, folder), emoji(data, folder), materials(data, folder)]
    choosing, measured = ([halves[number] for halves in pairs] for number in (0, 1))
    chosen, sentences = choose(choosing)
    print(f"chosen: {', '.join(chosen)}; the package has {', '.join(DEFAULT_ENCODERS)}")
    fill(PAGE, {"encoders-defaults": page(chosen, sentences, measured)})


def choose(tasks: Sequence[Task]) -> tuple[list[str], list[str]]:
    """Leave out the encoder that adds least, one at a time, while it adds less than `MIN_SHARE`."""
    encoders, sentences = list(CANDIDATES), list[str]()
    while True:
        share = {each: float(np.mean([task.only(each, encoders) for task in tasks])) for each in encoders}
        least = min(share, key=lambda each: share[each])
        said = f"`{least}` adds least, {100 * share[least]:.1f} % of the similar pairs"
        if share[least] >= MIN_SHARE:
            return encoders, [*sentences, f"Of the {len(encoders)} that are left {said}: it stays."]
        sentences.append(f"Of {len(encoders)} encoders {said}: it is left out.")
        encoders.remove(least)


def page(chosen: Sequence[str], sentences: Sequence[str], tasks: Sequence[Task]) -> str:
    """The choice, and two tables of the other half."""
    numbers = [
        (
            f"`{each}`",
            *(f"{100 * value:.1f}" for task in tasks for value in (task.macro_auc(each), task.map_at_r(each))),
            *(f"{100 * task.agreement[each]:.1f}" for task in tasks if task.agreement),
        )
        for each in CANDIDATES
    ]
    header = ["encoder", *(f"{task.name}, {name}" for task in tasks for name in ("ROC_AUC", "MAP@R"))]
    adds = [
        (
            f"`{each}`",
            *(f"{100 * task.precision(each):.0f}" for task in tasks),
            *(f"{100 * task.only(each, CANDIDATES):.1f}" for task in tasks),
            *(f"{100 * task.only(each, chosen):.1f}" if each in chosen else "–" for task in tasks),
        )
        for each in CANDIDATES
    ]
    kinds = (f"similar among its {K}", "only it, of all six", f"only it, of the {len(chosen)}")
    return "\n\n".join(
        [
            paragraph(" ".join([*sentences, f"The default is {', '.join(f'`{each}`' for each in chosen)}."])),
            table((*header, "materials, agreement"), numbers),
            table(("encoder", *(f"{task.name}: {kind}" for kind in kinds for task in tasks)), adds),
        ]
    )


def clothing(data: Path, folder: Path) -> list[Task]:
    """Photographs of clothes: similar are those of the same category."""
    rows = pl.read_csv(data / "clothing" / "catalog.csv", infer_schema=False)
    known = rows.filter(~pl.col("category").is_in(NO_CATEGORY)).sample(N_PHOTOS, seed=0, shuffle=True)
    workspace = encoded(known, "clothing", data, folder)
    return same_value(workspace, "clothing", "category", "image")


def emoji(data: Path, folder: Path) -> list[Task]:
    """Emoji by four artists: similar are other things of the same subcategory."""
    rows = some_items(pl.read_csv(data / "emoji" / "catalog.csv", infer_schema=False), N_THINGS)
    return same_value(encoded(rows, "emoji", data, folder), "emoji", "subcategory", "item")


def encoded(rows: pl.DataFrame, name: str, data: Path, folder: Path) -> WorkspaceFolder:
    rows.write_csv(folder / f"{name}.csv")
    if not (folder / name / "catalog.parquet").exists():
        likewise(folder, "new", name, f"{name}.csv", "--root", data / name)
    likewise(folder, "encode", name, "--with", ",".join(CANDIDATES))
    return WorkspaceFolder(folder / name)


def same_value(workspace: WorkspaceFolder, name: str, column: str, own: str) -> list[Task]:
    """Two halves of queries; candidates of the query's own `own` are not proposed."""
    catalog = pl.read_parquet(workspace.catalog_file)
    images = catalog["image"].to_list()
    vectors = {each: read_vectors(workspace, each, images).astype(np.float64) for each in CANDIDATES}
    value, group = catalog[column].to_numpy(), catalog[own].to_numpy()
    rows = np.random.default_rng(0).permutation(len(catalog))[: 2 * N_QUERIES]
    halves = []
    for queries in (rows[:N_QUERIES], rows[N_QUERIES:]):
        allowed = group[queries][:, None] != group[None, :]
        similar = (value[queries][:, None] == value[None, :]) & allowed
        scores = {each: found[queries] @ found.T for each, found in vectors.items()}
        halves.append(Task(name, allowed, similar, scores, {}))
    return halves


def materials(data: Path, folder: Path) -> list[Task]:
    """Materials: similar to a reference are those that people preferred to another one in most of their answers."""
    source = data / "materials"
    workspace = encoded(pl.read_csv(source / "catalog.csv", infer_schema=False), "materials", data, folder)
    catalog = pl.read_parquet(workspace.catalog_file)
    shown = {
        each: mean_item_vectors(read_vectors(workspace, each, catalog["image"].to_list()), catalog["item"].to_list())
        for each in CANDIDATES
    }
    items = shown[DEEP].items
    place = {item: row for row, item in enumerate(items)}
    rate = np.full((len(items), len(items)), np.nan)
    for reference, item, won in wins(source / "triplets.csv").select("reference", "item", "rate").iter_rows():
        rate[place[reference], place[item]] = won
    triplets = read_triplets(source / "triplets.csv", "anchor close far")
    rows = np.random.default_rng(0).permutation(len(items))
    halves = []
    for queries in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
        asked = triplets.filter(pl.col("anchor").is_in([items[row] for row in queries]))
        scores = {each: _cosines(found, queries) for each, found in shown.items()}
        agreement = {each: triplet_agreement(asked, found).value() for each, found in shown.items()}
        halves.append(Task("materials", ~np.isnan(rate[queries]), rate[queries] >= WON, scores, agreement))
    return halves


def _cosines(found: MeanItemVectors, queries: NDArray[np.int64]) -> Scores:
    return np.asarray(found.vectors[queries].astype(np.float64) @ found.vectors.T.astype(np.float64))


if __name__ == "__main__":
    main()
