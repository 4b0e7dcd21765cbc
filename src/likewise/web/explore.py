"""What the explore pages share while the site runs: the gallery, pictures that were brought along, labels."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fastapi.responses import JSONResponse

from likewise.catalog.table import MADE_COLUMNS
from likewise.chain import table_digest
from likewise.encoders.storage.files import meta_file, vectors_folder
from likewise.explore.copies import CopyPairs
from likewise.explore.disagreement import Disagreement
from likewise.explore.gallery import Gallery, NeighbourList, found_by_one
from likewise.explore.labels import LabelReader, PairLabel
from likewise.explore.projection import ImageMap
from likewise.web.filters import filter_columns
from likewise.web.jobs import Job, Jobs
from likewise.web.uploads import Uploads
from likewise.web.watch import FileStamp, file_stamp
from likewise.workspace import WorkspaceFolder

EXPLORE_VIEWS = {
    "/explore": "Neighbours",
    "/explore/map": "Map",
    "/explore/copies": "Copies",
    "/explore/differences": "Where models differ",
}
"""Address and label of every view."""


@dataclass
class ExploreService:
    """What the pages ask of one state of the catalog and its vectors; nothing is read before the first visit."""

    workspace: WorkspaceFolder
    labels: LabelReader
    uploads: Uploads
    copies: Jobs[CopyPairs] = field(default_factory=Jobs)
    maps: Jobs[ImageMap] = field(default_factory=Jobs)
    _compared: tuple[object, Disagreement] | None = None

    @cached_property
    def gallery(self) -> Gallery:
        return Gallery(self.workspace)

    def disagreement(
        self, first: str, second: str, find: Callable[[Gallery, LabelReader, str, str], Disagreement]
    ) -> Disagreement:
        """The last comparison is kept until the labels change: its rows are asked for a page at a time."""
        labels = self.labels.table()
        key = (first, second, None if labels is None else table_digest(labels))
        if self._compared is None or self._compared[0] != key:
            self._compared = (key, find(self.gallery, self.labels, first, second))
        return self._compared[1]

    @cached_property
    def columns(self) -> list[dict[str, Any]]:
        """The catalog's columns to filter by, each with its values where they are few."""
        return filter_columns(self.gallery.catalog)

    def image_json(self, row: int) -> dict[str, Any]:
        """An image with everything the catalog says about it."""
        known = self.gallery.catalog.row(row, named=True)
        about = {
            name: str(value)
            for name, value in known.items()
            if value is not None and name not in (*MADE_COLUMNS, "image") and not isinstance(value, list | dict)
        }
        return {"image": known["image"], "about": about}

    def lists_json(self, query: str | None, lists: Sequence[NeighbourList]) -> list[dict[str, Any]]:
        """What every encoder finds, with the label of each pair and whether no other encoder lists the item."""
        labels = {} if query is None else self.labels.of_query(query)
        catalog, images = self.gallery.catalog, self.gallery.images
        found = []
        for each, alone in zip(lists, found_by_one(lists, self.gallery.items), strict=True):
            rows = each.rows.tolist()
            categories, items = catalog["category"].gather(rows).to_list(), catalog["item"].gather(rows).to_list()
            found.append(
                {
                    "encoder": each.encoder,
                    "found": [
                        {
                            "image": images[row],
                            "score": round(score, 3),
                            "only": only,
                            "item": item,
                            "category": category,
                            "label": label_json(labels.get(images[row])),
                        }
                        for row, score, only, category, item in zip(
                            rows, each.scores, alone, categories, items, strict=True
                        )
                    ],
                }
            )
        return found


@dataclass
class CurrentExploreService:
    """One per site: the service of now, and another one when the catalog or vectors were replaced meanwhile.

    What was computed from earlier vectors goes with the earlier service; pictures that visitors brought along stay.
    """

    workspace: WorkspaceFolder
    uploads: Uploads = field(default_factory=Uploads)
    _stamp: object = None
    _service: ExploreService | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self) -> ExploreService:
        """A request asks once, so that all of its answer rests on one state."""
        stamp = self._stamp_of_now()
        with self._lock:
            if self._service is None or stamp != self._stamp:
                self.uploads.forget_vectors()
                self._service = ExploreService(self.workspace, LabelReader(self.workspace), self.uploads)
                self._stamp = stamp
            return self._service

    def _stamp_of_now(self) -> tuple[FileStamp, dict[str, FileStamp]]:
        folders = {name: vectors_folder(self.workspace, name) for name in self.workspace.encoders()}
        vectors = {name: file_stamp(meta_file(folder)) for name, folder in folders.items()}
        return file_stamp(self.workspace.settings_file), vectors


def label_json(label: PairLabel | None) -> dict[str, int | None] | None:
    if label is None:
        return None
    return {
        "label": label.label,
        "similar": label.similar,
        "not_similar": label.not_similar,
        "cannot_tell": label.cannot_tell,
    }


def progress_response(job: Job[Any]) -> JSONResponse:
    """How far work is that a page waits for."""
    return JSONResponse({"what": job.what, "done": job.done, "total": job.total}, 202)
