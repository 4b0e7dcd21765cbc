"""A workspace is a folder; every step reads what earlier steps left there and adds its own files.

This module knows where each file lives and how to write it so that a reader never sees half of one:
into a temporary neighbour first, then renamed over the old file.
"""

import json
import os
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from likewise.errors import LikewiseError
from likewise.files import StagedFiles, finish_writing, new_file, written_together
from likewise.untrusted import check_shape, parse_json

if TYPE_CHECKING:  # the command line imports this module for every `--help`
    import numpy as np
    import polars as pl

FORMAT = 1
FIRST_VERSION = 1
N_RECENT_TABLES = 16
SMALL_FILE = 1 << 20
FINE_CLOCK_NS, COARSE_CLOCK_NS = 50_000_000, 3_000_000_000
WARDROBE = "wardrobe"  # the source of a catalog that was drawn here


def quoted(path: Path | str) -> str:
    """A path for a command line: between quotation marks where it holds spaces and the like."""
    if os.name == "posix":
        return shlex.quote(str(path))
    return f'"{path}"' if " " in str(path) else str(path)


@dataclass(frozen=True)
class WorkspaceFolder:
    """Paths of one workspace; holds no data. With `as_of` it is seen as it was in that version of its catalog."""

    path: Path
    as_of: int | None = None

    @property
    def quoted(self) -> str:
        """The path as a command that is printed must name it."""
        return quoted(self.path)

    @property
    def settings_file(self) -> Path:
        return self.path / "workspace.json"

    @property
    def catalog_file(self) -> Path:
        return self.path / "catalog.parquet"

    @property
    def problems_file(self) -> Path:
        return self.path / "problems.parquet"

    @property
    def hashes_file(self) -> Path:
        """Perceptual hashes of the pictures, by which copies are found."""
        return self.path / "hashes.parquet"

    @property
    def copies_file(self) -> Path:
        """Which pairs somebody called copies, or told apart, on the explore page."""
        return self.path / "copies.parquet"

    @property
    def truth_file(self) -> Path:
        """The pairs of items that look alike, of a catalog whose truth is known."""
        return self.path / "truth.parquet"

    @property
    def tables_folder(self) -> Path:
        return self.path / "tables"

    @property
    def vectors_folder(self) -> Path:
        return self.path / "vectors"

    @property
    def pool_file(self) -> Path:
        return self.path / "pool.parquet"

    @property
    def pool_settings_file(self) -> Path:
        return self.path / "pool.json"

    @property
    def retired_pairs_file(self) -> Path:
        """Who proposed the pairs of pools that were replaced, and of files of votes; and picked pairs."""
        return self.path / "retired_pairs.parquet"

    @property
    def retired_pool_file(self) -> Path:
        """Rows of the pool about images that are gone; they come back with them."""
        return self.path / "retired_pool.parquet"

    @property
    def retired_labels_file(self) -> Path:
        """Imported labels about images that are gone; they come back with them."""
        return self.path / "retired_labels.parquet"

    @property
    def votes_file(self) -> Path:
        return self.path / "votes.db"

    @property
    def votes_location_file(self) -> Path:
        """Where the votes are kept, if not in votes.db: the URL of a database, without its password."""
        return self.path / "votes.json"

    @property
    def votes_copy_file(self) -> Path:
        """The votes behind the labels, where they are kept in another database than votes.db."""
        return self.path / "votes.parquet"

    @property
    def labels_file(self) -> Path:
        return self.path / "labels.parquet"

    @property
    def labels_settings_file(self) -> Path:
        return self.path / "labels.json"

    @property
    def goal_file(self) -> Path:
        return self.path / "goal.json"

    @property
    def rank_bands_file(self) -> Path:
        """Pairs drawn by rank band, to see how many similar ones are further down the generators' lists."""
        return self.path / "rank_bands.parquet"

    @property
    def training_labels_file(self) -> Path:
        """Labels of a data set's training part: to learn from, never to measure on."""
        return self.path / "labels.train.parquet"

    @property
    def imported_labels_file(self) -> Path:
        """A copy of labels that came from elsewhere, for when labels made from votes take their place."""
        return self.path / "labels.imported.parquet"

    @property
    def results_folder(self) -> Path:
        return self.path / "results"

    @property
    def report_file(self) -> Path:
        return self.path / "report" / "index.html"

    @property
    def gate_folder(self) -> Path:
        """What the last gate for a new model found."""
        return self.path / "gate"

    def settings(self) -> dict[str, Any]:
        """What `likewise new` wrote: where the pictures are, where they came from."""
        finish_writing(self.path)
        if not self.settings_file.exists():
            raise LikewiseError(
                f"{self.path} is not a workspace (no workspace.json): "
                f"make one with `likewise new {self.quoted} FOLDER`."
            )
        settings = read_note(self.settings_file)
        if settings.get("format") != FORMAT:
            raise LikewiseError(
                f"{self.settings_file} has format {settings.get('format')!r}, this version reads {FORMAT}: "
                "make the workspace again, or use the likewise that made it."
            )
        check_shape(settings, {"root": str}, str(self.settings_file), then=AS_WRITTEN)
        return settings

    @property
    def root(self) -> Path:
        """The folder that image keys are relative to."""
        return (self.path / str(self.settings()["root"])).resolve()

    @property
    def source(self) -> Path | None:
        """What the workspace was made from: its folder of pictures, or the table or data set that was read."""
        settings = self.settings()
        if settings["source"] in ("folder", WARDROBE):
            return self.root
        path = (settings.get("source_settings") or {}).get("path")
        return None if path is None else Path(path)

    @property
    def has_truth(self) -> bool:
        """Whether it is known which items look alike: a table of truth is there."""
        return self.truth_file.exists()

    def encoders(self) -> list[str]:
        """Names of the encoders whose vectors are complete, sorted."""
        return sorted(
            meta.parent.name for meta in self.vectors_folder.glob("*/meta.json") if read_note(meta).get("complete")
        )


