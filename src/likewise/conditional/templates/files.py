"""Sets of templates in a workspace: `templates/<name>.parquet` and how they came to be in `templates/<name>.json`."""

from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.stored_tables import read_stored_table
from likewise.conditional.protocol import check_name, check_templates
from likewise.errors import LikewiseError
from likewise.files import finish_writing
from likewise.workspace import WorkspaceFolder, read_json, read_parquet, staged_workspace, write_json, write_parquet

OFFICIAL = "official"
"""The name of the templates that a data set brought along (`likewise new --reader genecis`)."""


def templates_file(workspace: WorkspaceFolder, name: str) -> Path:
    return workspace.path / "templates" / f"{check_name(name, 'a set of templates')}.parquet"


def boxes_file(workspace: WorkspaceFolder, name: str) -> Path:
    """Where the pictures of a set are cut out, for sets whose pictures are parts of images."""
    path = templates_file(workspace, name)
    return path.parent / "boxes" / path.name


def write_templates(
    workspace: WorkspaceFolder,
    name: str,
    templates: pl.DataFrame,
    settings: dict[str, Any],
    *,
    boxes: pl.DataFrame | None = None,
    replace: bool = False,
) -> Path:
    """Write a set; one of that name is kept unless `replace`."""
    path = refuse_existing_templates(workspace, name, replace=replace)
    with staged_workspace(workspace) as (staged, files):
        write_parquet(templates, templates_file(staged, name))
        write_json(settings, templates_file(staged, name).with_suffix(".json"))
        if boxes is not None:
            write_parquet(boxes, boxes_file(staged, name))
        elif boxes_file(workspace, name).exists():
            files.remove(boxes_file(workspace, name))
    return path


def refuse_existing_templates(workspace: WorkspaceFolder, name: str, *, replace: bool) -> Path:
    """Where a set will be written; one of that name is kept unless `replace`."""
    finish_writing(workspace.path)
    path = templates_file(workspace, name)
    if path.exists() and not replace:
        raise LikewiseError(f"{path} exists already: choose another `--name`, or write it again with `--replace`.")
    return path


def read_templates(workspace: WorkspaceFolder, name: str | None = None) -> tuple[str, pl.DataFrame]:
    """A set by name; without a name the only one there is."""
    there = template_sets(workspace)
    if name is None:
        if len(there) != 1:
            listed = f"there are several ({', '.join(there)})" if there else "there are none"
            raise LikewiseError(
                f"which templates? In {workspace.path} {listed}: name a set with `--templates`, or make one with "
                f"`likewise condition build {workspace.quoted}`."
            )
        name = there[0]
    if name not in there:
        known = f"it has {', '.join(there)}" if there else "it has none"
        raise LikewiseError(f"{workspace.path} has no templates {name!r}: {known}.")
    if name == OFFICIAL and not templates_file(workspace, name).exists():
        return name, check_templates(read_stored_table(workspace, "templates"), f"table templates of {workspace.path}")
    path = templates_file(workspace, name)
    return name, check_templates(read_parquet(path, f"likewise condition build {workspace.quoted}"), str(path))


def template_settings(workspace: WorkspaceFolder, name: str) -> dict[str, Any]:
    """How a set came to be; empty for one that a data set brought along."""
    path = templates_file(workspace, name).with_suffix(".json")
    settings: dict[str, Any] = read_json(path) if path.exists() else {}
    return settings


def template_sets(workspace: WorkspaceFolder) -> list[str]:
    """Names of the sets that are there, those made here first."""
    made = sorted(path.stem for path in (workspace.path / "templates").glob("*.parquet"))
    stored = workspace.tables_folder / "templates.parquet"
    if OFFICIAL not in made and stored.exists() and "gallery" in pl.read_parquet_schema(stored):
        made.append(OFFICIAL)
    return made
