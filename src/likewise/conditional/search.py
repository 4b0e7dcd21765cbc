"""Search with a condition: "like this image, but in red", over a whole catalog.

The query vector lies between three directions that a slider connects: the image alone (0), image and text composed by
a method (1/2), the text alone (1).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.images import open_picture
from likewise.catalog.table import read_catalog
from likewise.conditional.composers import ImageOnly
from likewise.conditional.methods import COMBINER, COMBINERS_FOLDER, combiner_names, get_composer
from likewise.conditional.protocol import Composer, Features
from likewise.conditional.search_filters import KEPT, allowed_images
from likewise.conditional.towers import TwoTower, encoded_towers, normalize
from likewise.errors import LikewiseError
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_json

if TYPE_CHECKING:
    from PIL import Image

TOP_K = 12
BALANCED = 0.5
CHOSEN_METHODS = "condition_methods.json"
"""In results/: the method that `likewise condition catalog` chose for each encoder."""
SEARCH_RESULT_SCHEMA = {
    "rank": pl.Int64(),
    "image": pl.String(),
    "item": pl.String(),
    "category": pl.String(),
    "score": pl.Float64(),
}
_OPENING = re.compile(r"^(like (this|that|it)[,:]?\s+)?(but\s+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Searcher:
    """A catalog ready to be searched."""

    workspace: WorkspaceFolder
    tower: TwoTower
    composer: Composer
    images: list[str]
    unit_features: Features

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
        return cls(workspace, tower, composer, images, normalize(tower.image_features(workspace, images)))

    @cached_property
    def catalog(self) -> pl.DataFrame:
        return read_catalog(self.workspace)

    @cached_property
    def row_of(self) -> dict[str, int]:
        return {image: row for row, image in enumerate(self.images)}

    @cached_property
    def item_of(self) -> dict[str, tuple[str, str]]:
        rows = self.catalog.select("image", pl.col("item", "category").cast(pl.String)).iter_rows()
        return {image: (item or "", category or "") for image, item, category in rows}

    def image_features(self, image: "str | Path | Image.Image | Features") -> Features:
        """Of an image of the catalog by its key, of a file, or of a picture; features stay what they are."""
        if isinstance(image, np.ndarray):
            return image
        if isinstance(image, str | Path):
            if str(image) in self.row_of:
                return self.tower.image_features(self.workspace, [str(image)])
            if not Path(image).is_file():
                raise LikewiseError(
                    f"{image} is neither a file nor an image of {self.workspace.path}: give a picture or a key."
                )
            image = open_picture(Path(image), str(image))
        return self.tower.picture_features([image])

    def find_images(self, find: str = "") -> list[str]:
        """Images whose key or category holds a text, in catalog order; all for an empty one."""
        wanted = find.strip().lower()
        return [
            image
            for image in self.images
            if not wanted or wanted in image.lower() or wanted in self.item_of[image][1].lower()
        ]

    def search(
        self,
        image: "str | Path | Image.Image | Features | None" = None,
        text: str = "",
        *,
        text_weight: float = BALANCED,
        top_k: int = TOP_K,
        keep: Sequence[str] = KEPT,
        where: str | None = None,
    ) -> pl.DataFrame:
        """The best image of the best `top_k` items, never the one asked with: rank, image, item, category, score.

        `keep` names columns in which results have the value of the image asked with, where that is known; `where`
        restricts the results, `colour=red` for instance.
        """
        condition = parse_condition(text)
        if image is None and not condition:
            raise LikewiseError("there is nothing to look for: give an image, a text, or both.")
        if not 0.0 <= text_weight <= 1.0:
            raise LikewiseError(f"the weight of the text is {text_weight}: use 0 (image alone) to 1 (text alone).")
        own = str(image) if isinstance(image, str | Path) and str(image) in self.row_of else None
        features = None if image is None else self.image_features(image)
        scores = (self.unit_features @ self.query_vector(features, condition, text_weight)[0]).astype(np.float64)
        allowed = self.allowed(own, keep, where)
        seen = {self.item_of[own][0]} if own is not None else set()
        rows: list[tuple[object, ...]] = []
        for row in np.lexsort((np.arange(len(scores)), -scores)).tolist():
            if len(rows) >= top_k:
                break
            item, category = self.item_of[self.images[row]]
            if allowed[row] and item not in seen:
                seen.add(item)
                rows.append((len(rows) + 1, self.images[row], item, category, float(scores[row])))
        return pl.DataFrame(rows, schema=SEARCH_RESULT_SCHEMA, orient="row")

    def allowed(self, reference: str | None, keep: Sequence[str], where: str | None) -> NDArray[np.bool_]:
        """Of every image, whether it may be a result."""
        chosen = allowed_images(self.catalog, reference, keep, where)
        return np.array([image in chosen for image in self.images])

    def query_vector(self, image: Features | None, condition: str, text_weight: float) -> Features:
        """One direction, (1, d), from what was asked."""
        text = self.tower.text_features([condition]) if condition else None
        if image is None or text is None:
            only = text if image is None else image
            assert only is not None
            return normalize(only)
        ends = ImageOnly().compose(image, text), self.composer.compose(image, text), normalize(text)
        first, second = (ends[0], ends[1]) if text_weight <= BALANCED else (ends[1], ends[2])
        share = np.float32(2 * text_weight if text_weight <= BALANCED else 2 * text_weight - 1)
        return normalize((1 - share) * first + share * second)


def search(
    workspace: WorkspaceFolder | Path | str,
    image: "str | Path | Image.Image | None" = None,
    text: str = "",
    *,
    encoder: str | None = None,
    method: str | None = None,
    text_weight: float = BALANCED,
    top_k: int = TOP_K,
    keep: Sequence[str] = KEPT,
    where: str | None = None,
) -> pl.DataFrame:
    """One search of a workspace; keep a `Searcher` for many."""
    folder = workspace if isinstance(workspace, WorkspaceFolder) else WorkspaceFolder(Path(workspace))
    searcher = Searcher.open(folder, encoder, method, workers=1)
    return searcher.search(image, text, text_weight=text_weight, top_k=top_k, keep=keep, where=where)


def parse_condition(text: str) -> str:
    """What is asked for: "like this, but in red" asks for "in red"."""
    return _OPENING.sub("", " ".join(text.split()))


def default_tower(workspace: WorkspaceFolder) -> str:
    """The two-tower encoder a workspace has features of."""
    there = encoded_towers(workspace)
    if len(there) == 1:
        return there[0]
    what = f"has features of {', '.join(there)}" if there else "has no features of a two-tower encoder yet"
    raise LikewiseError(
        f"{workspace.path} {what}: name one with `--with`, such as two-tower:FOLDER (from `likewise condition "
        "two-tower`), clip or hf:FOLDER."
    )


@dataclass(frozen=True)
class SearchModel:
    """An encoder and a method to search with."""

    encoder: str
    method: str

    @property
    def label(self) -> str:
        kind, _, name = self.method.partition(":")
        said = f"{kind} {name}" if name and name != kind else kind.replace("+", " + ")
        return f"{TwoTower(self.encoder).name}, {said}"


def available_models(workspace: WorkspaceFolder) -> list[SearchModel]:
    """What a workspace can be searched with, without loading it: measured weights, Combiners, the plain mean."""
    towers = encoded_towers(workspace)
    measured = [SearchModel(spec, method) for spec in towers if (method := chosen_method(workspace, TwoTower(spec)))]
    named = [(spec, name) for spec in towers for name in _matching_combiners(workspace, TwoTower(spec))]
    trained = [SearchModel(spec, f"{COMBINER}:{name}") for spec, name in named]
    return [*measured, *trained, *(SearchModel(spec, "image+text") for spec in towers)]


def default_method(workspace: WorkspaceFolder, tower: TwoTower) -> str:
    """What `likewise condition catalog` chose, else the encoder's only Combiner, else the mean of image and text."""
    if chosen := chosen_method(workspace, tower):
        return chosen
    fitting = _matching_combiners(workspace, tower)
    return f"{COMBINER}:{fitting[0]}" if len(fitting) == 1 else "image+text"


def chosen_method(workspace: WorkspaceFolder, tower: TwoTower) -> str | None:
    """The weights that kept most of category and condition, if they were measured for this encoder."""
    path = workspace.results_folder / CHOSEN_METHODS
    found = read_json(path).get(tower.name) if path.exists() else None
    return str(found) if found else None


def _matching_combiners(workspace: WorkspaceFolder, tower: TwoTower) -> list[str]:
    return [name for name in combiner_names(workspace) if _trained_for(workspace.path / COMBINERS_FOLDER / name, tower)]


def _trained_for(folder: Path, tower: TwoTower) -> bool:
    """Whether a Combiner was trained for this encoder; its folder may be written in another way."""
    trained_for = str(read_json(folder / "combiner.json").get("tower", ""))
    return bool(trained_for) and TwoTower(trained_for).name == tower.name