AS_WRITTEN = "it is not as likewise wrote it, put an earlier copy back"


class CannotWriteError(LikewiseError, OSError):
    """A file that cannot be written: the disk is full, the folder may not be written to."""


def write_atomically(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Run `write` on a temporary file beside `path`, flush it to disk, then put it in place."""
    try:
        with new_file(path) as (_, file):
            write(file)
    except LikewiseError:
        raise
    except OSError as error:
        why = error.strerror or str(error) or "the disk may be full"
        raise CannotWriteError(
            f"{path} cannot be written ({why}): make room or give permission, then run the command again."
        ) from error


@contextmanager
def staged_workspace(workspace: WorkspaceFolder) -> Iterator[tuple[WorkspaceFolder, StagedFiles]]:
    """Write files of a workspace together: what is written to this one counts when the block ends, or not at all."""
    with written_together(workspace.path) as staged:
        yield WorkspaceFolder(staged.staging), staged


def write_parquet(table: "pl.DataFrame", path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a table; the same table always gives the same bytes."""
    import polars as pl

    def write(file: BinaryIO) -> None:
        try:
            table.write_parquet(file, compression="zstd", metadata=metadata)
        except pl.exceptions.ComputeError as error:  # how polars says that the system refused to write
            raise OSError(str(error).splitlines()[0]) from error

    write_atomically(path, write)


def read_parquet(path: Path, made_by: str) -> "pl.DataFrame":
    """Read a table of the workspace, or say which command makes it."""
    import polars as pl

    try:
        about = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise LikewiseError(f"{path} does not exist yet: run `{made_by}` first.") from None
    name = str(path.absolute())
    identity = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    if (kept := _recent_tables.get(name)) is not None and kept[0] == identity:
        return kept[1].clone()
    try:
        table = pl.read_parquet(path, glob=False)  # a folder may be called shoes[old]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise LikewiseError(f"{path} cannot be read ({error}): delete it and run `{made_by}` again.") from error
    if about.st_size <= SMALL_FILE and _is_settled(about):
        with _keeping:
            _recent_tables.pop(name, None)
            _recent_tables[name] = (identity, table.clone())
            if len(_recent_tables) > N_RECENT_TABLES:
                del _recent_tables[next(iter(_recent_tables))]
    return table


_recent_tables: "dict[str, tuple[tuple[int, ...], pl.DataFrame]]" = {}
"""By absolute path: a command and a page of the site ask for the catalog a dozen times."""
_keeping = threading.Lock()


def _is_settled(about: os.stat_result) -> bool:
    """Whether the file is so old that a change from now on gives it other times; some file systems count seconds."""
    changed = max(about.st_mtime_ns, about.st_ctime_ns)
    resolution = FINE_CLOCK_NS if changed % 1_000_000_000 else COARSE_CLOCK_NS
    return changed + resolution < time.time_ns()


def write_npy(array: "np.ndarray[Any, Any]", path: Path) -> None:
    import numpy as np

    write_atomically(path, lambda file: np.save(file, array))


def write_text(text: str, path: Path) -> None:
    write_atomically(path, lambda file: discard_result(file.write(text.encode())))


def write_json(value: Any, path: Path) -> None:
    write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", path)


def read_json(path: Path) -> Any:
    """A file of the workspace; one that somebody damaged is a sentence."""
    return parse_json(path.read_bytes(), str(path))


def read_note(path: Path, shape: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An object that a command wrote; one that somebody changed so that parts of it are gone is a sentence."""
    note: dict[str, Any] = read_json(path)
    check_shape(note, shape or {}, str(path), then=AS_WRITTEN)
    return note


def discard_result(_: object) -> None:
    """Forget a result, where a callback must return None."""
