"""Scores with the operations of the published GeneCIS code, in its order and precision, for `--official`.

    q = normalize(x), normalize(e), or normalize((1 - w) x + w e)     x, e: features with the lengths they have
    score = sum(q * normalize(y))                                     float32, multiplied first, then summed

The published code runs this in torch, so this does too: scores agree to the last bit on the same machine.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.conditional.combiner import CONJUNCTIVE, TrainedCombiner
from likewise.conditional.composers import ComposerMethod, ImageAndText, ImageOnly, TextOnly, UnscaledSum
from likewise.conditional.protocol import Composer, ConditionalMethod, Features, Floats, QueryBatch
from likewise.optional_dependencies import import_optional

OFFICIAL = "--official"


@dataclass(frozen=True)
class PublishedMethod:
    """A composer, compared with every candidate as the published code does."""

    composer: Composer

    @property
    def name(self) -> str:
        return self.composer.name

    def scores(self, batch: QueryBatch) -> Floats:
        torch = import_optional("torch", OFFICIAL)
        normalize = torch.nn.functional.normalize
        query = _composed(self.composer, batch.reference, batch.condition)
        gallery = normalize(torch.from_numpy(np.ascontiguousarray(batch.gallery)), dim=-1)
        if gallery.ndim == 3:
            return np.asarray((query[:, None, :] * gallery).sum(dim=-1).numpy(), np.float64)
        query = normalize(query, p=2, dim=-1)  # whole splits: the published code scales the query once more
        return np.stack([(one[None, :] * gallery).sum(dim=-1).numpy() for one in query]).astype(np.float64)


def with_published_arithmetic(method: ConditionalMethod) -> ConditionalMethod:
    """The method with the published arithmetic, where it composes one query vector."""
    if not isinstance(method, ComposerMethod):
        return method
    composer = method.composer
    two = isinstance(composer, TrainedCombiner) and composer.shape.kind == CONJUNCTIVE
    return method if two else PublishedMethod(composer)


def _composed(composer: Composer, reference: Features, condition: Features) -> Any:
    torch = import_optional("torch", OFFICIAL)
    image, text = (torch.from_numpy(np.ascontiguousarray(side)) for side in (reference, condition))
    if isinstance(composer, ImageOnly):
        mixed = image
    elif isinstance(composer, TextOnly):
        mixed = text
    elif isinstance(composer, ImageAndText | UnscaledSum):
        weight = composer.text_weight if isinstance(composer, ImageAndText) else 0.5
        mixed = (1 - weight) * image + weight * text
    else:
        return torch.from_numpy(composer.compose(reference, condition))
    return torch.nn.functional.normalize(mixed, dim=-1)
