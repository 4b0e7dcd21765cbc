"""Scores by hand, and the arithmetic of the paper's Table 5."""

import numpy as np
import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.outfits.dimensions import AAT_PLAN, DIMENSIONS, scale_plan
from likewise.outfits.protocol import Floats, Item, OutfitQuestion, QuestionKind, answer_by_score, best_choices
from likewise.outfits.scoring import (
    agreement_with_people,
    difference_table,
    grade_answers,
    score_table,
)

SHOE, DRESS = Item("s", "shoes", "s.jpg"), Item("d", "dresses", "d.jpg")


def question(name: str, kind: QuestionKind = "LAT", n: int = 4, **more: object) -> OutfitQuestion:
    choices = tuple(Item(f"{name}{k}", "bags", f"{name}{k}.jpg") for k in range(n))
    return OutfitQuestion(name, kind, (SHOE, DRESS), choices, 1, **more)  # type: ignore[arg-type]


def picks(*places: int, n: int = 4) -> Floats:
    return np.eye(n)[list(places)]


def value(scores: pl.DataFrame, score: str, dimension: str | None = None) -> float:
    found = scores.filter((pl.col("score") == score) & pl.col("dimension").eq_missing(pl.lit(dimension, pl.String)))
    return float(found["value"][0])


def test_lats_and_mlats_of_three_questions_by_hand() -> None:
    questions = [
        question("a", people=(7, 2, 1, 0)),
        question("b", people=(1, 1, 6, 2)),
        question("c", people=(4, 5, 0, 1)),
    ]
    graded = grade_answers("m", questions, picks(0, 3, 1))
    scores = score_table(graded, questions)
    assert value(scores, "LATs") == pytest.approx(2 / 3)
    assert value(scores, "mLATs") == pytest.approx((0.7 + 0.2 + 0.5) / 3)
    assert scores["chance"].to_list() == [0.25, 0.25]
    united = agreement_with_people(questions, graded)
    assert united.select("favourite_share", "m").rows() == [(0.7, 0.7), (0.6, 0.2), (0.5, 0.5)]


def test_a_model_that_cannot_tell_choices_apart_gets_chance_not_the_first_one() -> None:
    questions = [
        question("a", people=(7, 2, 1, 0)),
        question("b", "AAT", dimension="color", sub_dimension="x", right=0),
    ]
    blind = np.zeros((2, 4))
    scores = score_table(grade_answers("blind", questions, blind), questions)
    assert [value(scores, score) for score in ("LATs", "mLATs", "AATs")] == pytest.approx([0.25] * 3)
    half = np.array([[1.0, 1.0, 0, 0], [0, 5.0, 5.0, 0]])
    graded = grade_answers("half", questions, half)
    assert graded["credit"].to_list() == [0.5, 0.0]
    assert graded["people_share"].to_list() == [pytest.approx(0.45), None]


def test_people_who_are_split_have_several_favourites() -> None:
    questions = [question("a", people=(5, 5, 0, 0))]
    assert grade_answers("m", questions, picks(1))["credit"].to_list() == [1.0]


def test_questions_without_an_answer_are_not_counted() -> None:
    questions = [question("a", people=()), question("b", people=(1, 0, 0, 0)), question("c", people=(3, 0, 0, 0))]
    answers = picks(0, 0, 1)
    answers[2] = np.nan  # this model could not answer
    row = score_table(grade_answers("m", questions, answers), questions).row(0, named=True)
    assert (row["value"], row["n_questions"], row["n_questions_total"]) == (1.0, 1, 3)


TABLE_5 = {
    "Bi-LSTMs": ((0.30, 0.34, 0.40, 0.50, 0.42, 0.11), 0.35),
    "FHN": ((0.50, 0.22, 0.60, 0.42, 0.50, 0.33), 0.40),
    "SCE-Net": ((0.75, 0.28, 0.33, 0.33, 0.50, 0.33), 0.42),
    "CSN": ((0.85, 0.50, 0.53, 0.58, 0.50, 0.56), 0.59),
}


@pytest.mark.parametrize("model", TABLE_5)
def test_table_5_index_times_questions_sums_to_aats(model: str) -> None:
    """Answer so that every index is the published one: AATs must come out as published."""
    indexes, published = TABLE_5[model]
    sizes = [sum(quotas.values()) for quotas in AAT_PLAN.values()]
    assert sizes == [20, 32, 15, 12, 12, 9]
    questions, right = [], []
    for dimension, index, size in zip(DIMENSIONS, indexes, sizes, strict=True):
        n_right = round(index * size)
        assert round(n_right / size + 1e-9, 2) == pytest.approx(index, abs=0.0051)
        for number in range(size):
            name = f"{dimension}-{number}"
            questions.append(question(name, "AAT", dimension=dimension, sub_dimension="any", right=2))
            right.append(2 if number < n_right else 0)
    scores = score_table(grade_answers(model, questions, picks(*right)), questions)
    assert [value(scores, "index", name) for name in DIMENSIONS] == pytest.approx(indexes, abs=0.0051)
    assert value(scores, "AATs") == pytest.approx(published, abs=1e-9)
    parts = sum(value(scores, "index", name) * size for name, size in zip(DIMENSIONS, sizes, strict=True))
    assert parts / 100 == pytest.approx(value(scores, "AATs"))


def test_differences_are_real_only_where_they_are() -> None:
    questions = [question(f"q{n}", "AAT", dimension="color", sub_dimension="x", right=0) for n in range(40)]
    good = grade_answers("good", questions, picks(*[0] * 36, *[1] * 4))
    bad = grade_answers("bad", questions, picks(*[0] * 10, *[1] * 30))
    near = grade_answers("near", questions, picks(*[0] * 34, *[1] * 6))
    table = difference_table(pl.concat([good, bad, near]), questions)
    significant = {
        (a, b): r for a, b, r in table.filter(score="AATs").select("model_a", "model_b", "significant").iter_rows()
    }
    assert significant == {("good", "bad"): True, ("good", "near"): False, ("bad", "near"): True}
    first = table.row(0, named=True)
    assert first["difference"] == pytest.approx(26 / 40)
    assert first["n_questions"] == 40


def test_answers_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(LikewiseError, match="shape"):
        grade_answers("m", [question("a")], np.zeros((1, 3)))


def test_choices_are_put_where_the_blank_was() -> None:
    class ByName:
        def score(self, outfits: object) -> Floats:
            return np.array([float(o.items[1].item[-1]) for o in outfits])  # type: ignore[attr-defined]

    asked = [question("a"), question("b", n=2)]
    answers = answer_by_score(ByName(), asked)
    assert answers[0].tolist() == [0, 1, 2, 3]
    assert np.isnan(answers[1, 2:]).all()
    assert [np.flatnonzero(row).tolist() for row in best_choices(answers)] == [[3], [1]]
    assert [item.item for item in asked[0].filled(2).items] == ["s", "a2", "d"]


def test_a_plan_of_another_size_keeps_its_proportions() -> None:
    assert scale_plan(100) == AAT_PLAN
    for n in (27, 60, 200, 333):
        plan = scale_plan(n)
        assert sum(sum(quotas.values()) for quotas in plan.values()) == n
        assert min(min(quotas.values()) for quotas in plan.values()) >= 1
    assert {name: sum(quotas.values()) for name, quotas in scale_plan(200).items()}["style"] == 64
    with pytest.raises(LikewiseError, match="27"):
        scale_plan(26)
