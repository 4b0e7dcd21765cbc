"""Recall@k that is fair to ties: against all orders of a short list, chance levels, constant and random scores."""

from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.conditional.composers import ComposerMethod, LateFusion, UnscaledSum, baseline_methods
from likewise.conditional.evaluate import TaskResult, recall_table, score_templates
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.protocol import TEMPLATE_SCHEMA, Floats, QueryBatch
from likewise.conditional.recall import chance_recall, rank_targets, recall_at_k
from likewise.conditional.seeds import differences_over_seeds, recall_over_seeds
from likewise.conditional.step import read_results, store_results
from likewise.workspace import WorkspaceFolder

N = 1500


class Constant:
    """Gives everything the same score."""

    name = "constant"

    def scores(self, asked: QueryBatch) -> Floats:
        return np.full((len(asked.reference), asked.gallery.shape[-2]), 0.25)


class Drawn:
    """Gives scores by chance."""

    name = "random"

    def __init__(self) -> None:
        self.rng = np.random.default_rng(3)

    def scores(self, asked: QueryBatch) -> Floats:
        return self.rng.random((len(asked.reference), asked.gallery.shape[-2]))


class OnlyObjects(Constant):
    """Cannot answer the attribute tasks."""

    name = "objects only"

    def scores(self, asked: QueryBatch) -> Floats:
        scores = super().scores(asked)
        scores[["attribute" in task for task in asked.tasks]] = np.nan
        return scores


def templates(n: int = N) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    rows = []
    for task, size in (("focus_attribute", 10), ("change_object", 15)):
        for number in range(n):
            images = [f"{image:03d}.jpg" for image in rng.choice(200, size + 1, replace=False)]
            rows.append((number, task, "red", images[0], images[1], images[2:]))
    return pl.DataFrame(rows, schema=TEMPLATE_SCHEMA, orient="row")


@settings(max_examples=60)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=6), st.data())
def test_hits_are_the_mean_over_all_orders_of_equal_scores(scores: list[float], data: st.DataObject) -> None:
    right = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)).filter(any))
    k = data.draw(st.integers(1, len(scores)))
    orders = [
        order for order in permutations(range(len(scores))) if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]
    expected = np.mean([any(right[i] for i in order[:k]) for order in orders])
    found = rank_targets(np.array([scores]), np.array([right]))
    assert recall_at_k(found, k)[0] == pytest.approx(expected)
    drawn = np.mean([any(right[i] for i in order[:k]) for order in permutations(range(len(scores)))])
    assert chance_recall(found, k)[0] == pytest.approx(drawn)


def test_constant_and_random_scores_land_on_chance() -> None:
    asked = templates()
    answers = score_templates(asked, ImageTextFeatures.random(asked, dim=8), [Constant(), Drawn()])
    table = recall_table({"none": answers})
    assert len(table) == 2 * 3 * 3
    for row in table.iter_rows(named=True):
        assert row["low"] - 1e-9 <= row["chance"] <= row["high"] + 1e-9, row
    constant = table.filter(method="constant")
    assert np.allclose(constant["value"], constant["chance"])
    levels = dict(constant.filter(measure="Recall@1").select("task", "chance").iter_rows())
    assert levels == pytest.approx({"focus_attribute": 0.1, "change_object": 1 / 15, "average": (0.1 + 1 / 15) / 2})


def test_official_ties_are_hits_as_in_the_published_code() -> None:
    asked = templates(20)
    answers = score_templates(asked, ImageTextFeatures.random(asked, dim=8), [Constant()])
    assert set(recall_table({"none": answers}, official=True)["value"]) == {1.0}


