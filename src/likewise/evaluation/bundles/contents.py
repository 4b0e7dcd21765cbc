"""What goes into a benchmark bundle: the tables of a workspace cut down to the benchmark, and the facts of its card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from likewise import __version__
from likewise.catalog import read_catalog
from likewise.discovery.pool import IMPORTED
from likewise.discovery.proposals import drop_random_pairs, pool_proposals, with_generators
from likewise.discovery.step import read_pool
from likewise.errors import LikewiseError
from likewise.evaluation.bundles.bundle_negatives import draw_negatives
from likewise.evaluation.judged import label_generators
from likewise.evaluation.pairs import JudgedPairs, build_judged_pairs, refuse_queries_without_candidates
from likewise.evaluation.provenance import benchmark_id
from likewise.evaluation.sampled_negatives import NegativeSampling
from likewise.labeling.imports import refuse_unknown_images
from likewise.labeling.state import read_labels_note
from likewise.labeling.step import read_labels
from likewise.labeling.votes import PAIR
from likewise.workspace import WorkspaceFolder

PUBLISHED_COLUMNS = ("image", "item", "category", "width", "height", "digest")


@dataclass(frozen=True)
class BundleTables:
    """The tables of a bundle."""

    catalog: pl.DataFrame
    queries: pl.DataFrame
    gallery: pl.DataFrame
    pool: pl.DataFrame
    labels: pl.DataFrame
    negatives: pl.DataFrame  # no rows where nobody reached down to their ranks

    @property
    def pairs(self) -> JudgedPairs:
        """The judged pairs that models are measured on."""
        pairs = self._lined_up(drop_random_pairs(with_generators(self.labels, pool_proposals(self.pool))))
        refuse_queries_without_candidates(pairs)
        return pairs

    @property
    def labelled_pairs(self) -> JudgedPairs:
        """All labelled pairs, random ones among them."""
        return self._lined_up(self.labels)

    def _lined_up(self, labels: pl.DataFrame) -> JudgedPairs:
        queries, gallery = self.queries["image"].to_list(), self.gallery["image"].to_list()
        if not set(queries) | set(gallery) <= set(self.catalog["image"]):
            raise LikewiseError(
                "the bundle's queries and gallery are not all in its catalog: it was put together wrongly."
            )
        return build_judged_pairs(self.catalog, labels, queries, gallery)


def collect_tables(
    workspace: WorkspaceFolder, columns: Sequence[str], seed: int, sampling: NegativeSampling
) -> BundleTables:
    """The benchmark in a workspace; of the catalog only columns that every catalog has, and `columns`."""
    catalog, pool, labels = read_catalog(workspace), read_pool(workspace), read_labels(workspace)
    absent = [column for column in columns if column not in catalog.columns]
    if absent:
        raise LikewiseError(f"{workspace.catalog_file} has no column {', '.join(absent)} to publish.")
    refuse_unknown_images(labels, catalog["image"].to_list(), f"{workspace.labels_file} names")
    queries, gallery = pool.query_gallery.queries, pool.query_gallery.gallery
    kept = [column for column in catalog.columns if column in PUBLISHED_COLUMNS or column in columns]
    used = pl.col("image").is_in([*queries, *gallery])
    asked = pl.col("query").is_in(queries) & pl.col("candidate").is_in(gallery)
    tables = BundleTables(
        catalog=catalog.filter(used).select(kept).sort("image"),
        queries=pl.DataFrame({"image": queries}),
        gallery=pl.DataFrame({"image": gallery}),
        pool=pool.rows,
        labels=labels.filter(asked).sort(PAIR),
        negatives=pl.DataFrame(schema=dict.fromkeys(PAIR, pl.String)),
    )
    labelled = build_judged_pairs(catalog, labels.filter(asked), queries, gallery)
    generators = label_generators(tables.labels, pool)
    negatives = draw_negatives(workspace, tables.pairs, labelled, generators, seed, sampling)
    return replace(tables, negatives=negatives)


def card_fields(
    workspace: WorkspaceFolder,
    tables: BundleTables,
    said: Mapping[str, str],
    *,
    labelled_by: str | None,
    sources: Sequence[str] | None,
    seed: int,
    sampling: NegativeSampling,
    with_images: bool,
) -> dict[str, Any]:
    """Everything on the card but the sums; `said` is what only a person knows (title, description, licence)."""
    note, stored, pairs = read_labels_note(workspace), read_pool(workspace), tables.pairs
    pool = stored.settings
    if not len(pairs):
        raise LikewiseError(f"{workspace.path} has no label for a pair of its pool: label some before bundling.")
    agreement = note["agreement"]
    return {
        **said,
        "sources": list(sources) if sources else [f"catalog: {workspace.settings()['source']}", _label_source(note)],
        "likewise": __version__,
        "benchmark_id": benchmark_id(pairs),
        "with_images": with_images,
        "sizes": {
            "images": len(tables.catalog),
            "items": tables.catalog["item"].n_unique(),
            "queries": len(tables.queries),
            "gallery": len(tables.gallery),
            "labels": len(tables.labels),
            "judged_pairs": len(pairs),
            "pool_pairs": tables.pool.select(PAIR).n_unique(),
        },
        "labels": {
            "labelled_by": labelled_by or _default_labelled_by(note),
            "rule": note["consensus"]["rule"],
            "n_similar": int(tables.labels["label"].cast(pl.Int64).sum()),
            "n_experts": agreement["n_experts"],
            "n_votes": agreement["n_votes"],
            "simulated": note["simulated"],
            "fleiss_kappa": agreement["fleiss_kappa"],
            "krippendorff_alpha": agreement["krippendorff_alpha"],
        },
        "pool": {
            "generators": list(label_generators(tables.labels, stored)),
            "k": pool.k,
            "seed": pool.seed,
            "unit": pool.unit,
            "design": pool.design,
            "purpose": pool.purpose,
            "update_rounds": list(stored.update_rounds),
        },
        "negatives": {
            "n": len(tables.negatives),
            "ranks": list(sampling.band),
            "per_positive": sampling.per_positive
            if sampling.per_query is None
            else len(tables.negatives) / max(1, int(pairs.label.sum())),
            "seed": seed,
        },
    }


def _label_source(note: Mapping[str, Any]) -> str:
    """Where labels come from; names of votes' files are left out, they often name an expert."""
    if note["consensus"]["rule"] == IMPORTED:
        return f"labels: imported from {note['imported']['file']}"
    kinds = {"simulated" if source.startswith("simulated") else "people" for source in note["sources"]}
    return f"votes: {' and '.join(sorted(kinds))}"


def _default_labelled_by(note: Mapping[str, Any]) -> str:
    n = note["agreement"]["n_experts"]
    if note["consensus"]["rule"] == IMPORTED:
        return "not known (the labels were imported without votes)"
    return f"{n} {'simulated ' if note['simulated'] else ''}expert{'' if n == 1 else 's'}"
