"""Draws in a catalog that lives: what a label stands for after an update, by simulation and by hand."""

import numpy as np
import polars as pl
import pytest

from likewise.discovery.designs.adaptive import draw_round
from likewise.discovery.designs.frame import PairFrame, UnlistedInFrame
from likewise.evaluation.estimates.draw import LabelledDraw, as_one_round


def test_a_round_after_an_update_is_the_only_one_of_its_pairs() -> None:
    nothing = np.zeros(4, dtype=np.int64)
    chance = np.array([0.5, 0.25, 0.2, 1.0])
    drawn = LabelledDraw.of_rounds(nothing, nothing, nothing, chance, chance, np.arange(4) % 3, (30.0, 10.0, 99.0), [2])
    assert drawn.weight == pytest.approx([0.75 / 0.5 + 0.25, 0.25 / 0.25, 1 / 0.2, 0.75 + 0.25])
    assert drawn.spread == pytest.approx([0.75**2 * 0.5 / 0.25, 0.25**2 * 0.75 / 0.0625, 0.8 / 0.04, 0.0])


def test_sums_are_right_on_average_whatever_left_and_came() -> None:
    """Two rounds among 40 pairs, the second by what the first found; 10 pairs leave, 20 come and have a round."""
    rng = np.random.default_rng(0)
    label = (rng.random(60) < 0.3).astype(np.float64)
    today = np.arange(60) >= 10
    sums = []
    for _ in range(4000):
        first = rng.random(40) < 0.3
        likely = np.where(label[:40][first].sum() > 3, 0.6, 0.2) * np.where(np.arange(40) % 2, 1.0, 0.5)
        second = ~first & (rng.random(40) < likely)
        third = rng.random(20) < 0.4
        pair = np.concatenate([np.flatnonzero(first), np.flatnonzero(second), 40 + np.flatnonzero(third)])
        chance = np.concatenate([np.full(first.sum(), 0.3), likely[second], np.full(third.sum(), 0.4)])
        number = np.repeat([0, 1, 2], [first.sum(), second.sum(), third.sum()])
        here = today[pair]
        zeros = np.zeros(int(here.sum()), dtype=np.int64)
        drawn = LabelledDraw.of_rounds(
            zeros, zeros, pair[here], chance[here], label[pair[here]], number[here], (12.0, 10.0, 8.0), [2]
        )
        sums.append(float(drawn.weight @ drawn.label))
    error = np.std(sums) / np.sqrt(len(sums))
    assert np.mean(sums) == pytest.approx(label[today].sum(), abs=4 * error)


def test_a_pool_that_grew_is_one_draw_in_files_that_know_no_versions() -> None:
    pool = pl.DataFrame({"probability": [0.5, 0.25, 1.0], "round": pl.Series([1, 2, 2], dtype=pl.Int32)})
    assert as_one_round(pool, ()).equals(pool)
    one = as_one_round(pool, (2,))
    assert one["round"].to_list() == [1, 1, 1]
    assert one["probability"].to_list() == pytest.approx([0.5, 0.25, 1.0])


@pytest.mark.parametrize("version", [0, 63, 64, 130])
def test_a_pair_is_new_where_its_images_share_no_version_however_many_there_are(version: int) -> None:
    masks = np.zeros((3, 3), dtype=np.uint64)
    masks[0, version // 64] = masks[1, version // 64] = 1 << version % 64
    masks[2, (version + 1) // 64] |= np.uint64(1 << (version + 1) % 64)
    frame = PairFrame(masks[:1], masks, shared=False)
    assert frame.holds(np.array([0, 0, 0]), np.array([0, 1, 2])).tolist() == [False, False, True]
    assert frame.units(0).tolist() == [False, False, True]
    assert frame.first_version().units(0).tolist() == [version == 0, version == 0, False]
    listed = np.empty(0, dtype=np.int64)
    unlisted = UnlistedInFrame(listed, listed, np.array([0]), np.arange(3), frame)
    assert unlisted.sizes().tolist() == [1]
    assert unlisted.pick(0, 1, np.random.default_rng(0)).tolist() == [2]


def test_an_adaptive_round_stays_inside_its_frame() -> None:
    from likewise.discovery.designs.adaptive import RoundsSoFar
    from likewise.discovery.designs.pair_features import LabelledPairs, VectorView
    from likewise.discovery.designs.units import CatalogUnits

    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(30, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    units = CatalogUnits(np.arange(30), np.arange(30), np.arange(5))
    order = np.argsort(-(vectors[:5] @ vectors.T), axis=1)
    lists = np.stack([row[row != query][:8] for query, row in enumerate(order)]).astype(np.int64)
    query, unit = np.repeat(np.arange(5), 2), np.tile([10, 11], 5)
    labelled = LabelledPairs(query, unit, np.tile([0.0, 1.0], 5))
    masks = np.where(np.arange(30) < 20, 1, 2).astype(np.uint64)[:, None]
    frame = PairFrame(masks[:5], masks, shared=False)
    view = VectorView.of(vectors[:5], vectors, units)
    drawn = draw_round([view], units, [lists], RoundsSoFar(query, unit, labelled), 12, "comparing", rng, frame)
    assert len(drawn) == 12
    assert (drawn.candidate >= 20).all()
