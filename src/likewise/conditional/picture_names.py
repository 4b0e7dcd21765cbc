"""Pictures as other systems name them: by key, by the catalog's `name`, by file name with or without its ending."""

from dataclasses import dataclass
from pathlib import PurePath

import polars as pl


@dataclass(frozen=True)
class PictureNames:
    """Every way to name a picture that means one picture only."""

    key_of: dict[str, str]

    @classmethod
    def of(cls, catalog: pl.DataFrame) -> "PictureNames":
        keys = catalog["image"].to_list()
        own = catalog["name"].cast(pl.String).to_list() if "name" in catalog.columns else [None] * len(keys)
        found: dict[str, str | None] = {}
        for ways in zip(*((key, name, *_short(key)) for key, name in zip(keys, own, strict=True)), strict=True):
            several: dict[str, str | None] = {}
            for way, key in zip(ways, keys, strict=True):
                if way:
                    several[way] = key if several.get(way, key) == key else None
            found = several | found  # an exact way to name a picture counts before a shorter one
        return cls({way: key for way, key in found.items() if key is not None})

    def key(self, name: str) -> str | None:
        """The picture's key; None for one that the catalog does not have."""
        return self.key_of.get(name) or self.key_of.get(name.lstrip("./"))


def _short(key: str) -> tuple[str, str, str]:
    """File name, the name without its ending, and that without leading zeros, as COCO's numbers are written."""
    path = PurePath(key)
    return path.name, path.stem, path.stem.lstrip("0") or path.stem
