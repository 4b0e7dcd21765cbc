"""What an evaluation of a workspace asks, for the guard: labelled pairs, classes of images, people's triplets."""

from collections.abc import Iterable, Sequence

import polars as pl

from likewise.catalog.table import catalog_fingerprint, read_catalog
from likewise.encoders.lineage import encoder_lineage
from likewise.lineage.digests import pair_digest, triplet_digest
from likewise.lineage.guard import EvaluationSet, Screening, screen_models
from likewise.lineage.record import Task, examples_from_catalog, image_contents
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


def screen_classes(workspace: WorkspaceFolder, encoders: Sequence[str], images: Sequence[str], name: str) -> Screening:
    """The guard's finding about encoders that are to find images of one class."""
    return screen_encoders(workspace, encoders, class_set(read_catalog(workspace), images, name))


def _set(task: Task, name: str, catalog: pl.DataFrame, images: Iterable[str], answers: Iterable[str]) -> EvaluationSet:
    examples = examples_from_catalog(catalog, images, answers=answers, whole_items=False)
    return EvaluationSet(task, name, examples, catalog_fingerprint(catalog) if "digest" in catalog.columns else "")
