"""The data sets' own questions: both conventions, coverage, AUC against scikit-learn, the paper's order of models."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from likewise.catalog.readers import read, read_tables
from likewise.errors import LikewiseError
from likewise.outfits.category_mapping import categorize_items, map_category
from likewise.outfits.checkpoints import RESULT_SCHEMA as CHECKPOINT_SCHEMA
from likewise.outfits.checkpoints import choose_epochs, compare_checkpoints, count_wins
from likewise.outfits.generate import sample_outfits
from likewise.outfits.judge_test import compare_judges, sign_flip_p, trainings_needed
from likewise.outfits.models.random import RandomModel
from likewise.outfits.orders import compare_orders
from likewise.outfits.polyvore import OutfitBenchmark, build_benchmark, delong_interval, evaluate_benchmark
from likewise.outfits.protocol import Floats, Item, Outfit, OutfitQuestion, answer_by_score
from tests.real.places import real_data


@dataclass(frozen=True)
class ByTable:
    """A model that likes items by a table."""

    liked: dict[str, float]
    name: str = "table"

    def score(self, outfits: Sequence[Outfit]) -> Floats:
        return np.array([sum(self.liked.get(item.item, 0.0) for item in outfit.items) for outfit in outfits])

    def answer(self, questions: Sequence[OutfitQuestion]) -> Floats:
        return answer_by_score(self, questions)


def items_named(names: Sequence[str]) -> dict[str, Item]:
    return {name: Item(name, "shoes", f"{name}.jpg") for name in names}


def polyvore(folder: Path, questions: list[dict[str, object]], kind: str) -> dict[str, pl.DataFrame]:
    sets = [("100", 4), ("200", 3), ("300", 3)]
    if kind == "maryland":
        outfits = [{"set_id": s, "items": [{"index": n + 1, "name": ""} for n in range(size)]} for s, size in sets]
        (folder / "test_no_dup.json").write_text(json.dumps(outfits))
        (folder / "fill_in_blank_test.json").write_text(json.dumps(questions))
    else:
        outfits = [
            {"set_id": s, "items": [{"item_id": f"{s}{n}", "index": n + 1} for n in range(size)]} for s, size in sets
        ]
        (folder / "test.json").write_text(json.dumps(outfits))
        (folder / "fill_in_blank_test.json").write_text(json.dumps(questions))
    return read_tables(folder, kind)


def test_the_right_answer_is_the_first_in_maryland_and_the_one_of_the_set_in_polyvore_outfits(tmp_path: Path) -> None:
    asked = {"question": ["100_1", "100_3"], "answers": ["200_1", "300_2", "100_2"], "blank_position": 2}
    (tmp_path / "m").mkdir()
    (tmp_path / "p").mkdir()
    first = polyvore(tmp_path / "m", [asked | {"answers": ["100_2", "200_1", "300_2"]}], "maryland")["questions"]
    anywhere = polyvore(tmp_path / "p", [asked], "polyvore_outfits")["questions"]
    names = {
        name for table in (first, anywhere) for column in ("items", "answers") for row in table[column] for name in row
    }
    items = items_named(sorted(names))
    (one,) = build_benchmark(first, None, items, "test").questions
    (other,) = build_benchmark(anywhere, None, items, "test").questions
    assert (one.right, one.choices[0].item, one.blank) == (0, "100_2", 1)
    assert (other.right, other.choices[2].item) == (2, "1001")  # item ids replace SETID_INDEX
    assert [item.item for item in one.filled(0).items] == ["100_1", "100_2", "100_3"]


def test_questions_with_a_dead_picture_are_left_out_and_counted() -> None:
    schema = {"question": pl.Int64(), "split": pl.String(), "items": pl.List(pl.String), "answers": pl.List(pl.String)}
    rows = [(n, "test", ["a", "b"], ["c", "d", f"e{n}"]) for n in range(4)]
    table = pl.DataFrame(rows, schema=schema, orient="row").with_columns(
        pl.lit(0).alias("right"), pl.lit(None, pl.Int64).alias("position")
    )
    items = items_named(["a", "b", "c", "d", "e0", "e3"])
    made = build_benchmark(table, None, items, "test")
    row = evaluate_benchmark(ByTable({"c": 1.0}), made).row(0, named=True)
    assert (row["value"], row["n"], row["n_total"], row["coverage"]) == (1.0, 2, 4, 0.5)
    assert row["chance"] == pytest.approx(1 / 3)
    nothing = evaluate_benchmark(ByTable({}), build_benchmark(table, None, items_named(["a"]), "test")).row(
        0, named=True
    )
    assert (nothing["value"], nothing["n"], nothing["n_total"]) == (None, 0, 4)


def test_auc_is_scikit_learns_and_its_interval_covers() -> None:
    rng = np.random.default_rng(0)
    label = np.repeat([1, 0], [40, 60])
    scores = np.round(rng.normal(label, 1.0), 1)  # with ties
    names = [f"i{n}" for n in range(100)]
    lines = pl.DataFrame(
        {"line": range(100), "split": ["test"] * 100, "label": label, "items": [[name, "z"] for name in names]}
    )
    made = build_benchmark(None, lines, items_named([*names, "z"]), "test")
    row = evaluate_benchmark(ByTable(dict(zip(names, scores.tolist(), strict=True))), made).row(0, named=True)
    assert row["value"] == pytest.approx(roc_auc_score(label, scores))
    assert row["low"] < row["value"] < row["high"]
    covered = 0
    for _ in range(200):  # the true AUC of two normals one apart is 0.7602
        drawn = rng.normal(label, 1.0)
        low, high = delong_interval(drawn, label, float(roc_auc_score(label, drawn)))
        covered += low <= 0.7602 <= high
    assert 0.88 <= covered / 200 <= 1.0


def test_the_real_validation_set_of_polyvore_outfits() -> None:
    reading = read(real_data("polyvore"), "polyvore_outfits")
    outfits = reading.tables["outfits"]
    items = items_named(outfits["item"].unique().to_list())
    made = build_benchmark(None, reading.tables["compatibility"], items, "valid")
    (lines,) = made.compatibility_sets
    assert (len(lines.outfits), lines.n_total, int(lines.labels.sum())) == (10_000, 10_000, 5000)
    assert outfits["outfit"].n_unique() == 5000
    assert min(len(outfit) for outfit in lines.outfits) >= 2
    worn = pl.Series([item.item for outfit in lines.outfits for item in outfit.items]).value_counts()
    liked = {name: float(n) for name, n in worn.iter_rows()}
    row = evaluate_benchmark(ByTable(liked), made).row(0, named=True)
    assert (row["n"], row["coverage"]) == (10_000, 1.0)
    oracle = roc_auc_score(lines.labels, [sum(liked[i.item] for i in o.items) for o in lines.outfits])
    assert row["value"] == pytest.approx(oracle)
    chance = evaluate_benchmark(RandomModel(), made).row(0, named=True)
    assert chance["low"] < 0.5 < chance["high"]
    assert chance["high"] - chance["low"] < 0.025  # ten thousand lines


def test_blanks_in_the_real_outfits_of_polyvore_are_asked_in_its_own_file_format(tmp_path: Path) -> None:
    real = real_data("polyvore")
    outfits = json.loads((real / "valid.json").read_text())
    names = [[f"{one['set_id']}_{item['index']}" for item in one["items"]] for one in outfits]
    rng = np.random.default_rng(0)
    questions = []
    for number in rng.permutation(len(names))[:1000].tolist():
        blank = int(rng.integers(len(names[number])))
        answers = [names[number][blank], *(names[(number + step) % len(names)][0] for step in (1, 2, 3))]
        rest = names[number][:blank] + names[number][blank + 1 :]
        mixed = [answers[place] for place in rng.permutation(4).tolist()]
        questions.append({"question": rest, "answers": mixed, "blank_position": blank + 1})
    (tmp_path / "valid.json").write_text((real / "valid.json").read_text())
    (tmp_path / "fill_in_blank_valid.json").write_text(json.dumps(questions))
    tables = read(tmp_path, "polyvore_outfits").tables
    items = items_named(tables["outfits"]["item"].unique().to_list())
    made = build_benchmark(tables["questions"], None, items, "valid")
    assert (len(made.questions), made.n_questions_total) == (1000, 1000)
    together = {frozenset(worn) for worn in tables["outfits"].group_by("outfit").agg("item")["item"].to_list()}
    for question in made.questions:
        filled = [frozenset(i.item for i in question.filled(k).items) in together for k in range(4)]
        assert filled[question.right or 0]  # the one with the question's set id completes a real outfit
    row = evaluate_benchmark(RandomModel(), made).row(0, named=True)
    assert row["low"] < 0.25 < row["high"]


def test_photos_that_people_took_at_home_become_valid_outfits() -> None:
    catalog = pl.read_csv(real_data("clothing") / "catalog.csv").with_columns(pl.col("image").alias("item"))
    items, left_out = categorize_items(catalog)
    assert left_out["category"].to_list() == ["Not sure", "Other", "Skip"]  # the three labels that are noise
    made = sample_outfits(items, 5000, seed=0)
    assert made.report.n_verified == 5000
    assert set(made.table["category"]) == {"tops", "skirts", "pants", "outwear", "dresses", "shoes", "hats"}


def test_the_words_of_polyvore_are_sorted_into_the_twenty() -> None:
    text = (real_data("polyvore") / "categories.csv").read_text()
    words = {line.split(",")[1] for line in text.splitlines() if line}
    known = {word: map_category(word) for word in words}
    assert (
        sum(category is not None for category in known.values()) / len(words) > 0.75
    )  # umbrellas, belts, swimwear are none
    told = {"over-the-knee boots": "shoes", "male suit jacket": "outwear", "pendant": "necklaces", "umbrella": None}
    assert {word: known[word] for word in told} == told
    assert known["lingerie top"] is None


TABLE_3 = {
    "Maryland": {"Bi-LSTMs": 53.50, "FHN": 46.20, "SCE-Net": 51.30, "CSN": 54.97},
    "Polyvore-630": {"Bi-LSTMs": 41.68, "FHN": 53.13, "SCE-Net": 42.92, "CSN": 47.07},
    "Type-aware": {"Bi-LSTMs": 37.46, "FHN": 45.80, "SCE-Net": 51.53, "CSN": 57.69},
}
A100 = {
    "LATs": {"Bi-LSTMs": 36.0, "FHN": 54.0, "SCE-Net": 72.0, "CSN": 73.0},
    "mLATs": {"Bi-LSTMs": 30.82, "FHN": 41.62, "SCE-Net": 54.63, "CSN": 56.17},
    "AATs": {"Bi-LSTMs": 35.0, "FHN": 40.0, "SCE-Net": 42.0, "CSN": 59.0},
}


def test_the_papers_order_by_vote_is_its_order_under_a100() -> None:
    orders = compare_orders(TABLE_3, A100)
    assert orders.by_vote == ["CSN", "SCE-Net", "FHN", "Bi-LSTMs"]
    assert orders.by_score == dict.fromkeys(A100, orders.by_vote)
    assert all(orders.agrees.values())
    turned = compare_orders(TABLE_3, {"LATs": {name: -value for name, value in A100["LATs"].items()}})
    assert not turned.agrees["LATs"]
    assert turned.kendall["LATs"] == pytest.approx(-1)
    with pytest.raises(LikewiseError, match="two models"):
        compare_orders({"x": {"a": 1.0}}, {"LATs": {"a": 1.0}})


def test_each_judge_chooses_its_own_epoch_and_the_chosen_are_measured_on_everything() -> None:
    def ask(name: str, kind: str, right: str) -> OutfitQuestion:
        choices = tuple(Item(item, "bags", item) for item in ("x", "y", "z"))
        place = ["x", "y", "z"].index(right)
        people = tuple(5 if n == place else 1 for n in range(3)) if kind == "LAT" else ()
        more = {"dimension": "color", "sub_dimension": "s"} if kind == "AAT" else {}
        return OutfitQuestion(name, kind, (), choices, right=place, people=people, **more)  # type: ignore[arg-type]

    likes = {1: {"x": 1.0}, 2: {"y": 1.0}, 3: {"z": 1.0}}
    questions = [ask("a", "LAT", "y"), ask("b", "LAT", "y"), ask("c", "AAT", "z")]
    elsewhere = OutfitBenchmark("test", [ask("f", "FITB", "z"), ask("g", "FITB", "x")], 4, [])

    def at(epoch: int) -> ByTable:
        return ByTable(likes[epoch])

    made = compare_checkpoints(at, {1: 0.9, 2: 0.5, 3: 0.9}, questions, sets={"far": (at, elsewhere)})
    assert made.chosen == {"validation": 1, "LATs": 2, "AATs": 3}
    cells = {(row["judge"], row["test"]): (row["value"], row["n"]) for row in made.table.iter_rows(named=True)}
    assert cells["LATs", "LATs"] == (1.0, 2)
    assert cells["validation", "far FITB"] == (0.5, 2)
    assert cells["LATs", "far FITB"] == (0.0, 2)
    assert count_wins(made.table, "AATs") == (0, 3, 0)  # LATs, mLATs and the far set
    assert choose_epochs(made.curves)["validation"] == 1  # the earliest of equals
    with_losses = compare_checkpoints(at, {1: 0.9, 2: 0.5, 3: 0.9}, questions, losses={1: 0.7, 2: 0.4, 3: 0.4})
    assert with_losses.chosen == {"loss": 2, **made.chosen}  # the least loss, the earliest of equals


def test_judges_are_compared_over_trainings_and_luck_is_not_significant() -> None:
    def table(gain: float) -> pl.DataFrame:
        rows = [
            (judge, 1, test, 0.5 + (gain if judge == "AATs" and test == "LATs" else 0.0), 0.4, 0.6, 0.2, 50, 50)
            for judge in ("validation", "LATs", "AATs")
            for test in ("LATs", "AATs")
        ]
        return pl.DataFrame(rows, schema=CHECKPOINT_SCHEMA, orient="row")

    steady = compare_judges([table(gain) for gain in (0.1, 0.12, 0.08, 0.11, 0.09, 0.1, 0.1, 0.12, 0.08, 0.1)])
    cells = {(row["judge"], row["test"]): row for row in steady.table.iter_rows(named=True)}
    gained = cells["AATs", "LATs"]
    assert gained["difference"] == pytest.approx(0.1)
    assert 0.08 <= gained["low"] < 0.1 < gained["high"] <= 0.12
    assert gained["p_holm"] < 0.05
    assert gained["n_trainings"] == 10
    assert cells["LATs", "AATs"]["difference"] == 0
    assert cells["LATs", "AATs"]["p_holm"] == 1
    assert "With 10 trainings and 4 comparisons" in steady.describe_power()
    mixed = compare_judges([table(gain) for gain in (0.1, -0.1, 0.1, -0.1, 0.02, 0.1, -0.1, 0.03)])
    assert mixed.tested and (mixed.table["p_holm"] > 0.05).all()


def test_too_few_trainings_are_not_tested() -> None:
    """The best that n trainings can show is p = 2 / 2^n, times the comparisons."""
    for n_comparisons in (1, 4, 6, 20):
        n = trainings_needed(n_comparisons)
        best = [sign_flip_p(np.full(m, 0.1) + 0.001 * np.arange(m)) * n_comparisons for m in (n - 1, n)]
        assert best[0] >= 0.05 > best[1]
    rows = [
        (judge, 1, test, 0.5 + 0.1 * (judge != "validation"), 0.4, 0.6, 0.2, 50, 50)
        for judge in ("validation", "LATs", "AATs")
        for test in ("LATs", "mLATs", "AATs")
    ]
    few = compare_judges([pl.DataFrame(rows, schema=CHECKPOINT_SCHEMA, orient="row")] * 4)
    assert not few.tested and few.table["p"].null_count() == few.table["p_holm"].null_count() == 6
    assert "4 trainings are too few" in few.describe_power() and "At least 8 trainings" in few.describe_power()


def test_the_exact_test_over_trainings_keeps_its_level(rng: np.random.Generator) -> None:
    """Differences that are often exactly zero, as when two judges select the same epoch."""
    drawn = rng.standard_normal((600, 9)) * (rng.random((600, 9)) < 0.7)
    assert np.mean([sign_flip_p(each) < 0.05 for each in drawn]) <= 0.06
