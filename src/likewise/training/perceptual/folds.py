"""What a model has not seen when it is measured, and the proof of it.

    answers   other answers about the same queries
    queries   no answer to a query of the same item
    items     no answer that names the item, in any role; an answer counts where at least one of its items is unseen

Each is cross-validated: every query, or item, is held out once.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from likewise.errors import LikewiseError
from likewise.evaluation.auc import Ints
from likewise.training.perceptual.answers import Answers

Unseen = Literal["answers", "queries", "items"]
UNSEEN_KINDS: tuple[Unseen, ...] = get_args(Unseen)


class LeakageError(LikewiseError):
    """Training answers give away what the test answers ask."""


@dataclass(frozen=True)
class AnswerFold:
    """Rows of answers to learn from and rows to be measured on."""

    train: Ints
    test: Ints


def make_folds(answers: Answers, unseen: Unseen, n_folds: int, seed: int) -> list[AnswerFold]:
    """The folds of a cross-validation; every one has been checked."""
    rng = np.random.default_rng(seed)
    rows = np.arange(len(answers))
    if unseen == "answers":
        number = rng.permutation(len(answers)) % n_folds
        held_out = [number == fold for fold in range(n_folds)]
    else:
        of_answers = answers.query_items[:, None] if unseen == "queries" else answers.named_items
        known, place = np.unique(of_answers, return_inverse=True)
        if len(known) < n_folds:
            raise LikewiseError(f"{len(known)} {unseen} cannot be divided into {n_folds} folds: label more of them.")
        number = (rng.permutation(len(known)) % n_folds)[place.reshape(of_answers.shape)]
        held_out = [(number == fold).any(axis=1) for fold in range(n_folds)]
    made = [AnswerFold(rows[~test], rows[test]) for test in held_out]
    for fold in made:
        check_fold(answers, fold, unseen)
    return made


def check_fold(answers: Answers, fold: AnswerFold, unseen: Unseen) -> None:
    """Refuse a fold whose training answers name what its test answers hold out."""
    if not len(fold.train) or not len(fold.test):
        raise LikewiseError(f"a fold of unseen {unseen} has no answers to learn from or none to be measured on.")
    seen: Ints
    if unseen == "answers":
        seen = np.intersect1d(fold.train, fold.test)
    elif unseen == "queries":
        seen = np.intersect1d(answers.query_items[fold.train], answers.query_items[fold.test])
    else:
        known = np.unique(answers.named_items[fold.train])
        all_known = np.isin(answers.named_items[fold.test], known).all(axis=1)
        seen = fold.test[all_known]
    if len(seen):
        raise LeakageError(
            f"{len(seen)} of the {unseen} that should be unseen are in the training answers too (first: {seen[0]}): "
            "this is a mistake in the training code, not in your data."
        )
