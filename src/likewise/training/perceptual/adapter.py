"""Learn an adapter from answers: coordinates, then a metric in them, at a strength of shrinkage that was chosen fairly.

The choice (how much shrinkage, with or without a hidden layer) is made by cross-validation inside the training answers,
by the negative log-likelihood of held-out votes; whatever is measured later was not seen by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.encoders.families.run_files import Layer
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.evaluation.auc import Floats, Ints
from likewise.neighbours import pair_scores
from likewise.progress import ProgressCallback
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.features import FeatureMap, ImageVectors, fit_feature_map
from likewise.training.perceptual.folds import Unseen, check_fold, make_folds
from likewise.training.perceptual.metric import MahalanobisMetric, fit_metric, logits, mean_negative_log_likelihood

SHRINKAGES = tuple(
    float(f"{value:.1e}") for value in np.logspace(-1.0, -5.0, 13)
)  # strong to weak, each starts the next
HIDDEN = (0, 512)
INNER_FOLDS = 4
PATIENCE = 2
CONSTANT_NORM_RATIO = 3.0
"""A constant coordinate of so many times the typical length makes cosines fall as distances grow."""


@dataclass(frozen=True)
class AdapterParams:
    """What cross-validation decides."""

    shrinkage: float
    hidden: int


@dataclass(frozen=True)
class FittedAdapter:
    """A fitted adapter."""

    choice: AdapterParams
    features: FeatureMap
    metric: MahalanobisMetric
    constant: float

    def vectors(self, vectors: Sequence[Vectors]) -> Vectors:
        """Vectors of the encoders, one array each, to vectors of unit length."""
        return self.embed(self.features(vectors))

    def embed(self, coordinates: Floats) -> Vectors:
        """The same, from the features of the images."""
        rows = coordinates @ self.metric.matrix
        return unit_rows(np.append(rows, np.full((len(rows), 1), self.constant), axis=1).astype(np.float32))

    def layers(self) -> list[Layer]:
        return self.features.layers(self.metric.matrix, self.constant)


def _with_constant(
    choice: AdapterParams, features: FeatureMap, metric: MahalanobisMetric, coordinates: Floats
) -> FittedAdapter:
    lengths = ((coordinates @ metric.matrix) ** 2).sum(axis=1)
    return FittedAdapter(choice, features, metric, CONSTANT_NORM_RATIO * float(np.sqrt(lengths.mean())) or 1.0)


def fit_adapter(image_vectors: ImageVectors, answers: Answers, choice: AdapterParams, seed: int) -> FittedAdapter:
    """Fit one choice on all the answers given."""
    stimuli = answers.named_stimuli
    features = fit_feature_map(image_vectors, stimuli, hidden=choice.hidden, seed=seed)
    coordinates = image_vectors.stimulus_means(features(image_vectors.vectors), len(answers.stimuli))
    metric = None
    for shrinkage in [each for each in SHRINKAGES if each > choice.shrinkage] + [choice.shrinkage]:
        metric = fit_metric(coordinates, answers, shrinkage, start=metric)
    assert metric is not None
    return _with_constant(choice, features, metric, coordinates[stimuli])


@dataclass(frozen=True)
class AdapterSelection:
    """The best choice, the held-out scores it gave, and everything that was tried."""

    choice: AdapterParams
    scores: Floats
    """Of every training answer by a model that had not seen it; for items, by the last such model."""
    search_table: pl.DataFrame


def select_adapter(
    image_vectors: ImageVectors,
    answers: Answers,
    unseen: Unseen,
    *,
    seed: int,
    hidden: Sequence[int] = HIDDEN,
    n_folds: int = INNER_FOLDS,
    on_progress: ProgressCallback | None = None,
) -> AdapterSelection:
    """Cross-validate every strength of shrinkage, from strong to weak, and stop where it only gets worse."""
    inner_folds = make_folds(answers, unseen, n_folds, seed)
    search_rows: list[tuple[float, int, float, int]] = []
    best: tuple[float, AdapterParams, Floats] | None = None
    for units in hidden:
        fitted = [_prepare(image_vectors, answers.subset(fold.train), units, seed) for fold in inner_folds]
        metrics: list[MahalanobisMetric | None] = [None] * n_folds
        least, worse = float("inf"), 0
        for number, shrinkage in enumerate(SHRINKAGES):
            if on_progress:
                on_progress("choosing", hidden.index(units) * len(SHRINKAGES) + number, len(hidden) * len(SHRINKAGES))
            total_loss, votes, scores = 0.0, 0.0, np.full(len(answers), np.nan)
            for place, (fold, (features, by_image)) in enumerate(zip(inner_folds, fitted, strict=True)):
                check_fold(answers, fold, unseen)
                train, test = answers.subset(fold.train), answers.subset(fold.test)
                coordinates = image_vectors.stimulus_means(by_image, len(answers.stimuli))
                metric = fit_metric(coordinates, train, shrinkage, start=metrics[place])
                metrics[place] = metric
                n_votes = float((test.yes + test.no).sum())
                total_loss += mean_negative_log_likelihood(logits(coordinates, test, metric), test) * n_votes
                votes += n_votes
                model = _with_constant(
                    AdapterParams(shrinkage, units), features, metric, coordinates[train.named_stimuli]
                )
                scores[fold.test] = answer_scores(model.embed(by_image), image_vectors, test)
            negative_log_likelihood = total_loss / votes
            search_rows.append((shrinkage, units, negative_log_likelihood, int(votes)))
            if best is None or negative_log_likelihood < best[0]:
                best = negative_log_likelihood, AdapterParams(shrinkage, units), scores
            worse = worse + 1 if negative_log_likelihood >= least else 0
            least = min(least, negative_log_likelihood)
            if worse >= PATIENCE:
                break
    assert best is not None
    schema = {"shrinkage": pl.Float64, "hidden": pl.Int64, "negative_log_likelihood": pl.Float64, "n_votes": pl.Int64}
    return AdapterSelection(best[1], best[2], pl.DataFrame(search_rows, schema=schema, orient="row"))


def _prepare(image_vectors: ImageVectors, train: Answers, hidden: int, seed: int) -> tuple[FeatureMap, Floats]:
    features = fit_feature_map(image_vectors, train.named_stimuli, hidden=hidden, seed=seed)
    return features, features(image_vectors.vectors)


def answer_scores(vectors: Vectors, image_vectors: ImageVectors, answers: Answers) -> Floats:
    """Cosine of every pair, or cosine with close minus cosine with far, as evaluation computes them."""
    stimuli = image_vectors.stimulus_means(vectors.astype(np.float64), len(answers.stimuli))
    unit = unit_rows(stimuli.astype(np.float32))

    def cosine(other: Ints) -> Floats:
        return pair_scores(unit, unit, answers.query, other)

    near = cosine(answers.close)
    return near - cosine(answers.far) if answers.are_triplets else near
