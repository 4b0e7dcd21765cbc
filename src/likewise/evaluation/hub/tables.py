"""The tables of a hub folder, in MTEB's layout for retrieval:

corpus    id, image, item, category, modality                one row per gallery image
queries   the same                                           queries with a similar candidate
qrels     query-id, corpus-id, score                         the labels that models are measured on; grades where graded
labels    query, candidate, label, grade, generators, ...    every label, as likewise has them

Scores are whole numbers, as MTEB and trec_eval want them: fractions are written in hundredths. A query without any
relevant candidate counts as 0 with MTEB and not at all with likewise, so such queries stand in `labels` only.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.discovery.proposals import drop_random_pairs
from likewise.errors import LikewiseError
from likewise.evaluation.bundles.contents import BundleTables
from likewise.evaluation.exchange.trec import trec_grades
from likewise.labeling.grades import GRADE

IMAGES_PER_FILE = 500
VOTE_COUNTS = ("similar", "not_similar", "cannot_tell")
FEATURES = {pl.String: "string", pl.Int64: "int64", pl.Int32: "int32", pl.Int8: "int8", pl.Float64: "float64"}


@dataclass(frozen=True)
class HubTable:
    """One table of the folder: its rows, and whether a column `image` with the pictures joins them."""

    name: str
    rows: pl.DataFrame
    with_images: bool = False

    @property
    def features(self) -> dict[str, str]:
        """The type of each column, as hubs name them."""
        plain = {name: FEATURES[type(dtype)] for name, dtype in self.rows.schema.items()}
        return {"id": plain.pop("id"), "image": "image"} | plain if self.with_images else plain

    def files(self, root: Path) -> Iterator[tuple[str, bytes]]:
        """Parquet files, pictures inside, as many as keep each one small."""
        size = IMAGES_PER_FILE if self.with_images else max(1, len(self.rows))
        n_files = max(1, -(-len(self.rows) // size))
        for number in range(n_files):
            part, output = self.rows.slice(number * size, size), io.BytesIO()
            if self.with_images:
                part = part.insert_column(1, _pictures(part["id"], root))
            part.write_parquet(output, compression="zstd")
            yield f"{self.name}/test-{number:05d}-of-{n_files:05d}.parquet", output.getvalue()


def hub_tables(tables: BundleTables, *, with_images: bool) -> list[HubTable]:
    """The four tables of a benchmark."""
    qrels = _qrels(tables)
    if qrels.is_empty():
        raise LikewiseError("no query has a candidate labelled similar: there is nothing to measure a model on yet.")
    asked = qrels["query-id"].unique()
    described = tables.catalog.select(
        pl.col("image").alias("id"),
        *(pl.col(name).cast(pl.String) for name in ("item", "category") if name in tables.catalog.columns),
        modality=pl.lit("image"),
    ).sort("id")
    corpus = described.filter(pl.col("id").is_in(tables.gallery["image"].implode()))
    queries = described.filter(pl.col("id").is_in(asked.implode()))
    return [
        HubTable("corpus", corpus, with_images),
        HubTable("queries", queries, with_images),
        HubTable("qrels", qrels),
        HubTable("labels", _labels(tables)),
    ]


def _qrels(tables: BundleTables) -> pl.DataFrame:
    """The judged pairs of queries with a relevant candidate."""
    used = drop_random_pairs(tables.labels) if "generators" in tables.labels.columns else tables.labels
    items = dict(tables.catalog.select("image", "item").iter_rows())
    other_item = [items[query] != items[candidate] for query, candidate in used.select("query", "candidate").rows()]
    used = used.filter(pl.Series(other_item, dtype=pl.Boolean))
    rows = pl.DataFrame(
        {"query-id": used["query"], "corpus-id": used["candidate"], "score": trec_grades(used).cast(pl.Int64)}
    )
    return rows.filter(pl.col("score").max().over("query-id") > 0).sort("query-id", "corpus-id")


def _labels(tables: BundleTables) -> pl.DataFrame:
    kept = ("query", "candidate", "label", GRADE, *VOTE_COUNTS, "generators")
    return tables.labels.select(name for name in kept if name in tables.labels.columns).sort("query", "candidate")


def _pictures(keys: pl.Series, root: Path) -> pl.Series:
    rows = []
    for key in keys:
        try:
            rows.append({"bytes": (root / key).read_bytes(), "path": Path(key).name})
        except OSError as error:
            raise LikewiseError(f"{root / key} cannot be read ({error.strerror}): bring it back.") from error
    return pl.Series("image", rows, dtype=pl.Struct({"bytes": pl.Binary, "path": pl.String}))
