"""Learn an adapter from answers: coordinates, then a metric in them, at a strength of shrinkage that was chosen fairly.

The choice (how much shrinkage, with or without a hidden layer) is made by cross-validation inside the training answers,
by the negative log-likelihood of held-out votes; whatever is measured later was not seen by it. Of very many answers a
random sample decides: as the strength of a prior, the shrinkage of a whole vote count is the same for few and for many
answers, so that of a mean vote falls as their number grows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from likewise.training.perceptual.folds import AnswerFold, Unseen, make_folds
from likewise.training.perceptual.metric import (
    MahalanobisMetric,
    PenalisedLikelihood,
    fit_metric,
    logits,
    mean_negative_log_likelihood,
)

SHRINKAGES = tuple(
    float(f"{value:.1e}") for value in np.logspace(-1.0, -5.0, 13)
)  # strong to weak, each starts the next
HIDDEN = (0, 512)
INNER_FOLDS = 4
PATIENCE = 2
MAX_CHOOSING_ANSWERS = 40_000
"""Of more answers a random sample of so many chooses; all of them are learned from."""
SAMPLE_FOLDS = 2
"""Of the folds of such a sample so many are held out in turn: each has votes enough to choose by."""
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

    def vectors(self, rows: Floats) -> Vectors:
        """Vectors of the encoders side by side to vectors of unit length."""
        return self.embed(self.features(rows))

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
    coordinates = image_vectors.stimulus_means(features(image_vectors.concatenated), len(answers.stimuli))
    sample, metric = answers.subset(choosing_rows(answers, seed)), None
    likelihood = PenalisedLikelihood(coordinates, sample)
    for_sample = choice.shrinkage * (_n_votes(answers) / _n_votes(sample))
    for shrinkage in [each for each in SHRINKAGES if each > for_sample] + [for_sample]:
        metric = fit_metric(likelihood, shrinkage, start=metric)
    if len(sample) < len(answers):
        metric = fit_metric(PenalisedLikelihood(coordinates, answers), choice.shrinkage, start=metric)
    assert metric is not None
    return _with_constant(choice, features, metric, coordinates[stimuli])


def choosing_rows(answers: Answers, seed: int) -> Ints:
    """All answers, or as many of them as are needed for a choice."""
    if len(answers) <= MAX_CHOOSING_ANSWERS:
        return np.arange(len(answers))
    return np.sort(np.random.default_rng(seed).choice(len(answers), MAX_CHOOSING_ANSWERS, replace=False))


def n_choosing_folds(answers: Answers, n_folds: int = INNER_FOLDS) -> int:
    return n_folds if len(answers) <= MAX_CHOOSING_ANSWERS else SAMPLE_FOLDS


def _n_votes(answers: Answers) -> float:
    return float((answers.yes + answers.no).sum())


@dataclass(frozen=True)
class AdapterSelection:
    """The best choice, the held-out scores it gave, and everything that was tried."""

    choice: AdapterParams
    scores: Floats
    """Of every training answer that chose, by a model that had not seen it; for items, by the last such model."""
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
    rows = choosing_rows(answers, seed)
    everything, answers = answers, answers.subset(rows)
    inner_folds = make_folds(answers, unseen, n_folds, seed)[: n_choosing_folds(everything, n_folds)]
    search_rows: list[tuple[float, int, float, int]] = []
    best: tuple[float, AdapterParams, list[_InnerFold]] | None = None
    for units in hidden:
        folds = [_InnerFold.of(image_vectors, answers, fold, units, seed) for fold in inner_folds]
        n_votes = sum(_n_votes(fold.test) for fold in folds)
        least, worse = float("inf"), 0
        for number, shrinkage in enumerate(SHRINKAGES):
            if on_progress:
                on_progress("choosing", hidden.index(units) * len(SHRINKAGES) + number, len(hidden) * len(SHRINKAGES))
            folds = [fold.learn(shrinkage) for fold in folds]
            negative_log_likelihood = sum(fold.test_loss() for fold in folds) / n_votes
            search_rows.append((shrinkage, units, negative_log_likelihood, int(n_votes)))
            if best is None or negative_log_likelihood < best[0]:
                best = negative_log_likelihood, AdapterParams(shrinkage, units), folds
            worse = worse + 1 if negative_log_likelihood >= least else 0
            least = min(least, negative_log_likelihood)
            if worse >= PATIENCE:
                break
    assert best is not None
    scores = np.full(len(everything), np.nan)
    for fold in best[2]:
        scores[rows[fold.rows]] = fold.test_scores(image_vectors, best[1])
    choice = replace(best[1], shrinkage=best[1].shrinkage * (_n_votes(answers) / _n_votes(everything)))
    schema = {"shrinkage": pl.Float64, "hidden": pl.Int64, "negative_log_likelihood": pl.Float64, "n_votes": pl.Int64}
    return AdapterSelection(choice, scores, pl.DataFrame(search_rows, schema=schema, orient="row"))


@dataclass(frozen=True)
class _InnerFold:
    """Answers to learn from and answers held out, in coordinates fitted to the former, and the metric so far."""

    rows: Ints
    train: Answers
    test: Answers
    features: FeatureMap
    by_image: Floats
    likelihood: PenalisedLikelihood
    metric: MahalanobisMetric | None = None

    @classmethod
    def of(
        cls, image_vectors: ImageVectors, answers: Answers, fold: AnswerFold, hidden: int, seed: int
    ) -> "_InnerFold":
        train, test = answers.subset(fold.train), answers.subset(fold.test)
        features = fit_feature_map(image_vectors, train.named_stimuli, hidden=hidden, seed=seed)
        by_image = features(image_vectors.concatenated)
        coordinates = image_vectors.stimulus_means(by_image, len(answers.stimuli))
        return cls(fold.test, train, test, features, by_image, PenalisedLikelihood(coordinates, train))

    def learn(self, shrinkage: float) -> "_InnerFold":
        """With the metric of this shrinkage; the one so far is where the search for it starts."""
        return replace(self, metric=fit_metric(self.likelihood, shrinkage, start=self.metric))

    def test_loss(self) -> float:
        """Negative log-likelihood of the held-out votes, all together."""
        assert self.metric is not None
        logit = logits(self.likelihood.coordinates, self.test, self.metric)
        return mean_negative_log_likelihood(logit, self.test) * _n_votes(self.test)

    def test_scores(self, image_vectors: ImageVectors, choice: AdapterParams) -> Floats:
        assert self.metric is not None
        seen = self.likelihood.coordinates[self.train.named_stimuli]
        model = _with_constant(choice, self.features, self.metric, seen)
        return answer_scores(model.embed(self.by_image), image_vectors, self.test)


def answer_scores(vectors: Vectors, image_vectors: ImageVectors, answers: Answers) -> Floats:
    """Cosine of every pair, or cosine with close minus cosine with far, as evaluation computes them."""
    stimuli = image_vectors.stimulus_means(vectors.astype(np.float64), len(answers.stimuli))
    unit = unit_rows(stimuli.astype(np.float32))

    def cosine(other: Ints) -> Floats:
        return pair_scores(unit, unit, answers.query, other)

    near = cosine(answers.close)
    return near - cosine(answers.far) if answers.are_triplets else near
