"""People whose metric is known: they look at three of twelve coordinates, and make mistakes."""

import numpy as np
from numpy.typing import NDArray

from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.features import ImageVectors

WEIGHTS = np.array([2.0, 1.0, 1.0] + [0.0] * 9)


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def toy_stimuli(n_stimuli: int, seed: int = 0, views: int = 2) -> tuple[ImageVectors, NDArray[np.float64]]:
    """Images of stimuli by one encoder, several of each, and what people see of them."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(n_stimuli, 12))
    seen = np.repeat(places, views, axis=0) + 0.05 * rng.normal(size=(n_stimuli * views, 12))
    constant = np.full((len(seen), 1), 6.0)  # nearly the same length, so that unit vectors keep distances
    vectors = unit(np.concatenate([seen, constant], axis=1))
    return ImageVectors(("toy",), (vectors,), np.repeat(np.arange(n_stimuli), views)), places * WEIGHTS


def toy_triplets(seen: NDArray[np.float64], n: int, seed: int = 1, votes: int = 5, clarity: float = 0.6) -> Answers:
    """Answers by votes whose probability is a sigmoid of the true difference of squared distances."""
    rng = np.random.default_rng(seed)
    names = np.array([rng.choice(len(seen), 3, replace=False) for _ in range(n)])
    query, close, far = names.T
    logit = clarity * (((seen[query] - seen[far]) ** 2).sum(1) - ((seen[query] - seen[close]) ** 2).sum(1))
    yes = rng.binomial(votes, 1.0 / (1.0 + np.exp(-logit))).astype(np.float64)
    stimuli = [f"{number:03d}" for number in range(len(seen))]
    label = np.where(2 * yes == votes, -1, 2 * yes > votes).astype(np.int64)
    return Answers(stimuli, np.arange(len(seen)), query, close, far, yes, votes - yes, label)


def toy_pairs(seen: NDArray[np.float64], n_queries: int, per_query: int, seed: int = 2) -> Answers:
    """Is it similar? Yes with a probability that falls with the true distance."""
    rng = np.random.default_rng(seed)
    query = np.repeat(rng.choice(len(seen), n_queries, replace=False), per_query)
    close = np.array([rng.choice(np.delete(np.arange(len(seen)), one)) for one in query])
    logit = 3.0 - 0.8 * ((seen[query] - seen[close]) ** 2).sum(1)
    yes = rng.binomial(3, 1.0 / (1.0 + np.exp(-logit))).astype(np.float64)
    stimuli = [f"{number:03d}" for number in range(len(seen))]
    far = np.full(len(query), -1, np.int64)
    return Answers(stimuli, np.arange(len(seen)), query, close, far, yes, 3.0 - yes, (yes > 1.5).astype(np.int64))
