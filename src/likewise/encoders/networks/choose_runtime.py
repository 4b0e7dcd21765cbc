"""Which runtime is the fastest for a network on this machine; the first run of a network may export it."""

from likewise.encoders.networks.model import NetworkModel, RunNetwork
from likewise.encoders.networks.onnx_export import cached_export
from likewise.encoders.networks.runtimes import device, onnx_runtime, torch_runtime
from likewise.errors import LikewiseError


def choose_runtime(model: NetworkModel, wanted: str | None = None) -> RunNetwork:
    """The fastest way to run this model here; `wanted` may insist on torch or onnx."""
    if wanted not in (None, "torch", "onnx"):
        raise LikewiseError(f"runtime={wanted} is unknown: use torch or onnx.")
    if model.onnx_file:
        return onnx_runtime(model.onnx_file, *model.onnx_names)
    assert model.load is not None
    if wanted == "torch" or device() != "cpu":
        return torch_runtime(model.load())
    exported = cached_export(model, insist=wanted == "onnx")
    if exported is None:
        return torch_runtime(model.load())
    try:
        return onnx_runtime(exported)
    except LikewiseError:  # a damaged file in the cache
        exported.unlink(missing_ok=True)
        return torch_runtime(model.load())
