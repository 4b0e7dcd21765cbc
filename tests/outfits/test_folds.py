"""Item-disjoint folds of outfits whose items recur, questions about them, and values over outfits and folds."""

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.evaluation.auc import roc_auc, sort_pairs
from likewise.outfits.benchmark.cross_validation import FoldTest, hit_credit, measure_fold, right_credit
from likewise.outfits.benchmark.folds import split_items
from likewise.outfits.benchmark.questions import DistractorPool, blank_questions, replaced_outfits
from likewise.outfits.benchmark.summary import compare_with, mean_over_folds, summarize
from likewise.outfits.protocol import Floats, Item, Outfit, OutfitQuestion, answer_by_score
from tests.outfits.article_types import ARTICLE_TYPES


def world(seed: int = 0, n_outfits: int = 300) -> list[Outfit]:
    """Outfits of four styles; shoes recur within a style, a tenth of the outfits mixes styles."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(n_outfits):
        style = int(rng.integers(4))
        styles = rng.integers(4, size=3) if rng.random() < 0.1 else [style] * 3
        sizes = (40, 40, 6)
        names = [
            (c, f"{c}-{s}-{rng.integers(n)}") for c, s, n in zip(("tops", "pants", "shoes"), styles, sizes, strict=True)
        ]
        made.append(Outfit(f"o{number}", tuple(Item(name, category, f"{name}.jpg") for category, name in names)))
    return made


def test_no_item_is_on_both_sides_and_far_more_outfits_are_tested_than_with_items_at_random() -> None:
    outfits = world()
    folds = split_items(outfits, 4)
    for fold in range(4):
        tested = {item.item for outfit in folds.test(fold) for item in outfit.items}
        learned = {item.item for outfit in folds.train(fold) for item in outfit.items}
        assert tested and not tested & learned
    at_random = np.random.default_rng(1).integers(4, size=(1000, 3))
    chance = (at_random == at_random[:, :1]).all(axis=1).mean()
    assert folds.n_tested == sum(len(folds.test(fold)) for fold in range(4)) > 5 * chance * len(outfits)
    assert split_items(outfits, 4).fold_by_item == folds.fold_by_item


def test_copies_of_one_picture_stay_in_one_fold() -> None:
    outfits = world()
    items = sorted({item.item for outfit in outfits for item in outfit.items})
    groups = dict(zip(items[1:20:2], items[0:19:2], strict=True))
    folds = split_items(outfits, 3, groups=groups)
    assert all(folds.fold_by_item[one] == folds.fold_by_item[other] for one, other in groups.items())


def test_too_few_outfits_are_refused() -> None:
    with pytest.raises(LikewiseError, match="cannot be divided into 8 folds"):
        split_items(world(n_outfits=30), 8)


def test_choices_are_of_one_category_never_worn_and_drawn_as_often_as_they_are_worn() -> None:
    outfits = world()
    pool = DistractorPool(outfits, lambda item: item.category)
    questions = blank_questions(outfits, pool)
    assert len(questions) == sum(len(outfit) for outfit in outfits)
    worn = {outfit.name: set(outfit.items) for outfit in outfits}
    drawn: dict[str, int] = {}
    for question in questions:
        name = question.name.rpartition(":")[0]
        assert question.right is not None and question.filled(question.right).items == tuple(
            next(outfit.items for outfit in outfits if outfit.name == name)
        )
        wrong = [item for place, item in enumerate(question.choices) if place != question.right]
        assert len({item.category for item in question.choices}) == 1 and not worn[name] & set(wrong)
        for item in wrong:
            drawn[item.item] = drawn.get(item.item, 0) + 1
    counts = {item.item: 0 for outfit in outfits for item in outfit.items if item.category == "shoes"}
    for outfit in outfits:
        counts[outfit.items[2].item] += 1
    names = sorted(counts)
    assert np.corrcoef([counts[name] for name in names], [drawn.get(name, 0) for name in names])[0, 1] > 0.8


class ByStyle:
    """Knows the styles: minus the number of different ones."""

    name = "styles"

    def score(self, outfits: Sequence[Outfit]) -> Floats:
        return np.array([-len({item.item.split("-")[1] for item in outfit.items}) for outfit in outfits], float)

    def answer(self, questions: Sequence[OutfitQuestion]) -> Floats:
        return answer_by_score(self, questions)


def test_the_auc_over_outfits_is_the_usual_one_and_its_spread_delongs() -> None:
    outfits = world()
    pool = DistractorPool(outfits, lambda item: item.category)
    fakes = replaced_outfits(outfits, pool)
    rows = measure_fold(ByStyle(), FoldTest(outfits, fakes, {}))
    scores, label = ByStyle().score([*outfits, *fakes]), np.repeat([1, 0], [len(outfits), len(fakes)])
    expected = roc_auc(sort_pairs(np.zeros(len(label), dtype=np.int64), scores, label, 1))[0]
    assert rows["value"].mean() == pytest.approx(expected) and expected > 0.8


def test_credit_for_ties_is_shared() -> None:
    item = Item("a", "tops", "a.jpg")
    asked = [OutfitQuestion("q:0", "FITB", (item,), (item,) * 4, 0, right=2)] * 2
    assert right_credit(np.array([[0.0, 0, 0, 0], [0, 0, 1, 0]]), asked).tolist() == [0.25, 1.0]
    scores = np.array([[1.0, 2, 3, 0], [5, 1, 1, 1], [0, 0, 0, np.nan]])
    assert hit_credit(scores, 2).tolist() == [0.0, 1.0, pytest.approx(2 / 3)]


def test_an_interval_over_outfits_and_folds_covers_the_mean_over_all_possible_folds() -> None:
    """Simulated: folds differ by more than their outfits' noise, so one over outfits alone covers too rarely."""
    rng = np.random.default_rng(0)
    both, alone = 0, 0
    for _ in range(300):
        truth = 0.4 + 0.05 * rng.normal(size=8)
        folds = np.repeat(np.arange(8), 100)
        values = (rng.random(800) < truth[folds]).astype(float)
        _, low, high = mean_over_folds(values, folds)
        both += low <= 0.4 <= high
        _, low, high = mean_over_folds(values, np.zeros(800, dtype=np.int64))
        alone += low <= 0.4 <= high
    assert both / 300 > 0.92 and alone / 300 < 0.9


