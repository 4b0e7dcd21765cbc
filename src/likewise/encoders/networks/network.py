"""A deep encoder: workers make pictures ready, the process that holds the weights runs the network on batches.

A family of encoders supplies a `NetworkModel`; how it is run (torch on a GPU or a CPU, onnxruntime) is decided in
`choose_runtime.py` when the first batch arrives.  Vectors of one picture in two batches agree to about 1e-6; the size
of a batch is fixed by the catalog, so the same run gives the same files.
"""

import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from PIL import Image

from likewise.encoders.networks.choose_runtime import choose_runtime
from likewise.encoders.networks.model import NetworkModel, RunNetwork
from likewise.encoders.networks.recipe import Recipe
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Prepared, Vectors

_LOADING = threading.Lock()  # exporters and loaders do not like company


class Network:
    """An encoder around a `NetworkModel`."""

    def __init__(
        self,
        name: str,
        model: NetworkModel,
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
        self._run: RunNetwork | None = None

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

    def load(self) -> RunNetwork:
        """The network, ready to run; the first call may take a while."""
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
