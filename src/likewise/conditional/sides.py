"""The features of both sides that a set of templates needs, and the questions cut from them in blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.conditional.protocol import Asked, Features, images_of
from likewise.conditional.towers import TwoTower
from likewise.workspace import Workspace

BLOCK_TEMPLATES = 128


@dataclass(frozen=True)
class Sides:
    """Image features by key and text features by text, unscaled."""

    images: Sequence[str]
    image_features: Features
    texts: Sequence[str]
    text_features: Features

    @classmethod
    def of(cls, workspace: Workspace, tower: TwoTower, templates: pl.DataFrame) -> "Sides":
        """What `templates` name; images without features are left out, and with them their templates."""
        have = set(tower.encoded_images(workspace))
        images = [image for image in images_of(templates) if image in have]
        texts = templates["condition"].unique().sort().to_list()
        return cls(images, tower.image_features(workspace, images), texts, tower.text_features(texts))

    @classmethod
    def random(cls, templates: pl.DataFrame, dim: int = 512, seed: int = 0) -> "Sides":
        """Features drawn at random: for timing, and for what chance gives."""
        rng = np.random.default_rng(seed)
        images, texts = images_of(templates), templates["condition"].unique().sort().to_list()
        drawn = rng.standard_normal((len(images) + len(texts), dim), dtype=np.float32)
        return cls(images, drawn[: len(images)], texts, drawn[len(images) :])

    @cached_property
    def row_of(self) -> dict[str, int]:
        return {image: row for row, image in enumerate(self.images)}

    @cached_property
    def text_row_of(self) -> dict[str, int]:
        return {text: row for row, text in enumerate(self.texts)}

    def answerable(self, templates: pl.DataFrame) -> pl.DataFrame:
        """Templates whose every image has features, in their order, with `size` candidates each."""
        known = pl.Series(self.images, dtype=pl.String)
        gallery = pl.col("gallery").list.eval(pl.element().is_in(known.implode())).list.all()
        both = pl.col("reference").is_in(known.implode()) & pl.col("target").is_in(known.implode())
        return templates.filter(both & gallery).with_columns((pl.col("gallery").list.len() + 1).alias("size"))

    def blocks(self, templates: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, Asked]]:
        """Answerable templates with the same number of candidates, a few hundred at a time; the target stands first."""
        for (_,), same in self.answerable(templates).group_by(["size"], maintain_order=True):
            for start in range(0, len(same), BLOCK_TEMPLATES):
                part = same[start : start + BLOCK_TEMPLATES]
                yield part, self.asked(part)

    def asked(self, templates: pl.DataFrame) -> Asked:
        """Templates of one gallery size as arrays."""
        galleries = templates["gallery"].to_list()
        candidates = [
            [target, *gallery] for target, gallery in zip(templates["target"].to_list(), galleries, strict=True)
        ]
        places = self.rows([image for keys in candidates for image in keys]).reshape(len(candidates), -1)
        return Asked(
            self.image_features[self.rows(templates["reference"].to_list())],
            self.text_features[[self.text_row_of[text] for text in templates["condition"]]],
            self.image_features[places],
            templates["reference"].to_list(),
            templates["condition"].to_list(),
            candidates,
            templates["task"].to_list(),
        )

    def rows(self, images: Sequence[str]) -> NDArray[np.int64]:
        return np.array([self.row_of[image] for image in images], np.int64)
