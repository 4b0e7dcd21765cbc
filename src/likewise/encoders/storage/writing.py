"""Writing one encoder's vectors shard by shard, so that any moment is a good one to be killed.

Order of events: `meta.json` (not complete), for each shard its npy and then a small list of its images, and in the
end together `rows.parquet`, `lineage.parquet`, `meta.json` (complete), with the lists removed.  When the catalog has
grown, new shards are added beside those that are there, which stay as they are.  Vectors that are made again wait in a
folder of their own; the old ones count until the new ones are complete.  A lock on the folder keeps a second run out;
it vanishes with the process that held it.
"""

import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import polars as pl

from likewise.catalog.table import read_catalog
from likewise.chain import digest_of
from likewise.encoders.storage.files import (
    ROWS_SCHEMA,
    EncodedChunk,
    LeftOutImage,
    VectorsMeta,
    digest_of_places,
    digest_of_vectors,
    meta_file,
    read_meta,
    rows_file,
    shard_file,
    shard_rows_file,
    vectors_folder,
    write_meta,
)
from likewise.encoders.storage.reading import load_shard, read_stored_rows
from likewise.errors import LikewiseError
from likewise.files import StagedFiles, locked, written_together
from likewise.lineage.files import lineage_file, read_lineage, record_digest, write_lineage
from likewise.lineage.record import Lineage
from likewise.workspace import CannotWriteError, WorkspaceFolder, read_json, write_json, write_npy, write_parquet

MADE_AGAIN = "again"
CONTENT = ("rows.parquet", "shard-", "index-")


class NoVectorsError(LikewiseError):
    """No image has a vector."""


