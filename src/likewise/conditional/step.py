"""The step `likewise condition evaluate`: every method of every encoder in one table, `results/conditions.parquet`.

Rows of earlier runs stay unless the same encoder and method is measured on the same templates again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from likewise.catalog.table import read_catalog
from likewise.conditional.evaluate import KS, RESULT_SCHEMA, TaskResults, recall_table, score_templates
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.methods import BASELINES, get_methods
from likewise.conditional.protocol import ConditionalMethod
from likewise.conditional.questions import read_questions
from likewise.conditional.recall import SCORE_TOLERANCE
from likewise.conditional.run_files import RUN
from likewise.conditional.screening import question_set, screen_methods
from likewise.conditional.search_models import default_tower
from likewise.conditional.splits import (
    SOURCES,
    catalog_questions,
    load_split_benchmarks,
    score_split,
    split_features,
    with_subset_mean,
)
from likewise.conditional.stored_features import NoEncoder, open_tower
from likewise.conditional.templates.annotations import ImageAnnotations
from likewise.conditional.templates.crops import without_uncropped
from likewise.conditional.templates.files import read_templates, template_settings
from likewise.conditional.templates.workspace_annotations import AnnotationOptions, workspace_annotations
from likewise.conditional.towers import TwoTower
from likewise.errors import LikewiseError
from likewise.lineage.guard import EvaluationSet
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_parquet, write_parquet

RESULTS = "conditions.parquet"


@dataclass(frozen=True)
class RecallSettings:
    """What to measure; without encoders, the one that has features, unless it learned the answers."""

    encoders: Sequence[str] = ()
    methods: Sequence[str] = BASELINES
    templates: str | None = None
    split: str | None = None
    """Of a data set whose gallery is a whole split; its usual one by default."""
    official: bool = False
    detections: Path | None = None
    questions: Path | None = None
    """A table of one's own questions, with the whole catalog as gallery."""

    @property
    def tolerance(self) -> float:
        """Scores closer than this are equal; the published code compares them as they are."""
        return 0.0 if self.official else SCORE_TOLERANCE

    @property
    def are_named(self) -> bool:
        """Whether a user chose what to measure, and so sees it even where it learned the answers."""
        return bool(self.encoders) or tuple(self.methods) != BASELINES


@dataclass(frozen=True)
class ConditionResults:
    """The rows of one run (`learned` marks methods that know the answers), and a sentence for each that needs one."""

    table: pl.DataFrame
    notes: list[str]


def evaluate_conditions(
    workspace: WorkspaceFolder,
    settings: RecallSettings,
    *,
    workers: int | None = None,
    on_progress: ProgressCallback | None = None,
) -> ConditionResults:
    """Measure, write the table, and return the rows of this run."""
    if not settings.encoders and all(name.startswith(f"{RUN}:") for name in settings.methods):
        towers: list[TwoTower] = [NoEncoder()]
    else:
        towers = [open_tower(spec) for spec in settings.encoders or [default_tower(workspace)]]
    for tower in towers:
        tower.encode(workspace, workers=workers, on_progress=on_progress)
    whole = settings.questions is not None or (
        str(workspace.settings()["source"]) in SOURCES and settings.templates is None
    )
    measure = _split_tables if whole else _template_tables
    tables, notes = measure(workspace, towers, settings)
    stored = [store_results(workspace, name, table, official=settings.official) for name, table in tables]
    return ConditionResults(pl.concat(stored), notes)


def store_results(workspace: WorkspaceFolder, name: str, table: pl.DataFrame, *, official: bool) -> pl.DataFrame:
    """Put results on a set of templates into the workspace's table; those rows as they are stored."""
    ties = pl.lit("official" if official else "fair").alias("ties")
    learned = pl.col("learned") if "learned" in table.columns else pl.lit(False).alias("learned")
    found = table.select(pl.lit(name).alias("templates"), ties, *RESULT_SCHEMA, learned)
    write_parquet(_merge_stored(workspace, found), workspace.results_folder / RESULTS)
    return found


def read_results(workspace: WorkspaceFolder, name: str, *, official: bool = False) -> pl.DataFrame:
    """Everything ever measured on a set of templates, with ties counted in one of the two ways."""
    return _read_stored(workspace).filter(templates=name, ties="official" if official else "fair")


