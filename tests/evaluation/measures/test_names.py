"""A measure's text is its name, and reads back as the same measure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import LikewiseError
from likewise.evaluation.measures import (
    AP,
    MRR,
    ROC_AUC,
    VSD_MRR,
    Judged,
    MAP_at_R,
    Measure,
    P,
    R_Precision,
    Recall,
    Recall_cap,
    Success,
    bpref,
    cutoffs,
    heading,
    nDCG,
    parse_measure,
    parse_measures,
)

LISTS = (P, Recall, Recall_cap, Success, MRR, VSD_MRR, nDCG, Judged)
measures = st.one_of(
    st.builds(lambda one, k: one @ k, st.sampled_from(LISTS), st.integers(1, 10_000)),
    st.builds(
        lambda one, average, negatives: one(average=average, negatives=negatives),
        st.sampled_from((ROC_AUC, AP)),
        st.sampled_from(("macro", "micro")),
        st.sampled_from(("annotated", "sampled")),
    ),
    st.sampled_from((*LISTS, bpref, R_Precision, MAP_at_R)),
)


@given(measures)
def test_every_name_reads_back_as_its_measure(measure: Measure) -> None:
    assert parse_measure(str(measure)) == measure
    assert hash(parse_measure(repr(measure))) == hash(measure)


@given(st.lists(measures, min_size=1, max_size=6, unique=True), st.sampled_from((" ", ", ", ",", "\n")))
def test_lists_of_names_read_back_in_their_order(chosen: list[Measure], between: str) -> None:
    assert parse_measures(between.join(map(str, chosen))) == tuple(chosen)


def test_the_names_are_those_of_the_field() -> None:
    names = "P@5 nDCG@10 AP MRR@5 VSD_MRR@5 ROC_AUC R_Precision MAP@R Judged@5 bpref Recall@3 Success@1"
    assert [str(one) for one in parse_measures(names)] == names.split(" ")
    assert parse_measure("P@5") == P @ 5 != P @ 9
    assert str(ROC_AUC(average="micro")) == 'ROC_AUC(average="micro")'
    assert str(AP(average="micro", negatives="sampled")) == 'AP(average="micro", negatives="sampled")'
    assert parse_measure("ROC_AUC(average=micro)") == parse_measure("ROC_AUC(average='micro')")
    assert ROC_AUC(average="macro") == ROC_AUC
    assert cutoffs([P @ 9, ROC_AUC, nDCG @ 5, Judged @ 9]) == [5, 9]
    assert heading('AP(average="micro", negatives="sampled")') == ("AP", "micro, sampled negatives")
    assert heading("P@5") == ("P@5", "") and heading("not known") == ("not known", "")
    assert heading("python:my.measures:early") == ("early", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NDCG@5", "did you mean nDCG"),
        ("HR@5", "did you mean P?"),
        ("PR-AUC", "did you mean AP?"),
        ("R-Precision", "did you mean R_Precision"),
        ("roc_auk", "did you mean ROC_AUC"),
        ("xyzzy", "known are P@k, Recall@k,"),
        ("P@0", "a cutoff is a whole number from 1"),
        ("P@five", "a cutoff is a whole number"),
        ("AP@5", "AP has no cutoff"),
        ('P(average="micro")@5', "P takes no parameters"),
        ('AP(average="mean")', "average is 'macro' or 'micro'"),
        ("AP(mean=1)", 'parameters are average="macro"'),
    ],
)
def test_what_is_no_measure_is_refused_with_the_nearest_one(text: str, said: str) -> None:
    with pytest.raises(LikewiseError) as refused:
        parse_measure(text)
    assert said in str(refused.value)


@pytest.mark.parametrize("text", ["", " , ", "P@5 (", "AP)"])
def test_a_list_without_measures_is_refused(text: str) -> None:
    with pytest.raises(LikewiseError, match="measure"):
        parse_measures(text)
