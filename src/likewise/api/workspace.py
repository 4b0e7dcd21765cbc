"""`likewise.Workspace`: the folder with a method for every step; each returns an object that shows itself.

Extensions add methods of their own (`workspace.train_check(...)`): they are looked up when first used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from likewise.api.table_result import TableResult
from likewise.api.workspace_results import (
    CatalogResult,
    EncodingTable,
    ExplorePage,
    GateTable,
    LabelsResult,
    ReportResult,
    StatusResult,
    UpdateResult,
)
from likewise.errors import LikewiseError
from likewise.extensions import workspace_method_targets
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from likewise.api.evaluate import EvaluationResult
    from likewise.api.search import NeighboursResult, PoolResult
    from likewise.encoders.storage.files import EncodingResult
    from likewise.explore.gallery import PictureSource
    from likewise.labeling.consensus import Rule


@dataclass(frozen=True, init=False, repr=False)
class Workspace(WorkspaceFolder):
    """A workspace in Python: `Workspace("shoes")` opens or names the folder; nothing is made before `.new()`.

    `as_of` looks at an earlier version of the catalog, by its date (2026-09), name or number.
    """

    def __init__(self, path: str | Path, as_of: str | int | None = None) -> None:
        from likewise.catalog.versions import find_version

        object.__setattr__(self, "path", Path(path))
        found = None if as_of is None else find_version(WorkspaceFolder(self.path), str(as_of))
        object.__setattr__(self, "as_of", found)

    def new(
        self,
        source: str | Path,
        *,
        reader: str | None = None,
        root: str | Path | None = None,
        item_pattern: str | None = None,
        truth: str | Path | None = None,
        replace: bool = False,
        on_progress: ProgressCallback | None = None,
    ) -> CatalogResult:
        """Make the catalog from a folder of images, a table, or a data set that a reader knows.

        `item_pattern`: a regular expression over names without their ending, whose first group is the item.
        `truth`: a table of the pairs of similar items (item_a, item_b), where that is known.
        """
        from likewise.catalog import make_catalog
        from likewise.catalog.readers import choose_catalog_reader, read, with_items
        from likewise.catalog.readers.table import read_table
        from likewise.files import finish_writing

        finish_writing(self.path)
        if self.settings_file.exists() and not replace:
            raise LikewiseError(
                f"{self.path} already holds a workspace: bring it up to date with .update({str(source)!r}), choose "
                "another folder, or begin anew with replace=True."
            )
        name = choose_catalog_reader(Path(source), reader)
        pictures = None if root is None else Path(root)
        reading = with_items(read(Path(source), name, root=pictures), item_pattern)
        made = make_catalog(
            self,
            reading.rows,
            reading.root,
            name,
            tables=reading.tables,
            source_settings=reading.settings(Path(source), pictures, item_pattern),
            truth=None if truth is None else read_table(Path(truth)),
            replace=replace,
            on_progress=None if on_progress is None else partial(on_progress, "checking"),
        )
        return CatalogResult(
            made.catalog, _catalog_title(self.path, made.catalog), f"{made.n_left_out} images left out", made.problems
        )

    def update(
        self,
        source: str | Path | None = None,
        *,
        reader: str | None = None,
        root: str | Path | None = None,
        truth: str | Path | None = None,
        name: str = "",
        dry_run: bool = False,
        accept_removals: bool = False,
        on_progress: ProgressCallback | None = None,
    ) -> UpdateResult:
        """Bring the catalog up to date with its images; votes, labels and vectors stay (docs/living.md)."""
        from likewise.update import update_workspace

        done = update_workspace(
            self,
            None if source is None else Path(source),
            reader=reader,
            root=None if root is None else Path(root),
            truth=None if truth is None else Path(truth),
            name=name,
            dry_run=dry_run,
            accept_removals=accept_removals,
            on_progress=None if on_progress is None else partial(on_progress, "checking"),
        )
        counts = done.changes.counts()
        table = pl.DataFrame({"change": list(counts), "images": list(counts.values())})
        said = f"version {done.version}" if done.written else "nothing was written"
        return UpdateResult(table, f"{self.path}: {len(done.checked.catalog):,} images, {said}", update=done)

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
        return _encoding_table(self.path, done)

    def import_vectors(
        self,
        source: str | Path,
        *,
        name: str | None = None,
        keys: str | Path | None = None,
        by: str = "image",
        force: bool = False,
        on_progress: ProgressCallback | None = None,
    ) -> EncodingTable:
        """Bring in vectors made elsewhere: a file, a Parquet or Lance table, a Qdrant collection, PostgreSQL.

        `by` says whether their keys are images or items; `keys` is the file of keys of a plain .npy (docs/encoders.md).
        """
        from likewise.encoders.storage.table_import import import_source

        listed = None if keys is None else Path(keys)
        done = import_source(self, str(source), name=name, keys=listed, by=by, force=force, on_progress=on_progress)
        return _encoding_table(self.path, [done])

    def search(
        self,
        encoders: str | Sequence[str] = (),
        queries: "PictureSource | Sequence[PictureSource] | None" = None,
        *,
        k: int = 10,
        where: str | None = None,
    ) -> "NeighboursResult":
        """The nearest items of some images (or of all) under up to four encoders, before any label exists.

        A query is an image of the catalog by its key, the path of any other picture, or a Pillow image. `where` keeps
        candidates that meet a condition, such as `category=shoes`.
        """
        from likewise.api.search import search_workspace

        names = [encoders] if isinstance(encoders, str) else list(encoders)
        many = list(queries) if isinstance(queries, list | tuple | pl.Series) else queries
        chosen = many if many is None or isinstance(many, list) else [cast("PictureSource", many)]
        return search_workspace(self, names, chosen, k, where)

    def explore(self, port: int | None = None) -> ExplorePage:
        """Serve the explore page from this process, to look at neighbours, the map, copies and disagreements.

        In a notebook the page stands below the cell; elsewhere open the address that it prints.
        """
        from likewise.explore.gallery import Gallery
        from likewise.web.explore import EXPLORE_VIEWS
        from likewise.web.serve import free_port, refuse_used_port, serve_in_background
        from likewise.web.settings import SiteSettings

        self.settings()
        Gallery(self).choose_encoders(())  # without vectors there is nothing to look through
        if port is not None:
            refuse_used_port("127.0.0.1", port)
        settings = SiteSettings(self, port=port or free_port(), explore_without_login=True, framed=True)
        site = serve_in_background(settings)
        pages = {label: f"{site.url}{address}" for address, label in EXPLORE_VIEWS.items()}
        table = pl.DataFrame({"view": list(pages), "address": list(pages.values())})
        return ExplorePage(table, f"{self.path}: explore", url=f"{site.url}/explore", site=site)

    def discover(
        self,
        *,
        generators: Sequence[str] | None = None,
        k: int = 6,
        n_queries: int | None = None,
        n_random: int = 500,
        hours: float | None = None,
        seconds_per_pair: float = 15.0,
        seed: int = 0,
        replace: bool = False,
        on_progress: ProgressCallback | None = None,
    ) -> "PoolResult":
        """Pool the candidates of several encoders and store the pairs that experts will label.

        `hours`: as many queries, up to `n_queries` (or 100), as one expert can label in so many hours; 1 where neither
        is given.
        """
        from likewise.api.search import pool_result
        from likewise.discovery.asked_again import asks_nothing_new
        from likewise.discovery.grow import grow_pool
        from likewise.discovery.hours import DEFAULT_HOURS, N_QUERIES, settings_within
        from likewise.discovery.step import PoolSettings, make_pool, pool_part, read_pool, store_pool
        from likewise.labeling.step import read_labels_if_any

        if not replace and pool_part(self).state == "behind":  # after an update: by its own settings
            grown = grow_pool(self, None, on_progress, labels=read_labels_if_any(self)).pool
            store_pool(self, grown, replace=True)
            return pool_result(grown)
        names = tuple(generators or self.encoders())
        settings = PoolSettings(names, k=k, n_queries=n_queries or N_QUERIES, n_random=n_random, seed=seed)
        chosen = hours or n_queries or generators or settings != PoolSettings(names, n_queries=N_QUERIES)
        if not replace and asks_nothing_new(self, settings, by_default=not chosen):
            return pool_result(read_pool(self))
        hours = DEFAULT_HOURS if hours is None and n_queries is None else hours
        from likewise.discovery.pool import choosing_pairs

        with choosing_pairs(self):
            if hours is not None:
                settings = settings_within(self, settings, hours, seconds_per_pair)
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

    def gate(
        self,
        old: str,
        new: str,
        *,
        measure: str | None = None,
        margin: float = 1.0,
        half: str | None = None,
        out: str | Path | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> GateTable:
        """Whether the new model is at least as good as the old one, within a margin of percentage points.

        By nDCG@10, or at the k of a pool of shorter lists, unless `measure` says otherwise.
        A model is the name of stored vectors, an encoder, or a file: vectors, ONNX, or a run of a search engine
        (TREC, or CSV of query, result, rank). The page, JUnit XML, JSON and the pairs to label go to `out`, by default
        the folder `gate` of the workspace (docs/gate.md).
        """
        from likewise.evaluation.gate.step import run_gate
        from likewise.report.gate_page import write_gate

        found = run_gate(self, old, new, measure=measure, margin_points=margin, half=half, on_progress=on_progress)
        page = write_gate(self, found, self.gate_folder if out is None else Path(out), on_progress)
        title = f"{found.verdict}: {found.new} against {found.old} by {found.measure}"
        return GateTable(found.groups, title, " ".join(found.sentences()), gate=found, path=page)

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


def _encoding_table(path: Path, done: "Sequence[EncodingResult]") -> EncodingTable:
    table = pl.DataFrame(
        [(one.encoder, one.dim, one.images, one.left_out, one.seconds) for one in done],
        schema=["encoder", "dim", "images", "left_out", "seconds"],
        orient="row",
    )
    return EncodingTable(table, f"{path}: {len(done)} encoders")


def _catalog_title(path: Path, catalog: pl.DataFrame) -> str:
    return f"{path}: {len(catalog):,} images of {catalog['item'].n_unique():,} items"


def method_names() -> list[str]:
    """Every step, the core's and the extensions'."""
    own = [name for name, value in vars(Workspace).items() if callable(value) and not name.startswith("_")]
    return sorted({*own, *workspace_method_targets()})