def test_a_method_that_cannot_answer_a_task_has_no_average() -> None:
    asked = templates(20)
    table = recall_table(
        {"none": score_templates(asked, ImageTextFeatures.random(asked, dim=8), [OnlyObjects()])}
    ).filter(measure="Recall@1")
    values = dict(table.select("task", "value").iter_rows())
    assert values["focus_attribute"] is None and values["average"] is None
    assert values["change_object"] == pytest.approx(1 / 15)
    assert dict(table.select("task", "n").iter_rows())["focus_attribute"] == 0


def test_baselines_are_what_they_say_and_lengths_do_not_matter() -> None:
    asked = templates(40)
    features = ImageTextFeatures.random(asked, dim=6)
    longer = ImageTextFeatures(features.images, features.image_features * 7, features.texts, features.text_features * 3)
    block = next(iter(features.batches(asked)))[1]
    image, text, both = (method.scores(block) for method in baseline_methods())
    x, e, y = (
        rows / np.linalg.norm(rows, axis=-1, keepdims=True)
        for rows in (block.reference.astype(float), block.condition.astype(float), block.gallery.astype(float))
    )
    q = (x + e) / np.linalg.norm(x + e, axis=1, keepdims=True)
    for found, query in ((image, x), (text, e), (both, q)):
        assert np.allclose(found, np.einsum("nd,ngd->ng", query, y), atol=1e-6)
    for method in baseline_methods():
        assert np.allclose(method.scores(next(iter(longer.batches(asked)))[1]), method.scores(block), atol=1e-6)


def test_templates_without_all_their_images_are_left_out_and_counted() -> None:
    asked = templates(30)
    features = ImageTextFeatures.random(asked, dim=4)
    lost = asked["target"][0]
    kept = [row for row, image in enumerate(features.images) if image != lost]
    fewer = ImageTextFeatures(
        [features.images[row] for row in kept], features.image_features[kept], features.texts, features.text_features
    )
    table = recall_table({"none": score_templates(asked, fewer, baseline_methods()[:1])}).filter(
        task="average", measure="Recall@1"
    )
    named = pl.concat_list("reference", "target", "gallery").list.contains(lost)
    assert table["n"].item() == 60 - asked.filter(named).height < table["n_total"].item() == 60


def test_results_of_another_method_stay_in_the_table_and_those_of_the_same_are_replaced(tmp_path: Path) -> None:
    asked, workspace = templates(20), WorkspaceFolder(tmp_path)
    features = ImageTextFeatures.random(asked, dim=8)
    old, new = (recall_table({"none": score_templates(asked, features, [method])}) for method in baseline_methods()[:2])
    earlier = store_results(workspace, "small", old, official=False)
    later = store_results(workspace, "small", new, official=False)
    assert read_results(workspace, "small").equals(pl.concat([earlier, later]))
    store_results(workspace, "small", old, official=False)
    assert read_results(workspace, "small").equals(pl.concat([later, earlier]))


def test_late_fusion_and_the_unscaled_sum_against_numpy() -> None:
    """The unscaled sum follows the longer side; late fusion adds standardised scores, so no side's spread rules."""
    rng = np.random.default_rng(8)
    reference, condition = rng.normal(size=(5, 6)).astype(np.float32), 9 * rng.normal(size=(5, 6)).astype(np.float32)
    gallery = rng.normal(size=(5, 7, 6)).astype(np.float32)
    batch = QueryBatch(reference, condition, gallery)
    near = [(each / np.linalg.norm(each, axis=1, keepdims=True)) for each in (reference, condition)]
    candidates = gallery / np.linalg.norm(gallery, axis=2, keepdims=True)
    sides = [np.einsum("nd,ngd->ng", each, candidates) for each in near]
    fused = sum((each - each.mean(1, keepdims=True)) / each.std(1, keepdims=True) for each in sides)
    np.testing.assert_allclose(LateFusion().scores(batch), fused, rtol=1e-4)
    added = np.einsum("nd,ngd->ng", reference + condition, candidates)
    got = ComposerMethod(UnscaledSum()).scores(batch)
    assert (np.argsort(got, axis=1) == np.argsort(added, axis=1)).all()


