"""`likewise train perceptual`: learn from the labels of a workspace, or from triplets; measure; leave an encoder.

In `runs/<name>/`: encoder.json and encoder.safetensors (the encoder, for `run:<name>`), results.parquet (this encoder
beside every other), choices.parquet (what cross-validation tried), calibration.parquet, summary.json, card.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.catalog import catalog_fingerprint, read_catalog
from likewise.catalog.table import select_catalog_rows
from likewise.encoders.families.run_files import SETTINGS, TrainedRun
from likewise.encoders.lineage import joined_lineage
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.files import read_meta, resolve_stored_spec, vectors_folder
from likewise.encoders.storage.reading import common_images, read_vectors
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.labels_export import evaluated_labels
from likewise.evaluation.exchange.training_labels import read_training_labels
from likewise.evaluation.screening import (
    label_set,
    pair_answers,
    pairs_among,
    screen_encoders,
    triplet_answers,
    triplet_set,
)
from likewise.evaluation.triplet_file import read_triplets
from likewise.files import finish_writing
from likewise.labeling.step import read_labels
from likewise.lineage.guard import EvaluationSet
from likewise.lineage.halves import select_half
from likewise.lineage.record import Lineage, lesson_from_workspace
from likewise.lineage.states import earlier_states
from likewise.progress import ProgressCallback
from likewise.training.learned_cards import perceptual_card
from likewise.training.perceptual.adapter import answer_scores
from likewise.training.perceptual.adapter_learner import AdapterLearner
from likewise.training.perceptual.answers import Answers, answers_from_labels, answers_from_triplets, check_disjoint
from likewise.training.perceptual.calibration import Calibration, Reliability, calibration_curve
from likewise.training.perceptual.comparison import HeldOutScores, comparison_table
from likewise.training.perceptual.cost import expected_seconds
from likewise.training.perceptual.cross_validation import calibrate_model, learn_and_cross_validate
from likewise.training.perceptual.features import ImageVectors
from likewise.training.perceptual.folds import UNSEEN_KINDS
from likewise.training.perceptual.learner import AnswerLearner, LearnedModel
from likewise.training.perceptual.network_learner import NetworkLearner
from likewise.training.perceptual.network_training import NetworkInputs
from likewise.training.perceptual.settings import PerceptualSettings
from likewise.training.perceptual.summary import PerceptualSummary, make_summary
from likewise.training.runs import run_folder
from likewise.workspace import WorkspaceFolder

GIVEN_TEST = "given test"
DEFAULT_NAME = "perceptual"


@dataclass(frozen=True)
class PerceptualResult:
    """What was learned and how well it holds."""

    run: TrainedRun
    results: pl.DataFrame
    model: LearnedModel
    calibration: Calibration
    reliability: Reliability
    summary: PerceptualSummary


@dataclass(frozen=True)
class PerceptualData:
    """Everything that is read before anything is learned."""

    train: Answers
    test: Answers | None
    images: tuple[str, ...]
    image_vectors: ImageVectors
    """Their vectors by every base, none where a network is trained whole."""
    others: dict[str, Vectors]
    """Vectors of every stored encoder."""


def train_perceptual(
    workspace: WorkspaceFolder,
    settings: PerceptualSettings,
    name: str = DEFAULT_NAME,
    *,
    force: bool = False,
    on_start: Callable[[float], None] | None = None,
    on_progress: ProgressCallback | None = None,
) -> PerceptualResult:
    """Learn, measure on what was not seen, and leave the encoder `run:<name>`.

    `on_start` is told how many seconds an adapter will take; of a network only its progress can say.
    """
    folder = run_folder(workspace, name).path
    finish_writing(folder)
    if (folder / SETTINGS).exists() and not force:
        raise LikewiseError(
            f"{folder} holds an encoder already: give this one another --name, or --force to replace it."
        )
    if not settings.unseen or any(kind not in UNSEEN_KINDS for kind in settings.unseen):
        raise LikewiseError(f"what is unseen must be some of {', '.join(UNSEEN_KINDS)}.")
    data = read_data(workspace, settings, name)
    train, image_vectors, learner = data.train, data.image_vectors, make_answer_learner(workspace, settings, data)
    if on_start and isinstance(learner, AdapterLearner):
        on_start(expected_seconds(learner, train, n_models=len(settings.unseen) * settings.n_folds + 1))
    learned = learn_and_cross_validate(
        learner, image_vectors, train, settings.unseen, settings.n_folds, settings.seed, on_progress
    )
    model, tables = learned.model, []
    by_others = {other: answer_scores(vectors, image_vectors, train) for other, vectors in data.others.items()}
    for kind, held_out in zip(settings.unseen, learned.held_out, strict=True):
        scores = {name: held_out.scores} | {other: found[held_out.rows] for other, found in by_others.items()}
        held_out_scores = HeldOutScores(train.subset(held_out.rows), held_out.fold, scores)
        tables.append(comparison_table(kind, held_out_scores, name))
    curve = calibrate_model(model, train)
    first = learned.held_out[0]
    held = train.subset(first.rows)
    reliability = calibration_curve(first.probability, held.yes, held.no, symmetric=train.are_triplets)
    if data.test is not None:
        test = data.test
        scores = {name: answer_scores(model.vectors, image_vectors, test)}
        scores |= {other: answer_scores(vectors, image_vectors, test) for other, vectors in data.others.items()}
        no_fold = np.zeros(len(test), np.int64)
        tables.append(comparison_table(GIVEN_TEST, HeldOutScores(test, no_fold, scores), name))
        reliability = calibration_curve(
            curve.probability(scores[name]), test.yes, test.no, symmetric=train.are_triplets
        )
    results = pl.concat(tables)
    catalog = catalog_fingerprint(read_catalog(workspace))
    summary = make_summary(catalog, settings, (data.train, data.test), learner, model, curve, reliability)
    beside = {"results": results, "choices": model.search_table, "calibration": reliability.bins}
    lineage = learned_lineage(workspace, settings, data, learner.bases)
    card = perceptual_card(name, workspace.path.name, summary, results)
    run = model.write(folder, summary.to_dict(), lineage, beside, card)
    return PerceptualResult(run, results, model, curve, reliability, summary)


def make_answer_learner(
    workspace: WorkspaceFolder, settings: PerceptualSettings, data: PerceptualData
) -> AnswerLearner:
    """An adapter over stored vectors, or the network that is to be trained whole."""
    if settings.trunk is None:
        return AdapterLearner(data.image_vectors, settings.hidden)
    return NetworkLearner(NetworkInputs(settings.trunk, workspace.root, data.images, data.image_vectors))


def read_data(workspace: WorkspaceFolder, settings: PerceptualSettings, name: str) -> PerceptualData:
    """Read answers and vectors; images are those that every encoder has a vector of."""
    if settings.trunk and settings.bases:
        raise LikewiseError("a network that is trained whole needs no stored vectors: leave --with out, or --trunk.")
    whole = read_catalog(workspace)
    catalog = select_half(whole, settings.half)
    asked = answered_set(workspace, settings, catalog)
    others = [encoder for encoder in workspace.encoders() if encoder != name]
    others = screen_encoders(workspace, others, asked).choose(None)  # the rest would be measured on what they have seen
    bases = [] if settings.trunk else list(settings.bases) or image_encoders(workspace, others)
    screen_encoders(workspace, [settings.trunk.encoder] if settings.trunk else bases, asked).refuse_learned()
    if not bases and not settings.trunk:
        raise LikewiseError(f"there are no vectors in {workspace.path} yet: run `likewise encode {workspace.quoted}`.")
    needed = list(dict.fromkeys([*bases, *others]))
    images = common_images(workspace, needed, catalog["image"].to_list()) if needed else catalog["image"].to_list()
    shown = catalog.filter(pl.col("image").is_in(images))
    test: Answers | None = None
    if settings.triplets is not None:
        elsewhere = whole.join(catalog, on="image", how="anti")[_column(whole, settings.by)]  # in the other half too
        shown = shown.filter(~pl.col(settings.by).is_in(elsewhere.drop_nulls().implode()).fill_null(False))
        images, stimuli = shown["image"].to_list(), shown[settings.by].cast(pl.String).to_list()
        train = answers_from_triplets(read_triplets(settings.triplets, settings.order, without=settings.test), stimuli)
        if settings.test:
            test = answers_from_triplets(read_triplets(settings.triplets, settings.order, only=settings.test), stimuli)
    else:
        labels, training = evaluated_labels(workspace), read_training_labels(workspace)
        if training is not None:
            if settings.test:
                raise LikewiseError("the labels have a training part, and the others are the test: leave --test out.")
            labels = pl.concat([labels, training], how="diagonal").with_row_index()
            n_measured = len(labels) - len(training)
        everything = answers_from_labels(labels, catalog, images)
        stimuli, train = images, everything
        if training is not None:
            usable = pairs_among(labels, pl.Series(images, dtype=pl.String))
            is_test = (usable["index"] < n_measured).to_numpy()
            if is_test.all():
                raise LikewiseError("none of the labels to learn from has vectors: run `likewise encode` first.")
            train, test = everything.subset(~is_test), everything.subset(is_test) if is_test.any() else None
        elif settings.test:
            chosen = set(select_catalog_rows(shown, settings.test)["image"])
            is_test = np.array([everything.stimuli[query] in chosen for query in everything.query])
            train, test = everything.subset(~is_test), everything.subset(is_test)
    if test is not None:
        check_disjoint(train, test)
    row_of = {stimulus: row for row, stimulus in enumerate(train.stimuli)}
    shown_in = [(image, row_of[key]) for image, key in zip(images, stimuli, strict=True) if key in row_of]
    named, stimulus = [image for image, _ in shown_in], np.array([row for _, row in shown_in], np.int64)
    stored = {encoder: read_vectors(workspace, encoder, named) for encoder in needed}
    specs = tuple(resolve_stored_spec(workspace, base) for base in bases)
    image_vectors = ImageVectors(specs, tuple(stored[base] for base in bases), stimulus)
    return PerceptualData(train, test, tuple(named), image_vectors, {encoder: stored[encoder] for encoder in others})


def answered_set(workspace: WorkspaceFolder, settings: PerceptualSettings, catalog: pl.DataFrame) -> EvaluationSet:
    """The answers about images of a catalog, as the guard sees them: what is held out is some of them."""
    earlier = earlier_states(workspace)
    if settings.triplets is not None:
        by = _column(catalog, settings.by)
        return triplet_set(catalog, read_triplets(settings.triplets, settings.order), by, earlier)
    labels, training = read_labels(workspace), read_training_labels(workspace)
    named = labels.select("query", "candidate")
    named = named if training is None else pl.concat([named, training.select("query", "candidate")])
    return label_set(catalog, pairs_among(named, catalog["image"]), earlier=earlier)


def learned_lineage(
    workspace: WorkspaceFolder, settings: PerceptualSettings, data: PerceptualData, bases: Sequence[str]
) -> Lineage:
    """What the encoder learned from: its answers, and what its bases learned from."""
    train, catalog = data.train, read_catalog(workspace)
    named = train.named_pairs() if settings.triplets is None else train.named_triplets()
    asked = label_set(catalog, named) if settings.triplets is None else triplet_set(catalog, named, settings.by)
    answers = (
        pair_answers(catalog, named.select("query", "candidate").iter_rows())
        if settings.triplets is None
        else triplet_answers(catalog, named, settings.by)
    )
    lesson = lesson_from_workspace(
        workspace,
        asked.task,
        "train perceptual",
        asked.examples.images["image"],
        answers=answers,
        half=settings.half or "",
    )
    return joined_lineage(workspace, bases).with_lesson(lesson)


def image_encoders(workspace: WorkspaceFolder, encoders: Sequence[str]) -> list[str]:
    """Those that are not made from the vectors of others, nor learned from people already."""
    from likewise.encoders.families.derivation import derivation_of

    found = []
    for encoder in encoders:
        spec = resolve_stored_spec(workspace, encoder)
        meta = read_meta(vectors_folder(workspace, encoder))
        if spec != "blend" and meta is not None and derivation_of(spec) is None:
            found.append(encoder)
    return found


def _column(catalog: pl.DataFrame, by: str) -> str:
    if by not in catalog.columns:
        raise LikewiseError(f"the catalog has no column {by!r}: choose one of {', '.join(catalog.columns)}.")
    return by
