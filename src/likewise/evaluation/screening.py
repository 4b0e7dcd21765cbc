"""What an evaluation of a workspace asks, for the guard: labelled pairs, classes of images, people's triplets."""

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod

import polars as pl

from likewise.catalog.table import catalog_fingerprint, read_catalog
from likewise.encoders.lineage import encoder_lineage
from likewise.evaluation.exchange.labels_export import evaluated_labels
from likewise.lineage.digests import pair_digest, triplet_digest
from likewise.lineage.guard import EvaluationSet, Screening, screen_models
from likewise.lineage.halves import select_half
from likewise.lineage.record import Task, examples_from_catalog, image_contents
from likewise.lineage.states import earlier_states, with_earlier_states
from likewise.neighbours.leaks import lineage_leak
from likewise.workspace import WorkspaceFolder

MAX_COMBINATIONS = 64
"""Of pictures of the items that an answer is about; of items with more pictures only the image asked about counts."""


def label_set(
    catalog: pl.DataFrame, labels: pl.DataFrame, name: str = "these labels", earlier: pl.DataFrame | None = None
) -> EvaluationSet:
    """Labelled pairs, rows of query and candidate; `earlier` are other states of the items (`earlier_states`)."""
    pairs = labels.select("query", "candidate")
    images = {*pairs["query"], *pairs["candidate"]}
    return _set("labels", name, catalog, images, _asked_pairs(catalog, pairs, earlier), earlier)


def class_set(
    catalog: pl.DataFrame, images: Iterable[str], name: str, earlier: pl.DataFrame | None = None
) -> EvaluationSet:
    """Images of whom it is asked which belong together."""
    return _set("classes", name, catalog, images, (), earlier)


def triplet_set(
    catalog: pl.DataFrame, triplets: pl.DataFrame, by: str, earlier: pl.DataFrame | None = None
) -> EvaluationSet:
    """Triplets (anchor, close, far) that name values of the column `by`."""
    named = {*triplets["anchor"], *triplets["close"], *triplets["far"]}
    images = catalog.filter(pl.col(by).cast(pl.String).is_in(sorted(named)))["image"]
    answers = _asked_triplets(catalog, triplets, by, earlier)
    return _set("triplets", "these triplets", catalog, images, answers, earlier)


def pair_answers(catalog: pl.DataFrame, pairs: Iterable[tuple[str, str]]) -> set[str]:
    """Digests of pairs of images of a catalog, for the record of who learns from them."""
    content = image_contents(catalog)
    return {pair_digest(content.get(query, query), content.get(other, other)) for query, other in pairs}


def triplet_answers(catalog: pl.DataFrame, triplets: pl.DataFrame, by: str) -> set[str]:
    """The same of triplets; a value stands for the first content of its pictures, so that its name does not matter."""
    first = first_contents(catalog, by)
    rows = triplets.select("anchor", "close", "far").iter_rows()
    return {triplet_digest(*(first.get(name, name) for name in row)) for row in rows}


def first_contents(catalog: pl.DataFrame, by: str) -> dict[str, str]:
    """What stands for a value of a column in the digest of an answer."""
    return {name: contents[0] for name, contents in _contents_by(catalog, by, None).items()}


def _asked_pairs(catalog: pl.DataFrame, pairs: pl.DataFrame, earlier: pl.DataFrame | None) -> set[str]:
    """Of every two pictures that show, or showed, the items of a pair: the answer is about the items."""
    item_of = dict(catalog.select("image", pl.col("item").cast(pl.String)).iter_rows())
    by_item, by_image = (_contents_by(catalog, name, earlier) for name in ("item", "image"))
    answers: set[str] = set()
    for query, candidate in pairs.unique().iter_rows():
        sides = [by_item.get(item_of.get(image, image), [image]) for image in (query, candidate)]
        if prod(map(len, sides)) > MAX_COMBINATIONS:
            sides = [by_image.get(image, [image]) for image in (query, candidate)]
        answers.update(pair_digest(*both) for both in product(*sides))
    return answers


