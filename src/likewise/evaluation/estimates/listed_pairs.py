"""Closer chances of the pairs that some encoder lists, for the order of models.

The regression of `prediction.py` sees ranks and scores alone, so that each label can be predicted by a model that has
not seen it, and correct it. A label also tells of other pairs: of a candidate that looks like a labelled one, or that
was labelled beside a related query. The adaptive design's model knows this (`discovery.designs.pair_classifier`). Its
chances are told the labels and cannot be corrected by them, so no value is made of them; but they are closer to the
truth, and models that they order stand right more often. Pairs in nobody's list keep the regression's chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from likewise.discovery.designs.adaptive import list_depth
from likewise.discovery.designs.pair_classifier import PairClassifier
from likewise.discovery.designs.pair_features import EncoderView, LabelledPairs, PairFeatures
from likewise.discovery.designs.units import CatalogUnits
from likewise.discovery.positive_model import fit_logistic
from likewise.evaluation.estimates.blocks import RankedBlock
from likewise.evaluation.estimates.chances import Bools, Floats, Ints
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.neighbours import NO_INDEX

FOLDS = 3
MIX_RIDGE = 1.0
LEAST = 1e-6  # chance


@dataclass(frozen=True)
class ListedPairs:
    """How every encoder sees the queries with labels and the units of their gallery."""

    units: CatalogUnits
    views: Sequence[EncoderView]

    @property
    def depth(self) -> int:
        """Of the lists."""
        return list_depth(self.units.n_queries, len(self.views), self.units.n_units)

    def lists(self, block: RankedBlock) -> Ints:
        """The best units of a block of queries, (encoders, queries, depth); -1 where a list ends."""
        best = block.order[:, :, : self.depth].astype(np.int64)
        ends = np.arange(best.shape[2]) >= block.n_admissible[:, None]
        return np.where(ends[None], NO_INDEX, best)

    def fit(self, lists: Ints, drawn: LabelledDraw, unseen: Floats, seed: int) -> "ListedChances":
        """From labels, with the chance that the regression gave each of them unseen."""
        fold = np.random.default_rng(seed).permutation(len(drawn.label)) % FOLDS
        own = np.empty(len(drawn.label))
        for number in range(FOLDS):
            out = fold == number
            own[out] = self._model(lists, drawn, ~out).chance(drawn.query[out], drawn.unit[out])
        weights, _ = fit_logistic(_columns(unseen, own), drawn.label, MIX_RIDGE, np.array([0.0, 1.0, 0.0]))
        return ListedChances(self._model(lists, drawn, np.ones(len(fold), dtype=np.bool_)), lists, weights)

    def _model(self, lists: Ints, drawn: LabelledDraw, kept: Bools) -> PairClassifier:
        labelled = LabelledPairs(drawn.query[kept], drawn.unit[kept], drawn.label[kept])
        return PairClassifier.fit(PairFeatures.of(self.views, self.units, list(lists), labelled))


@dataclass(frozen=True)
class ListedChances:
    """Predicts listed pairs: the regression's chance and the closer model's, mixed as held-out labels ask."""

    model: PairClassifier
    lists: Ints
    weights: Floats

    def chances(self, chance: Floats, rows: Ints) -> Floats:
        """The chances of all pairs of some queries, with those of listed pairs predicted anew."""
        found = chance.copy()
        for place, row in enumerate(rows):
            listed = np.unique(self.lists[:, row])
            listed = listed[listed != NO_INDEX]
            own = self.model.chance(np.full(len(listed), row), listed)
            found[place, listed] = expit(_columns(chance[place, listed], own) @ self.weights)
        return found


def _columns(*chances: Floats) -> Floats:
    """A constant, and the logits."""
    return np.column_stack([np.ones(len(chances[0])), *(logit(np.clip(one, LEAST, 1.0 - LEAST)) for one in chances)])
