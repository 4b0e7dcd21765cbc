"""Labels from votes, against counting by hand and a brute-force majority."""

import subprocess
import sys
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from polars.testing import assert_frame_equal

from likewise.errors import LikewiseError
from likewise.labeling import consensus
from likewise.labeling.consensus import Rule

from .factories import some_votes, votes_of

#      c0: 2-1   c1: 1-2   c2: 1-1 and one abstention   c3: nobody answered   c4: one answer
BY_HAND = {"ann": "sss?s", "bob": "snn?.", "eve": "nn??."}


def labels_by_candidate(votes: pl.DataFrame, rule: Rule) -> dict[str, int]:
    return dict(consensus(votes, rule).labels.select("candidate", "label").iter_rows())


def test_majority_counts_a_tie_as_negative_and_leaves_unanswered_pairs_out() -> None:
    result = consensus(votes_of(**BY_HAND))
    assert dict(result.labels.select("candidate", "label").iter_rows()) == {"c0": 1, "c1": 0, "c2": 0, "c4": 1}
    assert result.labels["label"].dtype == pl.Int8
    assert result.labels.row(2, named=True) == {
        "query": "q", "candidate": "c2", "label": 0, "similar": 1, "not_similar": 1, "cannot_tell": 1,
        "probability": 0.5,
    }  # fmt: skip
    counts = result.summary
    assert (counts.n_pairs, counts.n_labelled, counts.n_similar, counts.n_ties, counts.n_unanswered) == (5, 4, 2, 1, 1)


def test_exclude_leaves_ties_unlabelled_and_counts_them() -> None:
    result = consensus(votes_of(**BY_HAND), "exclude")
    assert dict(result.labels.select("candidate", "label").iter_rows()) == {"c0": 1, "c1": 0, "c4": 1}
    assert (result.summary.n_labelled, result.summary.n_ties) == (3, 1)


def test_an_abstention_is_not_a_vote_against() -> None:
    assert labels_by_candidate(votes_of(a="s", b="?", c="?"), "majority") == {"c0": 1}


@settings(max_examples=50)
@given(some_votes())
def test_majority_is_what_counting_gives(votes: pl.DataFrame) -> None:
    answers: dict[str, list[str]] = {}
    for _, candidate, _, answer in votes.iter_rows():
        answers.setdefault(candidate, []).append(answer)
    expected = {
        candidate: int(given.count("similar") > given.count("not similar"))
        for candidate, given in answers.items()
        if any(answer != "cannot tell" for answer in given)
    }
    assert labels_by_candidate(votes, "majority") == expected


@settings(max_examples=50)
@given(some_votes(least=3))
def test_the_order_of_votes_changes_nothing(votes: pl.DataFrame) -> None:
    for rule in get_args(Rule):
        once, again = consensus(votes, rule), consensus(votes.reverse(), rule)
        assert_frame_equal(once.labels, again.labels)
        assert once.summary == again.summary


@settings(max_examples=50)
@given(some_votes(least=3))
def test_every_pair_is_labelled_or_accounted_for(votes: pl.DataFrame) -> None:
    for rule in get_args(Rule):
        counts = consensus(votes, rule).summary
        left_out = counts.n_unanswered + (counts.n_ties if rule == "exclude" else 0)
        assert counts.n_labelled + left_out == counts.n_pairs


def test_a_tie_of_equally_good_experts_is_one_half_and_negative_in_dawid_skene() -> None:
    labels = consensus(votes_of(a="sssnnnsn", b="sssnnnns", c="sssnnn??"), "dawid-skene").labels
    tied = labels.filter(pl.col("similar") == pl.col("not_similar"))
    assert tied["probability"].to_list() == [0.5, 0.5]
    assert tied["label"].to_list() == [0, 0]


def test_one_expert_is_believed() -> None:
    assert list(labels_by_candidate(votes_of(a="sns"), "majority").values()) == [1, 0, 1]


def test_no_votes_give_no_labels() -> None:
    for rule in get_args(Rule):
        assert consensus(votes_of(), rule).labels.is_empty()
        assert consensus(votes_of(a="??"), rule).summary.n_unanswered == 2


def test_probabilities_are_never_nan() -> None:
    for answers in ("ssss", "nnnn", "s", "n"):
        labels = consensus(votes_of(a=answers, b=answers, c=answers), "dawid-skene").labels
        assert np.isfinite(labels["probability"].to_numpy()).all()
        assert set(labels["label"]) == {int(answers[0] == "s")}


def test_two_answers_of_one_expert_are_refused() -> None:
    votes = pl.concat([votes_of(ann="s"), votes_of(ann="n")])
    with pytest.raises(LikewiseError, match=r"ann answered the pair \(q, c0\) both 'not similar' and 'similar'"):
        consensus(votes)


def test_an_unknown_rule_names_the_known_ones() -> None:
    with pytest.raises(LikewiseError, match="use majority, exclude, dawid-skene"):
        consensus(votes_of(a="s"), "loudest")  # type: ignore[arg-type]


def test_arithmetic_on_votes_does_not_load_sqlalchemy() -> None:
    code = "import sys, likewise.labeling.consensus; sys.exit('sqlalchemy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
