"""What every encoder promises: a picture goes in, a vector of unit length comes out.

`prepare` is the part that may run in worker processes (decode, resize, crop); `encode` is the part that runs
where the mathematics lives (the same worker for the built-in descriptors, the process that holds the network
for deep ones).  The vector of a picture never depends on the other pictures of its batch, to the last bit, so
results do not change with the batch size, the number of workers or an interruption.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from likewise.encoders.spec import Spec

Vectors = NDArray[np.float32]
Prepared = NDArray[Any]


class Encoder(Protocol):
    """An image encoder; objects are cheap to make and hold no per-picture state."""

    @property
    def name(self) -> str:
        """The spec string that makes this encoder, such as `colour`; also the folder of its vectors."""

    @property
    def version(self) -> str:
        """Changes whenever the numbers would, such as `colour@1`."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    @property
    def pixels(self) -> int:
        """The shorter side a picture needs to have when decoded; JPEGs are decoded no larger than useful."""

    @property
    def preparation(self) -> str:
        """Names what `prepare` does: encoders of equal `preparation` and `pixels` share prepared pictures."""

    def prepare(self, image: Image.Image) -> Prepared:
        """Everything that can be done to one RGB picture without the model; the result must pickle."""

    def encode(self, batch: Sequence[Prepared]) -> Vectors:
        """Prepared pictures to an array (len(batch), dim) whose rows have length one."""


@runtime_checkable
class CombinedEncoder(Protocol):
    """An encoder whose vectors follow from those of others, so that work done for them is not done again."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The encoders it is made of."""

    def combine(self, vectors: Sequence[Vectors]) -> Vectors:
        """Rows of every part, in the order of `parts`, to rows of this encoder; the same as `encode` gives."""


OpenEncoder = Callable[[str], Encoder]
"""From a spec to its encoder, as `get_encoder`; given to families whose encoders are made of others."""

OpenFamily = Callable[[Spec, OpenEncoder], Encoder]
"""What a family gives the registry."""
