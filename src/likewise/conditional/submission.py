"""CIRR's and CIRCO's test servers: the ranked names of every question of a split, checked before they are sent.

CIRR    {"version": "rc2", "metric": "recall",        "<pairid>": [50 names], …}
        {"version": "rc2", "metric": "recall_subset", "<pairid>": [3 names of the question's set], …}
CIRCO   {"<id>": [50 numbers of pictures], …}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from likewise.catalog.readers.stored_tables import read_stored_table
from likewise.catalog.table import read_catalog
from likewise.conditional.composers import ComposerMethod
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.methods import get_composer
from likewise.conditional.protocol import ConditionalMethod
from likewise.conditional.screening import question_set, screen_methods
from likewise.conditional.search_models import default_tower
from likewise.conditional.splits import (
    SharedGalleryBenchmark,
    load_split_benchmarks,
    split_batches,
    split_features,
    top_k,
)
from likewise.conditional.stored_features import open_tower
from likewise.errors import LikewiseError
from likewise.files import written_together
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_json, write_json

VERSION = "rc2"
LENGTHS = {"recall": 50, "recall_subset": 3}


def ranked_names(
    split: SharedGalleryBenchmark,
    members: Mapping[int, list[str]],
    names: Mapping[str, str],
    features: ImageTextFeatures,
    method: ConditionalMethod,
) -> dict[str, dict[str, Any]]:
    """Both submissions: metric -> its file's content; `members` are the sets by question, `names` by image key."""
    found: dict[str, dict[str, Any]] = {metric: {"version": VERSION, "metric": metric} for metric in LENGTHS}
    for queries, batch, present in split_batches(split, split.queries, features):
        gallery = batch.candidates[0]
        place = {image: column for column, image in enumerate(gallery)}
        scores = method.scores(batch)
        if np.isnan(scores).any():
            raise LikewiseError(f"{method.name} cannot answer questions like these: choose another method.")
        first = top_k(scores, present, LENGTHS["recall"])
        for row, question in enumerate(queries["template"].to_list()):
            found["recall"][str(question)] = [names[gallery[column]] for column in first[row] if present[row, column]]
            few = [place[image] for image in members[question] if image in place]
            inside = np.zeros(len(gallery), bool)
            inside[few] = True
            order = top_k(scores[row : row + 1], inside[None] & present[row : row + 1], LENGTHS["recall_subset"])[0]
            found["recall_subset"][str(question)] = [names[gallery[column]] for column in order]
    return found


def check_submission(content: Mapping[str, Any], templates: pl.DataFrame, names: Mapping[str, str], where: str) -> int:
    """Whether the server will take it: the number of questions, or an error that says what is wrong."""
    metric = content.get("metric")
    if content.get("version") != VERSION or metric not in LENGTHS:
        raise LikewiseError(f'{where} must say "version": "{VERSION}" and "metric": {" or ".join(LENGTHS)}.')
    known = set(names.values())
    queries = {str(row["template"]): row for row in templates.iter_rows(named=True)}
    given = {key for key in content if key not in ("version", "metric")}
    if given != set(queries):
        missing, extra = sorted(set(queries) - given), sorted(given - set(queries))
        raise LikewiseError(
            f"{where} must answer every question once: {len(missing)} are missing (first: {missing[:1]}), "
            f"{len(extra)} are not of this split (first: {extra[:1]})."
        )
    for pair, row in queries.items():
        listed = content[pair]
        allowed = known if metric == "recall" else {names[image] for image in row["members"] if image in names}
        wanted = min(LENGTHS[metric], len(allowed - {names.get(row["reference"])}))
        if not isinstance(listed, list) or len(listed) != wanted or len(set(listed)) != wanted:
            raise LikewiseError(f"{where}: question {pair} needs {wanted} different names.")
        if names.get(row["reference"]) in listed:
            raise LikewiseError(f"{where}: question {pair} lists its own reference.")
        if not set(listed) <= allowed:
            raise LikewiseError(
                f"{where}: question {pair} names {sorted(set(listed) - allowed)[0]}, which is not in its gallery."
            )
    return len(queries)


