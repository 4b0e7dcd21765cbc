"""Networks at their starting weights: what an architecture that has learned nothing scores (Reality Check, Table 2)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.encoders.networks.device import one_torch_thread
from likewise.encoders.networks.network import Network
from likewise.encoders.protocol import Vectors
from likewise.encoders.registry import get_encoder
from likewise.encoders.running.picture_reader import PictureReader, read_prepared
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional, suppress_output
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from torch import nn

BATCH_SIZE = 128


def untrained_name(encoder: str) -> str:
    """As tables call it."""
    return f"{encoder}, untrained"


def untrained_vectors(workspace: WorkspaceFolder, encoder: str, images: Sequence[str], seed: int = 0) -> Vectors:
    """Vectors of a network whose weights are drawn anew; nothing is stored."""
    network = untrained_network(encoder, seed)
    reader = PictureReader(images, partial(read_prepared, workspace.root, network.recipe))
    starts = range(0, len(images), BATCH_SIZE)
    batches = [np.arange(start, min(start + BATCH_SIZE, len(images))) for start in starts]
    try:
        with one_torch_thread():
            return np.concatenate([network.encode(reader.take(rows)) for rows in reader.ahead(batches)])
    finally:
        reader.close()


def untrained_network(encoder: str, seed: int = 0) -> Network:
    """The encoder's architecture and its way to prepare pictures, without anything it has learned."""
    trained = get_encoder(encoder)
    if not isinstance(trained, Network) or trained.model.load is None:
        raise LikewiseError(
            f"{encoder} is no torch network and has no starting weights: name one such as small, efficientnet-lite0 "
            "or hf:ID with --untrained."
        )
    load = trained.model.load

    def load_untrained() -> "nn.Module":
        with suppress_output():
            module = load()
        draw_weights(module, encoder, seed)
        return module

    model = replace(trained.model, load=load_untrained, open_onnx=None)
    return Network(encoder, model, flip=trained.flip, unscaled=trained.unscaled, runtime="torch")


def draw_weights(module: "nn.Module", encoder: str, seed: int) -> None:
    """Every part starts again as its class starts it; weights that no rule draws are an error."""
    torch = import_optional("torch", "an untrained network")
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        for values in module.parameters():
            values.fill_(torch.nan)
        part: Any
        for part in module.modules():
            if hasattr(part, "reset_parameters"):
                part.reset_parameters()
        for part in module.modules():
            if hasattr(part, "_init_weights"):  # a model of transformers, which has rules of its own
                _initialise(part)
    unknown = [name for name, values in module.named_parameters() if bool(values.isnan().any())]
    if unknown:
        raise LikewiseError(f"{encoder} does not say how its weights start ({unknown[0]}): name another network.")


def _initialise(model: Any) -> None:
    """What transformers does where no weights are loaded; it marks what was loaded, and skips that."""
    for part in (*model.modules(), *model.parameters()):
        if hasattr(part, "_is_hf_initialized"):
            part._is_hf_initialized = False
    model.init_weights()
