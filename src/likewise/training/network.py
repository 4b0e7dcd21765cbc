"""What is trained: a trunk (or nothing, over stored vectors) and a linear head whose output has length one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from likewise.encoders.networks.device import move_to_device, to_device
from likewise.encoders.networks.network import Network
from likewise.encoders.networks.recipe import Recipe
from likewise.encoders.registry import get_encoder
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional, suppress_output
from likewise.training.image_dataset import training_recipe
from likewise.training.plan import BatchNormMode

if TYPE_CHECKING:
    from torch import nn

SMALL = "small"  # the encoder without training, for --trunk small


def trunk_recipe(encoder: str) -> Recipe:
    """How pictures are prepared for a trunk that is trained."""
    return training_recipe(get_torch_encoder(encoder).model.recipe)


def get_torch_encoder(spec: str) -> Network:
    """An encoder of the registry that is a torch network, or a sentence that says it is none."""
    encoder = get_encoder(spec)
    if not isinstance(encoder, Network) or encoder.model.load is None:
        raise LikewiseError(
            f"{spec} is no torch network and cannot be trained whole: use --trunk frozen, or an encoder such as "
            "efficientnet-lite0 or hf:ID."
        )
    return encoder


def load_trunk(encoder: str) -> "tuple[nn.Module, int]":
    """A fresh copy of the trunk with its starting weights, and its dimension."""
    network = get_torch_encoder(encoder)
    assert network.model.load is not None
    with suppress_output():
        return network.model.load(), network.dim


def calibrate_batch_norm(trunk: "nn.Module", inputs: Iterator[Any]) -> None:
    """Batch norms of an untrained trunk measure their statistics once, on training images; then they stay."""
    torch = import_optional("torch", "training")
    trunk = move_to_device(trunk)
    norms: list[Any] = [part for part in trunk.modules() if "BatchNorm" in type(part).__name__]
    for norm in norms:
        norm.train()
        norm.reset_running_stats()
        norm.momentum = None  # the mean over all of them
    with torch.no_grad():
        for batch in inputs:
            trunk(to_device(batch))
    for norm in norms:
        norm.eval()


def build_embedder(trunk: "nn.Module | None", trunk_dim: int, dim: int) -> "nn.Module":
    """Trunk and head together: rows of length one.

    Stored vectors have length one; they are scaled so that a component has size one, as features of a trunk have, or
    the head's bias would drown them.
    """
    torch = import_optional("torch", "training")

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


def set_training_mode(module: "nn.Module", batch_norm: BatchNormMode = "statistics") -> None:
    """Ready to learn; statistics of batch norms stay fixed unless `trained`, with `frozen` their weights as well."""
    module.train()
    if batch_norm == "trained":
        return
    for part in module.modules():
        if "BatchNorm" in type(part).__name__:
            part.eval()
            if batch_norm == "frozen":
                part.requires_grad_(False)
