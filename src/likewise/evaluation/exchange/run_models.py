"""Models and run files: what an encoder lists, as a run; and a run, read back, as a model to be measured.

A run holds the first candidates of each query and nothing below, so a judged pair may be missing from it. Such a
pair is taken to stand below everything the run lists for its query, tied with the query's other missing ones (in
micro averages: just below the query's last score; for a query the run lacks altogether, below all others). They are
counted, because areas under curves rest on them: a run of the best image of each item lacks many, a run of every image
few, one of judged pairs (with the best images of items drawn from the gallery) none. The lists of that last one hold
few unjudged candidates, so they say nothing about hits.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.evaluation.auc import Floats, Ints
from likewise.evaluation.discovery import EncoderScores
from likewise.evaluation.exchange.trec import RUN_SCHEMA, TrecRun
from likewise.evaluation.item_pairs import best_images
from likewise.evaluation.pairs import JudgedPairs
from likewise.neighbours import NO_INDEX, as_unit, pair_scores, top_k
from likewise.neighbours.scores import Floats as Vectors

DEPTH = 1000
BY_ITEM, BY_IMAGE, JUDGED = "best-image-per-item", "every-image", "judged-pairs"


@dataclass(frozen=True)
class MeasuredRun:
    """A run as a model, and how far it covers what was asked of it."""

    measured: EncoderScores
    n_missing_pairs: int  # judged, but not in the run
    n_missing_queries: int  # not in the run at all
    n_outside: int  # rows of the run about other queries or images


def run_tag(encoder: str, what: str) -> str:
    """The tag of a run says which candidates it holds."""
    return f"{encoder}:{what}"


def encoder_from_tag(tag: str) -> str:
    encoder, colon, what = tag.rpartition(":")
    return encoder if colon and what in (BY_ITEM, BY_IMAGE, JUDGED) else tag


def list_run_candidates(
    pairs: JudgedPairs,
    query_vectors: Vectors,
    gallery_vectors: Vectors,
    *,
    depth: int = DEPTH,
    one_per_item: bool = True,
) -> pl.DataFrame:
    """The first `depth` candidates of each query (query, candidate, rank, score), never of the query's own item."""
    found = top_k(
        query_vectors,
        gallery_vectors,
        min(depth, len(pairs.gallery)),
        query_groups=pairs.query_items,
        gallery_groups=pairs.gallery_items,
        one_per_group=one_per_item,
    )
    query, rank = np.nonzero(found.indices != NO_INDEX)
    return _rows(pairs, query, found.indices[query, rank], rank, found.scores[query, rank])


def list_judged(
    pairs: JudgedPairs, query_vectors: Vectors, gallery_vectors: Vectors, *, drawn: JudgedPairs | None = None
) -> pl.DataFrame:
    """Every judged pair with its score, and the best image of items `drawn` from the gallery: enough for all areas."""
    vectors = as_unit(query_vectors, "query vectors"), as_unit(gallery_vectors, "gallery vectors")
    width = len(pairs.gallery)
    cells = pairs.query * width + pairs.candidate
    if drawn is not None:
        cells = np.concatenate([cells, drawn.query * width + best_images(*vectors, drawn)[0]])
    cells = np.unique(cells)
    query, candidate = cells // width, cells % width
    scores = pair_scores(*vectors, query, candidate)
    order = np.lexsort((candidate, -scores, query))
    query = query[order]
    rank = np.arange(len(query)) - np.searchsorted(query, query)
    return _rows(pairs, query, candidate[order], rank, scores[order])


def evaluate_run(run: TrecRun, pairs: JudgedPairs, k: int, *, by_item: bool = False) -> MeasuredRun:
    """Scores of the judged pairs and, as for any model, lists of the best image of each item of other items.

    With `by_item` a pair has the score of the best image of its item that the run lists.
    """
    query_of = {image: row for row, image in enumerate(pairs.queries)}
    candidate_of = {image: row for row, image in enumerate(pairs.gallery)}
    query = np.array([query_of.get(image, NO_INDEX) for image in run.rows["query"]], dtype=np.int64)
    candidate = np.array([candidate_of.get(image, NO_INDEX) for image in run.rows["candidate"]], dtype=np.int64)
    inside = (query != NO_INDEX) & (candidate != NO_INDEX)
    if not inside.any():
        raise LikewiseError(
            f"the run {run.tag} names none of the queries and candidates asked for "
            f"(its first line: {run.rows['query'][0]}, {run.rows['candidate'][0]}): it belongs to other images."
        )
    query, candidate = query[inside], candidate[inside]
    scores = run.rows["score"].to_numpy()[inside]
    pair_score, missing = _pair_scores(query, candidate, scores, pairs, by_item)
    lists = _lists(query, candidate, pairs, k)
    return MeasuredRun(
        EncoderScores(encoder_from_tag(run.tag), pair_score, lists),
        n_missing_pairs=int(missing.sum()),
        n_missing_queries=len(pairs.queries) - len(np.unique(query)),
        n_outside=int((~inside).sum()),
    )


def _pair_scores(
    query: Ints, candidate: Ints, scores: Floats, pairs: JudgedPairs, by_item: bool
) -> tuple[Floats, NDArray[np.bool_]]:
    unit = pairs.gallery_items if by_item else np.arange(len(pairs.gallery))
    width = int(unit.max()) + 1
    keys = query * width + unit[candidate]
    order = np.lexsort((-scores, keys))
    keys = keys[order]
    wanted = pairs.query * width + unit[pairs.candidate]
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)  # the first of equal keys: the best
    missing = keys[at] != wanted
    lowest = np.full(len(pairs.queries), np.inf)
    np.minimum.at(lowest, query, scores)
    lowest[np.isinf(lowest)] = scores.min()
    return np.where(missing, np.nextafter(lowest, -np.inf)[pairs.query], scores[order][at]), missing


def _lists(query: Ints, candidate: Ints, pairs: JudgedPairs, k: int) -> Ints:
    """The first k rows of each query, in the run's order, reduced as `score_encoder` reduces a model's list."""
    items = pairs.gallery_items[candidate]
    listed = pl.DataFrame({"query": query, "candidate": candidate, "item": items})
    listed = listed.filter(pl.Series(items != pairs.query_items[query]))
    listed = listed.unique(["query", "item"], keep="first", maintain_order=True)
    listed = listed.with_columns(rank=pl.int_range(pl.len()).over("query")).filter(pl.col("rank") < k)
    lists = np.full((len(pairs.queries), k), NO_INDEX, dtype=np.int64)
    lists[listed["query"].to_numpy(), listed["rank"].to_numpy()] = listed["candidate"].to_numpy()
    return lists


def _rows(pairs: JudgedPairs, query: Ints, candidate: Ints, rank: Ints, scores: Floats) -> pl.DataFrame:
    columns = {
        "query": pl.Series(pairs.queries).gather(query),
        "candidate": pl.Series(pairs.gallery).gather(candidate),
        "rank": rank,
        "score": scores,
    }
    return pl.DataFrame(columns, schema=RUN_SCHEMA)
