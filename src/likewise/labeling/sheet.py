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
from likewise.labeling.votes import PAIR, PAIRS_BEFORE_REPEAT, REPEAT_SPREAD, hash_bytes

PICTURE_PIXELS = 360
QUESTION = "question"


def voting_sheet(
    pool: pl.DataFrame,
    expert: str,
    seed: int = 0,
    answered: pl.DataFrame | None = None,
    repeats: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Every pair of the pool once: query, candidate, expert, question, and an empty answer.

    Pairs among the votes `answered` that this expert gave before are left out. Pairs among `repeats` are asked a second
    time further down, where nothing but the code of the question tells them from others.

    A query's candidates stand together. The order is random, and another for each expert, so that nobody's tiredness
    falls on the same pairs; it depends only on the pairs, the expert and the seed.
    """
    pairs = _left_to_ask(pool, expert, answered)
    random = np.random.default_rng(list(hash_bytes(16, "sheet", seed, expert)))
    queries = pairs.select("query").unique().sort("query")
    place = pl.Series("place", random.permutation(queries.height))
    shuffled = pairs[random.permutation(pairs.height)]
    grouped = shuffled.join(queries.with_columns(place), on="query", maintain_order="left")
    ordered = grouped.sort("place", maintain_order=True).select(
        *PAIR, asking=pl.lit(0), position=pl.int_range(pl.len()).cast(pl.Float64)
    )
    if repeats is not None:
        again = _left_to_ask(repeats, expert, answered).join(ordered, on=PAIR, how="left", maintain_order="left")
        wait = PAIRS_BEFORE_REPEAT + REPEAT_SPREAD * random.random(again.height)
        anywhere = pl.Series(random.random(again.height) * ordered.height)  # the first answer was given elsewhere
        later = (pl.col("position") + pl.Series(wait)).fill_null(anywhere)
        again = again.select(*PAIR, asking=pl.lit(1), position=later)
        ordered = pl.concat([ordered, again]).sort("position", maintain_order=True)
    codes = [question_code(query, candidate, asking) for query, candidate, asking, _ in ordered.iter_rows()]
    return ordered.select(
        *PAIR, pl.lit(expert).alias("expert"), pl.Series(QUESTION, codes, pl.String), pl.lit("").alias("answer")
    )


def _left_to_ask(pairs: pl.DataFrame, expert: str, answered: pl.DataFrame | None) -> pl.DataFrame:
    """These pairs, each once, without those that the expert has voted on."""
    unique = pairs.select(PAIR).unique().sort(PAIR)
    if answered is None:
        return unique
    return unique.join(answered.filter(pl.col("expert") == expert), on=PAIR, how="anti", maintain_order="left")


def question_code(query: str, candidate: str, asking: int) -> str:
    """What tells the second asking of a pair from the first where answers come back, and tells nobody else."""
    return hash_bytes(6, "question", blind_name(query), blind_name(candidate), asking).hex()


def is_repeat(query: str, candidate: str, question: str) -> bool:
    """Whether an answer is that to a hidden repeat: its question's code, with pictures by their keys or their codes."""
    again = hash_bytes(6, "question", query, candidate, 1).hex()
    return bool(question) and question in (again, question_code(query, candidate, 1))


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
