"""Learn an adapter from answers: coordinates, then a metric in them, at a strength of shrinkage that was chosen fairly.

The choice (how much shrinkage, with or without a hidden layer) is made by cross-validation inside the training answers,
by the surprise of held-out votes; whatever is measured later was not seen by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.encoders.families.run_files import Layer
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.evaluation.auc import Floats, Ints
from likewise.search import pair_scores
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.features import Features, Pictures, fit_features
from likewise.training.perceptual.folds import Unseen, check_fold, folds
from likewise.training.perceptual.metric import Metric, fit_metric, logits, mean_surprise
from likewise.training.perceptual.ways import Tell

SHRINKAGES = tuple(
    float(f"{value:.1e}") for value in np.logspace(-1.0, -5.0, 13)
)  # strong to weak, each starts the next
HIDDEN = (0, 512)
INNER_FOLDS = 4
WORSE_BEFORE_STOPPING = 2
LIFT = 3.0
"""A constant coordinate of so many times the typical length makes cosines fall as distances grow."""


@dataclass(frozen=True)
class Choice:
    """What cross-validation decides."""

    shrinkage: float
    hidden: int


@dataclass(frozen=True)
class Learned:
    """A fitted adapter."""

    choice: Choice
    features: Features
    metric: Metric
    constant: float

    def vectors(self, vectors: Sequence[Vectors]) -> Vectors:
        """Vectors of the encoders, one array each, to vectors of unit length."""
        return self.placed(self.features(vectors))

    def placed(self, coordinates: Floats) -> Vectors:
        """The same, from the features of the pictures."""
        rows = coordinates @ self.metric.matrix
        return unit_rows(np.append(rows, np.full((len(rows), 1), self.constant), axis=1).astype(np.float32))

    def layers(self) -> list[Layer]:
        return self.features.layers(self.metric.matrix, self.constant)


def finish(choice: Choice, features: Features, metric: Metric, coordinates: Floats) -> Learned:
    lengths = ((coordinates @ metric.matrix) ** 2).sum(axis=1)
    return Learned(choice, features, metric, LIFT * float(np.sqrt(lengths.mean())) or 1.0)


def learn(pictures: Pictures, answers: Answers, choice: Choice, seed: int) -> Learned:
    """Fit one choice on all the answers given."""
    things = answers.named_things
    features = fit_features(pictures, things, hidden=choice.hidden, seed=seed)
    coordinates = pictures.means(features(pictures.vectors), len(answers.things))
    metric = None
    for shrinkage in [each for each in SHRINKAGES if each > choice.shrinkage] + [choice.shrinkage]:
        metric = fit_metric(coordinates, answers, shrinkage, start=metric)
    assert metric is not None
    return finish(choice, features, metric, coordinates[things])


@dataclass(frozen=True)
class Chosen:
    """The best choice, the held-out scores it gave, and everything that was tried."""

    choice: Choice
    scores: Floats
    """Of every training answer by a model that had not seen it; for items, by the last such model."""
    tried: pl.DataFrame


def choose(
    pictures: Pictures,
    answers: Answers,
    unseen: Unseen,
    *,
    seed: int,
    hidden: Sequence[int] = HIDDEN,
    n_folds: int = INNER_FOLDS,
    tell: Tell | None = None,
) -> Chosen:
    """Cross-validate every strength of shrinkage, from strong to weak, and stop where it only gets worse."""
    inner = folds(answers, unseen, n_folds, seed)
    tried: list[tuple[float, int, float, int]] = []
    best: tuple[float, Choice, Floats] | None = None
    for units in hidden:
        fitted = [_prepare(pictures, answers.only(fold.train), units, seed) for fold in inner]
        metrics: list[Metric | None] = [None] * n_folds
        least, worse = float("inf"), 0
        for number, shrinkage in enumerate(SHRINKAGES):
            if tell:
                tell("choosing", hidden.index(units) * len(SHRINKAGES) + number, len(hidden) * len(SHRINKAGES))
            lost, votes, scores = 0.0, 0.0, np.full(len(answers), np.nan)
            for place, (fold, (features, by_picture)) in enumerate(zip(inner, fitted, strict=True)):
                check_fold(answers, fold, unseen)
                train, test = answers.only(fold.train), answers.only(fold.test)
                coordinates = pictures.means(by_picture, len(answers.things))
                metric = fit_metric(coordinates, train, shrinkage, start=metrics[place])
                metrics[place] = metric
                n_votes = float((test.yes + test.no).sum())
                lost += mean_surprise(logits(coordinates, test, metric), test) * n_votes
                votes += n_votes
                model = finish(Choice(shrinkage, units), features, metric, coordinates[train.named_things])
                scores[fold.test] = scores_of(model.placed(by_picture), pictures, test)
            surprise = lost / votes
            tried.append((shrinkage, units, surprise, int(votes)))
            if best is None or surprise < best[0]:
                best = surprise, Choice(shrinkage, units), scores
            worse = worse + 1 if surprise >= least else 0
            least = min(least, surprise)
            if worse >= WORSE_BEFORE_STOPPING:
                break
    assert best is not None
    schema = {"shrinkage": pl.Float64, "hidden": pl.Int64, "surprise": pl.Float64, "n_votes": pl.Int64}
    return Chosen(best[1], best[2], pl.DataFrame(tried, schema=schema, orient="row"))


def _prepare(pictures: Pictures, train: Answers, hidden: int, seed: int) -> tuple[Features, Floats]:
    features = fit_features(pictures, train.named_things, hidden=hidden, seed=seed)
    return features, features(pictures.vectors)


def scores_of(vectors: Vectors, pictures: Pictures, answers: Answers) -> Floats:
    """Cosine of every pair, or cosine with close minus cosine with far, as evaluation computes them."""
    things = pictures.means(vectors.astype(np.float64), len(answers.things))
    unit = unit_rows(things.astype(np.float32))

    def cosine(other: Ints) -> Floats:
        return pair_scores(unit, unit, answers.query, other)

    near = cosine(answers.close)
    return near - cosine(answers.far) if answers.are_triplets else near
