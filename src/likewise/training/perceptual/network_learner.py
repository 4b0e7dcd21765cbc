"""A learner that trains the whole network: all of its weights learn from the votes.

The vectors v have length one, and a vote is explained by their cosines:

    triplet   P(close) = sigmoid(s (v_anchor . v_close - v_anchor . v_far))
    pair      P(similar) = sigmoid(s v_query . v_candidate + b)

A network can fit any answers, so what is regularised is for how many steps it learns: cross-validation inside the
training answers measures the negative log-likelihood of held-out votes every so many steps, from none (the network as
it was) to the most, and the model that is kept learns from all of them for the best number. Statistics of batch norms
stay fixed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from likewise.encoders.families.run_files import TrainedRun, write_run
from likewise.encoders.networks.device import repeatable_kernels
from likewise.evaluation.auc import Floats
from likewise.lineage.record import Lineage
from likewise.progress import ProgressCallback
from likewise.training.perceptual.adapter import answer_scores
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.folds import AnswerFold, Unseen, check_fold, make_folds
from likewise.training.perceptual.learner import LearnedModel
from likewise.training.perceptual.metric import mean_negative_log_likelihood
from likewise.training.perceptual.network_training import NetworkInputs, NetworkTraining
from likewise.training.seeds import derive_seed


@dataclass(frozen=True)
class NetworkLearner:
    """Trains the network that `shown.plan` names."""

    inputs: NetworkInputs

    @property
    def bases(self) -> list[str]:
        return [self.inputs.plan.encoder]

    @property
    def n_threads(self) -> int:
        return 1  # torch keeps all cores busy with one

    @repeatable_kernels()
    def fit(
        self,
        answers: Answers,
        unseen: Unseen,
        *,
        seed: int,
        folds_seed: int,
        on_progress: ProgressCallback | None = None,
    ) -> LearnedModel:
        plan, image_vectors = self.inputs.plan, self.inputs.image_vectors
        inner_folds = make_folds(answers, unseen, plan.inner_folds, folds_seed)
        total = (len(inner_folds) + 1) * plan.steps
        best, search_table, scores = self._choose_steps(answers, unseen, inner_folds, folds_seed, total, on_progress)
        training = NetworkTraining(self.inputs, answers, seed)
        for snapshot in training.train(best):
            last = snapshot
            if on_progress:
                on_progress("learning", len(inner_folds) * plan.steps + snapshot.step, total)
        weights = training.weights()

        def write(
            folder: Path, summary: Mapping[str, Any], lineage: Lineage, tables: Mapping[str, pl.DataFrame], card: str
        ) -> TrainedRun:
            dim = self.inputs.network.dim
            return write_run(
                folder,
                "trunk",
                self.bases,
                [],
                dim=dim,
                lineage=lineage,
                trunk=weights,
                about=summary,
                tables=tables,
                summary=summary,
                card=card,
            )

        negative_log_likelihood = mean_negative_log_likelihood(last.logits(image_vectors, answers), answers)
        return LearnedModel(last.vectors, {"steps": best}, search_table, scores, negative_log_likelihood, write)

    def _choose_steps(
        self,
        answers: Answers,
        unseen: Unseen,
        inner_folds: Sequence[AnswerFold],
        folds_seed: int,
        total: int,
        on_progress: ProgressCallback | None,
    ) -> tuple[int, pl.DataFrame, Floats]:
        """The number of steps with the least loss on answers held out, the loss of each, and its held-out scores."""
        plan, image_vectors, votes = self.inputs.plan, self.inputs.image_vectors, 0.0
        total_loss: dict[int, float] = {}
        scores: dict[int, Floats] = {}
        for number, fold in enumerate(inner_folds):
            check_fold(answers, fold, unseen)
            train, test = answers.subset(fold.train), answers.subset(fold.test)
            n_votes = float((test.yes + test.no).sum())
            votes += n_votes
            for snapshot in NetworkTraining(self.inputs, train, derive_seed(folds_seed, "inside", number)).train(
                plan.steps
            ):
                negative_log_likelihood = mean_negative_log_likelihood(snapshot.logits(image_vectors, test), test)
                total_loss[snapshot.step] = total_loss.get(snapshot.step, 0.0) + negative_log_likelihood * n_votes
                held_out = scores.setdefault(snapshot.step, np.full(len(answers), np.nan))
                held_out[fold.test] = answer_scores(snapshot.vectors, image_vectors, test)
                if on_progress:
                    on_progress("choosing", number * plan.steps + snapshot.step, total)
        best = min(total_loss, key=lambda step: (total_loss[step], step))
        search_table = pl.DataFrame(
            [(step, total_loss[step] / votes, int(votes)) for step in sorted(total_loss)],
            schema={"steps": pl.Int64, "negative_log_likelihood": pl.Float64, "n_votes": pl.Int64},
            orient="row",
        )
        return best, search_table, scores[best]
