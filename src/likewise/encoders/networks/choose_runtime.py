"""Which runtime is the fastest for a network on this machine; the first run of a network may build or export it."""

from likewise.encoders.networks.device import device
from likewise.encoders.networks.model import NetworkModel, RunNetwork
from likewise.encoders.networks.onnx_export import cached_export
from likewise.encoders.networks.runtimes import onnx_runtime, torch_runtime
from likewise.errors import LikewiseError


def choose_runtime(model: NetworkModel, wanted: str | None = None) -> RunNetwork:
    """The fastest way to run this model here; `wanted` may insist on torch or onnx."""
    if wanted not in (None, "torch", "onnx"):
        raise LikewiseError(f"runtime={wanted} is unknown: use torch or onnx.")
    if model.load is None or (model.open_onnx and wanted == "onnx"):
        assert model.open_onnx is not None
        return model.open_onnx()
    if wanted == "torch":
        return torch_runtime(model.load())
    if device() != "cpu" and wanted is None:
        try:
            return torch_runtime(model.load())
        except LikewiseError:  # a library of this network is missing
            if model.open_onnx is None:
                raise
    return model.open_onnx() if model.open_onnx else _exported(model, insist=wanted == "onnx")


def _exported(model: NetworkModel, *, insist: bool) -> RunNetwork:
    """A torch network in onnxruntime, where that is faster and equal."""
    assert model.load is not None
    exported = cached_export(model, insist=insist)
    if exported is None:
        return torch_runtime(model.load())
    try:
        return onnx_runtime(exported)
    except LikewiseError:  # a damaged file in the cache
        exported.unlink(missing_ok=True)
        return torch_runtime(model.load())
