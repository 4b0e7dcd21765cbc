"""What an evaluation of a workspace asks, for the guard: labelled pairs, classes of images, people's triplets."""

from collections.abc import Iterable, Sequence

import polars as pl

from likewise.catalog.table import catalog_fingerprint, read_catalog
from likewise.encoders.lineage import encoder_lineage
from likewise.evaluation.exchange.labels_export import evaluated_labels
from likewise.lineage.digests import pair_digest, triplet_digest
from likewise.lineage.guard import EvaluationSet, Screening, screen_models
from likewise.lineage.halves import select_half
from likewise.lineage.record import Task, examples_from_catalog, image_contents
from likewise.neighbours.leaks import lineage_leak
from likewise.workspace import WorkspaceFolder


def label_set(catalog: pl.DataFrame, labels: pl.DataFrame, name: str = "these labels") -> EvaluationSet:
    """Labelled pairs, rows of query and candidate."""
    images = {*labels["query"], *labels["candidate"]}
    return _set("labels", name, catalog, images, pair_answers(catalog, labels.select("query", "candidate").iter_rows()))


def class_set(catalog: pl.DataFrame, images: Iterable[str], name: str) -> EvaluationSet:
    """Images of whom it is asked which belong together."""
    return _set("classes", name, catalog, images, ())


def triplet_set(catalog: pl.DataFrame, triplets: pl.DataFrame, by: str) -> EvaluationSet:
    """Triplets (anchor, close, far) that name values of the column `by`."""
    named = {*triplets["anchor"], *triplets["close"], *triplets["far"]}
    images = catalog.filter(pl.col(by).cast(pl.String).is_in(sorted(named)))["image"]
    return _set("triplets", "these triplets", catalog, images, triplet_answers(triplets))


def pair_answers(catalog: pl.DataFrame, pairs: Iterable[tuple[str, str]]) -> set[str]:
    """Digests of pairs of images of a catalog."""
    content = image_contents(catalog)
    return {pair_digest(content.get(query, query), content.get(other, other)) for query, other in pairs}


def triplet_answers(triplets: pl.DataFrame) -> set[str]:
    """Digests of triplets."""
    return {triplet_digest(*row) for row in triplets.select("anchor", "close", "far").iter_rows()}


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
    return screen_encoders(workspace, encoders, label_set(read_catalog(workspace), scored_labels(workspace, half)))


def screen_classes(workspace: WorkspaceFolder, encoders: Sequence[str], images: Sequence[str], name: str) -> Screening:
    """The guard's finding about encoders that are to find images of one class."""
    return screen_encoders(workspace, encoders, class_set(read_catalog(workspace), images, name))


def copy_notes(workspace: WorkspaceFolder, encoders: Sequence[str], images: Sequence[str]) -> list[str]:
    """A sentence for every encoder that learned from copies of images it is measured on."""
    catalog = read_catalog(workspace)
    leaks = {name: lineage_leak(workspace, catalog, encoder_lineage(workspace, name), images) for name in encoders}
    return [leak.sentence(name) for name, leak in leaks.items() if leak.pairs]


def _set(task: Task, name: str, catalog: pl.DataFrame, images: Iterable[str], answers: Iterable[str]) -> EvaluationSet:
    examples = examples_from_catalog(catalog, images, answers=answers, whole_items=False)
    return EvaluationSet(task, name, examples, catalog_fingerprint(catalog) if "digest" in catalog.columns else "")
