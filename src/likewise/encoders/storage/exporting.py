"""Vectors of a workspace as one file for other programs: npz, npy, Parquet or safetensors, with keys and lineage."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl

from likewise.encoders.lineage import encoder_lineage
from likewise.encoders.storage.file_lineage import KEY, as_array, as_text
from likewise.encoders.storage.reading import encoded_images, read_vectors
from likewise.errors import LikewiseError
from likewise.files import written_together
from likewise.lineage.files import sidecar_file, write_lineage
from likewise.workspace import WorkspaceFolder, discard_result, write_atomically, write_parquet, write_text

ENDINGS = (".npz", ".npy", ".parquet", ".safetensors")


@dataclass(frozen=True)
class ExportedVectors:
    """What was written: the file, and what lies beside it where the format has no room for it."""

    path: Path
    images: int
    dim: int
    beside: tuple[Path, ...] = ()


def export_vectors(workspace: WorkspaceFolder, encoder: str, path: Path) -> ExportedVectors:
    """Write an encoder's vectors; `encode --import` of the file brings them back with what they learned from."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise LikewiseError(f"{path} must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}.")
    images = encoded_images(workspace, encoder)
    vectors, lineage = read_vectors(workspace, encoder, images), encoder_lineage(workspace, encoder)
    beside: tuple[Path, ...] = ()
    if ending == ".npy":
        keys = path.with_name(f"{path.name}.keys.txt")
        with written_together(path.parent) as staged:
            write_atomically(staged.place(path), lambda file: np.save(file, vectors))
            write_text("\n".join(images) + "\n", staged.place(keys))
            write_lineage(lineage, sidecar_file(staged.place(path)))
        beside = (keys, sidecar_file(path))
    elif ending == ".npz":
        arrays = {"images": np.array(images), "vectors": vectors, KEY: as_array(lineage)}
        write_atomically(path, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]
    elif ending == ".parquet":
        table = pl.DataFrame({"image": images, "vector": list(vectors)})
        write_parquet(table, path, {KEY: as_text(lineage)})
    else:
        from safetensors.numpy import save

        content = save({"vectors": vectors}, metadata={"images": json.dumps(images), KEY: as_text(lineage)})

        def write(file: BinaryIO) -> None:
            discard_result(file.write(content))

        write_atomically(path, write)
    return ExportedVectors(path, len(images), int(vectors.shape[1]), beside)
