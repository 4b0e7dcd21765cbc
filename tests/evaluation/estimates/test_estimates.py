"""Whole-catalog estimates: a census gives the truth, a sample a value near it with an interval that holds."""

from functools import partial

import numpy as np
import polars as pl
import pytest

from likewise.discovery.designs.drawing import draw_pairs, inclusion_probabilities, split_evenly
from likewise.discovery.designs.sampled import sampled_weights
from likewise.discovery.designs.units import CatalogUnits, catalog_units
from likewise.discovery.pool import DRAWN, PICKED, QueryGallery
from likewise.errors import LikewiseError
from likewise.evaluation.estimates.catalog_measures import ExpectedMeasure
from likewise.evaluation.estimates.chances import Expectation
from likewise.evaluation.estimates.collected import MICRO_AUC
from likewise.evaluation.estimates.draw import LabelledDraw, labelled_draw
from likewise.evaluation.estimates.estimate import CatalogEstimates, estimate_catalog
from likewise.evaluation.estimates.linearised import Corrections, estimate_measure
from likewise.evaluation.estimates.scores import ranked_blocks

from .test_chances import area, measured

N_QUERIES, N_ITEMS = 40, 240
ENCODERS = ["good", "fair", "poor"]
KS = (1, 3, 5)


class Catalog:
    """Items as points in a plane of ten corners; near ones are similar; three encoders see them with noise."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        points = rng.standard_normal((10, 8))[rng.integers(0, 10, N_ITEMS)] + 0.45 * rng.standard_normal((N_ITEMS, 8))
        unit = points / np.linalg.norm(points, axis=1, keepdims=True)
        self.label = (unit[:N_QUERIES] @ unit.T > 0.9).astype(float)
        self.vectors = {}
        for name, noise in zip(ENCODERS, (0.3, 0.7, 1.5), strict=True):
            seen = (points + noise * rng.standard_normal(points.shape)).astype(np.float32)
            self.vectors[name] = (seen[:N_QUERIES], seen)
        items = np.arange(N_ITEMS)
        self.units = CatalogUnits(items, items, items[:N_QUERIES])
        self.blocks = partial(ranked_blocks, self.vectors, ENCODERS, self.units)
        [(_, self.ranked)] = list(self.blocks())

    def draw(self, n_labels: int, seed: int) -> LabelledDraw:
        rng = np.random.default_rng(seed)
        sizes = split_evenly(n_labels, self.units.n_admissible, rng)
        lists = [order[:, : N_ITEMS - 1].astype(np.int64) for order in self.ranked.order[:2]]
        weights, unlisted = sampled_weights(lists, self.units.query_items, self.units.unit_items, sizes)
        drawn = draw_pairs(weights, inclusion_probabilities(weights, sizes), unlisted, rng)
        label = self.label[drawn.query, drawn.candidate]
        return LabelledDraw.of_rounds(np.arange(N_QUERIES), drawn.query, drawn.candidate, drawn.probability, label)

    def estimate(self, n_labels: int, seed: int) -> CatalogEstimates:
        return estimate_catalog(self.blocks, ENCODERS, self.draw(n_labels, seed), KS, seed)

    def truth(self, place: int) -> dict[str, float]:
        """Each measure by its definition, mean over queries (with a positive, but for P@k)."""
        per_query: dict[str, list[float]] = {}
        scores = []
        for query in range(N_QUERIES):
            others = np.arange(N_ITEMS) != query
            label, score = self.label[query, others], self.ranked.scores[place, query, others].astype(float)
            scores.append((score, label))
            found = measured(label, score) | ({"ROC_AUC": area(label, score)} if label.any() else {})
            for name, value in found.items():
                if label.any() or name.startswith("P@"):
                    per_query.setdefault(name, []).append(value)
        every, labels = (np.concatenate(side) for side in zip(*scores, strict=True))
        means = {name: float(np.mean(values)) for name, values in per_query.items()}
        return means | {MICRO_AUC: area(labels, every)}


def test_a_census_gives_the_truth_without_error() -> None:
    catalog = Catalog(0)
    found = catalog.estimate(N_QUERIES * (N_ITEMS - 1), seed=0)
    assert found.positives.value * N_QUERIES == pytest.approx(found.n_found)
    for place, by_measure in enumerate(found.by_encoder):
        truth = catalog.truth(place)
        assert truth.keys() == by_measure.keys()
        for name, value in truth.items():
            assert by_measure[name].value == pytest.approx(value, abs=3e-4 if name == MICRO_AUC else 1e-5), name
            assert by_measure[name].drawing_error == 0.0


def test_a_tenth_of_the_labels_is_near_the_truth() -> None:
    catalog = Catalog(1)
    found = catalog.estimate(N_QUERIES * 24, seed=1)
    assert found.n_labelled == N_QUERIES * 24
    for place, by_measure in enumerate(found.by_encoder):
        for name, value in catalog.truth(place).items():
            one = by_measure[name]
            assert abs(one.value - value) < 4 * one.drawing_error + 1e-3, name
            assert one.drawing_error < (0.2 if name.endswith("@1") else 0.1)  # one candidate a query tells little
            low, high = one.share_interval()
            assert 0.0 < low < one.value < high < 1.0
    similar = catalog.label.sum() - np.trace(catalog.label[:, :N_QUERIES])
    low, high = found.positives.interval(these_queries=True)
    assert low * N_QUERIES < similar < high * N_QUERIES
    apart = found.by_encoder[0]["AP"].minus(found.by_encoder[2]["AP"])
    assert apart.interval()[0] > 0  # paired: the difference is clearer than either value


@pytest.mark.slow
def test_values_are_unbiased_and_intervals_hold_over_draws() -> None:
    """100 draws of one catalog: bias within one point and four standard errors, intervals of these queries cover."""
    catalog = Catalog(2)
    truth = [catalog.truth(place) for place in range(len(ENCODERS))]
    errors: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for seed in range(100):
        for place, by_measure in enumerate(catalog.estimate(N_QUERIES * 24, seed).by_encoder):
            for name, one in by_measure.items():
                errors.setdefault((place, name), []).append((one.value - truth[place][name], one.drawing_error))
    for (_, name), pairs in errors.items():
        off, error = np.array(pairs).T
        assert abs(off.mean()) < 0.01 + 4 * off.std() / np.sqrt(len(off)), name
        if name != "P@1":  # one candidate a query is too little: for a model that fed nothing 80 % of intervals hold
            assert np.mean(np.abs(off) <= 1.98 * error + 1e-9) > 0.85, name


def test_labels_come_with_the_share_of_the_query_that_was_answered() -> None:
    gallery = QueryGallery(["a", "b"], ["a", "b", "c", "d"], np.array([0, 1]), np.array([0, 1, 2, 2]))
    pool = pl.DataFrame(
        {"query": ["a", "a", "b"], "candidate": ["b", "d", "c"], "probability": [1.0, 0.5, 0.25], "round": [1, 1, 1]},
    ).with_columns(generator=pl.lit(DRAWN), rank=pl.Series([0, 3, None]))
    labels = pl.DataFrame({"query": ["a", "a", "b"], "candidate": ["d", "c", "a"], "label": [1, 0, 1]})
    found = labelled_draw(pool, labels, gallery.queries, gallery.gallery, catalog_units(gallery, one_per_item=True))
    assert found.queries.tolist() == [0]  # nothing of b's drawn pair is labelled; its other label is outside the design
    assert found.unit.tolist() == [2]  # c and d are one item
    assert found.weight.tolist() == [4.0]  # half of a's two pairs
    assert found.best_rank is not None and found.best_rank.tolist() == [3.0]
    with pytest.raises(LikewiseError, match=r"but 3 of the pool's are not \(first: a and b, 1\.5\)"):
        labelled_draw(
            pool.with_columns(probability=pl.lit(1.5)),
            labels,
            gallery.queries,
            gallery.gallery,
            catalog_units(gallery, one_per_item=False),
        )


def test_picked_pairs_that_a_round_takes_in_do_not_shift_an_estimate() -> None:
    """Somebody picks similar pairs that the first round missed, the worst that can be done; totals stay right."""
    rng = np.random.default_rng(0)
    names = [f"i{number}" for number in range(60)]
    gallery = QueryGallery(["q"], names, np.array([99]), np.arange(60))
    units = catalog_units(gallery, one_per_item=True)
    truth = (np.arange(60) % 4 == 0).astype(int)
    labels = pl.DataFrame({"query": ["q"] * 60, "candidate": names, "label": truth})
    totals = []
    for _ in range(1600):
        first = rng.permutation(60)[:15]
        missed = np.setdiff1d(np.flatnonzero(truth), first)[:8]
        left = np.setdiff1d(np.arange(60), np.concatenate([first, missed]))
        second = rng.permutation(left)[:10]
        parts = [(first, DRAWN, 15 / 60, 1), (missed, PICKED, 1.0, 2), (second, DRAWN, 10 / len(left), 2)]
        rows = [("q", names[one], kind, chance, number) for some, kind, chance, number in parts for one in some]
        pool = pl.DataFrame(rows, ["query", "candidate", "generator", "probability", "round"], orient="row")
        pool = pool.with_columns(rank=pl.lit(None, pl.Int32))
        found = labelled_draw(pool, labels, gallery.queries, names, units)
        totals.append(float(found.weight @ found.label))
    error = np.std(totals) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - truth.sum()) < 4 * error < 0.4


def test_a_round_counts_by_its_labels_and_a_later_one_shares_over_queries() -> None:
    """Of the second round's two pairs one is answered: it stands for both, though they belong to different queries."""
    gallery = QueryGallery(["a", "b"], ["a", "b", "c", "d", "e"], np.array([0, 1]), np.arange(5))
    rows = [("a", "c", 1), ("a", "d", 1), ("b", "c", 1), ("b", "d", 1), ("a", "e", 2), ("b", "e", 2)]
    pool = pl.DataFrame(rows, schema=["query", "candidate", "round"], orient="row").with_columns(
        generator=pl.lit("drawn"),
        probability=pl.when(pl.col("round") == 1).then(0.5).otherwise(0.25),
        rank=pl.lit(None, pl.Int32),
    )
    labels = pool.head(5).select("query", "candidate", label=pl.Series([1, 0, 0, 1, 1]))
    found = labelled_draw(pool, labels, gallery.queries, gallery.gallery, catalog_units(gallery, one_per_item=True))
    first, second = 0.8 / 0.5 + 0.2, 0.2 / (0.25 / 2)  # four labels and one
    np.testing.assert_allclose(found.weight, [first, first, second, first, first])


def test_a_heavy_label_cannot_unmake_queries_whose_similar_items_are_known() -> None:
    """A share of queries is between those where something was found and all, whatever the correction says."""
    corrections = Corrections(np.array([0]), np.array([-90.0]), np.ones(1), np.ones(1), np.ones(1), 3)
    certain = Expectation(np.array([0.4, 1.0, 1.0]), np.array([0.5]))
    measured = ExpectedMeasure(Expectation(np.array([0.2, 0.5, 1.0]), np.zeros(1)), certain, counts_queries=True)
    assert estimate_measure(corrections, measured).value == pytest.approx(1.7 / 2.0)
