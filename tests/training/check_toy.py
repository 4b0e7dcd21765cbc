"""A small world for the check: classes that a head can learn to separate although most of a vector is noise."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image

from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.encoders import encode_catalog, read_vectors
from likewise.encoders.storage.importing import import_vectors
from likewise.evaluation.retrieval import retrieval
from likewise.training.context import CheckConfig, open_context
from likewise.training.network import build_embedder
from likewise.training.plan import TrainingPlan, make_plan
from likewise.training.split import split_classes
from likewise.training.trainer import FoldData
from likewise.workspace import WorkspaceFolder

Check = Callable[..., dict[str, Any]]
"""(workspace, methods, more options) to the command's JSON."""

Told = Callable[..., str]
"""The same to what the command prints."""

N_CLASSES, PER_CLASS, USEFUL, NOISE = 64, 6, 8, 16


def toy_vectors(seed: int = 0) -> NDArray[np.float32]:
    """Rows class by class: a few useful components, and many that only disturb."""
    rng = np.random.default_rng(seed)
    centres = np.repeat(rng.standard_normal((N_CLASSES, USEFUL)), PER_CLASS, axis=0)
    useful = centres + 0.25 * rng.standard_normal(centres.shape)
    noise = rng.standard_normal((len(centres), NOISE))
    rows = np.concatenate([useful, noise], axis=1)
    vectors: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return vectors


def toy_images() -> list[str]:
    return [f"{label:02d}-{number}.png" for label in range(N_CLASSES) for number in range(PER_CLASS)]


def toy_fold_data(dim: int = 16, fold: int = 0) -> FoldData:
    """One fold of the toy's split, in memory."""
    vectors = toy_vectors()
    split = split_classes(toy_images(), [image[:2] for image in toy_images()])
    part = split.folds[fold]
    return FoldData(
        split.labels,
        part.train,
        part.validation,
        lambda rows, _: vectors[rows],
        lambda rows: vectors[rows],
        lambda: build_embedder(None, vectors.shape[1], dim),
    )


def toy_workspace(folder: Path, n_classes: int = N_CLASSES) -> WorkspaceFolder:
    """Small pictures with a column `kind` of so many classes, and the vectors above under the name `toy`."""
    folder_of_images = folder / "pictures"
    folder_of_images.mkdir(parents=True)
    rng = np.random.default_rng(1)
    colours = np.repeat(rng.integers(0, 256, (N_CLASSES, 3)), PER_CLASS, axis=0)
    images = toy_images()[: n_classes * PER_CLASS]
    for image, colour in zip(images, colours, strict=False):
        noise = rng.integers(-40, 40, (12, 12, 3))
        Image.fromarray(np.clip(colour + noise, 0, 255).astype(np.uint8)).save(folder_of_images / image)
    table = pl.DataFrame({"image": images, "kind": [f"kind {image[:2]}" for image in images]})
    table.write_csv(folder_of_images / "catalog.csv")
    workspace = WorkspaceFolder(folder / "toy")
    reading = read(folder_of_images / "catalog.csv")
    make_catalog(workspace, reading.rows, reading.root, "table")
    np.save(folder / "toy.npy", toy_vectors()[: len(images)])
    table.select("image").write_csv(folder / "keys.csv")
    import_vectors(workspace, "toy", folder / "toy.npy", folder / "keys.csv")
    return workspace


def toy_plan() -> TrainingPlan:
    """Small enough for a test."""
    return make_plan("quick", trials=4, steps=20, evaluate_every=10, reruns=2, dim=8)


def check_words(workspace: WorkspaceFolder, methods: str, *more: str) -> list[str]:
    """The words of `likewise train check` with that plan on the toy."""
    plan = toy_plan()
    small = {"trials": plan.n_trials, "steps": plan.max_steps, "evaluate-every": plan.steps_between_evaluations}
    options = small | {"reruns": plan.n_reruns, "dim": plan.dim, "workers": 1, "column": "kind", "with": "toy"}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return ["train", "check", str(workspace.path), "--methods", methods, *words, *more]


def check_command(workspace: WorkspaceFolder, methods: str, *more: str) -> list[str]:
    """That command, in a Python of its own that can be killed."""
    return [sys.executable, "-m", "likewise", *check_words(workspace, methods, *more)]


def measured_again(workspace: WorkspaceFolder, spec: str, config: CheckConfig) -> pl.DataFrame:
    """What the exported encoder scores on the test classes, query by query."""
    encode_catalog(workspace, [spec], workers=1)
    split = open_context(config).split
    found = retrieval(read_vectors(workspace, spec, split.keys(split.test)), split.labels[split.test])
    return pl.DataFrame({measure: found.per_query(measure) for measure in ("P@1", "R_Precision", "MAP@R")})


def rerun_of(workspace: WorkspaceFolder, method: str) -> pl.DataFrame:
    table = pl.read_parquet(workspace.path / "runs" / "check" / "reruns" / method / "0.parquet")
    return table.filter(pl.col("embedding") == "concatenated").select("P@1", "R_Precision", "MAP@R")
