"""What a family of encoders knows about one network, before anything heavy is loaded."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from likewise.encoders.networks.recipe import Recipe, Tensor
from likewise.encoders.protocol import Vectors

if TYPE_CHECKING:
    from torch import nn

RunNetwork = Callable[[Tensor], Vectors]


@dataclass(frozen=True)
class NetworkModel:
    """What a family knows about one network; nothing heavy is loaded before one of the functions is called."""

    label: str
    recipe: Recipe
    find_dim: Callable[[], int]
    find_digest: Callable[[], str]
    """Of the weights and of whatever else decides the numbers."""
    load: "Callable[[], nn.Module] | None" = None
    """A torch module from (n, 3, height, width) to (n, dim)."""
    open_onnx: Callable[[], RunNetwork] | None = None
    """The same network in onnxruntime, without torch; a model has this, `load`, or both."""
