"""Generators without the pairs they proposed, by brute force."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from likewise.evaluation.compute import with_main_measure
from likewise.evaluation.discovery import DEFAULT_MEASURES
from likewise.evaluation.own_pairs import own_pairs_table
from likewise.evaluation.ranking import MAIN

from .judging import gallery_of, model, pool_of, random_pairs


def test_the_values_are_those_of_brute_force(rng: np.random.Generator) -> None:
    pairs = random_pairs(rng, n_queries=20, n_gallery=30, per_query=20)
    models = [model(name, pairs, rng, skill) for name, skill in (("a", 0.2), ("b", 0.6), ("new", 1.0))]
    pool = pool_of(pairs, models[:2])
    gallery = gallery_of(pairs)
    found = own_pairs_table(models, pairs, gallery, pool, with_main_measure(DEFAULT_MEASURES))
    assert set(found["encoder"]) == {"a", "b"}  # a new model has no pairs of its own
    assert set(found["measure"]) == {"ROC_AUC", 'ROC_AUC(average="micro")', "AP", 'AP(average="micro")', str(MAIN)}
    for one in models[:2]:
        rows = {row["measure"]: row for row in found.filter(encoder=one.encoder).to_dicts()}
        own = set(pool.filter(generator=one.encoder).select("query", "candidate").iter_rows())
        names = [(pairs.queries[q], pairs.gallery[c]) for q, c in zip(pairs.query, pairs.candidate, strict=True)]
        kept = np.array([name not in own for name in names])
        assert rows["ROC_AUC"]["n_pairs"] == kept.sum() < len(pairs)
        micro = roc_auc_score(pairs.label[kept], one.scores[kept])
        assert rows['ROC_AUC(average="micro")']["without_own"] == pytest.approx(micro)
        assert rows['ROC_AUC(average="micro")']["value"] == pytest.approx(roc_auc_score(pairs.label, one.scores))
        assert one.gallery_scores is not None
        macro = []
        for query in range(20):
            positive = one.scores[kept & (pairs.query == query) & (pairs.label == 1)]
            negative = one.gallery_scores[(gallery.query == query) & (gallery.label == 0)]
            if len(positive):
                truth = [1] * len(positive) + [0] * len(negative)
                macro.append(roc_auc_score(truth, [*positive, *negative]))
        assert rows[str(MAIN)]["without_own"] == pytest.approx(np.mean(macro))
        assert rows[str(MAIN)]["n_queries"] == len(macro)
        assert rows[str(MAIN)]["low"] < rows[str(MAIN)]["without_own"] < rows[str(MAIN)]["high"]
