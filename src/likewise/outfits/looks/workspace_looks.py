"""Looks from a workspace: its wardrobe, a model by name, and items given by key or as pictures of one's own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from likewise.catalog.images import open_picture
from likewise.catalog.table import read_catalog
from likewise.encoders.model_cards import DEFAULT_ENCODERS
from likewise.encoders.protocol import Vectors
from likewise.encoders.running.pictures import encode_pictures
from likewise.errors import LikewiseError
from likewise.lineage.guard import EvaluationSet, Screening
from likewise.lineage.record import Lineage
from likewise.outfits.looks.scorer import make_scorer
from likewise.outfits.looks.stylist import LookStylist
from likewise.outfits.looks.wardrobe import Wardrobe
from likewise.outfits.models.card import models_folder
from likewise.outfits.models.feature_source import WorkspaceFeatures, joined_vectors
from likewise.outfits.models.registry import open_model, trained_models
from likewise.outfits.protocol import Item, OutfitModel
from likewise.outfits.screening import Digests, outfit_examples, picture_digest, screen_outfit_models
from likewise.outfits.vectors import VectorLookup
from likewise.workspace import WorkspaceFolder

N_NEIGHBOURS = 15
"""Items whose most common category a picture without one gets."""


@dataclass(frozen=True)
class OwnPictures:
    """The stored vectors of a workspace, and those of pictures that are in no catalog, by a key of their own."""

    inside: WorkspaceFeatures
    pictures: Mapping[str, Path]
    _made: dict[str, VectorLookup] = field(default_factory=dict)

    def vectors(self, encoder: str) -> VectorLookup:
        if encoder not in self._made:
            known = self.inside.vectors(encoder)
            if self.pictures:
                opened = [open_picture(path, str(path)) for path in self.pictures.values()]
                added = encode_pictures(self.inside.workspace, encoder, opened)
                images = (*known.images, *self.pictures)
                known = VectorLookup(
                    encoder, images, np.concatenate([known.lookup(known.images), added]).astype(np.float32)
                )
            self._made[encoder] = known
        return self._made[encoder]

    def image_path(self, image: str) -> Path:
        return self.pictures[image] if image in self.pictures else self.inside.image_path(image)

    def lineage(self, encoders: str) -> Lineage:
        return self.inside.lineage(encoders)


@dataclass(frozen=True)
class OpenedLook:
    """A stylist, the rows of the items that were given, sentences about what was guessed, and what the guard needs."""

    stylist: LookStylist
    worn: tuple[int, ...]
    model: OutfitModel
    notes: tuple[str, ...] = ()
    digests: Digests = field(default_factory=dict)

    def look(self, rows: Sequence[int]) -> list[Item]:
        return [self.stylist.wardrobe.items[row] for row in rows]

    def screening(self, look: Sequence[Item]) -> Screening:
        """What the guard finds: whether the model learned from this look, or from items of it."""
        asked = EvaluationSet("outfits", "this look", outfit_examples(look, self.digests, [look]))
        return screen_outfit_models([self.model], asked)

    def said(self, rows: Sequence[int]) -> list[str]:
        """What was guessed, and the guard's sentences."""
        return [*self.notes, *self.screening(self.look(rows)).notes([self.model.name])]


def look_models(workspace: WorkspaceFolder) -> list[str]:
    """Trained models first, then how alike items look under each encoder, the default ones first."""
    there = [name for name in workspace.encoders() if "+" not in name]
    there.sort(key=lambda name: DEFAULT_ENCODERS.index(name) if name in DEFAULT_ENCODERS else len(DEFAULT_ENCODERS))
    return [*trained_models(models_folder(workspace)), *(f"mean-cosine:{name}" for name in there)]


def default_look_model(workspace: WorkspaceFolder) -> str:
    """What the page of looks and the commands use where no model is named: the first there is."""
    known = look_models(workspace)
    if not known:
        raise LikewiseError(f"there are no vectors yet: run `likewise encode {workspace.quoted}` first.")
    return known[0]


