"""`likewise train perceptual`: learn from the labels of a workspace, or from triplets; measure; leave an encoder.

In `runs/<name>/`: encoder.json and encoder.safetensors (the encoder, for `run:<name>`), results.parquet (this encoder
beside every other), choices.parquet (what cross-validation tried), calibration.parquet, summary.json.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from likewise.catalog import catalog_fingerprint, read_catalog
from likewise.catalog.table import select
from likewise.discovery.step import read_pool, retired_pairs
from likewise.encoders.families.run_files import SETTINGS, RunFile
from likewise.encoders.storage.files import read_meta, stored_spec, vectors_folder
from likewise.encoders.storage.reading import common_images, read_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.labels_io import drop_random_pairs
from likewise.evaluation.training_gains import learned_from_people
from likewise.evaluation.triplet_file import read_triplets
from likewise.labeling.step import read_labels
from likewise.training.perceptual.adapter import Adapter
from likewise.training.perceptual.answers import Answers, from_labels, from_triplets, refuse_shared
from likewise.training.perceptual.calibration import Calibration, Reliability, reliability
from likewise.training.perceptual.features import Pictures
from likewise.training.perceptual.folds import KINDS, Unseen
from likewise.training.perceptual.learn import HIDDEN, scores_of
from likewise.training.perceptual.lessons import Shown, TrunkPlan
from likewise.training.perceptual.measure import HeldOut, measure_table
from likewise.training.perceptual.rotate import calibration_of, rotate
from likewise.training.perceptual.trunk import Trunk
from likewise.training.perceptual.ways import Taught, Tell, Way
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
    trunk: TrunkPlan | None = None
    """Train this network whole instead of an adapter over stored vectors."""
    n_folds: int = 5
    seed: int = 0


@dataclass(frozen=True)
class Trained:
    """What was learned and how well it holds."""

    run: RunFile
    results: pl.DataFrame
    taught: Taught
    calibration: Calibration
    reliability: Reliability
    summary: dict[str, Any]


@dataclass(frozen=True)
class Material:
    """Everything that is read before anything is learned."""

    train: Answers
    test: Answers | None
    images: tuple[str, ...]
    pictures: Pictures
    """Their vectors by every base, none where a network is trained whole."""
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
    train, pictures, way = material.train, material.pictures, way_of(workspace, settings, material)
    tables, rotated = [], []
    for kind in settings.unseen:
        held_out = rotate(way, pictures, train, kind, settings.n_folds, settings.seed, tell)
        scores = {name: held_out.scores} | {
            other: scores_of(vectors, pictures, train)[held_out.rows] for other, vectors in material.others.items()
        }
        rotated.append(held_out)
        table = measure_table(kind, HeldOut(train.only(held_out.rows), held_out.fold, scores), name, seed=settings.seed)
        tables.append(table)
    taught = way.teach(train, settings.unseen[0], seed=settings.seed, folds_seed=settings.seed, tell=tell)
    curve = calibration_of(taught, train)
    held = train.only(rotated[0].rows)
    holds = reliability(rotated[0].probability, held.yes, held.no, both_ways=train.are_triplets)
    if material.test is not None:
        test = material.test
        scores = {name: scores_of(taught.vectors, pictures, test)}
        scores |= {other: scores_of(vectors, pictures, test) for other, vectors in material.others.items()}
        no_fold = np.zeros(len(test), np.int64)
        tables.append(measure_table(GIVEN, HeldOut(test, no_fold, scores), name, seed=settings.seed))
        holds = reliability(curve.probability(scores[name]), test.yes, test.no, both_ways=train.are_triplets)
    results = pl.concat(tables)
    summary = _summary(workspace, settings, material, way, taught, curve, holds)
    run = taught.write(folder, summary)
    write_parquet(results, folder / "results.parquet")
    write_parquet(taught.tried, folder / "choices.parquet")
    write_parquet(holds.bins, folder / "calibration.parquet")
    write_json(summary, folder / "summary.json")
    return Trained(run, results, taught, curve, holds, summary)


def way_of(workspace: Workspace, settings: Settings, material: Material) -> Way:
    """An adapter over stored vectors, or the network that is to be trained whole."""
    if settings.trunk is None:
        return Adapter(material.pictures, settings.hidden)
    return Trunk(Shown(settings.trunk, workspace.root, material.images, material.pictures))


def gather(workspace: Workspace, settings: Settings, name: str) -> Material:
    """Read answers and vectors; images are those that every encoder has a vector of."""
    if settings.trunk and settings.bases:
        raise LikewiseError("a network that is trained whole needs no stored vectors: leave --from out, or --trunk.")
    catalog = read_catalog(workspace)
    others = [encoder for encoder in workspace.encoders() if encoder != name]
    knowing = learned_from_people(workspace, others)  # beside others they would be measured on what they have seen
    others = [encoder for encoder in others if encoder not in knowing]
    bases = [] if settings.trunk else list(settings.bases) or looking_at_pictures(workspace, others)
    if not bases and not settings.trunk:
        raise LikewiseError(f"there are no vectors in {workspace.path} yet: run `likewise encode {workspace.path}`.")
    needed = list(dict.fromkeys([*bases, *others]))
    images = common_images(workspace, needed, catalog["image"].to_list()) if needed else catalog["image"].to_list()
    shown = catalog.filter(pl.col("image").is_in(images))
    test: Answers | None = None
    if settings.triplets is not None:
        things = shown[_column(shown, settings.by)].cast(pl.String).to_list()
        train = from_triplets(read_triplets(settings.triplets, settings.order, without=settings.test), things)
        if settings.test:
            test = from_triplets(read_triplets(settings.triplets, settings.order, only=settings.test), things)
    else:
        labels = drop_random_pairs(read_labels(workspace), read_pool(workspace).rows, retired_pairs(workspace))
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
    stored = {encoder: read_vectors(workspace, encoder, named) for encoder in needed}
    specs = tuple(stored_spec(workspace, base) for base in bases)
    pictures = Pictures(specs, tuple(stored[base] for base in bases), thing)
    return Material(train, test, tuple(named), pictures, {encoder: stored[encoder] for encoder in others})


def looking_at_pictures(workspace: Workspace, encoders: Sequence[str]) -> list[str]:
    """Those that are not made from the vectors of others, nor learned from people already."""
    from likewise.encoders.families.derivation import derivation_of

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
    way: Way,
    taught: Taught,
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
        "bases": way.bases,
        "trunk": None if settings.trunk is None else asdict(settings.trunk),
        "unseen": list(settings.unseen),
        "folds": settings.n_folds,
        "seed": settings.seed,
        "choice": dict(taught.choice),
        "chosen": _in_words(taught.choice),
        "surprise_train": taught.surprise,
        "surprise_held_out": float(taught.tried["surprise"].min()),  # type: ignore[arg-type]
        "calibration": asdict(curve)
        | {"expected_error": holds.expected_error, "brier": holds.brier, "n_votes": holds.n_votes},
        "queries": sorted({train.things[query] for query in np.unique(train.query)}),
    }


def _in_words(choice: Mapping[str, float]) -> str:
    if "steps" in choice:
        return f"{choice['steps']:,} steps" if choice["steps"] else "no step at all: the network as it was"
    return f"shrinkage {choice['shrinkage']:g}, {choice['hidden'] or 'no'} hidden units"
