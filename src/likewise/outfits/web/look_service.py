"""What the page of looks keeps while the site runs: the stylist of every model that was asked for, opened once."""

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime

import polars as pl

from likewise.errors import LikewiseError
from likewise.outfits.looks.workspace_looks import OpenedLook, open_look
from likewise.outfits.models.card import models_folder
from likewise.outfits.models.registry import trained_models
from likewise.outfits.protocol import Outfit
from likewise.outfits.step import outfits_folder
from likewise.outfits.tables import OUTFIT_SCHEMA, outfit_table
from likewise.workspace import WorkspaceFolder, read_parquet, write_parquet


@dataclass
class LookService:
    """One per site; nothing is read before the first visit."""

    workspace: WorkspaceFolder
    _opened: dict[str, OpenedLook] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def models(self) -> list[str]:
        """Trained models first, then how alike items look under each encoder."""
        there = [name for name in self.workspace.encoders() if "+" not in name]
        return [*trained_models(models_folder(self.workspace)), *(f"mean-cosine:{name}" for name in there)]

    def open(self, model: str) -> OpenedLook:
        """The stylist of a model, from memory after the first time."""
        known = self.models()
        if not known:
            raise LikewiseError(f"{self.workspace.path.name} has no vectors yet: run `likewise encode` first.")
        chosen = model or known[0]
        if chosen not in known:
            raise LikewiseError(f"there is no model {chosen!r} here: choose one of the list.")
        with self._lock:
            if chosen not in self._opened:
                self._opened[chosen] = open_look(self.workspace, chosen, [])
            return self._opened[chosen]

    def saved(self) -> pl.DataFrame:
        """Looks that were saved: outfit, item, image, category, position."""
        path = outfits_folder(self.workspace) / "saved_looks.parquet"
        return read_parquet(path, "the page of looks") if path.exists() else pl.DataFrame(schema=OUTFIT_SCHEMA)

    def save(self, opened: OpenedLook, rows: list[int]) -> str:
        """Keep a look; its name is the time."""
        name = f"look-{datetime.now(UTC):%Y%m%d-%H%M%S}"
        added = outfit_table([Outfit(name, tuple(opened.stylist.wardrobe.items[row] for row in rows))])
        with self._lock:
            write_parquet(pl.concat([self.saved(), added]), outfits_folder(self.workspace) / "saved_looks.parquet")
        return name
