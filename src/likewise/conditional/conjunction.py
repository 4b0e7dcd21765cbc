"""The conjunctive Combiner: an answer must look like the reference and meet the condition, so the worse of both counts.

    q_1 = (x' + A x') / |...|,  q_2 = (e' + B e') / |...|        x' = x/|x|, e' = e/|e|; A = B = 0 at first
    s_i = q_i . y - mean over the candidates y of a question
    score = -log(exp(-a s_1) + exp(-b s_2))                      a soft minimum; a = b = 10 at first

A sum of both sides, which every single query vector gives, lets a candidate make up for one side with the other: the
picture that looks most like the reference and lacks what was asked, for instance.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.conditional.protocol import Floats
from likewise.optional_dependencies import import_optional

if TYPE_CHECKING:
    from torch import nn

SHARPNESS = 10.0
"""At first, of both sides; the larger, the more the worse one counts alone."""


def soft_minimum(image: Floats, text: Floats) -> Floats:
    """Of (n, g) cosines of each side, before anything is learned."""
    sides = [SHARPNESS * (side - side.mean(axis=1, keepdims=True)) for side in (image, text)]
    return np.asarray(-np.logaddexp(-sides[0], -sides[1]), np.float64)


def conjunctive_module(dim: int) -> "nn.Module":
    """`forward` gives the two query vectors, (2, n, dim); `join` their cosines with candidates as one score."""
    torch = import_optional("torch", "the Combiner")
    normalize = torch.nn.functional.normalize

    class ConjunctiveCombiner(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.log_sharpness = torch.nn.Parameter(torch.full((2,), SHARPNESS).log())
            self.text = torch.nn.Linear(dim, dim, bias=False)
            self.image = torch.nn.Linear(dim, dim, bias=False)
            torch.nn.init.zeros_(self.text.weight)
            torch.nn.init.zeros_(self.image.weight)

        def forward(self, image: Any, text: Any) -> Any:
            image, text = normalize(image), normalize(text)
            return torch.stack([normalize(image + self.image(image)), normalize(text + self.text(text))])

        def join(self, cosines: Any, allowed: Any) -> Any:
            """(2, n, g) cosines to (n, g) scores; what is not `allowed` is no candidate of its query."""
            there = allowed.to(cosines.dtype)
            centred = cosines - (cosines * there).sum(-1, keepdim=True) / there.sum(-1, keepdim=True)
            sharp = self.log_sharpness.exp().to(cosines.dtype)[:, None, None] * centred
            return -torch.logaddexp(-sharp[0], -sharp[1])

        def as_one(self, queries: Any) -> Any:
            """The query vector whose cosine rises as the score does where both sides are equally good."""
            return normalize((self.log_sharpness.exp()[:, None, None] * queries).sum(0))

    module: nn.Module = ConjunctiveCombiner()
    return module
