"""Training data for a weak dimension (A100, sec. 4.2): more outfits on the dimension that a model is weakest in, then
trained and scored again.

Half of the test's AAT questions (every other one of each dimension) find the weakness, the other half measure
the gain: a dimension picked because its index was low by bad luck would otherwise seem to gain by chance. Where a
second test is given, the whole first one finds and the second measures. A third training gets as many more outfits
without a focus, which tells what the focus did from what more data did.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from likewise.errors import LikewiseError
from likewise.outfits.bundle import open_test
from likewise.outfits.models.card import models_folder
from likewise.outfits.models.feature_source import FeatureSource
from likewise.outfits.models.registry import load_model
from likewise.outfits.protocol import OutfitQuestion
from likewise.outfits.scoring import difference_table, grade_answers, score_table
from likewise.outfits.screening import outfit_test_set, screen_outfit_models
from likewise.outfits.training.examples import OutfitExamples
from likewise.outfits.training.step import (
    OutfitSource,
    TrainingRequest,
    chosen_catalog,
    load_examples,
    train_outfit_model,
    usable_images,
)
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

SEED_SHIFTS = {"focus": 7001, "more": 7002}  # other seeds than the first outfits'


@dataclass(frozen=True)
class TargetedDataResult:
    """The weakness, and the scores of the three trainings on the questions that did not find it."""

    weak_dimension: str
    diagnosis: pl.DataFrame
    """Indexes of the first training on the questions that find the weakness."""
    scores: pl.DataFrame
    differences: pl.DataFrame
    n_extra_outfits: int
    names: tuple[str, str, str]


def split_questions(questions: Sequence[OutfitQuestion]) -> tuple[list[OutfitQuestion], list[OutfitQuestion]]:
    """Every other AAT question of each dimension to find a weakness, the rest to measure."""
    count: dict[str | None, int] = {}
    parts: tuple[list[OutfitQuestion], list[OutfitQuestion]] = ([], [])
    for question in questions:
        if question.kind == "AAT":
            number = count[question.dimension] = count.get(question.dimension, -1) + 1
            parts[number % 2].append(question)
    return parts


def train_with_targeted_data(
    workspace: WorkspaceFolder,
    request: TrainingRequest,
    questions: Sequence[OutfitQuestion],
    features: FeatureSource,
    *,
    outfit_source: OutfitSource | None,
    measure_on: tuple[Sequence[OutfitQuestion], FeatureSource] | None = None,
    share: float = 0.5,
    dimension: str | None = None,
    on_progress: ProgressCallback | None = None,
) -> TargetedDataResult:
    """Train, find the weakest dimension (or take the one given), train again with `share` more outfits on it.

    `measure_on`: the questions of a second test, and where its pictures are seen.
    """
    if outfit_source is None:
        raise LikewiseError(
            "outfits on one dimension can only be made for a wardrobe: collect such outfits yourself, add them to your "
            "table and train again with `likewise outfits train --outfits`."
        )
    if measure_on is None:
        finding, measuring = split_questions(questions)
        measuring_features = features
    else:
        finding, measuring = ([q for q in asked if q.kind == "AAT"] for asked in (questions, measure_on[0]))
        measuring_features = measure_on[1]
    if not finding or not measuring:
        raise LikewiseError("the test has too few AAT questions to find a weakness and to measure the gain.")
    base = load_examples(workspace, request, outfit_source)
    first = _train(workspace, request, base, on_progress)
    found = _scores(workspace, [first], finding, features)[0].filter(pl.col("score") == "index")
    weak = dimension or str(found.sort("value", "dimension")["dimension"][0])
    if weak not in found["dimension"].to_list():
        raise LikewiseError(f"the test asks nothing about {weak!r}; it has {', '.join(found['dimension'])}.")
    more = max(1, round(share * request.n_outfits))
    names = [first]
    for word, focus in (("focus", weak), ("more", None)):
        name = f"{first}-{weak}" if focus else f"{first}-more"
        added = _extra_examples(workspace, replace(request, n_outfits=more), outfit_source, focus, SEED_SHIFTS[word])
        names.append(_train(workspace, replace(request, name=name), _add_examples(base, added), on_progress))
    trained = [load_model(models_folder(workspace) / name, measuring_features) for name in names]
    for path in request.tests:
        screen_outfit_models(trained, outfit_test_set(open_test(path))).refuse_learned()
    scores, differences = _scores(workspace, names, measuring, measuring_features)
    return TargetedDataResult(weak, found, scores, differences, more, (names[0], names[1], names[2]))


def _train(
    workspace: WorkspaceFolder,
    request: TrainingRequest,
    examples: OutfitExamples,
    on_progress: ProgressCallback | None,
) -> str:
    train_outfit_model(workspace, request, examples, on_progress=on_progress)
    return request.folder_name


def _extra_examples(
    workspace: WorkspaceFolder, request: TrainingRequest, outfit_source: OutfitSource, focus: str | None, shift: int
) -> OutfitExamples:
    catalog = chosen_catalog(workspace, request)
    seen = catalog.filter(pl.col("image").is_in(sorted(usable_images(workspace, request, catalog))))
    return outfit_source(request, seen, focus, shift)


def _add_examples(base: OutfitExamples, added: OutfitExamples) -> OutfitExamples:
    return replace(base, train=(*base.train, *added.train), users=(*base.users, *added.users))


def _scores(
    workspace: WorkspaceFolder, names: Sequence[str], questions: Sequence[OutfitQuestion], features: FeatureSource
) -> tuple[pl.DataFrame, pl.DataFrame]:
    graded = []
    for name in names:
        model = load_model(models_folder(workspace) / name, features)
        graded.append(grade_answers(name, questions, model.answer(questions)))
    table = pl.concat(graded)
    return score_table(table, questions), difference_table(table, questions)
