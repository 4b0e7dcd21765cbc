"""What training leaves for `run:FOLDER`: `encoder.json`, the weights (`encoder.safetensors`), and `lineage.parquet`.

    kind adapter   bases are encoders; their unit vectors side by side go through the layers
    kind trunk     the one base is a torch network; its weights are replaced, and the layers follow it
    kind trunks    several trained copies of the base, each with its layer; prepared by the recipe in `about`

A layer is a matrix and an offset, `x @ matrix + offset`, with a rectifier between two layers; what comes out last is
scaled to length one, as every encoder's vectors are.  With several groups (models side by side), each equal part of it
is scaled to length one before that.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.digests import file_digest
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.encoders.stored_specs import check_stored_spec
from likewise.errors import LikewiseError
from likewise.files import finish_writing, written_together
from likewise.lineage.files import lineage_file, write_lineage
from likewise.lineage.record import Lineage
from likewise.untrusted import check_shape
from likewise.workspace import discard_result, read_json, write_atomically, write_json, write_parquet, write_text

if TYPE_CHECKING:
    import polars as pl

FORMAT = 1
SETTINGS, WEIGHTS = "encoder.json", "encoder.safetensors"
TRUNK = "trunk."  # prefix of the names of a trunk's weights

Kind = Literal["adapter", "trunk", "trunks"]
KINDS: tuple[Kind, ...] = ("adapter", "trunk", "trunks")
Array = NDArray[Any]
Layer = tuple[NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True)
class TrainedRun:
    """A trained encoder as it lies in its folder."""

    folder: Path
    kind: Kind
    bases: tuple[str, ...]
    dim: int
    about: dict[str, Any]
    groups: int = 1

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def weights_file(self) -> Path:
        return self.folder / WEIGHTS

    def digest(self) -> str:
        """Of the weights and of what they belong to."""
        what = f"{self.kind} {self.bases} {file_digest(self.weights_file)}"
        return hashlib.blake2b(what.encode(), digest_size=12).hexdigest()

    def weights(self) -> dict[str, Array]:
        from safetensors.numpy import load_file

        return dict(load_file(self.weights_file))


def write_run(
    folder: Path,
    kind: Kind,
    bases: Sequence[str],
    layers: Sequence[Layer],
    *,
    dim: int,
    lineage: Lineage,
    trunk: Mapping[str, Array] | None = None,
    about: Mapping[str, Any] | None = None,
    groups: int = 1,
    more: Mapping[str, Array] | None = None,
    tables: "Mapping[str, pl.DataFrame] | None" = None,
    summary: Mapping[str, Any] | None = None,
    card: str | None = None,
    remove: Sequence[str] = (),
) -> TrainedRun:
    """Write all files together: also tables, summary.json and card.md of the training; without files to `remove`."""
    from safetensors.numpy import save

    tensors = {f"{TRUNK}{name}": np.ascontiguousarray(value) for name, value in (trunk or {}).items()}
    tensors |= {name: np.ascontiguousarray(value) for name, value in (more or {}).items()}
    for number, (matrix, offset) in enumerate(layers):
        tensors[f"layer{number}.matrix"] = np.ascontiguousarray(matrix, np.float32)
        tensors[f"layer{number}.offset"] = np.ascontiguousarray(offset, np.float32)
    values = {"format": FORMAT, "kind": kind, "bases": list(bases), "dim": dim, "about": dict(about or {})}
    if groups > 1:
        values["groups"] = groups
    with written_together(folder) as staged:
        write_atomically(staged.staging / WEIGHTS, lambda file: discard_result(file.write(save(tensors))))
        write_lineage(lineage, lineage_file(staged.staging))
        write_json(values, staged.staging / SETTINGS)
        for name, table in (tables or {}).items():
            write_parquet(table, staged.staging / f"{name}.parquet")
        if summary is not None:
            write_json(dict(summary), staged.staging / "summary.json")
        if card is not None:
            write_text(card, staged.staging / "card.md")
        for name in remove:
            staged.remove(folder / name)
    return read_run(folder)


def read_run(folder: Path) -> TrainedRun:
    """The description of a trained encoder."""
    finish_writing(folder)
    path = folder / SETTINGS
    if not path.is_file() or not (folder / WEIGHTS).is_file():
        raise LikewiseError(f"{folder} holds no trained encoder (no {SETTINGS}): finish its `likewise train` first.")
    values = read_json(path)
    if values.get("format") != FORMAT or values.get("kind") not in KINDS:
        raise LikewiseError(f"{path} is of a format this version does not read: train the encoder again.")
    shape = {"bases": [str], "dim": int, "about": {}}
    check_shape(values, shape | ({"groups": int} if "groups" in values else {}), str(path))
    bases = tuple(check_stored_spec(base, path) for base in values["bases"])
    return TrainedRun(folder, values["kind"], bases, values["dim"], values["about"], values.get("groups", 1))


def read_layers(weights: Mapping[str, Array]) -> list[Layer]:
    count = sum(name.startswith("layer") and name.endswith(".matrix") for name in weights)
    return [(weights[f"layer{number}.matrix"], weights[f"layer{number}.offset"]) for number in range(count)]


def apply_layers(vectors: Sequence[Vectors], layers: Sequence[Layer], groups: int = 1) -> Vectors:
    """Rows of every base, side by side, through the layers; the parts of several groups get the same length."""
    rows = np.concatenate([each.astype(np.float64) for each in vectors], axis=1)
    for number, (matrix, offset) in enumerate(layers):
        if number:
            rows = np.maximum(rows, 0.0)
        exact = matrix.astype(np.float64)
        # one row at a time, because a matrix product's last bits depend on how many rows it has
        rows = (np.stack([row @ exact for row in rows]) if len(rows) else rows @ exact) + offset
    if groups > 1:
        rows = np.concatenate([unit_rows(part.astype(np.float32)) for part in np.split(rows, groups, axis=1)], axis=1)
    return unit_rows(rows.astype(np.float32))
