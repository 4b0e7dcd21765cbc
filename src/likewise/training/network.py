"""What is trained: a trunk (or nothing, over stored vectors) and a linear head whose output has length one."""

from typing import TYPE_CHECKING, Any

from likewise.encoders.needs import needed, quiet
from likewise.encoders.network import Network
from likewise.encoders.recipe import Recipe
from likewise.encoders.registry import get_encoder
from likewise.errors import LikewiseError
from likewise.training.pictures import trained_recipe
from likewise.training.plan import Trunk

if TYPE_CHECKING:
    from torch import nn

SMALL_SIDE = 56
SMALL_DIM = 192
SMALL_RECIPE = Recipe(SMALL_SIDE, (SMALL_SIDE, SMALL_SIDE), mean=(0.5,) * 3, std=(0.25,) * 3)


def trunk_recipe(trunk: Trunk, encoder: str | None) -> Recipe:
    """How pictures are prepared for a trunk that is trained."""
    return trained_recipe(SMALL_RECIPE if trunk == "small" else torch_encoder(encoder or "").model.recipe)


def torch_encoder(spec: str) -> Network:
    """An encoder of the registry that is a torch network, or a sentence that says it is none."""
    encoder = get_encoder(spec)
    if not isinstance(encoder, Network) or encoder.model.load is None:
        raise LikewiseError(
            f"{spec} is no torch network and cannot be trained whole: use --trunk frozen, or an encoder such as "
            "efficientnet-lite0 or hf:ID."
        )
    return encoder


def whole_trunk(trunk: Trunk, encoder: str | None) -> "tuple[nn.Module, int]":
    """A fresh copy of the trunk with its starting weights, and its dimension."""
    if trunk == "small":
        return small_trunk(), SMALL_DIM
    network = torch_encoder(encoder or "")
    assert network.model.load is not None
    with quiet():
        return network.model.load(), network.dim


def small_trunk() -> "nn.Module":
    """Four convolutions that train from nothing on a CPU; groups instead of batches are normalised."""
    torch = needed("torch", "training")
    layers: list[Any] = []
    before = 3
    for width in (32, 64, 128, SMALL_DIM):
        layers += [
            torch.nn.Conv2d(before, width, 3, stride=2, padding=1),
            torch.nn.GroupNorm(8, width),
            torch.nn.ReLU(),
        ]
        before = width
    trunk: nn.Module = torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    return trunk


def embedder(trunk: "nn.Module | None", trunk_dim: int, dim: int) -> "nn.Module":
    """Trunk and head together: rows of length one.

    Stored vectors have length one; they are scaled so that a component has size one, as features of a trunk have, or
    the head's bias would drown them.
    """
    torch = needed("torch", "training")

    class Embedder(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.trunk = trunk
            self.scale = 1.0 if trunk is not None else float(trunk_dim) ** 0.5
            self.head = torch.nn.Linear(trunk_dim, dim)

        def forward(self, inputs: Any) -> Any:
            features = inputs if self.trunk is None else self.trunk(inputs)
            return torch.nn.functional.normalize(self.head(features * self.scale))

    made: nn.Module = Embedder()
    return made


def training_mode(module: "nn.Module") -> None:
    """Ready to learn, but with the running statistics of batch norms fixed."""
    module.train()
    for part in module.modules():
        if "BatchNorm" in type(part).__name__:
            part.eval()
