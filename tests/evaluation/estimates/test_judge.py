"""A machine judge narrows intervals by what it is worth; a biased or a random one does not shift them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from likewise.evaluation.estimates.estimate import CatalogEstimates, estimate_catalog
from likewise.evaluation.estimates.judge import JudgeAnswers

from .test_estimates import ENCODERS, KS, N_ITEMS, N_QUERIES, Catalog

N_LABELS, N_ASKED = N_QUERIES * 24, N_QUERIES * 150


def judge(catalog: Catalog, kind: str, seed: int) -> JudgeAnswers:
    """Answers about its own draw and about the drawn pairs: right but for one in ten, far too generous, or by lot."""
    rng = np.random.default_rng(1000 + seed)
    mine, people = catalog.draw(N_ASKED, 5000 + seed), catalog.draw(N_LABELS, seed)
    cells, place = np.unique(
        np.concatenate([mine.query * N_ITEMS + mine.unit, people.query * N_ITEMS + people.unit]), return_index=True
    )
    probability = np.where(place < len(mine.query), 1.0 / mine.weight[np.minimum(place, len(mine.query) - 1)], 0.0)
    label = catalog.label[cells // N_ITEMS, cells % N_ITEMS]
    by_lot = rng.random(len(cells)).round()
    answers = {
        "good": np.where(rng.random(len(cells)) < 0.1, by_lot, label),
        "generous": np.where(rng.random(len(cells)) < 0.4, 1.0, label),
        "random": by_lot,
    }
    return JudgeAnswers(cells // N_ITEMS, cells % N_ITEMS, probability, answers[kind])


def estimated(catalog: Catalog, kind: str | None, seed: int) -> CatalogEstimates:
    answers = None if kind is None else judge(catalog, kind, seed)
    return estimate_catalog(catalog.blocks, ENCODERS, catalog.draw(N_LABELS, seed), KS, seed, answers)


def test_a_good_judge_narrows_and_a_random_one_does_not() -> None:
    catalog = Catalog(1)
    alone, good, by_lot = (estimated(catalog, kind, 1) for kind in (None, "good", "random"))
    assert good.judge is not None and by_lot.judge is not None
    assert good.judge.n_pairs == N_LABELS
    assert good.judge.kappa > 0.5 and good.judge.roc_auc > 0.9
    assert abs(by_lot.judge.kappa) < 0.1 and abs(by_lot.judge.roc_auc - 0.5) < 0.1  # the encoders do not agree for it
    width = [np.mean([one["P@5"].drawing_error for one in found.by_encoder]) for found in (alone, good, by_lot)]
    assert width[1] < 0.8 * width[0]
    for with_judge, without in zip(by_lot.by_encoder, alone.by_encoder, strict=True):
        for name, one in with_judge.items():  # a judge that tells nothing is left aside
            assert (one.value, one.drawing_error) == (without[name].value, without[name].drawing_error)
    assert good.label_equivalent is not None and good.label_equivalent > 1.5
    assert by_lot.label_equivalent == 1.0
    assert alone.judge is None and alone.label_equivalent is None


def errors_over_draws(catalog: Catalog, kind: str | None) -> dict[tuple[int, str], NDArray[Any]]:
    """Of every encoder and measure, over 60 draws: how far off, and the standard error of drawing."""
    truth = [catalog.truth(place) for place in range(len(ENCODERS))]
    errors: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for seed in range(60):
        for place, by_measure in enumerate(estimated(catalog, kind, seed).by_encoder):
            for name, one in by_measure.items():
                errors.setdefault((place, name), []).append((one.value - truth[place][name], one.drawing_error))
    return {key: np.array(rows) for key, rows in errors.items()}


def coverage(errors: dict[tuple[int, str], NDArray[Any]]) -> float:
    """Mean over encoders and measures; a single one is uncertain by five points over 60 draws."""
    return float(np.mean([np.mean(np.abs(rows[:, 0]) <= 1.98 * rows[:, 1] + 1e-9) for rows in errors.values()]))


@pytest.mark.slow
def test_no_judge_shifts_an_estimate_and_intervals_cover() -> None:
    catalog = Catalog(3)
    for kind in (None, "good", "generous", "random"):
        errors = errors_over_draws(catalog, kind)
        for (_, name), rows in errors.items():
            off = rows[:, 0]
            assert abs(off.mean()) < 0.01 + 4 * off.std() / np.sqrt(len(off)), (kind, name)
        assert coverage(errors) > 0.93, kind
