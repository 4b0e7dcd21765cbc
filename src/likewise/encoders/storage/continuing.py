"""Vectors of elsewhere beside those that are stored under the same name: do they go on with them?

What both have is compared: other vectors of the same pictures are another model's. A picture that took the name of
another one is not given that one's vector. And new vectors that are no nearer to the stored ones than with their
dimensions shuffled are pointed out: a dimension means nothing to another model.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from shlex import quote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.table import read_catalog
from likewise.catalog.versions import read_history
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.files import ROWS_SCHEMA, VectorsMeta, shard_file, shard_rows_file, vectors_folder
from likewise.encoders.storage.reading import current_rows, load_shard, read_stored_rows
from likewise.encoders.storage.two_models import MAX_LOOKED_AT, follows_a_column, halves_of_two_models
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder, read_json

SAME_MODEL = 0.999  # cosine: the same model on another machine
SAME_VECTOR = 1 - 1e-6  # the very same, at most rounded to half precision
MAX_COMPARED = 1024
MIN_DIM, MIN_NEW, MIN_STORED, SHUFFLES, RELATED = 64, 3, 20, 20, 3.0

VectorsOf = Callable[[Sequence[str]], Mapping[str, NDArray[np.float32]]]
"""The vectors, of length one, of those images that the source has."""


@dataclass(frozen=True)
class ImportedVectors:
    """What was imported under a name so far: `rows` are image (as it was called), digest, shard, row."""

    workspace: WorkspaceFolder
    meta: VectorsMeta
    rows: pl.DataFrame

    @staticmethod
    def read(workspace: WorkspaceFolder, meta: VectorsMeta) -> "ImportedVectors":
        if meta.complete:
            return ImportedVectors(workspace, meta, read_stored_rows(workspace, meta.encoder))
        return ImportedVectors(workspace, meta, _rows_of_finished_shards(workspace, meta.encoder))

    @cached_property
    def catalog(self) -> pl.DataFrame:
        return read_catalog(self.workspace)

    @cached_property
    def now(self) -> pl.DataFrame:
        """image, shard, row of today's images that have a vector."""
        return current_rows(self.rows, self.catalog)

    def read_rows(self, places: pl.DataFrame) -> Vectors:
        """The vectors at some places (shard, row), in their order; zeros where a shard is damaged."""
        found = np.zeros((len(places), self.meta.dim), np.float32)
        shards, rows = places["shard"].to_numpy(), places["row"].to_numpy()
        for shard in np.unique(shards):
            stored = load_shard(shard_file(vectors_folder(self.workspace, self.meta.encoder), int(shard)))
            if stored is not None:
                found[shards == shard] = stored[rows[shards == shard]]
        return found

    def refuse_other_model(self, vectors_of: VectorsOf, dim: int, source: str, *, by_sample: bool) -> None:
        """Compare what both have; of a source that is slow to ask a sample, spread over all."""
        name, step = self.meta.encoder, max(1, len(self.now) // MAX_COMPARED) if by_sample else 1
        for some in self.now.gather_every(step).iter_slices(MAX_COMPARED):
            theirs = vectors_of(some["image"].to_list())
            both = some.filter(pl.col("image").is_in(list(theirs)))
            for image, mine in zip(both["image"], self.read_rows(both), strict=True):
                if len(theirs[image]) != len(mine) or float(theirs[image] @ mine) < SAME_MODEL:
                    what = f"has another vector of {image} than the one stored as {name}"
                    raise LikewiseError(f"{source} {what}: is it another model's? {self._ways_out(source)}")
        if dim != self.meta.dim:
            what = f"has {dim} dimensions, what is stored as {name} {self.meta.dim}"
            raise LikewiseError(f"{source} {what}: it is another model's. {self._ways_out(source)}")

    def _ways_out(self, source: str) -> str:
        command = f"likewise encode {self.workspace.quoted} --import {quote(source)} --name {quote(self.meta.encoder)}"
        return f"Import it under another --name, or in place of what is stored with `{command} --force`."

    @cached_property
    def _before(self) -> dict[str, pl.DataFrame]:
        """Of images without a vector: where those of the pictures are that had their name before."""
        lacking = self.catalog.join(self.now, on="image", how="anti").select("image", now="digest")
        names = read_history(self.workspace).select("image", "digest").unique()
        earlier = names.join(lacking, on="image").filter(pl.col("digest") != pl.col("now"))
        places = earlier.join(self.rows.select("digest", "shard", "row").unique("digest"), on="digest")
        return {str(image): part for (image,), part in places.group_by("image")}

    def of_earlier_pictures(self, vectors: Mapping[str, NDArray[np.float32]]) -> set[str]:
        """The images whose vector is that of a picture which had their name before."""
        found = set()
        for image, vector in vectors.items():
            places = self._before.get(image)
            if places is not None and len(vector) == self.meta.dim:
                found |= {image} if float((self.read_rows(places) @ vector).max()) > SAME_VECTOR else set()
        return found

    def unlike_stored(self, vectors: Iterable[NDArray[np.float32]]) -> bool:
        """Whether new vectors are no nearer to the stored ones than with their dimensions shuffled."""
        new, n_stored = np.array(list(vectors)[:MAX_COMPARED], np.float32), len(self.now)
        if len(new) < MIN_NEW or n_stored < MIN_STORED or self.meta.dim < MIN_DIM:
            return False
        rng = np.random.default_rng(0)
        stored = self.read_rows(self.now.gather_every(max(1, n_stored // MAX_COMPARED)))
        nearest = (new @ stored.T).max(axis=1).mean()
        shuffled = [(new[:, rng.permutation(self.meta.dim)] @ stored.T).max(axis=1).mean() for _ in range(SHUFFLES)]
        return bool(nearest < np.mean(shuffled) + RELATED * np.std(shuffled))

    def two_models_note(self) -> str:
        """A question where they seem to be of two models, and nothing in the catalog tells the two apart."""
        places = self.now.gather_every(max(1, len(self.now) // MAX_LOOKED_AT))
        halves = halves_of_two_models(self.read_rows(places))
        if halves is None:
            return ""
        images = places["image"].to_list()
        rows = places.select("image").join(self.catalog, on="image", how="left", maintain_order="left")
        if follows_a_column(halves, rows):
            return ""
        one, other = (images[int(np.flatnonzero(half)[0])] for half in (~halves, halves))
        return (
            f"{self.meta.encoder} falls into two groups, {one} in one and {other} in the other, that are never "
            "neighbours and vary in unlike ways: are these vectors of two models?"
        )


def _rows_of_finished_shards(workspace: WorkspaceFolder, encoder: str) -> pl.DataFrame:
    """Of an import that was interrupted."""
    folder, rows = vectors_folder(workspace, encoder), []
    digests = dict(read_catalog(workspace).select("image", "digest").iter_rows())
    for listed in sorted(folder.glob(shard_rows_file(folder, 0).name.replace("00000", "*"))):
        shard, images = int(listed.stem.rpartition("-")[2]), read_json(listed)["images"]
        stored = load_shard(shard_file(folder, shard))
        if stored is not None and len(stored) == len(images):
            rows += [(image, digests.get(image, ""), shard, row) for row, image in enumerate(images)]
    return pl.DataFrame(rows, schema=ROWS_SCHEMA, orient="row")