def open_look(
    workspace: WorkspaceFolder,
    model: str,
    items: Sequence[str],
    mapping: Mapping[str, str] | None = None,
    *,
    pictures: Mapping[str, tuple[str, Path]] | None = None,
) -> OpenedLook:
    """`items` are items or image keys of the catalog, or pictures: `FILE` or `CATEGORY=FILE`; no model is the default.

    `pictures` are further items by a name of their own, each with its category, or "" where it is to be guessed.
    """
    model = model or default_look_model(workspace)
    catalog = read_catalog(workspace)
    keys = set(catalog["item"]) | set(catalog["image"])
    files = {name: _as_file(name) for name in items if name not in keys}
    own = {name: found for name, found in files.items() if found is not None} | dict(pictures or {})
    features = OwnPictures(WorkspaceFeatures(workspace), {f"picture: {name}": path for name, (_, path) in own.items()})
    opened = open_model(model, features, models_folder(workspace))
    encoders = getattr(getattr(opened, "card", None), "encoders", "") or _looking(workspace, model)
    table = joined_vectors(features, encoders)
    notes, rows = [], []
    for name, (category, path) in own.items():
        if not category:
            category = guess_category(catalog, table, f"picture: {name}")
            if name in files:
                notes.append(f"{name} looks like {category}; say so with CATEGORY={name} if it is something else")
        digest = picture_digest(path.read_bytes())
        rows.append({"image": f"picture: {name}", "item": name, "category": category, "digest": digest})
    known = (
        pl.concat([catalog, pl.DataFrame(rows, schema_overrides=_types(catalog))], how="diagonal") if rows else catalog
    )
    wardrobe = Wardrobe.from_catalog(known, table.images, mapping)
    wardrobe = _without_suggesting(wardrobe, {row["item"] for row in rows})
    vectors = table.lookup([item.image for item in wardrobe.items])
    worn = tuple(wardrobe.row(name) for name in dict.fromkeys(items))
    digests = {image: digest or "" for image, digest in known.select("image", "digest").iter_rows()}
    stylist = LookStylist(wardrobe, make_scorer(opened, wardrobe.items), vectors)
    return OpenedLook(stylist, worn, opened, tuple(notes), digests)


def _as_file(name: str) -> tuple[str, Path] | None:
    """(category or nothing, file) where the text names a file."""
    category, equals, path = name.partition("=")
    if equals and Path(path).expanduser().is_file():
        return category, Path(path).expanduser()
    return ("", Path(name).expanduser()) if Path(name).expanduser().is_file() else None


def _looking(workspace: WorkspaceFolder, model: str) -> str:
    """The encoder by which items look alike, for models that have none of their own."""
    named = model.partition(":")[2] if model.startswith("mean-cosine") else ""
    there = workspace.encoders()
    return named or next(
        (name for name in DEFAULT_ENCODERS if name in there), there[0] if there else DEFAULT_ENCODERS[0]
    )


def _types(catalog: pl.DataFrame) -> dict[str, pl.DataType]:
    return {name: catalog.schema[name] for name in ("image", "item", "category", "digest")}


def _without_suggesting(wardrobe: Wardrobe, own: set[str]) -> Wardrobe:
    """A picture of one's own is worn, never suggested: it stands in no slot's list."""
    return replace(wardrobe, hidden=frozenset(wardrobe.row_of[name] for name in own)) if own else wardrobe


def guess_category(catalog: pl.DataFrame, table: VectorLookup, image: str) -> str:
    """The most common category among the items that look most like a picture."""
    own: Vectors = table.lookup([image])
    inside = [key for key in table.images if not key.startswith("picture: ")]
    nearest = np.argsort(-(table.lookup(inside) @ own[0]), kind="stable")[:N_NEIGHBOURS]
    category = dict(catalog.select("image", "category").iter_rows())
    return Counter(str(category[inside[place]]) for place in nearest.tolist()).most_common(1)[0][0]
