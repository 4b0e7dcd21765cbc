"""mAP@k for sets of right answers: against CIRCO's own formula, and ties against all orders of a short list."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.conditional.average_precision import average_precision, chance_precision


def by_circo(labels: list[bool], k: int, n_right: int | None = None) -> float:
    """Precision at each right place of the first k, over the smaller of k and the number of right answers."""
    n_right = sum(labels) if n_right is None else n_right
    found = [sum(labels[: place + 1]) / (place + 1) for place in range(min(k, len(labels))) if labels[place]]
    return sum(found) / min(k, n_right)


@settings(max_examples=80)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=6), st.data())
def test_ties_are_the_mean_over_all_orders(scores: list[float], data: st.DataObject) -> None:
    right = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)).filter(any))
    k = data.draw(st.integers(1, len(scores) + 2))
    orders = [
        order for order in permutations(range(len(scores))) if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]
    expected = np.mean([by_circo([right[place] for place in order], k) for order in orders])
    shown = np.ones((1, len(scores)), bool)
    found = average_precision(np.array([scores]), np.array([right]), shown, [k])
    assert found[0, 0] == pytest.approx(expected)
    drawn = np.mean([by_circo([right[place] for place in order], k) for order in permutations(range(len(scores)))])
    assert chance_precision(sum(right), len(right), [k])[0] == pytest.approx(drawn)


def test_masked_candidates_and_questions_without_an_answer_do_not_count() -> None:
    scores = np.array([[0.9, 0.8, 0.7, 0.6], [0.9, 0.8, np.nan, 0.1]])
    right = np.array([[False, True, False, True], [True, False, False, False]])
    shown = np.array([[False, True, True, True], [True, True, True, True]])
    found = average_precision(scores, right, shown, [1, 5])
    assert found[0].tolist() == pytest.approx([1.0, (1 + 2 / 3) / 2])
    assert np.isnan(found[1]).all()