def _asked_triplets(catalog: pl.DataFrame, triplets: pl.DataFrame, by: str, earlier: pl.DataFrame | None) -> set[str]:
    contents = _contents_by(catalog, by, earlier)
    answers = triplet_answers(catalog, triplets, by)
    for row in triplets.select("anchor", "close", "far").unique().iter_rows():
        sides = [contents.get(name, [name]) for name in row]
        if prod(map(len, sides)) <= MAX_COMBINATIONS:
            answers.update(triplet_digest(*each) for each in product(*sides))
    return answers


def _contents_by(catalog: pl.DataFrame, by: str, earlier: pl.DataFrame | None) -> dict[str, list[str]]:
    """For every value of a column the contents of its pictures, sorted; of items and images the earlier ones too."""
    if "digest" not in catalog.columns:
        return {}
    content = pl.coalesce(pl.col("digest").replace("", None), "image").alias("content")
    rows = catalog.select(pl.col(by).cast(pl.String).alias("value"), content)
    if earlier is not None and by in earlier.columns:
        rows = pl.concat([rows, earlier.select(pl.col(by).alias("value"), "content")])
    return dict(rows.drop_nulls().group_by("value").agg(pl.col("content").unique().sort()).iter_rows())


def screen_encoders(workspace: WorkspaceFolder, encoders: Sequence[str], on: EvaluationSet) -> Screening:
    """The guard's finding about stored encoders."""
    return screen_models({name: encoder_lineage(workspace, name) for name in encoders}, on)


def scored_labels(workspace: WorkspaceFolder, half: str | None = None) -> pl.DataFrame:
    """The labels that models are measured on: without the pairs that only chance proposed, of one half if asked."""
    labels = evaluated_labels(workspace)
    return labels if half is None else pairs_among(labels, select_half(read_catalog(workspace), half)["image"])


def pairs_among(pairs: pl.DataFrame, images: pl.Series) -> pl.DataFrame:
    """The rows of query and candidate that both are among some images."""
    known = images.implode()
    return pairs.filter(pl.col("query").is_in(known) & pl.col("candidate").is_in(known))


def screen_labels(workspace: WorkspaceFolder, encoders: Sequence[str], half: str | None = None) -> Screening:
    """The guard's finding about encoders that are to be measured on the labels of a workspace."""
    labels, earlier = scored_labels(workspace, half), earlier_states(workspace)
    return screen_encoders(workspace, encoders, label_set(read_catalog(workspace), labels, earlier=earlier))


def screen_classes(workspace: WorkspaceFolder, encoders: Sequence[str], images: Sequence[str], name: str) -> Screening:
    """The guard's finding about encoders that are to find images of one class."""
    asked = class_set(read_catalog(workspace), images, name, earlier_states(workspace))
    return screen_encoders(workspace, encoders, asked)


def copy_notes(workspace: WorkspaceFolder, encoders: Sequence[str], images: Sequence[str]) -> list[str]:
    """A sentence for every encoder that learned from copies of images it is measured on."""
    catalog = read_catalog(workspace)
    leaks = {name: lineage_leak(workspace, catalog, encoder_lineage(workspace, name), images) for name in encoders}
    return [leak.sentence(name) for name, leak in leaks.items() if leak.pairs]


def _set(
    task: Task,
    name: str,
    catalog: pl.DataFrame,
    images: Iterable[str],
    answers: Iterable[str],
    earlier: pl.DataFrame | None,
) -> EvaluationSet:
    examples = examples_from_catalog(catalog, images, answers=answers, whole_items=False)
    examples = examples if earlier is None else with_earlier_states(examples, earlier)
    return EvaluationSet(task, name, examples, catalog_fingerprint(catalog) if "digest" in catalog.columns else "")
