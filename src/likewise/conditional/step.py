"""The step `likewise condition evaluate`: every method of every encoder in one table, `results/conditions.parquet`.

Rows of earlier runs stay unless the same encoder and method is measured on the same templates again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.conditional.apart import refuse_learned
from likewise.conditional.evaluate import KS, RESULT_SCHEMA, Answers, answer, recall_table
from likewise.conditional.methods import BASELINES, methods_named
from likewise.conditional.protocol import Method
from likewise.conditional.sides import Sides
from likewise.conditional.splits import KS as SPLIT_KS
from likewise.conditional.splits import SOURCES, answer_split, split_sides, whole_splits
from likewise.conditional.templates.facts import Facts
from likewise.conditional.templates.files import read_templates, template_settings
from likewise.conditional.templates.known import workspace_facts
from likewise.conditional.towers import Told, TwoTower
from likewise.errors import LikewiseError
from likewise.evaluation.bootstrap import RESAMPLES
from likewise.workspace import Workspace, read_parquet, write_parquet

RESULTS = "conditions.parquet"


@dataclass(frozen=True)
class Wanted:
    """What to measure."""

    encoders: Sequence[str]
    methods: Sequence[str] = BASELINES
    templates: str | None = None
    split: str | None = None
    """Of a data set whose gallery is a whole split; its usual one by default."""
    official: bool = False
    detections: Path | None = None
    n_resamples: int = RESAMPLES
    seed: int = 0


def evaluate_conditions(
    workspace: Workspace, wanted: Wanted, *, workers: int | None = None, on_progress: Told = None
) -> pl.DataFrame:
    """Measure, write the table, and return the rows of this run."""
    towers = [TwoTower.of(spec) for spec in wanted.encoders]
    for tower in towers:
        tower.encode(workspace, workers=workers, on_progress=on_progress)
    whole = str(workspace.settings()["source"]) in SOURCES and wanted.templates is None
    tables = _split_tables(workspace, towers, wanted) if whole else _template_tables(workspace, towers, wanted)
    return pl.concat([keep_results(workspace, name, table, official=wanted.official) for name, table in tables])


def keep_results(workspace: Workspace, name: str, table: pl.DataFrame, *, official: bool) -> pl.DataFrame:
    """Put results on a set of templates into the workspace's table; those rows as they are stored."""
    ties = pl.lit("official" if official else "fair").alias("ties")
    found = table.select(pl.lit(name).alias("templates"), ties, *RESULT_SCHEMA)
    write_parquet(_with_earlier(workspace, found), workspace.results_folder / RESULTS)
    return found


def kept_results(workspace: Workspace, name: str, *, official: bool = False) -> pl.DataFrame:
    """Everything ever measured on a set of templates with one way to count ties."""
    path = workspace.results_folder / RESULTS
    stored = read_parquet(path, f"likewise condition evaluate {workspace.path}")
    return stored.filter(templates=name, ties="official" if official else "fair")


def _template_tables(
    workspace: Workspace, towers: Sequence[TwoTower], wanted: Wanted
) -> list[tuple[str, pl.DataFrame]]:
    name, templates = read_templates(workspace, wanted.templates)
    answers: dict[str, Answers] = {}
    for tower in towers:
        methods = _methods(workspace, tower, wanted, _facts(workspace, name))
        refuse_learned(methods, templates)
        answers[tower.name] = answer(templates, Sides.of(workspace, tower, templates), methods)
        if not any(answers[tower.name].values()):
            raise LikewiseError(f"no template of {name} has features of all its images: is it of this catalog?")
    return [(name, _table(answers, KS, wanted))]


def _split_tables(workspace: Workspace, towers: Sequence[TwoTower], wanted: Wanted) -> list[tuple[str, pl.DataFrame]]:
    splits = whole_splits(workspace, wanted.split)
    answers: dict[str, Answers] = {}
    subsets: dict[str, Answers] = {}
    for tower in towers:
        sides = split_sides(workspace, tower, splits)
        methods = _methods(workspace, tower, wanted, lambda: None)
        answers[tower.name] = {method.name: {} for method in methods}
        for split in splits:
            for method, tasks in answer_split(split, sides, methods).items():
                answers[tower.name][method] |= tasks
            if split.subsets is not None and len(split.subsets):
                subsets[tower.name] = answer(split.subsets, sides, methods)
    name = str(workspace.settings()["source"])
    tables = [(name, _table(answers, SPLIT_KS, wanted))]
    return [*tables, (f"{name} subset", _table(subsets, KS, wanted))] if subsets else tables


def _table(answers: dict[str, Answers], ks: Sequence[int], wanted: Wanted) -> pl.DataFrame:
    return recall_table(answers, ks=ks, official=wanted.official, n_resamples=wanted.n_resamples, seed=wanted.seed)


def _methods(workspace: Workspace, tower: TwoTower, wanted: Wanted, facts: Callable[[], Facts | None]) -> list[Method]:
    return methods_named(wanted.methods, workspace, tower, facts=facts, detections=wanted.detections)


def _facts(workspace: Workspace, name: str) -> Callable[[], Facts | None]:
    """The facts that a set of templates was built from, looked up when a method needs them."""

    def look() -> Facts | None:
        built_with = template_settings(workspace, name).get("facts")
        if built_with is None:
            return None
        return workspace_facts(
            workspace,
            category=built_with["category"],
            attributes=built_with["attributes"],
            words=built_with["words"],
        )

    return look


def _with_earlier(workspace: Workspace, found: pl.DataFrame) -> pl.DataFrame:
    path = workspace.results_folder / RESULTS
    if not path.exists():
        return found
    earlier = pl.read_parquet(path, glob=False)
    if earlier.schema != found.schema:  # of an older version: its rows cannot stand in one table with these
        return found
    kept = earlier.join(found, on=["templates", "ties", "encoder", "method"], how="anti", maintain_order="left")
    return pl.concat([kept, found])
