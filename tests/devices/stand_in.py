"""A device that is not the CPU, for machines without another: it computes on the CPU and refuses tensors from there.

`torch` lets a backend be written in Python. A tensor of this one holds an ordinary tensor; an operation on several
unpacks them, computes, and packs the result. As CUDA does, it refuses to mix its tensors with those of the CPU, except
where data are copied, for numbers (tensors without dimensions) and for indices. `MEMORY.limit` makes it run out of
memory where a convolution gives more numbers than that.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "standin"
CROSSING = ("aten::copy_", "aten::_copy_from", "aten::_to_copy")
INDEXING = ("aten::index", "aten::index_put_", "aten::_index_put_impl_")


@dataclass
class Memory:
    """How large a tensor may be, and what was done."""

    limit: int = 1 << 62
    n_operations: int = 0


MEMORY = Memory()


class OtherDeviceError(RuntimeError):
    """Tensors of two devices met."""


class StandInTensor(torch.Tensor):
    """A tensor on the stand-in device, around the ordinary one that holds its numbers."""

    raw: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, raw: torch.Tensor) -> "StandInTensor":
        made: StandInTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            raw.size(),
            strides=raw.stride(),
            storage_offset=raw.storage_offset(),
            dtype=raw.dtype,
            device=torch.device(NAME, 0),
            requires_grad=False,
        )
        made.raw = raw
        return made

    @classmethod
    def __torch_dispatch__(cls, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        simpler = op.decompose(*args, **(kwargs or {}))
        return compute(op, *args, **(kwargs or {})) if simpler is NotImplemented else simpler

    def tolist(self) -> Any:
        return self.raw.tolist()

    def __repr__(self) -> str:  # type: ignore[override]
        return f"StandInTensor({self.raw})"


def compute(op: Any, *args: Any, **kwargs: Any) -> Any:
    """One operation: unpack, compute on the CPU, pack."""
    name = op._schema.name
    tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
    there = [each for each in tensors if isinstance(each, StandInTensor)]
    here = [each for each in tensors if not isinstance(each, StandInTensor) and each.dim()]
    if there and here and name not in CROSSING and not (name in INDEXING and isinstance(args[0], StandInTensor)):
        raise OtherDeviceError(f"{name}: expected all tensors to be on the same device, but found {NAME} and cpu")
    MEMORY.n_operations += 1
    raw_args, raw_kwargs = tree_map_only(StandInTensor, lambda each: each.raw, (args, kwargs))
    target = raw_kwargs.get("device")
    if target is not None:
        raw_kwargs["device"] = torch.device("cpu")
    if name == "aten::_copy_from":
        raw_args[1].copy_(raw_args[0])
        return args[1]
    with torch.inference_mode(False), torch.no_grad():
        found = SPECIAL.get(name, op)(*raw_args, **raw_kwargs)
    if name == "aten::copy_":
        return args[0]
    if name == "aten::_to_copy" and target is not None and torch.device(target).type == "cpu":
        return found
    if name == "aten::convolution" and found.numel() > MEMORY.limit:
        raise torch.OutOfMemoryError(f"{NAME} out of memory: tried to allocate {found.numel():,} numbers")
    return tree_map_only(torch.Tensor, lambda each: _pack(each, there), found)


def _pack(raw: torch.Tensor, inputs: list[StandInTensor]) -> StandInTensor:
    """Of an operation in place it is the tensor that was changed."""
    changed = [each for each in inputs if each.raw is raw]
    with torch.inference_mode(False):
        return changed[0] if changed else StandInTensor(raw)


def lstm_cell(
    by_input: torch.Tensor,
    by_state: torch.Tensor,
    memory: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    state_bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:
    """What accelerators compute as one operation, and the CPU as many."""
    gates = by_input + by_state
    if input_bias is not None and state_bias is not None:
        gates = gates + input_bias + state_bias
    enter, forget, new, leave = gates.chunk(4, 1)
    enter, forget, new, leave = enter.sigmoid(), forget.sigmoid(), new.tanh(), leave.sigmoid()
    kept = forget * memory + enter * new
    return leave * kept.tanh(), kept, torch.cat([enter, forget, new, leave], 1)


def lstm_cell_backward(
    by_output: torch.Tensor | None,
    by_memory: torch.Tensor | None,
    memory: torch.Tensor,
    kept: torch.Tensor,
    activated: torch.Tensor,
    has_bias: bool,
) -> tuple[torch.Tensor | None, ...]:
    enter, forget, new, leave = activated.chunk(4, 1)
    by_output = torch.zeros_like(kept) if by_output is None else by_output
    by_kept = by_output * leave * (1 - kept.tanh() ** 2) + (0.0 if by_memory is None else by_memory)
    gates = torch.cat(
        [
            by_kept * new * enter * (1 - enter),
            by_kept * memory * forget * (1 - forget),
            by_kept * enter * (1 - new**2),
            by_output * kept.tanh() * leave * (1 - leave),
        ],
        1,
    )
    return gates, by_kept * forget, gates.sum(0) if has_bias else None


def gru_cell(
    by_input: torch.Tensor,
    by_state: torch.Tensor,
    state: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    state_bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:
    if input_bias is not None and state_bias is not None:
        by_input, by_state = by_input + input_bias, by_state + state_bias
    (reset_in, update_in, new_in), (reset_by, update_by, new_by) = by_input.chunk(3, 1), by_state.chunk(3, 1)
    reset, update = (reset_in + reset_by).sigmoid(), (update_in + update_by).sigmoid()
    new = (new_in + reset * new_by).tanh()
    return new + update * (state - new), torch.cat([reset, update, new, state, new_by], 1)


def gru_cell_backward(by_output: torch.Tensor, kept: torch.Tensor, has_bias: bool) -> tuple[torch.Tensor | None, ...]:
    reset, update, new, state, new_by = kept.chunk(5, 1)
    by_new = by_output * (1 - update) * (1 - new**2)
    by_update = by_output * (state - new) * update * (1 - update)
    by_reset = by_new * new_by * reset * (1 - reset)
    by_input = torch.cat([by_reset, by_update, by_new], 1)
    by_state = torch.cat([by_reset, by_update, by_new * reset], 1)
    biases = (by_input.sum(0), by_state.sum(0)) if has_bias else (None, None)
    return by_input, by_state, by_output * update, *biases


SPECIAL: dict[str, Any] = {
    "aten::_thnn_fused_lstm_cell": lstm_cell,
    "aten::_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
    "aten::_thnn_fused_gru_cell": gru_cell,
    "aten::_thnn_fused_gru_cell_backward": gru_cell_backward,
}

_setup_privateuseone_for_python_backend(NAME)
_LIBRARY: Any = torch.library.Library("_", "IMPL")  # type: ignore[no-untyped-call]
_LIBRARY.fallback(compute, "PrivateUse1")
_ATEN: Any = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
for _name in ("arange", "arange.start", "arange.start_step", "eye", "eye.m"):  # torch would make them empty, and resize
    _overload = getattr(getattr(torch.ops.aten, _name.split(".")[0]), (*_name.split("."), "default")[1])
    _ATEN.impl(_name, partial(compute, _overload), "PrivateUse1")
