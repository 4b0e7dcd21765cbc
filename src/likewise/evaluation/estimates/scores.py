"""The scores of every encoder for the whole catalog, a block of queries at a time, from the vectors."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from likewise.discovery.designs.units import CatalogUnits
from likewise.evaluation.estimates.blocks import RankedBlock, best_per_unit, rank_block
from likewise.evaluation.estimates.chances import Ints
from likewise.evaluation.measurements import EncoderVectors
from likewise.neighbours import as_unit

BLOCK_ENTRIES = 4_000_000  # encoders x queries x images held at once


def ranked_blocks(
    vectors: Mapping[str, EncoderVectors], encoders: Sequence[str], units: CatalogUnits
) -> Iterator[tuple[Ints, RankedBlock]]:
    """Rows of queries, and their pairs ranked by every encoder."""
    sides = [vectors[name] for name in encoders]
    queries = [as_unit(side[0], f"{name} vectors") for name, side in zip(encoders, sides, strict=True)]
    gallery = [as_unit(side[1], f"{name} vectors") for name, side in zip(encoders, sides, strict=True)]
    step = max(1, BLOCK_ENTRIES // max(1, len(units.unit_of_image) * len(encoders)))
    for start in range(0, units.n_queries, step):
        rows = np.arange(start, min(start + step, units.n_queries))
        scores = [
            best_per_unit(mine[rows] @ theirs.T, units.unit_of_image, units.n_units)
            for mine, theirs in zip(queries, gallery, strict=True)
        ]
        yield rows, rank_block(np.stack(scores), units.unit_items[None, :] != units.query_items[rows][:, None])
