"""Graded answers: the label agrees with majority's, agreement with the packages that others use."""

import itertools
from collections.abc import Sequence

import krippendorff
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from likewise.errors import LikewiseError
from likewise.labeling.agreement import agreement
from likewise.labeling.consensus import Rule, consensus
from likewise.labeling.graded_agreement import ordinal_alpha, weighted_kappa
from likewise.labeling.grades import GRADE_OF_ANSWER, with_grades
from likewise.labeling.votes import CANNOT_TELL, GRADED_ANSWERS, NOT_SIMILAR, SIMILAR

ANSWERS = st.sampled_from([*GRADED_ANSWERS, CANNOT_TELL, NOT_SIMILAR])


def table(answers: Sequence[Sequence[str | None]]) -> pl.DataFrame:
    """Votes from rows of pairs and columns of experts; three pairs belong to a query."""
    rows = [
        (f"q{pair // 3}", f"c{pair}", f"e{expert}", answer)
        for pair, row in enumerate(answers)
        for expert, answer in enumerate(row)
        if answer is not None
    ]
    return pl.DataFrame(rows, schema=["query", "candidate", "expert", "answer"], orient="row")


@settings(max_examples=60)
@given(st.lists(st.lists(ANSWERS, min_size=1, max_size=6), min_size=1, max_size=4))
def test_the_median_grade_is_similar_exactly_where_the_majority_is(answers: list[list[str]]) -> None:
    votes = table([["exact", "exact"], *answers])  # one graded pair at least
    rules: tuple[Rule, ...] = ("majority", "exclude")
    for rule in rules:
        made = consensus(votes, rule)
        assert ((made.labels["grade"] >= 2) == (made.labels["label"] == 1)).all()
        yes_or_no = votes.with_columns(
            answer=pl.col("answer").replace({"exact": SIMILAR, "substitute": NOT_SIMILAR, "different": NOT_SIMILAR})
        )
        assert made.labels.drop("grade").equals(consensus(yes_or_no, rule).labels)


def test_ties_between_grades() -> None:
    votes = table([["exact", "substitute"], ["exact", "similar"], ["exact", "different", "different"], ["similar"]])
    made = consensus(votes)
    assert made.labels["grade"].to_list() == [1.0, 2.0, 0.0, 2.0]  # of two middle grades the lower one
    assert made.labels["label"].to_list() == [0, 1, 0, 1]
    assert made.summary.n_ties == 1
    mean = consensus(votes, "mean")
    assert mean.labels["grade"].to_list() == [2.0, 2.5, 1.0, 2.0]
    assert mean.labels["label"].to_list() == [1, 1, 0, 1]
    assert str(mean.threshold) == "grade >= 2"
    with pytest.raises(LikewiseError, match="graded: use the rule majority"):
        consensus(votes, "dawid-skene")


def test_the_mean_of_yes_and_no_is_the_share_of_votes() -> None:
    votes = table([[SIMILAR, SIMILAR, NOT_SIMILAR], [SIMILAR, NOT_SIMILAR], [NOT_SIMILAR]])
    made = consensus(votes, "mean")
    assert made.labels["grade"].to_list() == pytest.approx([2 / 3, 0.5, 0.0])
    assert made.labels["label"].equals(consensus(votes).labels["label"])
    assert str(made.threshold) == "grade > 0.5"


def random_answers(seed: int, n_experts: int) -> list[list[str | None]]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 60)
    names = {grade: answer for answer, grade in GRADE_OF_ANSWER.items() if answer != NOT_SIMILAR}
    rows: list[list[str | None]] = []
    for grade in truth:
        given = np.clip(grade + rng.choice([-1, 0, 0, 1, 2], n_experts), 0, 3)
        rows.append([None if rng.random() < 0.2 else names[int(one)] for one in given])
    return rows


@pytest.mark.parametrize("seed", range(3))
def test_ordinal_alpha_is_krippendorffs(seed: int) -> None:
    rows = random_answers(seed, 4)
    data = [[np.nan if row[e] is None else GRADE_OF_ANSWER[str(row[e])] for row in rows] for e in range(4)]
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement="ordinal")
    found = ordinal_alpha(with_grades(table(rows)))
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.low is not None and found.high is not None and found.low < expected < found.high


@pytest.mark.parametrize("seed", range(3))
def test_weighted_kappa_is_the_mean_of_cohens(seed: int) -> None:
    rows = random_answers(seed, 3)
    expected = []
    for a, b in itertools.combinations(range(3), 2):
        both = [(str(row[a]), str(row[b])) for row in rows if row[a] and row[b]]
        grades = np.array([[GRADE_OF_ANSWER[x], GRADE_OF_ANSWER[y]] for x, y in both])
        expected.append(cohen_kappa_score(grades[:, 0], grades[:, 1], weights="quadratic", labels=[0, 1, 2, 3]))
    assert weighted_kappa(with_grades(table(rows))).value == pytest.approx(np.mean(expected), abs=1e-12)


def test_what_cannot_be_computed_says_why() -> None:
    alone = agreement(table([["exact"], ["similar"]]))
    assert alone.graded is not None and alone.graded.ordinal_alpha.value is None
    assert alone.graded.weighted_kappa.reason == "no pair has answers of two experts"
    same = agreement(table([["exact", "exact"], ["exact", "exact"]])).graded
    assert same is not None and same.ordinal_alpha.value is None and same.weighted_kappa.value is None
    assert agreement(table([[SIMILAR, NOT_SIMILAR]])).graded is None
