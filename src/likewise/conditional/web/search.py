"""What the search page needs while the site runs: a catalog that can be searched, and pictures that were brought along.

Nothing is loaded before the first search; uploaded pictures stay in memory, the last few of them, and nowhere else.
"""

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from likewise.errors import LikewiseError
from likewise.web.uploads import Uploads
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from likewise.conditional.protocol import Features
    from likewise.conditional.search import Searcher, SearchModel


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
        from likewise.conditional.search import available_models

        return available_models(self.workspace)

    def columns(self) -> list[str]:
        """Columns whose value results can keep, the category first."""
        from likewise.catalog.table import read_catalog
        from likewise.conditional.search_filters import kept_columns

        return kept_columns(read_catalog(self.workspace))

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
