"""Search with conditions: "like this image, but in red", over a whole catalog.

Each condition gives a query direction between three that a slider connects: the image alone (0), image and text
composed by a method (1/2), the text alone (1).  Several conditions are averaged; images to be more or less like move
the query as in Rocchio's relevance feedback:  q' = q + 0.75 mean(more) - 0.25 mean(less).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog import items_of
from likewise.catalog.images import open_picture
from likewise.catalog.table import read_catalog
from likewise.conditional.composers import ImageOnly
from likewise.conditional.conditional_query import BALANCED, TOP_K, ConditionalQuery, parse_conditions
from likewise.conditional.known_attributes import KnownAttributes
from likewise.conditional.methods import get_composer
from likewise.conditional.protocol import Composer, Features, Floats
from likewise.conditional.search_filters import KEPT, Mask, allowed_rows, check_columns, common_value
from likewise.conditional.search_models import default_method, default_tower
from likewise.conditional.text_check import TextCheck
from likewise.conditional.towers import TwoTower, normalize
from likewise.errors import LikewiseError
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from PIL import Image

MORE_WEIGHT, LESS_WEIGHT = 0.75, 0.25
"""Rocchio's weights as Salton and Buckley (1990) recommend them."""
N_TO_GUESS_FROM = 12
SCORE_DIGITS = 6
MAX_TEXTS_KEPT = 4_000
MAX_CONDITIONS_KEPT = 20
SEARCH_RESULT_SCHEMA = {
    "rank": pl.Int64(),
    "image": pl.String(),
    "item": pl.String(),
    "category": pl.String(),
    "score": pl.Float64(),
    "met": pl.List(pl.String),
    "not_met": pl.List(pl.String),
}
"""`met` and `not_met`: the conditions of which the catalog's columns tell it."""


