"""Sampled negatives of a bundle: drawn from the generators' lists when it is made, for nobody has those elsewhere."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.discovery import score_encoder
from likewise.evaluation.pairs import JudgedPairs, against_negatives
from likewise.evaluation.sampled_negatives import NegativeSampling, sample_negatives
from likewise.labeling.votes import PAIR
from likewise.workspace import WorkspaceFolder


def draw_negatives(
    workspace: WorkspaceFolder,
    pairs: JudgedPairs,
    labelled: JudgedPairs,
    generators: Sequence[str],
    seed: int,
    sampling: NegativeSampling,
) -> pl.DataFrame:
    """The same pairs (query, candidate) that `evaluate` draws with this seed; none if vectors or ranks are missing."""
    sampled = None
    if set(generators) <= set(workspace.encoders()):
        bands = []
        for name in generators:
            queries, gallery = (read_vectors(workspace, name, images) for images in (pairs.queries, pairs.gallery))
            band = score_encoder(name, pairs, queries, gallery, 1, sampling.band).band
            assert band is not None
            bands.append(band)
        sampled = sample_negatives(pairs, bands, seed, sampling, labelled) if bands else None
    drawn = np.empty(0, np.int64) if sampled is None else np.flatnonzero(sampled.label == 0)
    query, candidate = (drawn, drawn) if sampled is None else (sampled.query[drawn], sampled.candidate[drawn])
    columns = [pl.Series(pairs.queries).gather(query), pl.Series(pairs.gallery).gather(candidate)]
    return pl.DataFrame(dict(zip(PAIR, columns, strict=True)), schema=dict.fromkeys(PAIR, pl.String)).sort(PAIR)


def with_negatives(pairs: JudgedPairs, negatives: pl.DataFrame) -> JudgedPairs | None:
    """The positives of `pairs` with these negatives in place of the labelled ones; None if there are none."""
    if negatives.is_empty():
        return None
    query_of = {image: row for row, image in enumerate(pairs.queries)}
    candidate_of = {image: row for row, image in enumerate(pairs.gallery)}
    rows = [(query_of[query], candidate_of[candidate]) for query, candidate in negatives.select(PAIR).iter_rows()]
    query, candidate = np.array(rows, dtype=np.int64).T
    return against_negatives(pairs, query, candidate)
