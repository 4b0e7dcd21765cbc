"""`likewise.retrieval` and `likewise.triplets`: embeddings against classes, or against people's answers to triplets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from likewise.api.inputs import KeyedRows, read_items, read_models, read_table
from likewise.api.table_result import IntervalResult, few_queries
from likewise.errors import LikewiseError
from likewise.evaluation.retrieval import IntervalUnit, retrieval_table
from likewise.evaluation.retrieval import retrieval as measure_retrieval
from likewise.evaluation.triplet_file import TRIPLET_SCHEMA, read_triplets, sum_votes
from likewise.evaluation.triplets import mean_item_vectors, triplet_agreement, triplet_agreement_table
from likewise.progress import ProgressCallback


@dataclass(frozen=True, repr=False)
class RetrievalResult(IntervalResult):
    """A row per encoder and measure, with its interval."""


def retrieval(
    embeddings: Any,
    classes: Any,
    *,
    keys: Sequence[Any] | None = None,
    recall_at: Sequence[int] = (),
    unit: IntervalUnit = "query",
    on_progress: ProgressCallback | None = None,
) -> RetrievalResult:
    """Class-based retrieval: every image is a query, right are the other images of its class.

    `embeddings` as in `likewise.evaluate`; `classes` names the class of each row (a sequence, or a mapping by key).
    Queries whose class has no other image are left out and counted. With `unit="class"` intervals are
    over whole classes.
    """
    models, rows = read_models(embeddings, keys)
    names = read_items(classes, rows, "classes")
    measured = {name: measure_retrieval(values, names, on_progress=on_progress) for name, values in models.items()}
    table = retrieval_table(measured, ks=recall_at, unit=unit)
    one = next(iter(measured.values()))
    if not one.n_queries:
        raise LikewiseError("every class has a single image, so nothing can be retrieved: check `classes`.")
    few = few_queries(len(set(names)), "classes") if unit == "class" else few_queries(one.n_queries)
    note = (
        f"% over {one.n_queries:,} queries of {len(set(names)):,} classes ({one.n_excluded:,} images alone in their "
        f"class); 95 % intervals over {'classes' if unit == 'class' else 'queries'}{few}."
    )
    return RetrievalResult(table, f"Retrieval by class, {len(models)} models", note)


def triplets(
    embeddings: Any,
    answers: Any,
    *,
    items: Any = None,
    keys: Sequence[Any] | None = None,
    order: str = "anchor close far",
) -> RetrievalResult:
    """Agreement with people's answers to "which of two looks more like the anchor?".

    `answers`: tuples (anchor, close, far), optionally with votes for close and for far; a table with these columns
    (votes_close, votes_far are optional); or the path of a CSV file. They name items: `items` gives each row's item
    (an item's vector is the mean of its images); without it the rows themselves are meant.
    """
    models, rows = read_models(embeddings, keys)
    if isinstance(answers, str | Path):
        asked = read_triplets(Path(answers), order)
    else:
        asked = _read_answers(answers, order, rows if items is None else None)
    names = read_items(items, rows)
    measured = {name: triplet_agreement(asked, mean_item_vectors(values, names)) for name, values in models.items()}
    table = triplet_agreement_table(measured)
    one = next(iter(measured.values()))
    note = (
        f"% of {one.n_triplets_total:,} triplets over {len(one.anchors):,} anchors; {one.n_without_vectors:,} name "
        f"items without vectors; 95 % intervals over anchors{few_queries(len(one.anchors), 'anchors')}."
    )
    return RetrievalResult(table, f"Agreement with people on triplets, {len(models)} models", note)


def _read_answers(answers: Any, order: str, rows: KeyedRows | None) -> pl.DataFrame:
    roles = order.lower().replace(",", " ").split()
    table = read_table(answers)
    if table is None:
        tuples = [tuple(answer) for answer in answers]
        if not tuples or len({len(answer) for answer in tuples}) > 1 or len(tuples[0]) not in (3, 5):
            raise LikewiseError("an answer is (anchor, close, far), or these with the votes for close and for far.")
        table = pl.DataFrame(tuples, schema=[*roles, "votes_close", "votes_far"][: len(tuples[0])], orient="row")
    missing = [role for role in roles if role not in table.columns]
    if missing:
        raise LikewiseError(f"the answers have no column {missing[0]!r}: they need anchor, close and far.")
    for name, votes in (("votes_close", 1), ("votes_far", 0)):
        if name not in table.columns:
            table = table.with_columns(pl.lit(votes).alias(name))
    if rows is not None:
        table = table.with_columns(pl.Series(role, rows.as_text(table[role].to_list())) for role in roles)
    return sum_votes(table.select(TRIPLET_SCHEMA.names()).cast(TRIPLET_SCHEMA))
