"""The steps `likewise condition build` and `audit`, with the files they leave in `templates/`."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import polars as pl

from likewise.catalog.table import read_catalog
from likewise.conditional.composed import Composed, ImageOnly, TextOnly
from likewise.conditional.protocol import TASKS, images_of
from likewise.conditional.recall import hits, standing
from likewise.conditional.sides import Sides
from likewise.conditional.templates.audit import answered_alone, audit_templates
from likewise.conditional.templates.build import build_templates
from likewise.conditional.templates.facts import Facts
from likewise.conditional.templates.files import (
    OFFICIAL,
    read_templates,
    template_settings,
    templates_file,
    write_templates,
)
from likewise.conditional.templates.known import workspace_facts
from likewise.conditional.towers import Told, TwoTower
from likewise.errors import LikewiseError
from likewise.workspace import Workspace, write_parquet


@dataclass(frozen=True)
class BuiltSet:
    """New templates, their file, and how many each task has."""

    path: Path
    templates: pl.DataFrame
    counts: pl.DataFrame


def build_set(
    workspace: Workspace,
    name: str,
    known: Mapping[str, Any],
    *,
    tasks: Sequence[str] = (),
    per_task: int = 500,
    seed: int = 0,
    replace: bool = False,
    on_progress: Told = None,
) -> BuiltSet:
    """Build templates from a workspace's facts and write them; `known` is what `workspace_facts` is told."""
    path = templates_file(workspace, name)
    if path.exists() and not replace:
        raise LikewiseError(f"{path} exists already: choose another `--name`, or write it again with `--replace`.")
    if per_task < 1:
        raise LikewiseError(f"per_task is {per_task}: ask for at least one template per task.")
    facts = workspace_facts(workspace, **known, seed=seed)
    possible = [task for task in (tasks or TASKS) if _possible(task, facts) or tasks]
    templates = build_templates(facts, tasks=possible, per_task=per_task, seed=seed, on_progress=on_progress)
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
    told = {key: str(value) if isinstance(value, Path) else value for key, value in known.items()}
    settings = {"facts": told, "per_task": per_task, "seed": seed, "tasks": counts.to_dicts()}
    write_templates(workspace, name, templates, settings, replace=replace)
    if facts.boxes is not None:
        write_parquet(facts.boxes, boxes_file(workspace, name))
    return BuiltSet(path, templates, counts)


def boxes_file(workspace: Workspace, name: str) -> Path:
    """Where the pictures of a set are cut out, for sets whose pictures are parts of images."""
    path = templates_file(workspace, name)
    return path.parent / "boxes" / path.name


def _possible(task: str, facts: Facts) -> bool:
    return bool(facts.attributes if task.endswith("attribute") else facts.objects)


@dataclass(frozen=True)
class Audited:
    """What an audit found, and where it is written."""

    path: Path
    n_templates: int
    problems: pl.DataFrame
    counts: pl.DataFrame
    checked: str


def audit_set(
    workspace: Workspace,
    name: str | None = None,
    encoder: str | None = None,
    annotations: Workspace | None = None,
    *,
    on_progress: Told = None,
) -> Audited:
    """Audit a set with everything the workspace knows, and with an encoder if one is named.

    `annotations` is another workspace that knows what is in the images of a published set, by their file names.
    """
    name, templates = read_templates(workspace, name)
    facts = _facts_of(workspace, name) if annotations is None else _named_alike(annotations, templates)
    catalog = read_catalog(workspace)
    digests = dict(catalog.select("image", "digest").iter_rows())
    problems = audit_templates(templates, facts, digests)
    if encoder is not None:
        problems = pl.concat([problems, _by_encoder(workspace, templates, encoder, on_progress)])
    path = workspace.results_folder / f"audit-{name}.parquet"
    write_parquet(problems, path)
    counts = problems.group_by("problem", "task").len("n").sort("problem", "task")
    checked = "repetitions and valid answers checked" if facts else "repetitions checked; no annotations to check more"
    return Audited(path, len(templates), problems, counts, checked)


def _facts_of(workspace: Workspace, name: str) -> Facts | None:
    """What a set was built from; for a published one what the workspace has beside it."""
    told = template_settings(workspace, name)
    if "facts" in told:
        known = dict(told["facts"])
        known["kinds_file"] = Path(known["kinds_file"]) if known.get("kinds_file") else None
        return workspace_facts(workspace, **known, seed=int(told["seed"]))
    tables = {path.stem for path in workspace.tables_folder.glob("*.parquet")}
    return workspace_facts(workspace) if name == OFFICIAL and "objects" in tables else None


def _named_alike(annotations: Workspace, templates: pl.DataFrame) -> Facts:
    """The facts of another workspace, under the keys that the templates have for pictures of the same file name."""
    facts = workspace_facts(annotations)
    key_of = {PurePath(image).name: image for image in images_of(templates)}
    return dataclasses.replace(facts, images=[key_of.get(PurePath(image).name, image) for image in facts.images])


def _by_encoder(workspace: Workspace, templates: pl.DataFrame, encoder: str, on_progress: Told) -> pl.DataFrame:
    tower = TwoTower.of(encoder)
    tower.encode(workspace, on_progress=on_progress)
    sides = Sides.of(workspace, tower, templates)
    parts = []
    for part, asked in sides.blocks(templates):
        right = np.zeros((len(part), asked.gallery.shape[1]), bool)
        right[:, 0] = True
        found = {
            composer.name: hits(standing(Composed(composer).scores(asked), right), 1)
            for composer in (ImageOnly(), TextOnly())
        }
        parts.append(answered_alone(found, part))
    return pl.concat(parts).sort("problem", "task", "template")
