"""A named question is settled when the labels say so, and looking often does not make it say so by chance."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from likewise.catalog import read_catalog
from likewise.errors import LikewiseError
from likewise.evaluation.estimates.estimate import CatalogEstimates
from likewise.evaluation.estimates.linearised import CatalogEstimate, Corrections
from likewise.evaluation.estimates.workspace import estimate_workspace
from likewise.evaluation.judged import read_inputs
from likewise.evaluation.screening import pair_answers
from likewise.evaluation.stopping.confidence_sequence import (
    confidence_sequence,
    labels_needed,
    mixture_radius,
    needed_error,
)
from likewise.evaluation.stopping.goal import DEFAULT_MARGIN, LabelingGoal, make_goal, read_goal, store_goal
from likewise.evaluation.stopping.settled import settle_goal
from likewise.evaluation.stopping.step import goal_status
from likewise.evaluation.summary import DEFAULT_SETTINGS
from likewise.labeling.step import read_labels
from likewise.lineage.files import lineage_file, write_lineage
from likewise.lineage.record import Lineage, lesson_from_workspace
from likewise.workspace import WorkspaceFolder, write_json
from tests.evaluation.labelled_workspace import make_labelled, make_wardrobe


def test_the_bound_holds_at_all_looks_together_where_intervals_of_one_look_do_not() -> None:
    """2,000 random walks with no drift, looked at 200 times."""
    rng = np.random.default_rng(0)
    information = np.linspace(100.0, 8000.0, 200)
    steps = rng.standard_normal((2000, 200)) * np.sqrt(np.diff(information, prepend=0.0))
    estimate = np.cumsum(steps, axis=1) / information
    radius = np.array([mixture_radius(one**-0.5, 0.05, DEFAULT_MARGIN / 3) for one in information])
    assert (np.abs(estimate) > radius).any(axis=1).mean() < 0.05
    assert (np.abs(estimate) > norm.isf(0.025) * information**-0.5).any(axis=1).mean() > 0.3
    assert 2.9 < (radius * information**0.5).min() < 3.2  # what it costs: 3 standard errors instead of 2


def test_what_is_left_follows_from_the_error_that_is_needed() -> None:
    error = needed_error(0.05, 0.05, 0.05 / 3)
    assert mixture_radius(error, 0.05, 0.05 / 3) == pytest.approx(0.05, rel=1e-6)
    assert labels_needed(1000, 0.02, 0.02, 0.01) == 4000  # nothing but drawing: a quarter of the variance
    assert labels_needed(1000, 0.01, 0.01, 0.02) == 1000
    assert labels_needed(1000, 0.03, 0.01, 0.02) is None  # the queries differ more than that
    few, many = (confidence_sequence(0.1, 0.02, n, tightest_at=0.02) for n in (25, 2500))
    assert few.low < many.low < 0.1 < many.high < few.high
    assert confidence_sequence(0.1, 0.02, 19, tightest_at=0.02).low == -np.inf


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceFolder:
    """40 queries of 80 drawn garments, half of all pairs labelled."""
    return make_wardrobe(tmp_path_factory.mktemp("stopping"), 80, 40, 1600)


def test_a_clear_comparison_is_settled_and_survives_a_restart(drawn: WorkspaceFolder) -> None:
    assert goal_status(drawn).goal is None
    store_goal(drawn, make_goal(drawn, "better", ["shape", "colour"], "P@10"))
    status = goal_status(WorkspaceFolder(drawn.path), hours_per_label=0.01)  # read again from its files
    assert status.goal is not None and status.settlement is not None
    assert status.goal == read_goal(drawn)
    assert status.settlement.settled
    assert status.settlement.answer == "Yes, stop: shape is better than colour by P@10."
    assert status.settlement.labels_left == 0 and status.hours_left == 0.0
    [one] = status.settlement.comparisons
    assert 0.0 < one.low < one.difference < one.high
    store_goal(drawn, make_goal(drawn, "best", ["colour", "layout", "shape"], "P@10"))
    best = goal_status(drawn).settlement
    assert best is not None and best.answer.startswith("Yes, stop: shape")
    [over_colour] = [each for each in best.comparisons if each.other == "colour"]
    assert over_colour.low < one.low  # three models share one alpha
    store_goal(drawn, make_goal(drawn, "recall", [], margin=0.2))
    recall = goal_status(drawn).settlement
    assert recall is not None and recall.low is not None and recall.high is not None
    assert 0.0 < recall.low < recall.high <= 1.0


def test_the_question_is_answered_again_whenever_labels_arrive(drawn: WorkspaceFolder) -> None:
    store_goal(drawn, LabelingGoal("better", ("shape", "colour")))
    everything = read_labels(drawn).sample(fraction=1.0, shuffle=True, seed=0)  # labels arrive in random order
    answers = []
    for n in (100, 400, 1600):
        labels = everything.head(n)
        inputs = read_inputs(drawn, labels, None, DEFAULT_SETTINGS)
        found = estimate_workspace(drawn, inputs, (10,), 0)
        assert found is not None
        answers.append(settle_goal(LabelingGoal("better", ("shape", "colour")), found.estimates))
    assert [one.n_labels for one in answers] == [100, 400, 1600]
    assert [one.settled for one in answers] == [False, answers[1].settled, True]
    widths = [one.comparisons[0].high - one.comparisons[0].low for one in answers if one.comparisons]
    assert widths == sorted(widths, reverse=True)


def test_a_recall_that_is_hardly_known_is_between_nothing_and_all() -> None:
    nothing = np.zeros(1, dtype=np.int64)
    heavy = Corrections(nothing, np.ones(1), np.full(1, 1e9), np.full(1, 1e9), np.zeros(1), 25)
    positives = CatalogEstimate(2.0, np.ones(25), np.ones(1), heavy, 2.0, 0.5)
    found = CatalogEstimates([], [], positives, 500, 40)
    said = settle_goal(LabelingGoal("recall"), found)
    assert not said.settled
    assert said.low == pytest.approx(0.0, abs=1e-9)
    assert said.high == 1.0


def test_an_eds_pool_says_what_to_do(tmp_path: Path) -> None:
    pooled = make_labelled(tmp_path)
    store_goal(pooled, LabelingGoal("better", ("shape", "colour")))
    assert "the pool is an EDS pool" in goal_status(pooled).problem


def test_a_model_that_learned_these_labels_is_not_compared(drawn: WorkspaceFolder) -> None:
    store_goal(drawn, LabelingGoal("better", ("shape", "layout")))
    record = lineage_file(drawn.vectors_folder / "layout")
    before = record.read_bytes()
    labels = read_labels(drawn)
    answers = pair_answers(read_catalog(drawn), labels.select("query", "candidate").iter_rows())
    images = {*labels["query"], *labels["candidate"]}
    write_lineage(
        Lineage((lesson_from_workspace(drawn, "labels", "train perceptual", images, answers=answers),)), record
    )
    assert "layout cannot be compared on these labels" in goal_status(drawn).problem
    record.write_bytes(before)


def test_a_goal_that_cannot_be_is_one_sentence(drawn: WorkspaceFolder, tmp_path: Path) -> None:
    with pytest.raises(LikewiseError, match="dino has no vectors in"):
        make_goal(drawn, "better", ["shape", "dino"])
    with pytest.raises(LikewiseError, match="two different models"):
        make_goal(drawn, "best", ["shape", "shape"])
    with pytest.raises(LikewiseError, match="'HR@5' is not estimated for the whole catalog"):
        make_goal(drawn, "better", ["shape", "colour"], "HR@5")
    with pytest.raises(LikewiseError, match="between 0 and 100 points, not 0"):
        make_goal(drawn, "better", ["shape", "colour"], margin=0.0)
    write_json({"models": ["a"], "sort": "x"}, drawn.goal_file)
    assert "is no goal" in goal_status(drawn).problem
