"""Closer chances of listed pairs: they change the order of models, never a value."""

from dataclasses import replace

import numpy as np
import pytest

from likewise.discovery.designs import adaptive
from likewise.discovery.designs.pair_features import VectorView
from likewise.evaluation.estimates.estimate import CatalogEstimates, estimate_catalog
from likewise.evaluation.estimates.listed_pairs import ListedPairs
from likewise.evaluation.estimates.ordering import order_values
from likewise.evaluation.estimates.prediction import fit_predictions, pair_features
from likewise.neighbours import NO_INDEX, as_unit

from .test_estimates import ENCODERS, KS, N_ITEMS, N_QUERIES, Catalog

N_LABELS = 24 * N_QUERIES


def listed_pairs(catalog: Catalog) -> ListedPairs:
    sides = ((as_unit(queries, name), as_unit(gallery, name)) for name, (queries, gallery) in catalog.vectors.items())
    return ListedPairs(catalog.units, [VectorView.of(queries, gallery, catalog.units) for queries, gallery in sides])


def estimates(catalog: Catalog, listed: ListedPairs | None) -> CatalogEstimates:
    return estimate_catalog(catalog.blocks, ENCODERS, catalog.draw(N_LABELS, 1), KS, 1, listed=listed)


@pytest.mark.parametrize(("labels_per_query", "most"), [(24, 1.1), (72, 0.95)])
def test_labels_of_other_pairs_make_chances_closer_where_they_are_enough(labels_per_query: int, most: float) -> None:
    before = after = 0.0
    for seed in range(3):
        catalog = Catalog(seed)
        listed, drawn = listed_pairs(catalog), catalog.draw(labels_per_query * N_QUERIES, seed)
        features, rows = pair_features(catalog.ranked), np.arange(N_QUERIES)
        table = features[:, drawn.query, drawn.unit].T.astype(float)
        fitted = fit_predictions(table, drawn.query, drawn.label, drawn.weight, N_QUERIES, seed)
        chance = np.mean(fitted.model.chances(features, rows), axis=0)
        closer = listed.fit(listed.lists(catalog.ranked), drawn, fitted.unseen, seed).chances(chance, rows)
        unknown = catalog.ranked.admissible.copy()
        unknown[drawn.query, drawn.unit] = False
        squares = [((one - catalog.label)[unknown] ** 2).sum() for one in (chance, closer)]
        before, after = before + squares[0], after + squares[1]
    assert after < most * before


def test_pairs_in_nobodys_list_keep_their_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptive, "MOST_DEPTH", 40)
    catalog = Catalog(0)
    listed, drawn = listed_pairs(catalog), catalog.draw(N_LABELS, 0)
    lists = listed.lists(catalog.ranked)
    assert lists.shape == (len(ENCODERS), N_QUERIES, 40)
    rows = np.array([3, 4])
    closer = listed.fit(lists, drawn, np.full(N_LABELS, 0.1), 0).chances(np.full((2, N_ITEMS), 0.5), rows)
    for found, row in zip(closer, rows, strict=True):
        assert set(np.flatnonzero(found != 0.5)) == set(lists[:, row].ravel())
    short = replace(catalog.ranked, admissible=catalog.ranked.admissible & (np.arange(N_ITEMS) < 30))
    assert (listed.lists(short)[:, :, 30:] == NO_INDEX).all()


def test_the_order_follows_them_and_no_value_does() -> None:
    catalog = Catalog(2)
    alone, both = estimates(catalog, None), estimates(catalog, listed_pairs(catalog))
    assert not alone.foretold and [one.keys() for one in both.foretold] == [one.keys() for one in alone.by_encoder]
    for name in alone.by_encoder[0]:
        values = [[one.value for one in found.of_measure(name)] for found in (alone, both)]
        assert values[0] == values[1]
        foretold = [one[name] for one in both.foretold]
        assert both.order_values(name) == pytest.approx(order_values(both.of_measure(name), foretold))
        assert alone.order_values(name) == pytest.approx(order_values(alone.of_measure(name)))
        for place in range(len(ENCODERS)):
            assert foretold[place] == pytest.approx(catalog.truth(place)[name], abs=0.12), name
