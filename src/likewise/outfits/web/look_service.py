"""What the page of looks keeps: the stylist of every model that was asked for, pictures of one's own, saved looks."""

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from likewise.errors import LikewiseError
from likewise.outfits.looks.workspace_looks import OpenedLook, default_look_model, look_models, open_look
from likewise.outfits.protocol import Outfit
from likewise.outfits.step import outfits_folder
from likewise.outfits.tables import OUTFIT_SCHEMA, outfit_table
from likewise.outfits.web.own_pictures import prepare_picture
from likewise.workspace import WorkspaceFolder, discard_result, read_parquet, write_atomically, write_parquet

MAX_OPENED = 6
"""Stylists in memory: one for each model, and one for each set of pictures of one's own."""
OWN_ITEM = re.compile(r"own-[0-9a-f]{12}")


@dataclass
class LookService:
    """One per site; nothing is read before the first visit."""

    workspace: WorkspaceFolder
    _opened: OrderedDict[tuple[str, ...], OpenedLook] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def models(self) -> list[str]:
        """The default one first."""
        return look_models(self.workspace)

    def open(self, model: str, items: Sequence[str] = ()) -> OpenedLook:
        """The stylist of a model, from memory after the first time; pictures of one's own among `items` join it."""
        chosen = model or default_look_model(self.workspace)
        if chosen not in self.models():
            raise LikewiseError(f"there is no model {chosen!r} here: choose one of the list.")
        own = {name: (category_of(name), self.picture_path(name)) for name in items if is_own(name)}
        key = (chosen, *sorted(own))
        with self._lock:
            if key not in self._opened:
                self._opened[key] = open_look(self.workspace, chosen, [], pictures=own)
            self._opened.move_to_end(key)
            while len(self._opened) > MAX_OPENED:
                self._opened.popitem(last=False)
            return self._opened[key]

    def add_picture(self, content: bytes) -> str:
        """Keep a picture of one's own in the workspace; the name of its item."""
        picture = prepare_picture(content)
        name = f"own-{hashlib.blake2b(content, digest_size=6).hexdigest()}"
        write_atomically(self._folder / f"{name}.jpg", lambda file: discard_result(file.write(picture)))
        return name

    def picture_path(self, name: str) -> Path:
        """The file behind a picture of one's own; a name never becomes any other path."""
        found = OWN_ITEM.match(name)
        path = self._folder / f"{found[0]}.jpg" if found else None
        if path is None or not path.is_file():
            raise LikewiseError("this picture is not here any more: add it again.")
        return path

    @property
    def _folder(self) -> Path:
        return outfits_folder(self.workspace) / "own_pictures"

    @property
    def _saved_file(self) -> Path:
        return outfits_folder(self.workspace) / "saved_looks.parquet"

    def saved(self) -> pl.DataFrame:
        """Looks that were saved: outfit, item, image, category, position."""
        path = self._saved_file
        return read_parquet(path, "the page of looks") if path.exists() else pl.DataFrame(schema=OUTFIT_SCHEMA)

    def save(self, opened: OpenedLook, rows: list[int]) -> str:
        """Keep a look; its name is the time."""
        name = f"look-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"
        added = outfit_table([Outfit(name, tuple(opened.stylist.wardrobe.items[row] for row in rows))])
        with self._lock:
            write_parquet(pl.concat([self.saved(), added]), self._saved_file)
        return name

    def remove(self, name: str) -> None:
        """Forget a saved look."""
        with self._lock:
            write_parquet(self.saved().filter(pl.col("outfit") != name), self._saved_file)


def is_own(name: str) -> bool:
    """Whether an item is a picture of one's own: `own-0123456789ab`, or with the category somebody chose for it."""
    return OWN_ITEM.fullmatch(name.partition("=")[0]) is not None


def category_of(name: str) -> str:
    """The category that was chosen for a picture of one's own, or nothing."""
    return name.partition("=")[2]
