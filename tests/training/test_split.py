"""Folds by the paper's rule: contiguous, class-disjoint, the same every time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import LikewiseError
from likewise.training.split import ClassFold, ClassSplit, assert_disjoint, fold_boundaries, split_classes


def test_boundaries_by_hand() -> None:
    assert fold_boundaries(200, 4) == [0, 25, 50, 75, 100]  # CUB200: 12.5 % of 200 are 25
    assert fold_boundaries(196, 4) == [0, 24, 49, 73, 98]  # Cars196: 24.5, 49, 73.5, 98
    assert fold_boundaries(1599, 4) == [0, 199, 399, 599, 799]


def test_the_first_half_validates_once_and_the_second_half_is_the_test() -> None:
    values = [str(number % 40) for number in range(120)]
    split = split_classes([f"{row}.png" for row in range(120)], values)
    assert split.classes == tuple(str(number) for number in range(40))  # by value: 2 before 10
    validated = [set(split.labels[fold.validation]) for fold in split.folds]
    assert validated == [set(range(5)), set(range(5, 10)), set(range(10, 15)), set(range(15, 20))]
    assert set(split.labels[split.test]) == set(range(20, 40))
    for fold in split.folds:
        assert len(fold.train) + len(fold.validation) == 60 == len(split.development)


@given(st.integers(16, 300), st.integers(0, 2**32 - 1))
def test_no_class_is_ever_on_two_sides(n_classes: int, seed: int) -> None:
    values = [f"class {number}" for number in range(n_classes)] * 2
    order = np.random.default_rng(seed).permutation(len(values))
    split = split_classes([f"{row}" for row in order], [values[row] for row in order])
    assert_disjoint(split)
    everything = np.concatenate([split.test, *(fold.validation for fold in split.folds)])
    assert sorted(everything) == list(range(len(values)))


def test_a_leak_is_caught_when_the_split_is_made() -> None:
    labels = np.arange(4).repeat(2)
    leaking = ClassFold(0, np.array([0, 1, 6]), np.array([2, 3]))
    with pytest.raises(AssertionError, match="test"):
        assert_disjoint(ClassSplit(("",) * 8, labels, ("a", "b", "c", "d"), (leaking,), np.array([4, 5, 6, 7]), 0))
    shared = ClassFold(0, np.array([0, 1]), np.array([1, 2]))
    with pytest.raises(AssertionError, match="trains and validates"):
        assert_disjoint(ClassSplit(("",) * 8, labels, ("a", "b", "c", "d"), (shared,), np.array([4, 5, 6, 7]), 0))


def test_too_few_classes() -> None:
    with pytest.raises(LikewiseError, match="3 classes are too few"):
        split_classes(["a", "b", "c"], ["1", "2", "3"])


def test_classes_of_one_image_are_refused_before_anything_is_trained() -> None:
    values = [f"{number}" for number in range(40)]
    with pytest.raises(LikewiseError, match=r"0 of 40 classes .* where fold 1 validates"):
        split_classes(values, values)
    learned = [*values, *values[:20]]  # a second image of all that is learned from, of none of the test
    with pytest.raises(LikewiseError, match=r"20 of 40 classes .* where the test is"):
        split_classes([f"{row}" for row in range(60)], learned)
    assert split_classes([f"{row}" for row in range(61)], [*learned, "39"]).n_without_class == 0
