"""`likewise train perceptual`: learn from the labels of a workspace, or from triplets; measure; leave an encoder.

In `runs/<name>/`: encoder.json and encoder.safetensors (the encoder, for `run:<name>`), results.parquet (this encoder
beside every other), choices.parquet (what cross-validation tried), calibration.parquet, summary.json.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from likewise.catalog import catalog_fingerprint, read_catalog
from likewise.catalog.table import select
from likewise.discovery.step import read_pool, retired_pairs
from likewise.encoders.files import read_meta, stored_spec, vectors_folder
from likewise.encoders.run_files import SETTINGS, RunFile, write_run
from likewise.encoders.store import common_images, read_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.labels_io import without_chance
from likewise.evaluation.triplet_file import read_triplets
from likewise.labeling.step import read_labels
from likewise.training.perceptual.answers import Answers, from_labels, from_triplets, refuse_shared
from likewise.training.perceptual.calibration import Calibration, Reliability, calibrate, reliability
from likewise.training.perceptual.features import Pictures
from likewise.training.perceptual.folds import KINDS, Unseen
from likewise.training.perceptual.learn import HIDDEN, Chosen, Learned, Tell, choose, learn, scores_of
from likewise.training.perceptual.measure import HeldOut, measure_table
from likewise.training.perceptual.rotate import rotate
from likewise.training.runs import run_of
from likewise.workspace import Workspace, write_json, write_parquet

GIVEN = "given test"
DEFAULT_NAME = "perceptual"


@dataclass(frozen=True)
class Settings:
    """What to learn from and how."""

    bases: tuple[str, ...] = ()
    """Encoders with stored vectors; all that look at pictures by default."""
    triplets: Path | None = None
    order: str = "anchor close far"
    by: str = "item"
    test: str | None = None
    """`COLUMN=VALUE`: answers that only the last measurement reads, by a column of the triplets, or of the queries."""
    unseen: tuple[Unseen, ...] = ("queries", "items")
    """What is held out when measuring; the first also decides how much to shrink."""
    hidden: tuple[int, ...] = HIDDEN
    n_folds: int = 5
    seed: int = 0


@dataclass(frozen=True)
class Trained:
    """What was learned and how well it holds."""

    run: RunFile
    results: pl.DataFrame
    chosen: Chosen
    calibration: Calibration
    reliability: Reliability
    summary: dict[str, Any]


@dataclass(frozen=True)
class Material:
    """Everything that is read before anything is learned."""

    train: Answers
    test: Answers | None
    pictures: Pictures
    others: dict[str, Any]
    """Vectors of every stored encoder."""


def train_perceptual(
    workspace: Workspace, settings: Settings, name: str = DEFAULT_NAME, *, force: bool = False, tell: Tell | None = None
) -> Trained:
    """Learn, measure on what was not seen, and leave the encoder `run:<name>`."""
    folder = run_of(workspace, name).path
    if (folder / SETTINGS).exists() and not force:
        raise LikewiseError(
            f"{folder} holds an encoder already: give this one another --name, or --force to replace it."
        )
    if not settings.unseen or any(kind not in KINDS for kind in settings.unseen):
        raise LikewiseError(f"what is unseen must be some of {', '.join(KINDS)}.")
    material = gather(workspace, settings, name)
    train, pictures = material.train, material.pictures
    tables, rotated = [], []
    for kind in settings.unseen:
        held_out = rotate(pictures, train, kind, settings.n_folds, settings.hidden, settings.seed, tell)
        scores = {name: held_out.scores} | {
            other: scores_of(vectors, pictures, train)[held_out.rows] for other, vectors in material.others.items()
        }
        rotated.append(held_out)
        table = measure_table(kind, HeldOut(train.only(held_out.rows), held_out.fold, scores), name, seed=settings.seed)
        tables.append(table)
    first = settings.unseen[0]
    chosen = choose(pictures, train, first, seed=settings.seed, hidden=settings.hidden, tell=tell)
    learned = learn(pictures, train, chosen.choice, settings.seed)
    known = ~np.isnan(chosen.scores)
    curve = calibrate(chosen.scores[known], train.yes[known], train.no[known], through_zero=train.are_triplets)
    held = train.only(rotated[0].rows)
    holds = reliability(rotated[0].probability, held.yes, held.no, both_ways=train.are_triplets)
    if material.test is not None:
        test = material.test
        scores = {name: scores_of(learned.vectors(pictures.vectors), pictures, test)}
        scores |= {other: scores_of(vectors, pictures, test) for other, vectors in material.others.items()}
        no_fold = np.zeros(len(test), np.int64)
        tables.append(measure_table(GIVEN, HeldOut(test, no_fold, scores), name, seed=settings.seed))
        holds = reliability(curve.probability(scores[name]), test.yes, test.no, both_ways=train.are_triplets)
    results = pl.concat(tables)
    summary = _summary(workspace, settings, material, chosen, learned, curve, holds)
    run = write_run(folder, "adapter", pictures.encoders, learned.layers(), dim=learned.features.dim + 1, about=summary)
    write_parquet(results, folder / "results.parquet")
    write_parquet(chosen.tried, folder / "choices.parquet")
    write_parquet(holds.bins, folder / "calibration.parquet")
    write_json(summary, folder / "summary.json")
    return Trained(run, results, chosen, curve, holds, summary)


def gather(workspace: Workspace, settings: Settings, name: str) -> Material:
    """Read answers and vectors; images are those that every base has a vector of."""
    catalog = read_catalog(workspace)
    others = [encoder for encoder in workspace.encoders() if encoder != name]
    bases = list(settings.bases) or looking_at_pictures(workspace, others)
    if not bases:
        raise LikewiseError(f"there are no vectors in {workspace.path} yet: run `likewise encode {workspace.path}`.")
    images = common_images(workspace, list(dict.fromkeys([*bases, *others])), catalog["image"].to_list())
    shown = catalog.filter(pl.col("image").is_in(images))
    test: Answers | None = None
    if settings.triplets is not None:
        things = shown[_column(shown, settings.by)].cast(pl.String).to_list()
        train = from_triplets(read_triplets(settings.triplets, settings.order, without=settings.test), things)
        if settings.test:
            test = from_triplets(read_triplets(settings.triplets, settings.order, only=settings.test), things)
    else:
        labels = without_chance(read_labels(workspace), read_pool(workspace).rows, retired_pairs(workspace))
        everything = from_labels(labels, catalog, images)
        things, train = images, everything
        if settings.test:
            chosen = set(select(shown, settings.test)["image"])
            is_test = np.array([everything.things[query] in chosen for query in everything.query])
            train, test = everything.only(~is_test), everything.only(is_test)
    if test is not None:
        refuse_shared(train, test)
    row_of = {thing: row for row, thing in enumerate(train.things)}
    shown_in = [(image, row_of[key]) for image, key in zip(images, things, strict=True) if key in row_of]
    named, thing = [image for image, _ in shown_in], np.array([row for _, row in shown_in], np.int64)
    stored = {encoder: read_vectors(workspace, encoder, named) for encoder in dict.fromkeys([*bases, *others])}
    specs = tuple(stored_spec(workspace, base) for base in bases)
    pictures = Pictures(specs, tuple(stored[base] for base in bases), thing)
    return Material(train, test, pictures, {encoder: stored[encoder] for encoder in others})


def looking_at_pictures(workspace: Workspace, encoders: Sequence[str]) -> list[str]:
    """Those that are not made from the vectors of others, nor learned from people already."""
    from likewise.encoders.derive import derivation_of

    found = []
    for encoder in encoders:
        spec = stored_spec(workspace, encoder)
        meta = read_meta(vectors_folder(workspace, encoder))
        if spec != "blend" and meta is not None and derivation_of(spec) is None:
            found.append(encoder)
    return found


def _column(catalog: pl.DataFrame, by: str) -> str:
    if by not in catalog.columns:
        raise LikewiseError(f"the catalog has no column {by!r}: choose one of {', '.join(catalog.columns)}.")
    return by


def _summary(
    workspace: Workspace,
    settings: Settings,
    material: Material,
    chosen: Chosen,
    learned: Learned,
    curve: Calibration,
    holds: Reliability,
) -> dict[str, Any]:
    train = material.train
    return {
        "learned_from": "triplets" if train.are_triplets else "labels",
        "source": str(settings.triplets.name) if settings.triplets else "labels.parquet",
        "catalog": catalog_fingerprint(read_catalog(workspace)),
        "n_answers": len(train),
        "n_votes": int((train.yes + train.no).sum()),
        "n_queries": len(np.unique(train.query)),
        "n_items": len(np.unique(train.named_items)),
        "n_test_answers": 0 if material.test is None else len(material.test),
        "test": settings.test,
        "bases": list(material.pictures.encoders),
        "unseen": list(settings.unseen),
        "folds": settings.n_folds,
        "seed": settings.seed,
        "choice": asdict(chosen.choice),
        "surprise_train": learned.metric.surprise,
        "surprise_held_out": float(chosen.tried["surprise"].min()),  # type: ignore[arg-type]
        "calibration": asdict(curve)
        | {"expected_error": holds.expected_error, "brier": holds.brier, "n_votes": holds.n_votes},
        "queries": sorted({train.things[query] for query in np.unique(train.query)}),
    }
