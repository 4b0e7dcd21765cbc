"""The features of both sides that a set of templates needs, and the batches of queries cut from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.conditional.protocol import Features, QueryBatch, images_of
from likewise.conditional.towers import TwoTower
from likewise.workspace import WorkspaceFolder

TEMPLATES_PER_BATCH = 128


@dataclass(frozen=True)
class ImageTextFeatures:
    """Image features by key and text features by text, unscaled."""

    images: Sequence[str]
    image_features: Features
    texts: Sequence[str]
    text_features: Features

    @classmethod
    def load(cls, workspace: WorkspaceFolder, tower: TwoTower, templates: pl.DataFrame) -> "ImageTextFeatures":
        """What `templates` name; images without features are left out, and with them their templates."""
        have = set(tower.encoded_images(workspace))
        images = [image for image in images_of(templates) if image in have]
        texts = templates["condition"].unique().sort().to_list()
        return cls(images, tower.image_features(workspace, images), texts, tower.text_features(texts))

    @classmethod
    def random(cls, templates: pl.DataFrame, dim: int = 512, seed: int = 0) -> "ImageTextFeatures":
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

    def with_all_features(self, templates: pl.DataFrame) -> pl.DataFrame:
        """Templates whose every image has features, in their order, with `size` candidates each."""
        known = pl.Series(self.images, dtype=pl.String)
        gallery = pl.col("gallery").list.eval(pl.element().is_in(known.implode())).list.all()
        both = pl.col("reference").is_in(known.implode()) & pl.col("target").is_in(known.implode())
        return templates.filter(both & gallery).with_columns((pl.col("gallery").list.len() + 1).alias("size"))

    def batches(self, templates: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, QueryBatch]]:
        """Answerable templates with the same number of candidates, a few hundred at a time; the target stands first."""
        for (_,), same in self.with_all_features(templates).group_by(["size"], maintain_order=True):
            for start in range(0, len(same), TEMPLATES_PER_BATCH):
                batch = same[start : start + TEMPLATES_PER_BATCH]
                yield batch, self.to_batch(batch)

    def to_batch(self, templates: pl.DataFrame) -> QueryBatch:
        """Templates of one gallery size as arrays."""
        galleries = templates["gallery"].to_list()
        candidates = [
            [target, *gallery] for target, gallery in zip(templates["target"].to_list(), galleries, strict=True)
        ]
        rows = self.image_rows([image for keys in candidates for image in keys]).reshape(len(candidates), -1)
        return QueryBatch(
            self.image_features[self.image_rows(templates["reference"].to_list())],
            self.text_features[[self.text_row_of[text] for text in templates["condition"]]],
            self.image_features[rows],
            templates["reference"].to_list(),
            templates["condition"].to_list(),
            candidates,
            templates["task"].to_list(),
            templates["template"].to_list(),
        )

    def image_rows(self, images: Sequence[str]) -> NDArray[np.int64]:
        return np.array([self.row_of[image] for image in images], np.int64)
