"""Agreement, against statsmodels and the krippendorff package, and by hand where it is undefined."""

import json

import krippendorff
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from likewise.labeling import agreement
from likewise.labeling.agreement_coefficient import AgreementCoefficient
from likewise.labeling.votes import SIMILAR

from .factories import some_votes, votes_of


def as_matrix(votes: pl.DataFrame) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Experts by pairs: 1 similar, 0 not similar, NaN no answer."""
    experts, candidates = sorted(set(votes["expert"])), sorted(set(votes["candidate"]))
    matrix = np.full((len(experts), len(candidates)), np.nan)
    for _, candidate, expert, answer in votes.iter_rows():
        if answer != "cannot tell":
            matrix[experts.index(expert), candidates.index(candidate)] = answer == SIMILAR
    return matrix


@settings(max_examples=50)
@given(some_votes())
def test_fleiss_kappa_is_that_of_statsmodels(votes: pl.DataFrame) -> None:
    measure = agreement(votes).fleiss_kappa
    matrix = as_matrix(votes)
    complete = matrix[:, ~np.isnan(matrix).any(axis=0)]
    if measure.value is None:
        assert measure.reason
        assert len(matrix) < 2 or complete.size == 0 or len(np.unique(complete)) == 1
    else:
        counts = np.stack([(complete == 0).sum(axis=0), (complete == 1).sum(axis=0)], axis=1)
        assert measure.value == pytest.approx(statsmodels_fleiss(counts), abs=1e-12)
        assert measure.n_pairs == complete.shape[1]


@settings(max_examples=50)
@given(some_votes())
def test_alpha_is_that_of_the_krippendorff_package(votes: pl.DataFrame) -> None:
    measure = agreement(votes).krippendorff_alpha
    matrix = as_matrix(votes)
    matrix = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    if measure.value is None:
        assert measure.reason
        assert matrix.size == 0 or len(np.unique(matrix[~np.isnan(matrix)])) == 1
    else:
        expected = krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal")
        assert measure.value == pytest.approx(expected, abs=1e-12)
        assert measure.n_pairs == matrix.shape[1]


def test_each_expert_beside_the_others_by_hand() -> None:
    #                                  c0: all agree  c1: ann alone  c2: others tied  c3: bob abstains
    result = agreement(votes_of(ann="ssss", bob="snn?", eve="snsn"))
    ann, bob, eve = result.experts
    assert ann.agreement == AgreementCoefficient(1 / 3, n_pairs=3)
    assert bob.agreement == eve.agreement == AgreementCoefficient(1 / 2, n_pairs=2)
    assert (ann.n_ties, bob.n_ties, eve.n_ties) == (1, 1, 2)
    assert (bob.n_votes, bob.n_abstentions, bob.positive_share) == (4, 1, 1 / 3)
    assert ann.positive_share == 1.0


@settings(max_examples=50)
@given(some_votes())
def test_agreement_with_the_rest_is_what_counting_gives(votes: pl.DataFrame) -> None:
    matrix = as_matrix(votes)
    for number, expert in enumerate(agreement(votes).experts):
        same = compared = ties = 0
        for column in matrix.T:
            others = np.delete(column, number)
            others = others[~np.isnan(others)]
            if np.isnan(column[number]) or not len(others):
                continue
            if others.mean() == 0.5:
                ties += 1
                continue
            compared += 1
            same += (others.mean() > 0.5) == column[number]
        assert (expert.agreement.n_pairs, expert.n_ties) == (compared, ties)
        assert expert.agreement.value == (same / compared if compared else None)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"ann": "sns"}, "two experts"),
        ({"ann": "sss", "bob": "sss"}, "every answer is the same"),
        ({"ann": "s.", "bob": ".n"}, "no pair"),
        ({"ann": "??", "bob": "sn"}, "no pair"),
        ({}, "two experts"),
    ],
)
def test_what_is_undefined_is_none_with_a_reason(answers: dict[str, str], reason: str) -> None:
    result = agreement(votes_of(**answers))
    assert result.fleiss_kappa.value is None
    assert reason in (result.fleiss_kappa.reason or "")
    assert result.krippendorff_alpha.value is None
    assert result.krippendorff_alpha.reason


def test_it_can_be_written_as_json() -> None:
    text = json.dumps(agreement(votes_of(ann="sn?", bob="ssn")).to_dict(), allow_nan=False)
    assert json.loads(text)["experts"][0]["expert"] == "ann"


def test_random_pairs_are_not_mixed_with_those_of_the_pool() -> None:
    """Easy pairs that everybody calls different would raise the agreement on the pool."""
    hard, easy = votes_of(ann="snsnsn", bob="snssnn"), votes_of(ann="nnnnnnns", bob="nnnnnnns")
    easy = easy.with_columns(candidate=pl.format("random-{}", "candidate"))
    random = easy.select("query", "candidate").unique()
    apart = agreement(pl.concat([hard, easy]), random)
    alone = agreement(hard)
    assert apart.krippendorff_alpha == alone.krippendorff_alpha and apart.fleiss_kappa == alone.fleiss_kappa
    assert [one.agreement for one in apart.experts] == [one.agreement for one in alone.experts]
    assert apart.random is not None and apart.random.krippendorff_alpha.value == 1.0
    assert (apart.n_pairs, apart.random.n_pairs, apart.n_votes) == (14, 8, 28)
    mixed = agreement(pl.concat([hard, easy])).krippendorff_alpha.value
    assert mixed is not None and alone.krippendorff_alpha.value is not None and mixed > alone.krippendorff_alpha.value
    assert agreement(hard, random).random is None
