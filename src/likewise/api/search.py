"""`likewise.search` and `likewise.pool`: neighbours of rows, and the pairs that experts should label."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.api.inputs import KeyedRows, read_embeddings, read_items, read_models
from likewise.api.plots import line_plot, stacked_bar_plot, thumbnail_plot
from likewise.api.table_result import TableResult
from likewise.discovery.overlap import generator_table, overlap_table
from likewise.discovery.pool import QueryGallery, draw_random_pairs, pairs_to_label, propose_pairs, sort_pool
from likewise.discovery.step import Pool
from likewise.errors import LikewiseError
from likewise.explore.gallery import Gallery, PictureSource, neighbours_table
from likewise.neighbours import NO_INDEX, Neighbours, top_k
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False, kw_only=True)
class SearchResult(TableResult):
    """`indices` and `scores` are queries x k, best first (-1 where a gallery has no more); `table` has their keys."""

    indices: NDArray[np.int64]
    scores: NDArray[np.floating[Any]]

    def plot(self) -> "Figure":
        """The scores by rank."""
        scores = self.table.group_by("rank").agg(
            pl.col("score").median().alias("median"),
            pl.col("score").quantile(0.1).alias("lowest 10 %"),
            pl.col("score").quantile(0.9).alias("highest 10 %"),
        )
        lines = scores.sort("rank").to_dict(as_series=False)
        return line_plot(lines.pop("rank"), lines, "rank", "cosine similarity over queries")


@dataclass(frozen=True, repr=False, kw_only=True)
class NeighboursResult(TableResult):
    """`table` has a row per query, encoder and rank: candidate, item, category, score, only_here."""

    files: dict[str, Path] = field(repr=False)
    """Where the pictures are."""

    def plot(self, n_queries: int = 5) -> "Figure":
        """The first queries with what every encoder finds, as thumbnails; * is what only one of them finds."""
        rows = []
        for found in self.table.partition_by("query", maintain_order=True)[:n_queries]:
            for each in found.partition_by("encoder", maintain_order=True):
                listed = each.select("candidate", "score", "only_here").iter_rows()
                query = (self.files[found["query"][0]], each["encoder"][0])
                rows.append(
                    [query] + [(self.files[image], f"{score:.3f}{'*' * only}") for image, score, only in listed]
                )
        return thumbnail_plot(rows)

    def short_table(self) -> pl.DataFrame:
        return self.table.drop("item", "category")


@dataclass(frozen=True, repr=False, kw_only=True)
class PoolResult(TableResult):
    """`table` has a row per query, candidate and generator; `pairs` is what experts see, each pair once."""

    n_queries: int
    k: int

    @property
    def pairs(self) -> pl.DataFrame:
        return pairs_to_label(self.table)

    def overlap(self) -> pl.DataFrame:
        """The share of pairs that two generators both propose."""
        return overlap_table(self.table, self.n_queries, self.k)

    def plot(self) -> "Figure":
        """How many pairs each generator proposes: those that only it found, and those it shares."""
        found = self.short_table()
        shared = (found["n_pairs"] - found["n_unique"]).to_list()
        parts = {"proposed by no other": found["n_unique"].to_list(), "shared": shared}
        return stacked_bar_plot(found["generator"].to_list(), parts, "pairs")

    def short_table(self) -> pl.DataFrame:
        keys = pl.col("query", "candidate").cast(pl.String)
        return generator_table(self.table.with_columns(keys), None).select("generator", "n_pairs", "n_unique")


def search(
    queries: Any,
    gallery: Any = None,
    *,
    k: int = 10,
    items: Any = None,
    keys: Sequence[Any] | None = None,
    one_per_item: bool = False,
    on_progress: ProgressCallback | None = None,
) -> SearchResult:
    """The k most similar rows by cosine, exact.

    With `gallery`, every row of `queries` is searched there. Without it, every row is a query among all the others;
    rows of the same item (`items`) are then no candidates, and `one_per_item` keeps the best row of each item only.
    """
    values, rows = read_embeddings(queries, keys)
    if gallery is None:
        numbers = _item_numbers(read_items(items, rows))
        found = top_k(
            values,
            values,
            k,
            query_groups=numbers,
            gallery_groups=numbers,
            one_per_group=one_per_item,
            on_progress=on_progress,
        )
        gallery_rows = rows
    else:
        if items is not None or one_per_item:
            raise LikewiseError("items say which rows of one set belong together: leave them out with a gallery.")
        gallery_values, gallery_rows = read_embeddings(gallery)
        found = top_k(values, gallery_values, k, on_progress=on_progress)
    title = f"The {k} nearest of {len(gallery_rows.given):,} rows for {len(values):,} queries"
    return _search_result(found, rows.given, gallery_rows.given, title)


def pool(
    embeddings: Any,
    *,
    k: int = 6,
    items: Any = None,
    keys: Sequence[Any] | None = None,
    queries: Sequence[Any] | None = None,
    n_queries: int | None = None,
    n_random: int = 0,
    seed: int = 0,
    on_progress: ProgressCallback | None = None,
) -> PoolResult:
    """The union of every model's k best candidates for each query (EDS): which pairs experts should label.

    Queries are all rows, those named, or `n_queries` drawn by `seed`. `n_random` adds pairs drawn uniformly from all,
    for the prevalence estimate. Only the best image of each item is proposed, never the query's own item.
    """
    models, rows = read_models(embeddings, keys)
    chosen = rows.as_text(queries) if queries is not None else list(rows.text)
    if n_queries is not None and n_queries < len(chosen):
        drawn = np.random.default_rng(seed).choice(len(chosen), n_queries, replace=False)
        chosen = [chosen[row] for row in sorted(drawn.tolist())]
    catalog = pl.DataFrame({"image": rows.text, "item": read_items(items, rows)})
    unknown = sorted(set(chosen) - set(rows.text))
    if unknown:
        raise LikewiseError(f"the query {unknown[0]!r} has no embedding ({len(unknown)} such queries).")
    task = QueryGallery.from_catalog(catalog, chosen, rows.text)
    row_of = {key: row for row, key in enumerate(rows.text)}
    query_rows, gallery_rows = [row_of[key] for key in task.queries], [row_of[key] for key in task.gallery]
    proposed = [
        propose_pairs(name, task, values[query_rows], values[gallery_rows], k, on_progress=on_progress)
        for name, values in models.items()
    ]
    table = sort_pool(pl.concat([*proposed, draw_random_pairs(task, n_random, seed)]))
    return _pool_result(_with_given_keys(table, rows), task, list(models), k)


def pool_result(made: Pool) -> PoolResult:
    """The pool of a workspace, to look at."""
    task = made.query_gallery
    return _pool_result(made.rows, task, made.settings.generators, made.settings.k)


def search_workspace(
    workspace: WorkspaceFolder,
    encoders: Sequence[str],
    queries: Sequence[PictureSource] | None,
    k: int,
    where: str | None,
) -> NeighboursResult:
    """The nearest items of images of a workspace, or of other pictures, under stored encoders side by side."""
    gallery = Gallery(workspace)
    chosen = gallery.choose_encoders(encoders)
    pictures = list(range(len(gallery.images))) if queries is None else [gallery.find_picture(each) for each in queries]
    if queries is None:  # every image that all of them have a vector of
        having = [set(gallery.vectors(encoder).rows.tolist()) for encoder in chosen]
        pictures = [row for row in pictures if all(row in have for have in having)]
    names = [
        gallery.images[picture] if isinstance(picture, int) else _picture_name(queries, number)
        for number, picture in enumerate(pictures)
    ]
    lists = gallery.neighbours_of_many(
        pictures, chosen, k=k, allowed=gallery.allowed(where.split(",") if where else ())
    )
    table = neighbours_table(gallery, names, lists)
    files = {name: gallery.workspace.root / name for name in gallery.images}
    files |= {name: Path(name) for name in names if name not in files}
    return NeighboursResult(
        table,
        f"the {k} nearest items of {len(names):,} {'image' if len(names) == 1 else 'images'} under {', '.join(chosen)}",
        "cosine similarity, rank 1 is the nearest; the query's own item is left out."
        + (" only_here: no other encoder lists that item." if len(chosen) > 1 else ""),
        files=files,
    )


def _picture_name(queries: Sequence[PictureSource] | None, number: int) -> str:
    source = None if queries is None else queries[number]
    return str(source) if isinstance(source, str | Path) else f"picture {number + 1}"


def _search_result(
    found: Neighbours, queries: Sequence[str] | Sequence[int], gallery: Sequence[str] | Sequence[int], title: str
) -> SearchResult:
    query, rank = np.nonzero(found.indices != NO_INDEX)
    table = pl.DataFrame(
        {
            "query": [queries[row] for row in query.tolist()],
            "rank": rank + 1,
            "candidate": [gallery[row] for row in found.indices[query, rank].tolist()],
            "score": found.scores[query, rank],
        }
    )
    return SearchResult(
        table, title, "cosine similarity, rank 1 is the nearest.", indices=found.indices, scores=found.scores
    )


def _pool_result(table: pl.DataFrame, task: QueryGallery, generators: Sequence[str], k: int) -> PoolResult:
    n_pairs = len(pairs_to_label(table))
    note = (
        f"{n_pairs:,} pairs to label of {task.n_item_pairs:,} (query, item) pairs: "
        f"{100 * n_pairs / task.n_item_pairs:.1f} % of labelling everything."
    )
    title = f"A pool of {n_pairs:,} pairs: {len(generators)} generators, {len(task.queries):,} queries, k = {k}"
    return PoolResult(table, title, note, n_queries=len(task.queries), k=k)


def _item_numbers(items: Sequence[str]) -> NDArray[np.int64]:
    return np.unique(np.asarray(items, dtype=np.str_), return_inverse=True)[1].astype(np.int64)


def _with_given_keys(table: pl.DataFrame, rows: KeyedRows) -> pl.DataFrame:
    if not rows.are_row_numbers:
        return table
    return table.with_columns(pl.col("query", "candidate").cast(pl.Int64))