def write_submission(
    folder: Path, contents: Mapping[str, Mapping[str, Any]], templates: pl.DataFrame, names: Mapping[str, str]
) -> list[Path]:
    """Write both files, each checked as it will be read."""
    with written_together(folder) as staged:
        for metric, content in contents.items():
            path = staged.staging / f"cirr-{metric}.json"
            write_json(content, path)
            check_submission(read_json(path), templates, names, str(folder / path.name))
    return [folder / f"cirr-{metric}.json" for metric in contents]


def circo_ranking(
    split: SharedGalleryBenchmark, names: Mapping[str, str], features: ImageTextFeatures, method: ConditionalMethod
) -> dict[str, list[int]]:
    """CIRCO's file: the first 50 pictures of every question, by number."""
    found: dict[str, list[int]] = {}
    for queries, batch, present in split_batches(split, split.queries, features):
        gallery, scores = batch.candidates[0], method.scores(batch)
        if np.isnan(scores).any():
            raise LikewiseError(f"{method.name} cannot answer questions like these: choose another method.")
        first = top_k(scores, present, LENGTHS["recall"])
        for row, question in enumerate(queries["template"].to_list()):
            found[str(question)] = [int(names[gallery[column]]) for column in first[row] if present[row, column]]
    missing = set(map(str, split.queries["template"])) - set(found)
    if missing:
        raise LikewiseError(
            f"{len(missing)} questions of {split.name} have no features of their reference: encode these images."
        )
    return found


@dataclass(frozen=True)
class Submission:
    """Files for the server."""

    files: list[Path]
    n_questions: int
    notes: list[str]
    """Where the method learned about these questions."""


def submit_questions(
    workspace: WorkspaceFolder,
    folder: Path,
    encoder: str | None,
    method: str,
    split: str | None,
    *,
    workers: int | None = None,
    on_progress: ProgressCallback | None = None,
) -> Submission:
    """The step `likewise condition submit`, of CIRR and of CIRCO."""
    source = str(workspace.settings()["source"])
    if source not in ("cirr", "circo"):
        raise LikewiseError(
            f"{workspace.path} is neither CIRR nor CIRCO: make it with `likewise new WORKSPACE --reader cirr`."
        )
    split = split or ("test1" if source == "cirr" else "test")
    tower = open_tower(encoder or default_tower(workspace))
    tower.encode(workspace, workers=workers, on_progress=on_progress)
    [benchmark] = load_split_benchmarks(workspace, split)
    templates = read_stored_table(workspace, "templates").filter(split=split)
    if templates.is_empty():
        raise LikewiseError(f"the split {split!r} has no questions in {workspace.path}: choose another `--split`.")
    catalog = read_catalog(workspace)
    names = dict(catalog.select("image", "name").iter_rows())
    if source == "circo":
        composed = ComposerMethod(get_composer(method, workspace, tower))
        features = split_features(workspace, tower, [benchmark])
        path = folder / f"circo-{split}.json"
        write_json(circo_ranking(benchmark, names, features, composed), path)
        asked = question_set(workspace, [benchmark], f"CIRCO's {split}")
        return Submission(
            [path], len(templates), screen_methods(workspace, tower, [composed], asked).notes([composed.name])
        )
    names = dict(catalog.filter(split=split).select("image", "name").iter_rows())
    members = dict(templates.select("template", "members").iter_rows())
    composed = ComposerMethod(get_composer(method, workspace, tower))
    contents = ranked_names(benchmark, members, names, split_features(workspace, tower, [benchmark]), composed)
    asked = question_set(workspace, [benchmark], f"CIRR's {split}")
    notes = screen_methods(workspace, tower, [composed], asked).notes([composed.name])
    return Submission(write_submission(folder, contents, templates, names), len(templates), notes)
