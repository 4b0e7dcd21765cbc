"""A small convolutional network, untrained: a trunk that two CPU cores can train whole in minutes.

Four stages of 3 x 3 convolutions, each halving the picture, with batch normalisation; the vector is the mean over
what is left, 192 numbers.  Its starting weights are drawn with a fixed seed, so everybody starts from the same ones.
"""

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from likewise.encoders.networks.from_spec import build_network, with_frame_options
from likewise.encoders.networks.model import NetworkModel
from likewise.encoders.networks.recipe import IMAGENET_MEAN, IMAGENET_STD, Recipe
from likewise.encoders.protocol import Encoder, OpenEncoder
from likewise.encoders.spec import Spec
from likewise.optional_dependencies import import_optional

if TYPE_CHECKING:
    from torch import nn

NAME = "small"
WIDTHS = (32, 64, 128, 192)
SIDE = 64
SEED = 0


def open_small(part: Spec, open_encoder: OpenEncoder) -> Encoder:
    return build_network(part, with_frame_options(part, small_model()))


def small_model() -> NetworkModel:
    """The network at its starting weights."""
    what = hashlib.blake2b(f"{WIDTHS} {SEED} 1".encode(), digest_size=12).hexdigest()
    recipe = Recipe(resize=(SIDE, SIDE), cut=None, mean=IMAGENET_MEAN, std=IMAGENET_STD)
    return NetworkModel(NAME, recipe, lambda: WIDTHS[-1], lambda: what, _loader())


def _loader() -> "Callable[[], nn.Module]":
    def load() -> "nn.Module":
        torch = import_optional("torch", NAME)
        layers: list[nn.Module] = []
        before = 3
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            for width in WIDTHS:
                layers.append(torch.nn.Conv2d(before, width, 3, stride=2, padding=1, bias=False))
                layers += [torch.nn.BatchNorm2d(width), torch.nn.ReLU()]
                before = width
            layers += [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()]
        module: nn.Module = torch.nn.Sequential(*layers).eval()
        return module

    return load
