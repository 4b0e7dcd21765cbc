"""Pairs drawn by rank band: how many similar pairs are there further down the generators' lists (VSD, sec. 6.4)?

The paper takes unlabelled candidates of ranks 100-499 for negatives. A band holds every pair of a query and a
candidate that some generator's list has at one of its ranks; of each band so many pairs are drawn, all with the same
chance. Their labels judge no model.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from likewise.discovery.pool import PAIR, QueryGallery
from likewise.discovery.proposals import pick_outside
from likewise.discovery.step import Pool, search_generators
from likewise.errors import LikewiseError
from likewise.neighbours import NO_INDEX
from likewise.neighbours.scores import Rows
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, write_parquet

RankBand = tuple[int, int]
"""First and last rank, zero-based, both included."""
BAND_SCHEMA = pl.Schema(
    {**dict.fromkeys(PAIR, pl.String), "first_rank": pl.Int64, "last_rank": pl.Int64, "n_pairs": pl.Int64}
)


def parse_bands(text: str) -> tuple[RankBand, ...]:
    """`0-5,6-19,100-499`."""
    bands = []
    for part in filter(None, (each.strip() for each in text.split(","))):
        first, dash, last = part.partition("-")
        if not dash or not first.isdecimal() or not last.isdecimal() or int(first) > int(last):
            raise LikewiseError(f"{part!r} is no band of ranks: write FIRST-LAST, counted from 0, such as 100-499.")
        bands.append((int(first), int(last)))
    if not bands:
        raise LikewiseError("no band of ranks is named: write some such as 0-5,100-499.")
    return tuple(bands)


def bands_without_pairs(bands: Sequence[RankBand], drawn: pl.DataFrame) -> list[RankBand]:
    """Those that no list reaches."""
    found = set(drawn.select("first_rank", "last_rank").iter_rows())
    return [band for band in bands if band not in found]


def draw_rank_bands(
    workspace: WorkspaceFolder,
    pool: Pool,
    bands: Sequence[RankBand],
    per_band: int,
    seed: int = 0,
    on_progress: ProgressCallback | None = None,
) -> pl.DataFrame:
    """Draw `per_band` pairs of each band (all, where there are fewer) and remember them; `n_pairs` is a band's size."""
    generators = pool.settings.generators
    if not generators:
        raise LikewiseError(
            f"the pool in {workspace.path} is of imported labels, which name no generator, so there are no lists with "
            f"ranks: make one with `likewise discover {workspace.quoted} --replace`."
        )
    length = max(last for _, last in bands) + 1
    found = search_generators(workspace, pool.settings, generators, pool.query_gallery, length, on_progress)
    lists = [one.neighbours.indices for one in found.values()]
    drawn = pl.concat([draw_band(pool.query_gallery, lists, band, per_band, seed) for band in bands])
    if drawn.is_empty():
        raise LikewiseError(f"no list reaches rank {min(first for first, _ in bands)}: the gallery is too small.")
    pick_outside(workspace, pool.rows, drawn)
    write_parquet(drawn, workspace.rank_bands_file)
    return drawn


def draw_band(asked: QueryGallery, lists: Sequence[Rows], band: RankBand, n_pairs: int, seed: int) -> pl.DataFrame:
    """Different pairs of one band, uniformly."""
    first, last = band
    columns = [rows[:, first : last + 1] for rows in lists]
    queries = [np.broadcast_to(np.arange(len(rows))[:, None], rows.shape) for rows in columns]
    listed = np.concatenate([rows.reshape(-1) for rows in columns])
    query = np.concatenate([rows.reshape(-1) for rows in queries])[listed != NO_INDEX]
    cells = np.unique(query * len(asked.gallery) + listed[listed != NO_INDEX])
    rng = np.random.default_rng([seed, first, last])
    chosen = np.sort(rng.choice(cells, min(n_pairs, len(cells)), replace=False))
    places = np.divmod(chosen, len(asked.gallery))
    return pl.DataFrame(
        {
            "query": [asked.queries[row] for row in places[0]],
            "candidate": [asked.gallery[row] for row in places[1]],
            "first_rank": [first] * len(chosen),
            "last_rank": [last] * len(chosen),
            "n_pairs": [len(cells)] * len(chosen),
        },
        schema=BAND_SCHEMA,
    )
