"""A deep encoder: workers make pictures ready, the process that holds the weights runs the network on batches.

A family of encoders supplies a `Model`; how it is run (torch on a GPU or a CPU, onnxruntime) is decided in
`runtime.py` when the first batch arrives.  Vectors of one picture in two batches agree to about 1e-6; the size of a
batch is fixed by the catalog, so the same run gives the same files.
"""

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from likewise.encoders.protocol import Prepared, Vectors
from likewise.encoders.recipe import Recipe, Tensor

if TYPE_CHECKING:
    from torch import nn

Run = Callable[[Tensor], Vectors]

_LOADING = threading.Lock()  # exporters and loaders do not like company


@dataclass(frozen=True)
class Model:
    """What a family knows about one network; nothing heavy is loaded before one of the functions is called."""

    label: str
    recipe: Recipe
    find_dim: Callable[[], int]
    find_digest: Callable[[], str]
    """Of the weights and of whatever else decides the numbers."""
    load: "Callable[[], nn.Module] | None" = None
    """A torch module from (n, 3, height, width) to (n, dim)."""
    onnx_file: Path | None = None
    onnx_names: tuple[str | None, str | None] = (None, None)
    """Of input and output; the first ones of the file by default."""


class Network:
    """An encoder around a `Model`."""

    def __init__(
        self,
        name: str,
        model: Model,
        *,
        flip: bool = False,
        box: bool = False,
        unscaled: bool = False,
        runtime: str | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self.box = box
        self.flip = flip
        self.unscaled = unscaled
        self.runtime = runtime
        self._run: Run | None = None

    @cached_property
    def version(self) -> str:
        ways = f"{'flip' if self.flip else ''} {'box' if self.box else ''}"
        what = f"{self.model.find_digest()} {self.model.recipe} {ways}{' unscaled' if self.unscaled else ''}"
        return f"{self.model.label}@{hashlib.blake2b(what.encode(), digest_size=6).hexdigest()}"

    @cached_property
    def dim(self) -> int:
        return self.model.find_dim()

    @property
    def pixels(self) -> int:
        return self.model.recipe.pixels

    @property
    def preparation(self) -> str:
        return str(self.model.recipe)

    @property
    def recipe(self) -> Recipe:
        return self.model.recipe

    def prepare(self, image: Image.Image) -> Prepared:
        return self.model.recipe.prepare(image)

    def load(self) -> Run:
        """The network, ready to run; the first call may take a while."""
        from likewise.encoders.runtime import choose_runtime

        with _LOADING:
            if self._run is None:
                self._run = choose_runtime(self.model, self.runtime)
        return self._run

    def encode(self, batch: Sequence[Prepared]) -> Vectors:
        pictures = np.stack(batch)
        run = self.load()
        if self.unscaled:
            views = [pictures, pictures[..., ::-1]] if self.flip else [pictures]
            seen = [run(self.model.recipe.tensor(view)) for view in views]
            return np.asarray(np.mean(seen, axis=0), np.float32)
        vectors = unit_rows(run(self.model.recipe.tensor(pictures)))
        if self.flip:
            vectors = unit_rows(vectors + unit_rows(run(self.model.recipe.tensor(pictures[..., ::-1]))))
        return vectors


def unit_rows(features: Vectors) -> Vectors:
    """Rows scaled to length one in float64; an all-zero row points to its first axis rather than nowhere."""
    exact = features.astype(np.float64)
    lengths = np.sqrt(np.square(exact).sum(axis=1, keepdims=True))
    nowhere = lengths[:, 0] < 1e-12
    exact[nowhere] = 0.0
    exact[nowhere, 0] = lengths[nowhere, 0] = 1.0
    rows: Vectors = (exact / lengths).astype(np.float32)
    return rows


def file_digest(*paths: Path) -> str:
    """Of the content of files, in the order of their names."""
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(paths, key=lambda path: path.name):
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
