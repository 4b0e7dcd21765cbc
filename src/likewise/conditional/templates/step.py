"""The steps `likewise condition build` and `audit`, with the files they leave in `templates/`."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import numpy as np
import polars as pl

from likewise.api.table_result import TableResult
from likewise.catalog.table import read_catalog
from likewise.conditional.composers import ComposerMethod, ImageOnly, TextOnly
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.protocol import TASKS, images_of
from likewise.conditional.recall import rank_targets, recall_at_k
from likewise.conditional.stored_features import open_tower
from likewise.conditional.templates.annotations import ImageAnnotations
from likewise.conditional.templates.audit import audit_templates, single_modality_problems
from likewise.conditional.templates.build import build_templates
from likewise.conditional.templates.crops import name_by_part
from likewise.conditional.templates.files import (
    OFFICIAL,
    read_templates,
    template_settings,
    templates_file,
    write_templates,
)
from likewise.conditional.templates.shortcuts import (
    SHORTCUT_SCHEMA,
    balance_places,
    shortcut_table,
    target_places,
)
from likewise.conditional.templates.workspace_annotations import AnnotationOptions, workspace_annotations
from likewise.errors import LikewiseError
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, write_parquet

POOL_PER_TEMPLATE = 5
"""Templates that are built for each that is kept, when they are built against an encoder."""


@dataclass(frozen=True, repr=False, kw_only=True)
class BuiltTemplates(TableResult):
    """`table` has the new templates, `path` is their file, `counts` says how many each task has."""

    path: Path
    counts: pl.DataFrame

    def short_table(self) -> pl.DataFrame:
        return self.counts


def build_template_set(
    workspace: WorkspaceFolder,
    name: str,
    options: AnnotationOptions | None = None,
    *,
    tasks: Sequence[str] = (),
    per_task: int = 500,
    seed: int = 0,
    replace: bool = False,
    against: str | None = None,
    on_progress: ProgressCallback | None = None,
) -> BuiltTemplates:
    """Build templates from a workspace's annotations and write them.

    `against` is an encoder whose shortcuts are built against: of several times as many templates those are kept in
    which the target stands at no place more often than at another.
    """
    path = templates_file(workspace, name)
    if path.exists() and not replace:
        raise LikewiseError(f"{path} exists already: choose another `--name`, or write it again with `--replace`.")
    if per_task < 1:
        raise LikewiseError(f"per_task is {per_task}: ask for at least one template per task.")
    options = options or AnnotationOptions()
    annotations = workspace_annotations(workspace, options)
    possible = [task for task in (tasks or TASKS) if _possible(task, annotations) or tasks]
    n_built = per_task * (POOL_PER_TEMPLATE if against else 1)
    templates = build_templates(annotations, tasks=possible, per_task=n_built, seed=seed, on_progress=on_progress)
    if against is not None and len(templates):
        if annotations.boxes is not None:
            raise LikewiseError("templates about parts of images cannot be built against an encoder: leave it out.")
        places = target_places(templates, _features(workspace, templates, against, on_progress))
        kept = balance_places(places, per_task, seed)
        templates = templates.join(kept, on=["task", "template"], how="semi", maintain_order="left").with_columns(
            pl.int_range(pl.len(), dtype=pl.Int64).over("task").alias("template")
        )
    if templates.is_empty():
        raise LikewiseError(
            "no template came out: the images share too few attributes or objects; name the columns with "
            "`--category`, `--attributes` or `--words`."
        )
    counts = templates.group_by("task", maintain_order=True).agg(
        pl.len().alias("n"),
        pl.col("condition").n_unique().alias("n_conditions"),
        (pl.col("gallery").list.len().max() + 1).alias("candidates"),
    )
    settings = {"facts": options.to_stored(), "per_task": per_task, "seed": seed, "tasks": counts.to_dicts()}
    if against is not None:
        settings["against"] = against
    write_templates(workspace, name, templates, settings, boxes=annotations.boxes, replace=replace)
    return BuiltTemplates(templates, f"{path}: {len(templates):,} templates", path=path, counts=counts)


def _possible(task: str, annotations: ImageAnnotations) -> bool:
    return bool(annotations.attributes if task.endswith("attribute") else annotations.objects)


@dataclass(frozen=True, repr=False, kw_only=True)
class AuditResult(TableResult):
    """`table` has a row per problem, also written to `path`; `counts` adds them up by kind and task.

    `shortcuts` says what fixed rules answer, such as "the 8th nearest to the reference"; it needs an encoder.
    """

    path: Path
    n_templates: int
    counts: pl.DataFrame
    shortcuts: pl.DataFrame

    def short_table(self) -> pl.DataFrame:
        return self.counts


def audit_template_set(
    workspace: WorkspaceFolder,
    name: str | None = None,
    encoder: str | None = None,
    annotated: WorkspaceFolder | None = None,
    *,
    on_progress: ProgressCallback | None = None,
) -> AuditResult:
    """Audit a set with everything the workspace knows, and with an encoder if one is named.

    `annotated` is another workspace that knows what is in the images of a published set, by their file names.
    """
    name, templates = read_templates(workspace, name)
    annotations = (
        _load_annotations(workspace, name) if annotated is None else _matched_by_file_name(annotated, templates)
    )
    catalog = read_catalog(workspace)
    digests = dict(catalog.select("image", "digest").iter_rows())
    problems = audit_templates(name_by_part(workspace, name, templates), annotations, digests)
    shortcuts = pl.DataFrame(schema=SHORTCUT_SCHEMA)
    if encoder is not None:
        features = _features(workspace, templates, encoder, on_progress)
        problems = pl.concat([problems, _encoder_problems(templates, features)])
        shortcuts = shortcut_table(target_places(templates, features))
    path = workspace.results_folder / f"audit-{name}.parquet"
    write_parquet(problems, path)
    counts = problems.group_by("problem", "task").len("n").sort("problem", "task")
    more = "and valid answers checked" if annotations else "checked; no annotations to check more"
    title = f"{name}: {len(problems):,} problems in {len(templates):,} templates"
    return AuditResult(
        problems,
        title,
        f"repetitions {more}",
        path=path,
        n_templates=len(templates),
        counts=counts,
        shortcuts=shortcuts,
    )


def _load_annotations(workspace: WorkspaceFolder, name: str) -> ImageAnnotations | None:
    """What a set was built from; for a published one what the workspace has beside it."""
    settings = template_settings(workspace, name)
    if "facts" in settings:
        options = AnnotationOptions.from_stored(settings["facts"])
        return workspace_annotations(workspace, options)
    tables = {path.stem for path in workspace.tables_folder.glob("*.parquet")}
    return workspace_annotations(workspace) if name == OFFICIAL and "objects" in tables else None


def _matched_by_file_name(annotated: WorkspaceFolder, templates: pl.DataFrame) -> ImageAnnotations:
    """The annotations of another workspace, under the keys that the templates have for the same file names."""
    annotations = workspace_annotations(annotated)
    key_of = {PurePath(image).name: image for image in images_of(templates)}
    images = [key_of.get(PurePath(image).name, image) for image in annotations.images]
    return dataclasses.replace(annotations, images=images)


def _features(
    workspace: WorkspaceFolder, templates: pl.DataFrame, encoder: str, on_progress: ProgressCallback | None
) -> ImageTextFeatures:
    tower = open_tower(encoder)
    tower.encode(workspace, on_progress=on_progress)
    return ImageTextFeatures.load(workspace, tower, templates)


def _encoder_problems(templates: pl.DataFrame, features: ImageTextFeatures) -> pl.DataFrame:
    parts = []
    for part, batch in features.batches(templates):
        positives = np.zeros((len(part), batch.gallery.shape[1]), bool)
        positives[:, 0] = True
        found = {
            composer.name: recall_at_k(rank_targets(ComposerMethod(composer).scores(batch), positives), 1)
            for composer in (ImageOnly(), TextOnly())
        }
        parts.append(single_modality_problems(found, part))
    return pl.concat(parts).sort("problem", "task", "template")