def test_models_are_called_apart_only_where_their_intervals_are() -> None:
    rng = np.random.default_rng(1)
    rows = [
        (model, fold, "FITB", f"o{fold}-{n}", float(rng.random() < p), 0.25)
        for model, p in (("mean-cosine", 0.33), ("good", 0.45), ("same", 0.34))
        for fold in range(8)
        for n in range(120)
    ]
    values = pl.DataFrame(rows, schema=["model", "fold", "measure", "outfit", "value", "chance"], orient="row")
    summary = summarize(values)
    assert summary["n_outfits"].to_list() == [960] * 3
    apart = dict(compare_with(values, ["mean-cosine"]).select("model", "apart").iter_rows())
    assert apart == {"good": True, "same": False}


def test_a_shops_article_types_sort_into_the_twenty_categories() -> None:
    from likewise.outfits.category_mapping import map_category

    placed = {word: map_category(word) for word in ARTICLE_TYPES}
    wrong = {word: found for word, found in placed.items() if found != ARTICLE_TYPES[word]}
    assert len(wrong) <= 0.03 * len(ARTICLE_TYPES), wrong
    asked = ("Joggers", "Chinos", "Mules", "Overcoats", "Ankle Booties", "Footwear", "Hats, scarves and gloves")
    assert [map_category(word) for word in asked] == ["pants", "pants", "shoes", "outwear", "shoes", "shoes", None]