def test_intervals_over_templates_and_seeds_cover_the_truth() -> None:
    """Simulated trainings whose quality varies: the interval holds the true mean in about 95 of 100 studies."""
    rng = np.random.default_rng(5)
    covered = 0
    n_studies = 400
    for _ in range(n_studies):
        easy = rng.normal(0, 1, 150)  # of every template
        quality = rng.normal(0, 0.12, 3)  # of every training
        results = []
        for each in quality:
            right = rng.random(150) < 1 / (1 + np.exp(-(easy + each)))
            scores = np.where(right, 1.0, -1.0)[:, None] * np.array([1.0, 0.0])
            ranks = rank_targets(scores, np.array([[True, False]] * 150))
            results.append({"m": {"change_object": TaskResult(ranks, 150)}})
        row = recall_over_seeds("encoder", results).row(0, named=True)
        covered += row["low"] <= 0.5 <= row["high"]
        assert row["n_seeds"] == 3
    assert 0.92 <= covered / n_studies <= 0.995


def test_templates_of_one_target_count_together() -> None:
    """Simulated: 40 targets, each in some templates that are easy or hard with it; ten templates more tell little."""
    rng = np.random.default_rng(7)
    covered, apart, n_studies = 0, 0, 400
    for _ in range(n_studies):
        target = np.repeat(np.arange(40), rng.integers(1, 8, 40))
        easy = rng.uniform(0, 1, 40)[target]  # a share of one half on average
        results = []
        for quality in rng.normal(0, 0.03, 4):
            right = rng.random(len(target)) < np.clip(easy + quality, 0, 1)
            scores = np.where(right, 1.0, -1.0)[:, None] * np.array([1.0, 0.0])
            ranks = rank_targets(scores, np.array([[True, False]] * len(target)))
            results.append({"m": {"change_object": TaskResult(ranks, len(target), targets=tuple(map(str, target)))}})
        row = recall_over_seeds("encoder", results).row(0, named=True)
        covered += row["low"] <= 0.5 <= row["high"]
        alone = [{"m": {"change_object": replace(each["m"]["change_object"], targets=())}} for each in results]
        narrow = recall_over_seeds("encoder", alone).row(0, named=True)
        apart += narrow["low"] <= 0.5 <= narrow["high"]
    assert 0.92 <= covered / n_studies <= 0.98
    assert apart / n_studies < 0.85  # as if they were independent


def test_a_difference_in_pairs_covers_the_truth_and_is_narrower_than_the_two_values() -> None:
    """Simulated: both methods answer the same templates above the same encoders, one is better by 5 points."""
    rng = np.random.default_rng(6)
    covered, narrower, n_studies = 0, 0, 300
    for _ in range(n_studies):
        results = []
        of_template = rng.random(200)  # the same number for both: what is easy for one is easy for the other
        for quality in rng.normal(0, 0.05, 4):
            ranks = {}
            for name, share in (("worse", 0.3 + quality), ("better", 0.35 + quality)):
                flipped = np.where(rng.random(200) < 0.2, rng.random(200), of_template)
                scores = np.where(flipped < share, 1.0, -1.0)[:, None] * np.array([1.0, 0.0])
                found = rank_targets(scores, np.array([[True, False]] * 200))
                ranks[name] = {"change_object": TaskResult(found, 200)}
            results.append(ranks)
        [row] = differences_over_seeds(results, "better", ["worse"]).to_dicts()
        covered += row["low"] <= 0.05 <= row["high"]
        own = {each["method"]: each for each in recall_over_seeds("encoder", results).to_dicts()}
        assert row["value"] == pytest.approx(own["better"]["value"] - own["worse"]["value"])
        narrower += row["high"] - row["low"] < own["better"]["high"] - own["better"]["low"]
    assert 0.92 <= covered / n_studies <= 0.995
    assert narrower > 0.95 * n_studies
