"""The decisions of the LAT pipeline on answers small enough to check by eye."""

from collections import Counter

import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.outfits.lat import (
    add_people_counts,
    balance_questions,
    fully_consistent,
    kept_outfits,
    make_questions,
    rank_by_consistency,
    replace_choice,
    top_rated,
)
from likewise.outfits.protocol import Item, Outfit, OutfitQuestion

BAGS = [Item(f"bag{n}", "bags", f"bag{n}.jpg") for n in range(8)]
OUTFIT = Outfit("o1", (Item("d", "dresses", "d.jpg"), Item("s", "shoes", "s.jpg"), BAGS[0]))
ITEMS = pl.DataFrame(
    [(item.item, item.image, item.category) for item in (*BAGS, *OUTFIT.items[:2])],
    schema=["item", "image", "category"],
    orient="row",
).unique("item", maintain_order=True)


def said(*rows: tuple[str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(("question", "person", "value"), pl.String), orient="row")


def asked(name: str, category: str) -> OutfitQuestion:
    choices = tuple(Item(f"{name}-{k}", category, f"{name}-{k}.jpg") for k in range(5))
    return OutfitQuestion(name, "LAT", (), choices, right=0)


def test_kept_is_what_more_people_keep_than_delete() -> None:
    answers = said(("a", "x", "keep"), ("b", "x", "delete"), ("c", "x", "keep"), ("c", "y", "delete"))
    assert kept_outfits(answers) == ["a"]


def test_a_strict_experts_share_is_not_rated_away() -> None:
    strict = [("a", "strict", "4"), ("b", "strict", "1")]
    mild = [("c", "mild", "9"), ("d", "mild", "8")]
    best = top_rated(said(*strict, *mild), 2)
    assert best["question"].to_list() == ["a", "c"]  # +1.5 and +0.5 above their authors' means


def test_the_blank_is_offered_among_four_of_its_own_category_that_are_not_worn() -> None:
    (made,) = make_questions([OUTFIT], ITEMS, seed=3)
    assert made.category == "bags"  # shoes and dresses have no other item to offer
    assert made.right is not None
    assert made.choices[made.right] == BAGS[0]
    assert len({item.item for item in made.choices}) == 5
    assert made.filled(made.right).items == OUTFIT.items
    assert make_questions([OUTFIT], ITEMS, seed=3) == [made]
    assert make_questions([OUTFIT], ITEMS.filter(pl.col("item") != "bag1").head(3)) == []


def test_blanks_are_dealt_by_quota_so_that_a_rare_group_is_asked_for_wherever_it_is_worn() -> None:
    def worn(number: int) -> Outfit:
        pieces = ["dresses", "shoes", *(["outwear"] if number % 10 == 0 else [])]
        return Outfit(f"o{number}", tuple(Item(f"{name}{number}", name, f"{name}{number}.jpg") for name in pieces))

    outfits = [worn(number) for number in range(100)]
    every = [(item.item, item.image, item.category) for outfit in outfits for item in outfit.items]
    items = pl.DataFrame(every, schema=["item", "image", "category"], orient="row")
    made = make_questions(outfits, items, quotas={"one-piece": 1, "shoes": 2, "outwear": 2})
    counts = Counter(question.category for question in made)
    assert counts == {"outwear": 10, "shoes": 60, "dresses": 30}  # every outwear there is; the rest 1 to 2
    none = make_questions(outfits, items, quotas={"shoes": 1, "outwear": 0})
    assert {question.category for question in none} == {"shoes"}


def test_a_distractor_is_replaced_by_hand_but_never_the_answer() -> None:
    (made,) = make_questions([OUTFIT], ITEMS, seed=3)
    wrong = next(item for item in made.choices if item != BAGS[0])
    fresh = next(item for item in BAGS if item not in made.choices)
    changed = replace_choice(made, wrong.item, fresh)
    assert fresh in changed.choices
    assert wrong not in changed.choices
    assert changed.right == made.right
    for old, new, why in (
        (BAGS[0].item, fresh, "is the answer"),
        (wrong.item, OUTFIT.items[0], "is of dresses"),
        (wrong.item, BAGS[0], "already part"),
        ("nothing", fresh, "no choice nothing"),
    ):
        with pytest.raises(LikewiseError, match=why):
            replace_choice(made, old, new)


def test_questions_rank_by_consistency_and_only_full_consistency_stays() -> None:
    rows = [("a", f"p{n}", "1" if n < 9 else "0") for n in range(10)]
    rows += [("b", f"p{n}", "2") for n in range(10)]
    rows += [("c", f"p{n}", str(n % 2)) for n in range(10)]
    ranked = rank_by_consistency(said(*rows))
    assert ranked.select("question", "value", "share").rows() == [("b", "2", 1.0), ("a", "1", 0.9), ("c", "0", 0.5)]
    second = said(*((question, f"p{n}", "2") for question in "bc" for n in range(10)))
    assert fully_consistent(pl.concat([said(*rows), second]))["question"].to_list() == ["b"]


def test_the_final_test_is_balanced_by_quota_and_says_what_lacks() -> None:
    questions = [asked(f"shoes{n}", "shoes") for n in range(30)] + [asked(f"bag{n}", "bags") for n in range(3)]
    chosen = balance_questions(questions, 10, {"shoes": 1, "bags": 1})
    assert chosen.quotas == {"shoes": 5, "bags": 5}
    assert chosen.shortfalls == {"bags": 2}
    assert len(chosen.questions) == 10
    assert sum(question.category == "bags" for question in chosen.questions) == 3
    with pytest.raises(LikewiseError, match="no group 'hats'"):
        balance_questions(questions, 10, {"hats": 1})


def test_a_person_who_answers_twice_is_counted_once() -> None:
    question = asked("q", "bags")
    answers = said(("q", "anna", "1"), ("q", "ben", "1"), ("q", "anna", "3"))
    assert add_people_counts([question], answers)[0].people == (0, 1, 0, 1, 0)