@dataclass(frozen=True)
class Searcher:
    """A catalog ready to be searched."""

    workspace: WorkspaceFolder
    tower: TwoTower
    composer: Composer
    images: list[str]
    unit_features: Features
    lengths: Features
    """(images, 1): what unit features are multiplied with to get those of the encoder."""
    _texts: dict[str, Features] = field(default_factory=dict, repr=False)

    @classmethod
    def open(
        cls,
        workspace: WorkspaceFolder,
        encoder: str | None = None,
        method: str | None = None,
        *,
        workers: int | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> "Searcher":
        """With the two-tower encoder whose features are there, or with `encoder`, whose features are made first.

        `method` is `image+text` or a Combiner; by default what was measured to be best, or the only Combiner, if any.
        """
        tower = TwoTower.from_spec(encoder or default_tower(workspace))
        tower.encode(workspace, workers=workers, on_progress=on_progress)
        images = tower.encoded_images(workspace)
        composer = get_composer(method or default_method(workspace, tower), workspace, tower)
        features = tower.image_features(workspace, images)
        lengths = np.linalg.norm(features, axis=1, keepdims=True).astype(np.float32)
        return cls(workspace, tower, composer, images, normalize(features), lengths)

    @cached_property
    def catalog(self) -> pl.DataFrame:
        """One row per image that has features, in their order."""
        order = pl.DataFrame({"image": self.images}, schema={"image": pl.String})
        return order.join(read_catalog(self.workspace), on="image", how="left", maintain_order="left")

    @cached_property
    def row_of(self) -> dict[str, int]:
        return {image: row for row, image in enumerate(self.images)}

    @cached_property
    def items(self) -> NDArray[np.int64]:
        return items_of(self.catalog)

    @cached_property
    def attributes(self) -> KnownAttributes:
        return KnownAttributes(self.catalog)

    @cached_property
    def text_check(self) -> TextCheck:
        return TextCheck(self.catalog, self.unit_features, self._text_rows)

    def image_features(self, image: "str | Path | Image.Image | Features") -> Features:
        """Of an image of the catalog by its key, of a file, or of a picture; features stay what they are."""
        if isinstance(image, np.ndarray):
            return image
        own = self.own_row(image)
        if own is not None:
            return self.unit_features[[own]] * self.lengths[[own]]
        if isinstance(image, str | Path):
            if not Path(image).is_file():
                raise LikewiseError(
                    f"{image} is neither a file nor an image of {self.workspace.path}: give a picture or a key."
                )
            image = open_picture(Path(image), str(image))
        return self.tower.picture_features([image])

    def text_features(self, condition: str) -> Features:
        """(1, d); a condition is encoded once."""
        if condition not in self._texts:
            if len(self._texts) >= MAX_TEXTS_KEPT:
                self._texts.clear()
            self._texts[condition] = self.tower.text_features([condition])
        return self._texts[condition]

    def _text_rows(self, conditions: Sequence[str]) -> Features:
        """Of conditions, those asked before from memory."""
        if len(conditions) > MAX_CONDITIONS_KEPT:
            return self.tower.text_features(conditions)
        return np.concatenate([self.text_features(each) for each in conditions])

    def find_images(self, find: str = "") -> list[str]:
        """Images whose key or category holds a text, in catalog order; all for an empty one."""
        wanted = find.strip().lower()
        if not wanted:
            return self.images
        texts = pl.concat_str(pl.col("image", "category").cast(pl.String).fill_null(""), separator="\n")
        holds = self.catalog.select(texts.str.to_lowercase().str.contains(wanted, literal=True)).to_series()
        return self.catalog["image"].filter(holds).to_list()

    def search(
        self,
        image: "str | Path | Image.Image | Features | None" = None,
        text: str | Sequence[str] = (),
        *,
        text_weight: float = BALANCED,
        more_like: Sequence[str] = (),
        less_like: Sequence[str] = (),
        keep: Sequence[str] = KEPT,
        where: str | Sequence[str] = (),
        top_k: int = TOP_K,
    ) -> pl.DataFrame:
        """The best image of the best `top_k` items, never the one asked with.

        `text` is a condition or several; `more_like` and `less_like` are keys of images; `keep` names columns in which
        results have the value of the image asked with, where that is known (of a picture from elsewhere, what most of
        its nearest have); `where` restricts the results, `colour=red` for instance.
        """
        return self.answer(
            ConditionalQuery(
                image,
                parse_conditions(text),
                text_weight,
                tuple(more_like),
                tuple(less_like),
                tuple(keep),
                tuple(where.split(",")) if isinstance(where, str) and where else tuple(where),
                top_k,
            )
        )

    def answer(self, asked: ConditionalQuery) -> pl.DataFrame:
        """What `search` gives, for a request."""
        [scores] = self._scores(self.query_vector(asked))
        return self._table(asked, *self._best_rows(asked, self.allowed(asked), scores))

    def answer_weights(self, asked: ConditionalQuery, text_weights: Sequence[float]) -> list[pl.DataFrame]:
        """The same request at several places of the slider."""
        allowed = self.allowed(asked)
        each = [replace(asked, text_weight=weight) for weight in text_weights]
        scores = self._scores(np.concatenate([self.query_vector(one) for one in each]))
        return [self._table(one, *self._best_rows(one, allowed, mine)) for one, mine in zip(each, scores, strict=True)]

    def kept_values(self, asked: ConditionalQuery) -> dict[str, object]:
        """Column -> the value that results keep; of a picture from elsewhere it is guessed from its nearest images."""
        check_columns(self.catalog, asked.keep)
        if asked.image is None:
            return {}
        own = self.own_row(asked.image)
        if own is not None:
            known = self.catalog.row(own, named=True)
            return {column: known[column] for column in asked.keep if known[column] is not None}
        query = normalize(self.image_features(asked.image))[0]
        nearest = _largest(self.unit_features @ query, N_TO_GUESS_FROM)
        guessed = {column: common_value(self.catalog[column].gather(nearest)) for column in asked.keep}
        return {column: value for column, value in guessed.items() if value is not None}

    def allowed(self, asked: ConditionalQuery) -> Mask:
        """Of every image, whether it may be a result."""
        return allowed_rows(self.catalog, self.kept_values(asked), asked.where)

    def query_vector(self, asked: ConditionalQuery) -> Features:
        """One direction, (1, d), from what was asked."""
        image = None if asked.image is None else self.image_features(asked.image)
        parts = [self._between(image, self.text_features(each), asked.text_weight) for each in asked.conditions]
        if not parts and image is not None:
            parts = [normalize(image)]
        query = normalize(np.mean(parts, axis=0, dtype=np.float32)) if parts else None
        if not asked.more_like and not asked.less_like and query is not None:
            return query
        moved = np.zeros((1, self.unit_features.shape[1]), np.float32) if query is None else query
        for keys, weight in ((asked.more_like, MORE_WEIGHT), (asked.less_like, -LESS_WEIGHT)):
            if keys:
                moved = moved + np.float32(weight) * self.unit_features[self._rows(keys)].mean(axis=0, keepdims=True)
        return normalize(moved)

    def _between(self, image: Features | None, text: Features, text_weight: float) -> Features:
        if image is None:
            return normalize(text)
        ends = ImageOnly().compose(image, text), self.composer.compose(image, text), normalize(text)
        first, second = (ends[0], ends[1]) if text_weight <= BALANCED else (ends[1], ends[2])
        share = np.float32(2 * text_weight if text_weight <= BALANCED else 2 * text_weight - 1)
        return normalize((1 - share) * first + share * second)

    def _rows(self, keys: Sequence[str]) -> list[int]:
        for key in keys:
            if key not in self.row_of:
                raise LikewiseError(f"{key} is no image of {self.workspace.path}: give keys of its catalog.")
        return [self.row_of[key] for key in keys]

    def own_row(self, image: "str | Path | Image.Image | Features") -> int | None:
        """The row of an image of the catalog, by its key or its file."""
        if not isinstance(image, str | Path):
            return None
        row = self.row_of.get(str(image))
        if row is None and (path := Path(image).resolve()).is_relative_to(self.workspace.root):
            row = self.row_of.get(path.relative_to(self.workspace.root).as_posix())
        return row

    def _scores(self, queries: Features) -> Floats:
        """(queries, images), rounded so that equal features have equal scores however many queries are multiplied."""
        return (queries @ self.unit_features.T).astype(np.float64).round(SCORE_DIGITS)

    def _best_rows(self, asked: ConditionalQuery, allowed: Mask, scores: Floats) -> tuple[list[int], Floats]:
        """The best image of each of the best items, and all scores."""
        own = None if asked.image is None else self.own_row(asked.image)
        seen = {int(self.items[row]) for row in (*([] if own is None else [own]), *self._rows(asked.less_like))}
        usable = np.where(allowed, scores, -np.inf)
        n_usable, n_taken = int(allowed.sum()), 8 * asked.top_k
        while True:
            rows, taken = list[int](), set(seen)
            for row in _largest(usable, min(n_taken, n_usable)):
                item = int(self.items[row])
                if len(rows) < asked.top_k and item not in taken:
                    taken.add(item)
                    rows.append(row)
            if len(rows) == asked.top_k or n_taken >= n_usable:
                return rows, scores
            n_taken *= 8

    def _table(self, asked: ConditionalQuery, rows: list[int], scores: Floats) -> pl.DataFrame:
        known = self.catalog[rows]
        told = self.attributes.meets(asked.conditions, rows)
        return pl.DataFrame(
            {
                "rank": range(1, len(rows) + 1),
                "image": known["image"],
                "item": known["item"].cast(pl.String),
                "category": known["category"].cast(pl.String).fill_null(""),
                "score": scores[rows],
                "met": [[condition for condition, met in each.items() if met] for each in told],
                "not_met": [[condition for condition, met in each.items() if not met] for each in told],
            },
            schema=SEARCH_RESULT_SCHEMA,
        )


def search(
    workspace: WorkspaceFolder | Path | str,
    image: "str | Path | Image.Image | None" = None,
    text: str | Sequence[str] = (),
    *,
    encoder: str | None = None,
    method: str | None = None,
    text_weight: float = BALANCED,
    more_like: Sequence[str] = (),
    less_like: Sequence[str] = (),
    keep: Sequence[str] = KEPT,
    where: str | Sequence[str] = (),
    top_k: int = TOP_K,
) -> pl.DataFrame:
    """One search of a workspace; keep a `Searcher` for many."""
    folder = workspace if isinstance(workspace, WorkspaceFolder) else WorkspaceFolder(Path(workspace))
    return Searcher.open(folder, encoder, method, workers=1).search(
        image,
        text,
        text_weight=text_weight,
        more_like=more_like,
        less_like=less_like,
        keep=keep,
        where=where,
        top_k=top_k,
    )


def _largest(scores: NDArray[np.floating], n: int) -> list[int]:
    """Rows of the n largest scores, best first; equal scores in the order of rows."""
    if n < 1:
        return []
    found = np.arange(len(scores))
    if n < len(scores):
        found = np.flatnonzero(scores >= np.partition(scores, len(scores) - n)[len(scores) - n])
    return [int(row) for row in found[np.lexsort((found, -scores[found]))][:n]]
