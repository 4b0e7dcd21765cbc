"""Judged lists to measure with several tools: plain ones, and ones with the corners where tools disagree.

`ties`: scores are rounded, so candidates tie. `one class`: some queries have only positives, as many only negatives.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.discovery import EncoderScores, ranked_results
from likewise.evaluation.measures.ranked import RankedResults
from likewise.evaluation.pairs import JudgedPairs
from likewise.neighbours import as_unit

QUERIES, CANDIDATES, UNJUDGED = 500, 27, 6
ONE_CLASS = 25  # queries with positives only, and as many with negatives only
KINDS = ("plain", "ties", "one class", "both")
Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Case:
    """Queries x candidates: scores, labels, and which of them were judged (the others count as misses in lists)."""

    score: NDArray[np.float64]
    label: NDArray[np.int64]
    judged: NDArray[np.bool_]

    @cached_property
    def pairs(self) -> JudgedPairs:
        query, candidate = np.nonzero(self.judged)
        n_queries, n_candidates = self.score.shape
        names = [f"q{row:04}" for row in range(n_queries)], [f"d{row:04}" for row in range(n_candidates)]
        items = np.arange(n_queries) + n_candidates, np.arange(n_candidates)
        return JudgedPairs(*names, *items, query, candidate, self.label[self.judged].astype(np.int8))

    @cached_property
    def judged_scores(self) -> NDArray[np.float64]:
        return self.score[self.judged]

    def results(self, k: int) -> RankedResults:
        """The first k candidates of every query, equal scores by name, and the scores of judged pairs."""
        lists = np.argsort(-self.score, axis=1, kind="stable")[:, :k]
        return ranked_results(EncoderScores("likewise", self.judged_scores, lists), self.pairs)

    @cached_property
    def qrels(self) -> Qrels:
        return {
            name: {self.pairs.gallery[c]: int(self.label[q, c]) for c in np.flatnonzero(self.judged[q])}
            for q, name in enumerate(self.pairs.queries)
        }

    @cached_property
    def run(self) -> Run:
        return {
            name: dict(zip(self.pairs.gallery, self.score[q].tolist(), strict=True))
            for q, name in enumerate(self.pairs.queries)
        }

    @cached_property
    def tensors(self) -> Any:
        """Scores, labels (0 where not judged) and query numbers, as torchmetrics wants them."""
        import torch

        query = np.repeat(np.arange(len(self.score)), self.score.shape[1])
        label = np.where(self.judged, self.label, 0).ravel()
        return torch.tensor(self.score.ravel()), torch.tensor(label), torch.tensor(query)

    @cached_property
    def ranx(self) -> Any:
        from ranx import Qrels, Run

        return Qrels(self.qrels), Run(self.run)


def judged_lists(kind: str, *, everything_judged: bool) -> Case:
    """Random lists of one kind; unjudged candidates only where a measure knows what to do with them."""
    rng = np.random.default_rng(0)
    score = rng.random((QUERIES, CANDIDATES))
    label = (rng.random(score.shape) < 0.6).astype(np.int64)
    judged = np.ones(score.shape, dtype=np.bool_)
    if not everything_judged:
        judged = rng.permuted(np.arange(CANDIDATES) >= UNJUDGED + np.zeros((QUERIES, 1)), axis=1)
    label[:, 0], label[:, 1], judged[:, :2] = 1, 0, True  # both classes everywhere
    if kind in ("ties", "both"):
        score = score.round(1)
    if kind in ("one class", "both"):
        label[:ONE_CLASS], label[ONE_CLASS : 2 * ONE_CLASS] = 1, 0
    return Case(score, label, judged)


@dataclass(frozen=True)
class Classes:
    """Vectors with a class each; and, for tools that know lists only, every image's list of all others."""

    vectors: NDArray[np.float32]
    labels: NDArray[np.int64]

    @cached_property
    def lists(self) -> Case:
        vectors = self.vectors.astype(np.float64)
        same = self.labels[:, None] == self.labels[None, :]
        score = (vectors @ vectors.T).round(9)
        np.fill_diagonal(score, -2.0)  # behind everybody: the query itself is not in its list
        judged = ~np.eye(len(vectors), dtype=np.bool_)
        return Case(score, same.astype(np.int64) * judged, judged)


def classes(kind: str) -> Classes:
    """Ties: every picture is there three times. One class: pictures that are alone in their class."""
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(30), 10)
    vectors = rng.standard_normal((len(labels), 8)) + rng.standard_normal((30, 8))[labels]
    if kind in ("ties", "both"):
        vectors[1::3] = vectors[2::3] = vectors[::3]
        labels = rng.permutation(labels)
    if kind in ("one class", "both"):
        labels = np.where(np.arange(len(labels)) < ONE_CLASS, 1000 + np.arange(len(labels)), labels)
    return Classes(as_unit(vectors), labels)