def _template_tables(
    workspace: WorkspaceFolder, towers: Sequence[TwoTower], settings: RecallSettings
) -> tuple[list[tuple[str, pl.DataFrame]], list[str]]:
    name, templates = read_templates(workspace, settings.templates)
    templates, said = without_uncropped(workspace, name, templates)
    results: dict[str, TaskResults] = {}
    guard = _Guard(workspace, settings, question_set(workspace, templates, f"the templates {name}"))
    for tower in towers:
        loader = _annotation_loader(workspace, name)
        methods = get_methods(
            settings.methods,
            workspace,
            tower,
            annotations=loader,
            detections=settings.detections,
            official=settings.official,
        )
        methods = guard.allowed(tower, methods)
        features = ImageTextFeatures.load(workspace, tower, templates)
        results[tower.name] = score_templates(templates, features, methods, tolerance=settings.tolerance)
        if not any(results[tower.name].values()):
            raise LikewiseError(f"no template of {name} has features of all its images: is it of this catalog?")
    return [(name, guard.mark(_table(results, KS, settings)))], [*said, *guard.notes]


def _split_tables(
    workspace: WorkspaceFolder, towers: Sequence[TwoTower], settings: RecallSettings
) -> tuple[list[tuple[str, pl.DataFrame]], list[str]]:
    if settings.questions is not None:
        catalog, name = read_catalog(workspace), settings.questions.stem
        splits = [catalog_questions(catalog, read_questions(settings.questions, catalog), name)]
    else:
        name = str(workspace.settings()["source"])
        splits = load_split_benchmarks(workspace, settings.split, official=settings.official)
    results: dict[str, TaskResults] = {}
    subsets: dict[str, TaskResults] = {}
    guard = _Guard(workspace, settings, question_set(workspace, splits, f"the questions of {name}"))
    for tower in towers:
        features = split_features(workspace, tower, splits)
        methods = get_methods(
            settings.methods, workspace, tower, detections=settings.detections, official=settings.official
        )
        methods = guard.allowed(tower, methods)
        results[tower.name] = {method.name: {} for method in methods}
        for split in splits:
            found = score_split(split, features, methods, tolerance=settings.tolerance)
            if split.subsets is not None and len(split.subsets):
                few = score_templates(split.subsets, features, methods, tolerance=settings.tolerance)
                subsets[tower.name] = few
                found = with_subset_mean(found, few, official=settings.official)
            for method, tasks in found.items():
                results[tower.name][method] |= tasks
    tables = [(name, guard.mark(_table(results, splits[0].ks, settings)))]
    if subsets:
        tables.append((f"{name} subset", guard.mark(_table(subsets, KS, settings))))
    return tables, guard.notes


@dataclass
class _Guard:
    """Which methods of which encoder may be measured, and what is said about the others."""

    workspace: WorkspaceFolder
    settings: RecallSettings
    on: EvaluationSet
    notes: list[str] = field(default_factory=list)
    learned: set[tuple[str, str]] = field(default_factory=set)

    def allowed(self, tower: TwoTower, methods: Sequence[ConditionalMethod]) -> list[ConditionalMethod]:
        found = screen_methods(self.workspace, tower, methods, self.on)
        names = found.choose([method.name for method in methods] if self.settings.are_named else None)
        self.notes += [f"{tower.name}: {note}" for note in found.notes(names)]
        self.learned |= {(tower.name, name) for name in found.learned}
        return [method for method in methods if method.name in names]

    def mark(self, table: pl.DataFrame) -> pl.DataFrame:
        known = [pair in self.learned for pair in table.select("encoder", "method").iter_rows()]
        return table.with_columns(pl.Series("learned", known, dtype=pl.Boolean))


def _table(results: dict[str, TaskResults], ks: Sequence[int], settings: RecallSettings) -> pl.DataFrame:
    return recall_table(results, ks=ks, official=settings.official)


def _annotation_loader(workspace: WorkspaceFolder, name: str) -> Callable[[], ImageAnnotations | None]:
    """The annotations that a set of templates was built from, looked up when a method needs them."""

    def load() -> ImageAnnotations | None:
        settings = template_settings(workspace, name)
        built_with, cut_from = settings.get("facts"), settings.get("from")
        if built_with is None or (cut_from and not (Path(cut_from) / "workspace.json").exists()):
            return None
        source = WorkspaceFolder(Path(cut_from)) if cut_from else workspace  # of parts: where they were cut out
        options = AnnotationOptions.from_stored(built_with)
        return workspace_annotations(source, replace(options, where=None, half=None, kinds_file=None))

    return load


def _read_stored(workspace: WorkspaceFolder) -> pl.DataFrame:
    return read_parquet(workspace.results_folder / RESULTS, f"likewise condition evaluate {workspace.quoted}")


def _merge_stored(workspace: WorkspaceFolder, found: pl.DataFrame) -> pl.DataFrame:
    if not (workspace.results_folder / RESULTS).exists():
        return found
    kept = _read_stored(workspace).join(
        found, on=["templates", "ties", "encoder", "method"], how="anti", maintain_order="left"
    )
    return pl.concat([kept, found])
