"""Writing one encoder's vectors shard by shard, so that any moment is a good one to be killed.

Order of events: `meta.json` (not complete), for each shard its npy and then a small list of its images, and in the
end `rows.parquet`, `lineage.parquet`, `meta.json` (complete), and the lists are removed.  A lock on the folder keeps
a second run out; it vanishes with the process that held it.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from types import TracebackType

import numpy as np
import polars as pl

from likewise.chain import DIGEST_BYTES, changed, digest_of, in_words
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.files import (
    ROWS_SCHEMA,
    EncodedChunk,
    LeftOutImage,
    VectorsMeta,
    meta_file,
    read_meta,
    rows_file,
    shard_file,
    shard_rows_file,
    vectors_folder,
    write_meta,
)
from likewise.encoders.storage.reading import load_shard
from likewise.errors import LikewiseError
from likewise.lineage.files import lineage_file, write_lineage
from likewise.lineage.record import Lineage
from likewise.workspace import WorkspaceFolder, read_json, write_json, write_npy, write_parquet

if sys.platform != "win32":
    import fcntl


class ShardWriter:
    """The vectors of one encoder while they are being made; a context manager that holds the folder's lock.

    `try_again` says of an image that was left out whether that may have changed; its shard is then made once more.
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
        self.folder = vectors_folder(workspace, meta.encoder)
        self.meta = meta
        self.images = images
        self.lineage = lineage
        self.force = force
        self.try_again = try_again
        self.missing: list[int] = []

    def __enter__(self) -> "ShardWriter":
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = lock_folder(self.folder)
        try:
            self._check_existing()
        except BaseException:
            unlock_folder(self._lock)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        unlock_folder(self._lock)

    def _check_existing(self) -> None:
        found = read_meta(self.folder) if not self.force else None
        if found is not None:
            for what, theirs, ours in (
                ("another catalog", found.catalog, self.meta.catalog),
                ("another version of the encoder", found.version, self.meta.version),
            ):
                if theirs != ours:
                    raise LikewiseError(
                        f"{meta_file(self.folder)} is of {what} ({theirs}, now {ours}): "
                        "keep those vectors by moving the folder away, or make them again with `--force`."
                    )
        rests_on, self.fresh = self.meta.rests_on, found is None
        self.meta = found or self.meta  # with the number of rows per shard it was begun with
        if self.meta.complete and self.try_again:
            self._reopen([each.image for each in self.meta.left_out if self.try_again(each)])
        if self.meta.complete and (other := changed(self.meta.rests_on, rests_on)):
            raise LikewiseError(
                f"{meta_file(self.folder)} is of other vectors of {in_words(other)} than those of now: "
                "make them again with `--force`."
            )
        if not self.meta.complete:
            self.meta = replace(self.meta, rests_on=rests_on)
            self.missing = [shard for shard in range(self.n_shards) if self.fresh or not self._finished(shard)]

    @property
    def n_shards(self) -> int:
        return -(-len(self.images) // self.meta.shard_rows)

    def _reopen(self, images: Sequence[str]) -> None:
        """Make the shards of these images missing again; the lists of the others are taken out of `rows.parquet`."""
        wanted = set(images)
        again = {place // self.meta.shard_rows for place, image in enumerate(self.images) if image in wanted}
        if not again:
            return
        shard_of = {image: place // self.meta.shard_rows for place, image in enumerate(self.images)}
        rows = pl.read_parquet(rows_file(self.folder), glob=False)
        for shard in sorted(set(shard_of.values())):
            left_out = [asdict(each) for each in self.meta.left_out if shard_of[each.image] == shard]
            kept = rows.filter(pl.col("shard") == shard)["image"].to_list()
            if shard not in again:
                vectors = load_shard(shard_file(self.folder, shard))
                content = {"images": kept, "left_out": left_out, "digest": _digest_of_vectors(vectors)}
                write_json(content, shard_rows_file(self.folder, shard))
        self.meta = replace(self.meta, complete=False, rows=0, left_out=(), digest="")
        write_meta(self.meta, self.folder)

    def images_of(self, shard: int) -> Sequence[str]:
        rows = self.meta.shard_rows
        return self.images[shard * rows : (shard + 1) * rows]

    def _finished(self, shard: int) -> bool:
        listed = shard_rows_file(self.folder, shard)
        vectors = load_shard(shard_file(self.folder, shard))
        return listed.exists() and vectors is not None and len(vectors) == len(read_json(listed)["images"])

    def start(self) -> None:
        """Make the folder ready for the first missing shard."""
        if self.fresh:
            meta_file(self.folder).unlink(missing_ok=True)  # first: without it, nothing here counts
            for file in self.folder.iterdir():
                if file.name == "rows.parquet" or file.name.startswith(("shard-", "index-")):
                    file.unlink()
            write_meta(self.meta, self.folder)
        for leftover in self.folder.glob(".*.tmp"):
            leftover.unlink()

    def write_shard(self, shard: int, chunks: Sequence[EncodedChunk]) -> None:
        vectors = np.concatenate([chunk.vectors for chunk in chunks]).astype(self.meta.dtype, copy=False)
        left_out = [asdict(each) for chunk in chunks for each in chunk.left_out]
        images = [image for chunk in chunks for image in chunk.images]
        try:
            write_npy(vectors, shard_file(self.folder, shard))
            content = {"images": images, "left_out": left_out, "digest": _digest_of_vectors(vectors)}
            write_json(content, shard_rows_file(self.folder, shard))
        except OSError as error:
            raise LikewiseError(
                f"{shard_file(self.folder, shard)} cannot be written ({error.strerror}): make room or "
                "permission; finished shards are kept and running again continues."
            ) from error

    def finish(self) -> VectorsMeta:
        """Join the lists of all shards and say that everything is there."""
        if not self.meta.complete:
            parts = [read_json(shard_rows_file(self.folder, shard)) for shard in range(self.n_shards)]
            counts = [len(part["images"]) for part in parts]
            rows = pl.DataFrame(
                {
                    "image": [image for part in parts for image in part["images"]],
                    "shard": np.repeat(np.arange(len(parts)), counts),
                    "row": np.concatenate([np.arange(count) for count in counts]),
                },
                schema=ROWS_SCHEMA,
            )
            left_out = tuple(LeftOutImage(**each) for part in parts for each in part["left_out"])
            if rows.is_empty():
                meta_file(self.folder).unlink()  # begin anew once the pictures can be read
                raise LikewiseError(
                    f"none of the {len(self.images)} images of the catalog can be read "
                    f"(first: {left_out[0].image}: {left_out[0].why}): are the pictures still where they were?"
                )
            write_parquet(rows, rows_file(self.folder))
            write_lineage(self.lineage, lineage_file(self.folder))
            digest = digest_of([(part["images"], part.get("digest", "")) for part in parts])
            self.meta = replace(self.meta, rows=len(rows), complete=True, left_out=left_out, digest=digest)
            write_meta(self.meta, self.folder)
        for path in self.folder.glob("shard-*.json"):
            path.unlink()
        return self.meta


def _digest_of_vectors(vectors: Vectors | None) -> str:
    return "" if vectors is None else hashlib.blake2b(vectors.tobytes(), digest_size=DIGEST_BYTES).hexdigest()


def lock_folder(folder: os.PathLike[str]) -> int | None:
    """Claim a folder for this process; the claim ends with the process."""
    if sys.platform == "win32":
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise LikewiseError(f"another process is writing vectors into {folder}: wait until it is done.") from error
    return handle


def unlock_folder(handle: int | None) -> None:
    if handle is not None:
        os.close(handle)
