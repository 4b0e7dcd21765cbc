"""What questions with conditions ask, and what encoders and Combiners learned from, for the guard."""

from collections.abc import Sequence

import polars as pl

from likewise.catalog.table import catalog_fingerprint, read_catalog
from likewise.conditional.combiner import TrainedCombiner
from likewise.conditional.composers import ComposerMethod
from likewise.conditional.protocol import ConditionalMethod, images_of
from likewise.conditional.pseudo_words import PseudoWords
from likewise.conditional.published_arithmetic import PublishedMethod
from likewise.conditional.run_files import QueryVectors, RankedRun
from likewise.conditional.splits import SharedGalleryBenchmark
from likewise.conditional.task_specific import DetectedObjects
from likewise.conditional.towers import TwoTower
from likewise.conditional.validation import ValidationSet
from likewise.lineage.digests import condition_digest
from likewise.lineage.guard import EvaluationSet, Screening, screen_models
from likewise.lineage.record import Lineage, examples_from_catalog, image_contents, lesson_from_workspace
from likewise.lineage.states import earlier_states, with_earlier_states
from likewise.workspace import WorkspaceFolder


def question_set(workspace: WorkspaceFolder, questions: ValidationSet, name: str) -> EvaluationSet:
    """Templates, or the questions of whole splits, as the guard sees them."""
    catalog = read_catalog(workspace)
    images, answers = _asked(catalog, questions)
    examples = examples_from_catalog(catalog, images, answers=answers, whole_items=False)
    examples = with_earlier_states(examples, earlier_states(workspace))
    return EvaluationSet("conditions", name, examples, catalog_fingerprint(catalog))


def screen_methods(
    workspace: WorkspaceFolder, tower: TwoTower, methods: Sequence[ConditionalMethod], on: EvaluationSet
) -> Screening:
    """The guard's finding about the methods of one encoder, by their names in tables."""
    below = tower_lineage(workspace, tower)
    return screen_models({method.name: below.union(_own_lineage(method)) for method in methods}, on)


def tower_lineage(workspace: WorkspaceFolder, tower: TwoTower) -> Lineage:
    """What a two-tower encoder learned from."""
    return tower.lineage(workspace)


def combiner_lineage(
    workspace: WorkspaceFolder,
    tower: TwoTower,
    triplets: pl.DataFrame,
    validation: ValidationSet | None,
    half: str | None = None,
) -> Lineage:
    """What a Combiner learns from: its encoder's lessons, its triplets, and the questions that choose its best step."""
    catalog, lineage = read_catalog(workspace), tower_lineage(workspace, tower)
    steps = [("condition train", triplets), ("condition train, stopped by validation", validation)]
    for step, questions in steps:
        if questions is not None:
            images, answers = _asked(catalog, questions)
            lesson = lesson_from_workspace(workspace, "conditions", step, images, answers=answers, half=half or "")
            lineage = lineage.with_lesson(lesson)
    return lineage


def _own_lineage(method: ConditionalMethod) -> Lineage:
    """Beside what its encoder learned."""
    if isinstance(method, DetectedObjects | RankedRun | QueryVectors):
        return Lineage(unknown=(method.name,))
    if isinstance(method, PseudoWords):
        return method.lineage
    composer = method.composer if isinstance(method, ComposerMethod | PublishedMethod) else None
    return composer.lineage if isinstance(composer, TrainedCombiner) else Lineage()


def _asked(catalog: pl.DataFrame, questions: ValidationSet) -> tuple[set[str], set[str]]:
    """The images that questions are about, and the digests of their answers."""
    if isinstance(questions, pl.DataFrame):
        return set(images_of(questions)), _answers(catalog, questions.select("reference", "condition", "target"))
    asked = pl.concat([_answerable(split) for split in questions])
    return {*asked["reference"], *asked["target"].drop_nulls()}, _answers(catalog, asked)


def _answerable(split: SharedGalleryBenchmark) -> pl.DataFrame:
    return split.queries.select("reference", "condition", pl.col("targets").alias("target")).explode("target")


def _answers(catalog: pl.DataFrame, questions: pl.DataFrame) -> set[str]:
    content = image_contents(catalog)
    return {
        condition_digest(content.get(reference, reference), condition, content.get(target, target))
        for reference, condition, target in questions.drop_nulls().iter_rows()
    }