class ShardWriter:
    """The vectors of one encoder while they are being made; a context manager that holds the folder's lock.

    An image has a vector as soon as a stored one is of its content, whatever it was called. `try_again` says of an
    image that was left out whether that may have changed.
    """

    def __init__(
        self,
        workspace: WorkspaceFolder,
        meta: VectorsMeta,
        images: Sequence[str],
        lineage: Lineage,
        *,
        force: bool,
        try_again: Callable[[LeftOutImage], bool] | None = None,
    ) -> None:
        self.workspace = workspace
        self.folder = vectors_folder(workspace, meta.encoder)
        catalog = read_catalog(workspace)
        self.digests: dict[str, str] = dict(catalog.select("image", "digest").iter_rows())
        self.meta = meta
        self.images = images
        self.lineage = lineage
        self.force = force
        self.try_again = try_again
        self.missing: list[int] = []
        self.parts: dict[int, Sequence[str]] = {}
        self.finished: dict[int, dict[str, Any]] = {}
        self.stored: pl.DataFrame | None = None

    def __enter__(self) -> "ShardWriter":
        self.folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as claims:
            busy = f"another process is writing vectors into {self.folder}: wait until it is done."
            claims.enter_context(locked(self.folder / "vectors", busy))
            self._check_existing()
            self._claims = claims.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._claims.close()

    def _check_existing(self) -> None:
        found = read_meta(self.folder) if not self.force else None
        if found is not None and found.version != self.meta.version:
            raise LikewiseError(
                f"{meta_file(self.folder)} is of another version of the encoder ({found.version}, now "
                f"{self.meta.version}): keep those vectors by moving the folder away, or make them again with "
                "`--force`."
            )
        self.fresh = found is None
        old = read_meta(self.folder) if self.force else None
        self.place = self.folder / MADE_AGAIN if old is not None and old.complete else self.folder
        rests_on, self.meta = self.meta.rests_on, found or self.meta  # with the rows per shard it was begun with
        if not self.meta.complete:
            self.meta = replace(self.meta, rests_on=rests_on)
        self.stored = read_stored_rows(self.workspace, self.meta.encoder) if self.meta.complete else None
        self.finished = {} if self.fresh else self._finished_shards()
        self.parts = self._divide(self._images_to_do())
        self.missing = list(self.parts)

    def _finished_shards(self) -> dict[int, dict[str, Any]]:
        """Shards that are not in `rows.parquet` yet, with the lists of their images."""
        there = set() if self.stored is None else set(self.stored["shard"].to_list())
        found = {}
        for listed in sorted(self.folder.glob("shard-*.json")):
            shard, content = int(listed.stem.removeprefix("shard-")), read_json(listed)
            vectors = load_shard(shard_file(self.folder, shard))
            if shard not in there and vectors is not None and len(vectors) == len(content["images"]):
                found[shard] = content
        return found

    def _images_to_do(self) -> list[str]:
        """Images whose content has no vector, and that were not found unusable before (or may have changed since)."""
        contents = set() if self.stored is None else set(self.stored["digest"])
        contents |= {self.digests.get(image, "") for part in self.finished.values() for image in part["images"]}
        unusable = [*self.meta.left_out, *self._left_out_of(self.finished.values())]
        settled = {each.image for each in unusable if not (self.try_again and self.try_again(each))}
        return [image for image in self.images if self.digests[image] not in contents and image not in settled]

    def _divide(self, images: Sequence[str]) -> dict[int, Sequence[str]]:
        """Shards of these images, under numbers that are free."""
        used = {*self.finished, *([] if self.stored is None else self.stored["shard"].to_list())}
        free = (number for number in count() if number not in used)
        rows = self.meta.shard_rows
        return {next(free): images[start : start + rows] for start in range(0, len(images), rows)}

    @staticmethod
    def _left_out_of(parts: Iterable[dict[str, Any]]) -> list[LeftOutImage]:
        return [LeftOutImage(**each) for part in parts for each in part["left_out"]]

    def images_of(self, shard: int) -> Sequence[str]:
        return self.parts[shard]

    def start(self) -> None:
        """Make the folder ready for the first missing shard."""
        if self.place != self.folder:
            shutil.rmtree(self.place, ignore_errors=True)
        elif self.fresh:
            with written_together(self.folder) as staged:
                write_meta(self.meta, staged.staging)
                for file in self._content():
                    staged.remove(file)

    def _content(self) -> list[Path]:
        """All that is made of shards here, complete or not."""
        return [file for file in self.folder.iterdir() if file.name.startswith(CONTENT)]

    def write_shard(self, shard: int, chunks: Sequence[EncodedChunk]) -> None:
        vectors = np.concatenate([chunk.vectors for chunk in chunks]).astype(self.meta.dtype, copy=False)
        left_out = [asdict(each) for chunk in chunks for each in chunk.left_out]
        images = [image for chunk in chunks for image in chunk.images]
        try:
            write_npy(vectors, shard_file(self.place, shard))
            content = {"images": images, "left_out": left_out, "digest": digest_of_vectors(vectors)}
            write_json(content, shard_rows_file(self.place, shard))
        except CannotWriteError as error:
            raise LikewiseError(f"{str(error).removesuffix('.')}; finished shards are kept.") from error

    def finish(self) -> VectorsMeta:
        """Add the lists of new shards to `rows.parquet` and say that everything is there."""
        if not self.meta.complete or self.missing or self.finished:
            lists = {shard: read_json(shard_rows_file(self.place, shard)) for shard in (*self.finished, *self.missing)}
            parts = [lists[shard] for shard in sorted(lists)]
            counts = [len(part["images"]) for part in parts]
            images = [image for part in parts for image in part["images"]]
            new = pl.DataFrame(
                {
                    "image": images,
                    "digest": [self.digests.get(image, "") for image in images],
                    "shard": np.repeat(sorted(lists), counts),
                    "row": np.concatenate([np.arange(count) for count in counts] or [np.arange(0)]),
                },
                schema=ROWS_SCHEMA,
                strict=False,
            )
            rows = new if self.stored is None else pl.concat([self.stored, new])
            left_out = self._merge_left_out(parts, set(rows["digest"]))
            if rows.is_empty():
                if self.place == self.folder:
                    meta_file(self.folder).unlink()  # begin anew once the pictures can be read
                raise NoVectorsError(
                    f"none of the {len(self.images)} images of the catalog can be read "
                    f"(first: {left_out[0].image}: {left_out[0].why}): are the pictures still where they were?"
                )
            shards = [(part["images"], part.get("digest", "")) for part in parts]
            digest = digest_of(shards if self.stored is None else [self.meta.digest, shards])
            new_sums = {str(shard): part["digest"] for shard, part in lists.items() if part.get("digest")}
            sums = dict(sorted((self.meta.shards | new_sums).items(), key=lambda each: int(each[0])))
            made = replace(self.meta, rows=len(rows), complete=True, left_out=left_out, digest=digest, shards=sums)
            self.meta = replace(made, places=digest_of_places(rows))
            before = None if self.stored is None else read_lineage(lineage_file(self.folder))
            lineage = self.lineage if before is None else before.union(self.lineage)  # of the vectors that stay, too
            with written_together(self.folder) as staged:
                write_parquet(rows, rows_file(staged.staging))
                write_lineage(lineage, lineage_file(staged.staging))
                self.meta = replace(self.meta, lineage=record_digest(lineage_file(staged.staging)))
                write_meta(self.meta, staged.staging)
                for path in self.folder.glob("shard-*.json"):
                    staged.remove(path)
                if self.place != self.folder:
                    self._replace_old_shards(staged, lists)
        return self.meta

    def _replace_old_shards(self, staged: StagedFiles, shards: Iterable[int]) -> None:
        """Let the shards that were made again take the place of the old ones, with whatever was made of those."""
        new = {shard_file(self.folder, shard) for shard in shards}
        for path in new:
            shard_file(self.place, int(path.stem.removeprefix("shard-"))).replace(staged.place(path))
        for path in {*self._content(), self.place} - new - {rows_file(self.folder)}:
            staged.remove(path)

    def _merge_left_out(self, parts: Sequence[dict[str, Any]], contents: set[str]) -> tuple[LeftOutImage, ...]:
        """What is left out of the catalog of now, in its order: newer findings over older ones."""
        found = {each.image: each for each in (*self.meta.left_out, *self._left_out_of(parts))}
        return tuple(found[image] for image in self.images if image in found and self.digests[image] not in contents)
