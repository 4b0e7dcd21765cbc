"""What the search page needs while the site runs: a catalog that can be searched, and pictures that were brought along.

Nothing is loaded before the first search; uploaded pictures stay in memory, the last few of them, and nowhere else.
"""

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from likewise.errors import LikewiseError
from likewise.web.uploads import Uploads
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    import polars as pl

    from likewise.conditional.conditional_query import ConditionalQuery
    from likewise.conditional.protocol import Features
    from likewise.conditional.search import Searcher
    from likewise.conditional.search_models import SearchModel

SLIDER_PLACES = (0.0, 0.25, 0.5, 0.75, 1.0)
TITLES = ("title", "name", "caption")
"""Columns that say what a picture shows; the first of them that is there is printed below results."""


@dataclass
class SearchService:
    """One per site; requests of several threads share it."""

    workspace: WorkspaceFolder
    _searchers: "dict[SearchModel, Searcher]" = field(default_factory=dict)
    uploads: Uploads = field(default_factory=Uploads)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ready(self) -> bool:
        """Whether features of a two-tower encoder are there at all; says it without loading anything."""
        return bool(self.models())

    def models(self) -> "list[SearchModel]":
        """Encoders and methods to choose among, those with a Combiner first."""
        from likewise.conditional.search_models import available_models

        return available_models(self.workspace)

    @cached_property
    def catalog(self) -> "pl.DataFrame":
        from likewise.catalog.table import read_catalog

        return read_catalog(self.workspace)

    @cached_property
    def kept_columns(self) -> list[str]:
        """Columns whose value results can keep, the category first."""
        from likewise.conditional.search_filters import kept_columns

        return kept_columns(self.catalog)

    @property
    def text_columns(self) -> list[str]:
        """Columns that a two-tower encoder could learn from, where there is none yet."""
        from likewise.conditional.two_tower import text_columns

        return text_columns(self.catalog)

    @cached_property
    def filters(self) -> list[dict[str, Any]]:
        """Columns to filter by."""
        from likewise.web.filters import filter_columns

        return filter_columns(self.catalog)

    def searcher(self, number: int = 0) -> "Searcher":
        """The catalog, ready to be searched with one of the models; loaded once."""
        from likewise.conditional.search import Searcher

        models = self.models()
        if number >= len(models):
            raise LikewiseError("there is no such model here: reload the page.")
        model = models[number]
        with self._lock:
            if model not in self._searchers:
                self._searchers[model] = Searcher.open(self.workspace, model.encoder, model.method, workers=1)
            return self._searchers[model]

    def uploaded(self, token: str, searcher: "Searcher") -> "Features":
        """An uploaded picture as the encoder of a searcher sees it."""
        upload = self.uploads.get(token)
        if searcher.tower.spec not in upload.vectors:
            upload.vectors[searcher.tower.spec] = searcher.image_features(upload.picture)
        return upload.vectors[searcher.tower.spec]


def results_json(searcher: "Searcher", found: "pl.DataFrame") -> list[dict[str, Any]]:
    """What the page prints of each result."""
    rows = [searcher.row_of[image] for image in found["image"]]
    titles = next((searcher.catalog[name] for name in TITLES if name in searcher.catalog.columns), None)
    said = [""] * len(rows) if titles is None else [value or "" for value in titles.gather(rows).to_list()]
    return [
        {
            "name": row["image"],
            "title": str(title),
            "category": row["category"],
            "score": round(row["score"], 4),
            "met": row["met"],
            "not_met": row["not_met"],
        }
        for row, title in zip(found.iter_rows(named=True), said, strict=True)
    ]


def slider_json(searcher: "Searcher", asked: "ConditionalQuery") -> list[dict[str, Any]]:
    """Of each place of the slider: its first result, how many results it shares with the image alone, and how many
    results meet a condition that the catalog knows about."""
    tables = searcher.answer_weights(asked, SLIDER_PLACES)
    alone = set(tables[0]["image"])
    places = []
    for weight, table in zip(SLIDER_PLACES, tables, strict=True):
        known = (table["met"].list.len() + table["not_met"].list.len()) > 0
        meets = (table["met"].list.len() > 0) & (table["not_met"].list.len() == 0)
        places.append(
            {
                "weight": weight,
                "first": table["image"][0] if len(table) else None,
                "n": len(table),
                "shared": len(alone & set(table["image"])),
                "known": int(known.sum()),
                "met": int(meets.sum()),
            }
        )
    return places
