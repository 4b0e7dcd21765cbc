"""The way through the whole network: all of its weights learn from the votes.

The vectors v have length one, and a vote is explained by their cosines:

    triplet   P(close) = sigmoid(s (v_anchor . v_close - v_anchor . v_far))
    pair      P(similar) = sigmoid(s v_query . v_candidate + b)

A network can fit any answers, so what is regularised is for how many steps it learns: cross-validation inside the
training answers looks at the surprise of held-out votes every so many steps, from none (the network as it was) to the
most, and the model that is kept learns from all of them for the best number. Statistics of batch norms stay fixed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from likewise.encoders.families.run_files import RunFile, write_run
from likewise.evaluation.auc import Floats
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.folds import Unseen, check_fold, folds
from likewise.training.perceptual.learn import scores_of
from likewise.training.perceptual.lessons import Lessons, Shown
from likewise.training.perceptual.metric import mean_surprise
from likewise.training.perceptual.ways import Taught, Tell
from likewise.training.seeds import seed_for


@dataclass(frozen=True)
class Trunk:
    """Teaches the network that `shown.plan` names."""

    shown: Shown

    @property
    def bases(self) -> list[str]:
        return [self.shown.plan.encoder]

    def teach(
        self, answers: Answers, unseen: Unseen, *, seed: int, folds_seed: int, tell: Tell | None = None
    ) -> Taught:
        plan, pictures = self.shown.plan, self.shown.pictures
        inner = folds(answers, unseen, plan.inner_folds, folds_seed)
        lost: dict[int, float] = {}
        scores: dict[int, Floats] = {}
        total, votes = (len(inner) + 1) * plan.steps, 0.0
        for number, fold in enumerate(inner):
            check_fold(answers, fold, unseen)
            train, test = answers.only(fold.train), answers.only(fold.test)
            n_votes = float((test.yes + test.no).sum())
            votes += n_votes
            for look in Lessons(self.shown, train, seed_for(folds_seed, "inside", number)).until(plan.steps):
                surprise = mean_surprise(look.logits(pictures, test), test)
                lost[look.step] = lost.get(look.step, 0.0) + surprise * n_votes
                held_out = scores.setdefault(look.step, np.full(len(answers), np.nan))
                held_out[fold.test] = scores_of(look.vectors, pictures, test)
                if tell:
                    tell("choosing", number * plan.steps + look.step, total)
        best = min(lost, key=lambda step: (lost[step], step))
        lessons = Lessons(self.shown, answers, seed)
        for look in lessons.until(best):
            last = look
            if tell:
                tell("learning", len(inner) * plan.steps + look.step, total)
        tried = pl.DataFrame(
            [(step, lost[step] / votes, int(votes)) for step in sorted(lost)],
            schema={"steps": pl.Int64, "surprise": pl.Float64, "n_votes": pl.Int64},
            orient="row",
        )
        weights = lessons.weights()

        def write(folder: Path, about: Mapping[str, Any]) -> RunFile:
            return write_run(folder, "trunk", self.bases, [], dim=self.shown.network.dim, trunk=weights, about=about)

        surprise = mean_surprise(last.logits(pictures, answers), answers)
        return Taught(last.vectors, {"steps": best}, tried, scores[best], surprise, write)
