"""A training that can be stopped: after every epoch all that decides the next one is put on disk in one file."""

from pathlib import Path

import numpy as np
import polars as pl
import torch
from torch import nn

from likewise.encoders.networks.device import to_numpy
from likewise.outfits.models.card import Arrays, read_arrays, write_arrays
from likewise.outfits.training.run_folder import curves_file, state_file
from likewise.workspace import write_parquet

CURVES = pl.Schema({"epoch": pl.Int64, "name": pl.String, "value": pl.Float64})


def state_arrays(net: nn.Module) -> Arrays:
    """The weights and other numbers of a network."""
    return {name: to_numpy(value).copy() for name, value in net.state_dict().items()}


def save_state(folder: Path, net: nn.Module, optimizer: torch.optim.Optimizer, epochs_done: int) -> None:
    """Weights, the optimizer's memory and the number of epochs done, in one atomic write."""
    arrays = {f"net.{name}": array for name, array in state_arrays(net).items()}
    for number, memory in optimizer.state_dict()["state"].items():
        arrays |= {f"optimizer.{number}.{name}": to_numpy(value) for name, value in memory.items()}
    arrays["epochs_done"] = np.array([epochs_done], dtype=np.int64)
    write_arrays(arrays, state_file(folder))


def load_state(folder: Path, net: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """Put back what `save_state` wrote; the number of epochs done, 0 when there is nothing."""
    if not state_file(folder).exists():
        return 0
    arrays = read_arrays(state_file(folder))
    weights = {name[4:]: torch.from_numpy(array) for name, array in arrays.items() if name.startswith("net.")}
    net.load_state_dict(weights)
    memory: dict[int, dict[str, torch.Tensor]] = {}
    for name, array in arrays.items():
        if name.startswith("optimizer."):
            _, number, what = name.split(".")
            memory.setdefault(int(number), {})[what] = torch.from_numpy(array)
    whole = optimizer.state_dict()
    optimizer.load_state_dict({"state": memory, "param_groups": whole["param_groups"]})
    return int(arrays["epochs_done"][0])


def read_curves(folder: Path, epochs_done: int) -> pl.DataFrame:
    """The curves up to the last epoch that counts."""
    if not curves_file(folder).exists():
        return pl.DataFrame(schema=CURVES)
    return pl.read_parquet(curves_file(folder), glob=False).filter(pl.col("epoch") <= epochs_done)


def add_curves(folder: Path, known: pl.DataFrame, epoch: int, values: dict[str, float]) -> pl.DataFrame:
    """The curves with one epoch more, written."""
    rows = pl.DataFrame([(epoch, name, value) for name, value in values.items()], schema=CURVES, orient="row")
    grown = pl.concat([known, rows])
    write_parquet(grown, curves_file(folder))
    return grown
