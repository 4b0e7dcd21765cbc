"""A table to fill in, for experts who label in a spreadsheet or on a page without a server.

It is blind: which generator proposed a pair, at which rank and score, and what others answered, is not in it. What
leaves the house names pictures by codes that say nothing, since paths give away categories and items; votes that come
back under these codes are given their keys again.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from likewise.catalog import write_picture
from likewise.catalog.file_cards import load_shown
from likewise.labeling.votes import PAIR, hash_bytes

PICTURE_PIXELS = 360


def voting_sheet(pool: pl.DataFrame, expert: str, seed: int = 0, answered: pl.DataFrame | None = None) -> pl.DataFrame:
    """Every pair of the pool once: query, candidate, expert, and an empty answer.

    Pairs among the votes `answered` that this expert gave before are left out.

    A query's candidates stand together. The order is random, and another for each expert, so that nobody's tiredness
    falls on the same pairs; it depends only on the pairs, the expert and the seed.
    """
    pairs = pool.select(PAIR).unique().sort(PAIR)
    if answered is not None:
        pairs = pairs.join(answered.filter(pl.col("expert") == expert), on=PAIR, how="anti", maintain_order="left")
    random = np.random.default_rng(list(hash_bytes(16, "sheet", seed, expert)))
    queries = pairs.select("query").unique().sort("query")
    place = pl.Series("place", random.permutation(queries.height))
    shuffled = pairs[random.permutation(pairs.height)]
    grouped = shuffled.join(queries.with_columns(place), on="query", maintain_order="left")
    return grouped.sort("place", maintain_order=True).select(
        *PAIR, pl.lit(expert).alias("expert"), pl.lit("").alias("answer")
    )


def blind_name(image: str) -> str:
    """The code of a picture on a sheet: the same on every sheet, and nothing can be read from it."""
    return hash_bytes(8, "sheet", image).hex()


def reveal_names(votes: pl.DataFrame, images: Iterable[str]) -> pl.DataFrame:
    """Votes with the keys of the catalog where they name pictures by their codes; anything else stays."""
    known = set(images)
    named = set(votes["query"]) | set(votes["candidate"])
    if named <= known:
        return votes
    keys = {blind_name(image): image for image in known}
    return votes.with_columns(pl.col(column).replace(keys) for column in PAIR)


def write_pictures(images: Iterable[str], root: Path, folder: Path) -> None:
    """Small copies of these images under their codes, for sheets that hold no pictures themselves."""
    folder.mkdir(parents=True, exist_ok=True)
    for image in images:
        picture = load_shown(root / image, at_least=PICTURE_PIXELS)
        picture.thumbnail((PICTURE_PIXELS, PICTURE_PIXELS))
        write_picture(picture, folder / f"{blind_name(image)}.jpg", quality=85)
