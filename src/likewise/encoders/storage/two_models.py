"""Whether a collection of vectors is of two models: halves that are never neighbours and share no direction.

The vectors are divided in two where they are most apart (2-means). Of one model the halves, shoes and shirts say, still
vary along common directions, and some of their neighbours are in the other half. Of two models neither is so: the
main directions of one half explain no more of the other than with their dimensions shuffled. Where the halves follow a
column of the catalog, two kinds of pictures are the likelier reason. `docs/two_models.py` has the shares of alarms.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

MAX_LOOKED_AT, MIN_HALF, MIN_DIM = 1000, 30, 64
DIRECTIONS, NEIGHBOURS, SHUFFLES, STEPS = 10, 10, 5, 30
MAX_MIXED = 0.005  # of neighbours in the other half
MAX_SHARED = 1.5  # times what shuffled dimensions share; of one model 3.1 or more, of two about 1
FOLLOWS = 0.95  # of the images are in the half of most images with their value
Floats = NDArray[np.float64]
Halves = NDArray[np.bool_]


def halves_of_two_models(vectors: NDArray[np.floating]) -> Halves | None:
    """Which of these vectors (at unit length) are of the second model; None where nothing speaks for two."""
    if len(vectors) < 2 * MIN_HALF or vectors.shape[1] < MIN_DIM:
        return None
    rows = np.asarray(vectors, np.float64)
    halves, near = _divide(rows), _neighbours(rows)
    if halves is None:
        return None
    halves = np.asarray(halves[near].mean(axis=1) > 0.5)  # 2-means errs at the border
    if min(halves.sum(), (~halves).sum()) < MIN_HALF or (halves[near] != halves[:, None]).mean() > MAX_MIXED:
        return None
    if _shared(rows, halves) > MAX_SHARED:
        return None
    return halves


def follows_a_column(halves: Halves, rows: pl.DataFrame) -> bool:
    """Whether a column of the images, or their folder, tells the halves apart."""
    folder = pl.col("image").str.extract(r"^(.*)/", 1).fill_null("")
    table = rows.select(pl.all().cast(pl.String), folder=folder).with_columns(half=pl.Series(halves))
    for name in set(table.columns) - {"half"}:
        of_value = table.group_by(name).agg(n=pl.len(), n_second=pl.col("half").sum())
        most = of_value.select(pl.max_horizontal("n_second", pl.col("n") - pl.col("n_second")).sum()).item()
        if len(of_value) <= len(table) / 2 and most >= FOLLOWS * len(table):
            return True
    return False


def _divide(rows: Floats) -> Halves | None:
    """2-means from several cuts along the first direction; the division that leaves least spread."""
    along = _directions(rows - rows.mean(axis=0), 1) @ rows.T
    found, least = None, np.inf
    for cut in np.quantile(along[0], (0.1, 0.5, 0.9)):
        halves = along[0] > cut
        for _ in range(STEPS):
            centres = np.stack([rows[~halves].mean(axis=0), rows[halves].mean(axis=0)])
            near = rows @ centres.T - (centres**2).sum(axis=1) / 2.0
            after = near[:, 1] > near[:, 0]
            if not 0 < after.sum() < len(rows):
                break
            halves, same = after, bool((after == halves).all())
            if same:
                break
        spread = sum(float(((rows[half] - rows[half].mean(axis=0)) ** 2).sum()) for half in (halves, ~halves))
        if spread < least and 0 < halves.sum() < len(rows):
            found, least = halves, spread
    return found


def _directions(centred: Floats, n: int) -> Floats:
    """The first principal directions."""
    return np.asarray(np.linalg.svd(centred, full_matrices=False)[2][:n])


def _neighbours(rows: Floats) -> NDArray[np.int64]:
    scores = rows @ rows.T
    np.fill_diagonal(scores, -np.inf)
    return np.argpartition(-scores, NEIGHBOURS, axis=1)[:, :NEIGHBOURS].astype(np.int64)


def _shared(rows: Floats, halves: Halves) -> float:
    """How much of a half the directions of the other explain, against the same directions with dimensions shuffled."""
    first, second = (rows[half] - rows[half].mean(axis=0) for half in (halves, ~halves))
    of_first, of_second = _directions(first, DIRECTIONS), _directions(second, DIRECTIONS)
    rng = np.random.default_rng(0)
    orders = [rng.permutation(rows.shape[1]) for _ in range(SHUFFLES)]
    found = []
    for half, directions in ((second, of_first), (first, of_second)):
        chance = np.mean([_explained(half, directions[:, order]) for order in orders])
        found.append(_explained(half, directions) / chance if chance > 0.0 else np.inf)
    return float(min(found))


def _explained(centred: Floats, directions: Floats) -> float:
    return float(((centred @ directions.T) ** 2).sum())
