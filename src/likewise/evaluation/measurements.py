"""Go through the encoders, one set of vectors in memory at a time, and gather all scores that measures need."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, Ints
from likewise.evaluation.discovery import EncoderScores, score_encoder
from likewise.evaluation.gallery_negatives import PER_QUERY, draw_gallery_negatives
from likewise.evaluation.identification import Identified, identify
from likewise.evaluation.incomplete import unlabelled_candidates
from likewise.evaluation.item_pairs import item_scores
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.sampled_negatives import DEFAULT_SAMPLING, NegativeSampling, sample_negatives
from likewise.neighbours import as_unit, pair_scores
from likewise.neighbours.scores import Floats as Vectors

# Of the queries and of the gallery, in the order of the judged pairs' own.
EncoderVectors = tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]


@dataclass(frozen=True)
class Measurements:
    """Every encoder's measurements on the same pairs."""

    pairs: JudgedPairs
    sampled: JudgedPairs | None
    gallery: JudgedPairs
    scored: list[EncoderScores]
    identified: list[Identified]
    unlabelled: tuple[Ints, Ints]  # query and candidate rows that are in some model's list but not judged
    unlabelled_scores: dict[str, Floats]


def measure_encoders(
    vectors: Mapping[str, EncoderVectors],
    encoders: Sequence[str],
    pairs: JudgedPairs,
    generators: Sequence[str],
    ks: Sequence[int],
    seed: int,
    list_length: int,
    on_progress: Callable[[str, int, int], None] | None = None,
    labelled: JudgedPairs | None = None,
    gallery_per_query: int = PER_QUERY,
    sampling: NegativeSampling = DEFAULT_SAMPLING,
) -> Measurements:
    """Two rounds: search with every encoder first; then score what only all searches together could name.

    Sampled negatives come from the lists of all `generators`, whichever `encoders` are measured, and are none of the
    `labelled` pairs; there are none where a generator's vectors are gone. Negatives from the gallery are none that is
    `labelled` similar.
    """
    can_sample = set(generators) <= set(vectors)
    scored, identified = [], []
    for done, name in enumerate(encoders):
        if on_progress:
            on_progress("searching", done, len(encoders))
        queries, gallery = _unit_vectors(vectors, name)
        band = sampling.band if can_sample and name in generators else None
        scored.append(score_encoder(name, pairs, queries, gallery, list_length, band))
        identified.append(identify(name, pairs, queries, gallery, ks))
    bands = [one.band for one in scored if one.band is not None]
    for name in generators if can_sample else ():
        if name not in encoders:
            further = score_encoder(name, pairs, *_unit_vectors(vectors, name), 1, sampling.band).band
            assert further is not None
            bands.append(further)
    sampled = sample_negatives(pairs, bands, seed, sampling, labelled) if bands else None
    from_gallery = draw_gallery_negatives(pairs, seed, gallery_per_query, labelled)
    unlabelled = unlabelled_candidates(scored, pairs, max(ks))
    unlabelled_scores = {}
    for place, one in enumerate(scored):
        if on_progress:
            on_progress("scoring", place, len(encoders))
        queries, gallery = _unit_vectors(vectors, one.encoder)
        unlabelled_scores[one.encoder] = pair_scores(queries, gallery, *unlabelled)
        scored[place] = replace(
            one,
            band=None,
            sampled_scores=None if sampled is None else _sampled_scores(one, pairs, sampled, queries, gallery),
            item_scores=item_scores(queries, gallery, pairs),
            gallery_scores=item_scores(queries, gallery, from_gallery),
        )
    return Measurements(pairs, sampled, from_gallery, scored, identified, unlabelled, unlabelled_scores)


def score_pairs(
    encoder: str, vectors: Mapping[str, EncoderVectors], pairs: JudgedPairs, drawn: JudgedPairs
) -> EncoderScores:
    """One encoder's scores of judged pairs and of items drawn from the gallery; it searches no lists."""
    queries, gallery = _unit_vectors(vectors, encoder)
    scores = pair_scores(queries, gallery, pairs.query, pairs.candidate)
    none = np.empty((len(pairs.queries), 0), np.int64)
    return EncoderScores(encoder, scores, none, gallery_scores=item_scores(queries, gallery, drawn))


def _sampled_scores(
    one: EncoderScores, pairs: JudgedPairs, sampled: JudgedPairs, queries: Vectors, gallery: Vectors
) -> Floats:
    """Scores of the positives, which come first and are known, and of the negatives sampled for them."""
    known = one.scores[pairs.label == 1]
    negatives = slice(len(known), None)
    return np.concatenate(
        [known, pair_scores(queries, gallery, sampled.query[negatives], sampled.candidate[negatives])]
    )


def _unit_vectors(vectors: Mapping[str, EncoderVectors], encoder: str) -> tuple[Vectors, Vectors]:
    queries, gallery = vectors[encoder]
    return as_unit(queries, f"{encoder} vectors"), as_unit(gallery, f"{encoder} vectors")


def unjudged_list_scores(measurements: Measurements, one: EncoderScores) -> Floats:
    """The encoder's scores of its own unjudged list entries (NaN elsewhere), queries x list length."""
    query, candidate = measurements.unlabelled
    width = len(measurements.pairs.gallery)
    cells = query * width + candidate
    wanted = np.arange(len(one.lists))[:, None] * width + one.lists
    scores = np.full(one.lists.shape, np.nan)
    if len(cells):
        at = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
        known = (cells[at] == wanted) & (one.lists >= 0)
        scores[known] = measurements.unlabelled_scores[one.encoder][at[known]]
    return scores
