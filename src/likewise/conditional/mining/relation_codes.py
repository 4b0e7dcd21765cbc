"""Relations of one shard after another as numbers: words once in a list, images as 64-bit digests.

What a shard holds is looked at and let go; only the relations that pass stay, 28 bytes each, so the filters need far
less memory than the relations do as text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.conditional.mining.concreteness import Concreteness, singular_noun
from likewise.conditional.mining.parsing import captions_file, shard_file, stored_rows_per_shard

Codes = NDArray[np.int32]
MOST_CONCRETE = 5.0


@dataclass
class StringIndex:
    """Texts in the order they were first met, and their numbers."""

    texts: list[str] = field(default_factory=list)
    code_of: dict[str, int] = field(default_factory=dict)

    def encode(self, column: pl.Series) -> Codes:
        different = column.unique(maintain_order=True)
        numbers = [self.index_of(text) for text in different]
        found = column.replace_strict(different, pl.Series(numbers, dtype=pl.Int32), return_dtype=pl.Int32)
        return found.to_numpy()

    def index_of(self, text: str) -> int:
        number = self.code_of.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def alphabetical_ranks(self) -> NDArray[np.int64]:
        """Where each text stands in the alphabet of all of them."""
        order = sorted(range(len(self.texts)), key=self.texts.__getitem__)
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return places


@dataclass
class Vocabulary:
    """The nouns with what counts as the same thing (their singular) and how visible it is; the relations."""

    ratings: Concreteness | None
    visible: frozenset[str] = frozenset()
    """Words that count as concrete whatever their rating."""
    words: StringIndex = field(default_factory=StringIndex)
    keys: StringIndex = field(default_factory=StringIndex)
    relations: StringIndex = field(default_factory=StringIndex)
    openings: StringIndex = field(default_factory=StringIndex)
    captions_per_opening: list[int] = field(default_factory=list)
    key_of: list[int] = field(default_factory=list)
    rating_of: list[float] = field(default_factory=list)

    def encode_nouns(self, column: pl.Series) -> Codes:
        found = self.words.encode(column)
        for word in self.words.texts[len(self.key_of) :]:
            self.key_of.append(self.keys.index_of(singular_noun(word)))
            self.rating_of.append(self._rating(word))
        return found

    def encode_openings(self, captions: pl.Series) -> Codes:
        """The first word of every caption; how many captions open with each is counted."""
        first = captions.str.to_lowercase().str.extract(r"([^\W_]+)", 1).fill_null("")
        found = self.openings.encode(first)
        self.captions_per_opening += [0] * (len(self.openings.texts) - len(self.captions_per_opening))
        for code, n in zip(*np.unique(found, return_counts=True), strict=True):
            self.captions_per_opening[code] += int(n)
        return found

    def is_visible(self, word: str) -> bool:
        """Whether it is one of the visible words, or ends in one ("navy blue")."""
        return word in self.visible or word.rsplit(" ", 1)[-1] in self.visible

    def _rating(self, word: str) -> float:
        if self.ratings is None or self.is_visible(word):
            return MOST_CONCRETE
        return self.ratings.rating(word)


@dataclass(frozen=True)
class RelationShard:
    """The relations of one shard whose captions have an image."""

    n_captions: int
    n_with_image: int
    n_with_relation: int
    n_relations: int
    row: NDArray[np.int64]
    image: NDArray[np.uint64]
    subject: Codes
    relation: Codes
    object: Codes
    opening: Codes
    """The first word of the caption."""


def read_relation_shards(folder: Path, vocabulary: Vocabulary, *, attributes: bool) -> Iterator[RelationShard]:
    """Every shard of `folder` in its order; `attributes` are the relations without a word."""
    captions = pl.scan_parquet(captions_file(folder), glob=False)
    rows_per_shard = stored_rows_per_shard(folder)
    n_rows = int(captions.select(pl.len()).collect().item())
    ok = pl.col("image").is_not_null() & (pl.col("caption").str.strip_chars() != "")
    for shard, start in enumerate(range(0, n_rows, rows_per_shard)):
        slice_ = captions.slice(start, rows_per_shard).select(
            pl.col("image").hash(), ok.fill_null(False).alias("ok"), "caption"
        )
        images = slice_.collect()
        openings = vocabulary.encode_openings(images["caption"])
        found = pl.read_parquet(shard_file(folder, shard), glob=False)
        if not attributes:
            found = found.filter(pl.col("relation") != "")
        n_with_relation, n_relations = found["row"].n_unique(), found.height
        kept = found.filter(images["ok"].gather(found["row"] - start))
        yield RelationShard(
            images.height,
            int(images["ok"].sum()),
            n_with_relation,
            n_relations,
            kept["row"].to_numpy(),
            images["image"].gather(kept["row"] - start).to_numpy(),
            vocabulary.encode_nouns(kept["subject"]),
            vocabulary.relations.encode(kept["relation"]),
            vocabulary.encode_nouns(kept["object"]),
            openings[(kept["row"] - start).to_numpy()],
        )
