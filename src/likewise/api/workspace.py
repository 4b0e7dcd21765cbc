"""`likewise.Workspace`: the folder with a method for every step; each returns an object that shows itself.

Extensions add methods of their own (`workspace.train_check(...)`): they are looked up when first used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from likewise.api.plots import interval_plot
from likewise.api.table_result import TableResult
from likewise.errors import LikewiseError
from likewise.extensions import workspace_method_targets
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from likewise.api.evaluate import EvaluationResult
    from likewise.api.search import PoolResult, SearchResult
    from likewise.labeling.agreement import InterAnnotatorAgreement
    from likewise.labeling.consensus import Rule
    from likewise.status import WorkspaceStatus


@dataclass(frozen=True, repr=False)
class CatalogResult(TableResult):
    """`table` is the catalog; `problems` lists what was wrong with images, kept or left out."""

    problems: pl.DataFrame | None = None


@dataclass(frozen=True, repr=False)
class EncodingTable(TableResult):
    """A row per encoder: dimensions, images, what was left out, seconds."""


@dataclass(frozen=True, repr=False)
class LabelsResult(TableResult):
    """`table` has a row per labelled pair; `agreement` says how far the experts agree, where there are votes."""

    agreement: "InterAnnotatorAgreement | None" = None

    def short_table(self) -> pl.DataFrame:
        return self.table.group_by("label").len("pairs").sort("label")

    def plot(self) -> "Figure":
        """How often each expert agrees with the majority of the others."""
        if self.agreement is None:
            raise LikewiseError("these labels come without votes, so there is no agreement of experts to plot.")
        rows = {one.expert: (one.agreement.value, None, None) for one in self.agreement.experts}
        return interval_plot(rows, "agreement with the majority of the other experts (%)")


@dataclass(frozen=True, repr=False, kw_only=True)
class StatusResult(TableResult):
    """`table` has a row per part of the chain; `status` is the same with the next command."""

    status: "WorkspaceStatus"

    def short_table(self) -> pl.DataFrame:
        return self.table.select("part", "state", "holds", "why")


@dataclass(frozen=True, repr=False, kw_only=True)
class ReportResult(TableResult):
    """The page that was written: `path` opens in any browser."""

    path: Path

    def _repr_html_(self) -> str:
        return f'<a href="{self.path.resolve().as_uri()}" target="_blank">{self.path}</a>'


@dataclass(frozen=True, init=False, repr=False)
class Workspace(WorkspaceFolder):
    """A workspace in Python: `Workspace("shoes")` opens or names the folder; nothing is made before `.new()`."""

    def __init__(self, path: str | Path) -> None:
        object.__setattr__(self, "path", Path(path))

    def new(
        self,
        source: str | Path,
        *,
        reader: str | None = None,
        root: str | Path | None = None,
        truth: str | Path | None = None,
        replace: bool = False,
        on_progress: ProgressCallback | None = None,
    ) -> CatalogResult:
        """Make the catalog from a folder of images, a table, or a data set that a reader knows.

        `truth`: a table of the pairs of similar items (item_a, item_b), where that is known.
        """
        from likewise.catalog import make_catalog
        from likewise.catalog.readers import read, reader_for, store_tables
        from likewise.catalog.readers.table import read_table

        if self.settings_file.exists() and not replace:
            raise LikewiseError(f"{self.path} already holds a workspace: choose another folder, or pass replace=True.")
        name = reader_for(Path(source), reader)
        reading = read(Path(source), name, root=None if root is None else Path(root))
        settings = {"coverage": reading.coverage.counts(), "tables": sorted(reading.tables)}
        made = make_catalog(
            self,
            reading.rows,
            reading.root,
            name,
            source_settings=settings,
            truth=None if truth is None else read_table(Path(truth)),
            replace=replace,
            on_progress=None if on_progress is None else partial(on_progress, "checking"),
        )
        store_tables(self, reading.tables)
        return CatalogResult(
            made.catalog, _catalog_title(self.path, made.catalog), f"{made.n_left_out} images left out", made.problems
        )

    def catalog(self) -> CatalogResult:
        """The catalog: one row per image."""
        from likewise.catalog import read_catalog

        table = read_catalog(self)
        return CatalogResult(table, _catalog_title(self.path, table))

    def vectors(self, encoder: str) -> TableResult:
        """The stored vectors of an encoder: image and vector."""
        from likewise.encoders.storage.reading import encoded_images, read_vectors

        images = encoded_images(self, encoder)
        vectors = read_vectors(self, encoder, images)
        table = pl.DataFrame(
            {"image": images, "vector": vectors}, schema_overrides={"vector": pl.Array(pl.Float32, vectors.shape[1])}
        )
        return TableResult(table, f"{encoder}: {len(images):,} vectors of {vectors.shape[1]} dimensions")

    def export_vectors(self, encoder: str, path: str | Path) -> TableResult:
        """Write an encoder's vectors (npz, npy, Parquet, safetensors) with their keys and what it learned from."""
        from likewise.encoders.storage.exporting import export_vectors

        done = export_vectors(self, encoder, Path(path))
        table = pl.DataFrame({"file": [str(file) for file in (done.path, *done.beside)]})
        return TableResult(table, f"{done.path}: {done.images:,} vectors of {done.dim} dimensions")

    def encode(
        self,
        *encoders: str,
        workers: int | None = 1,
        force: bool = False,
        on_progress: ProgressCallback | None = None,
    ) -> EncodingTable:
        """Turn every image into a vector, once per encoder; goes on where it stopped.

        More `workers` start processes: in a script, call it under `if __name__ == "__main__":`.
        """
        from likewise.encoders import DEFAULT_ENCODERS
        from likewise.encoders.running.encode import encode_catalog

        done = encode_catalog(self, encoders or DEFAULT_ENCODERS, workers=workers, force=force, on_progress=on_progress)
        table = pl.DataFrame(
            [(one.encoder, one.dim, one.images, one.left_out, one.seconds) for one in done],
            schema=["encoder", "dim", "images", "left_out", "seconds"],
            orient="row",
        )
        return EncodingTable(table, f"{self.path}: {len(done)} encoders")

    def search(self, encoder: str, queries: Sequence[str] | None = None, *, k: int = 10) -> "SearchResult":
        """The nearest items of some images (or of all) under one encoder, before any label exists."""
        from likewise.api.search import search_workspace

        return search_workspace(self, encoder, queries, k)

    def discover(
        self,
        *,
        generators: Sequence[str] | None = None,
        k: int = 6,
        n_queries: int = 100,
        n_random: int = 500,
        seed: int = 0,
        replace: bool = False,
        on_progress: ProgressCallback | None = None,
    ) -> "PoolResult":
        """Pool the candidates of several encoders and store the pairs that experts will label."""
        from likewise.api.search import pool_result
        from likewise.discovery.step import PoolSettings, make_pool, store_pool

        names = tuple(generators or self.encoders())
        settings = PoolSettings(names, k=k, n_queries=n_queries, n_random=n_random, seed=seed)
        made = make_pool(self, settings, on_progress)
        store_pool(self, made, replace=replace)
        return pool_result(made)

    def import_votes(self, path: str | Path, *, replace: bool = False) -> LabelsResult:
        """Store a file of votes (query, candidate, expert, answer) and make labels from all votes."""
        from likewise.labeling.step import import_votes_file

        import_votes_file(self, Path(path), replace=replace)
        return self.labels()

    def labels(self, rule: "Rule | None" = None) -> LabelsResult:
        """The consensus of all stored votes, made anew; imported labels where there are no votes."""
        from likewise.labeling.state import read_stored_votes
        from likewise.labeling.step import read_labels, update_labels

        if read_stored_votes(self) is None and self.labels_file.exists():
            return LabelsResult(read_labels(self), f"{self.path}: imported labels")
        made = update_labels(self, rule)
        summary, agreement = made.consensus.summary, made.agreement
        title = f"{self.path}: {summary.n_labelled:,} labels by {summary.rule}, {summary.n_similar:,} similar"
        alpha = agreement.krippendorff_alpha.value
        experts = f"{agreement.n_experts} experts"
        note = "" if alpha is None else f"{experts}, Krippendorff's alpha {alpha:.2f} on the pool's pairs"
        return LabelsResult(made.consensus.labels, title, note, agreement)

    def evaluate(
        self,
        encoders: Sequence[str] | None = None,
        *,
        measures: str | None = None,
        half: str | None = None,
        store: bool | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> "EvaluationResult":
        """Measure every encoder (or those named) against the labels, or against those of one half of the items.

        Encoders that learned these labels are left out, or marked where they are named (docs/lineage.md).
        The evaluation of all encoders with the default measures is stored in results/, which the report shows; one
        with other options is returned only, unless `store=True` makes it the report's.
        """
        from likewise.api.evaluate import evaluate_folder

        return evaluate_folder(self, encoders, measures, half, store, on_progress)

    def status(self) -> StatusResult:
        """What is here, what is stale, and what comes next."""
        from likewise.status import workspace_status

        found = workspace_status(self)
        columns = ("name", "state", "holds", "why", "command")
        table = pl.DataFrame([{name: getattr(part, name) for name in columns} for part in found.parts])
        title = f"{self.path}: {found.images:,} images from {found.source}, {found.left_out} left out"
        return StatusResult(table.rename({"name": "part"}), title, f"next: {found.next}", status=found)

    def report(self, on_progress: ProgressCallback | None = None) -> ReportResult:
        """Write report/index.html; labels and results that are missing or stale are made first."""
        from likewise.report import make_report

        path = make_report(self, "Workspace.report()", on_progress)
        size = pl.DataFrame({"page": [str(path)], "megabytes": [path.stat().st_size / 1e6]})
        return ReportResult(size, f"{self.path}: report", path=path)

    if not TYPE_CHECKING:  # type checkers see the methods of extensions in likewise/__init__.pyi, and misspelt names

        def __getattr__(self, name: str) -> Any:
            targets = {} if name.startswith("_") else workspace_method_targets()
            if name not in targets:
                raise AttributeError(f"a workspace has no {name!r}; its methods: {', '.join(method_names())}")
            extension, target = targets[name]
            return partial(extension.load(target), self)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *workspace_method_targets()})

    def _repr_html_(self) -> str:
        return f"<code>{self!r}</code>"

    def __repr__(self) -> str:
        there = f"{len(self.encoders())} encoders" if self.settings_file.exists() else "not made yet: .new(SOURCE)"
        return f"Workspace({str(self.path)!r}): {there}"


def _catalog_title(path: Path, catalog: pl.DataFrame) -> str:
    return f"{path}: {len(catalog):,} images of {catalog['item'].n_unique():,} items"


def method_names() -> list[str]:
    """Every step, the core's and the extensions'."""
    own = [name for name, value in vars(Workspace).items() if callable(value) and not name.startswith("_")]
    return sorted({*own, *workspace_method_targets()})
