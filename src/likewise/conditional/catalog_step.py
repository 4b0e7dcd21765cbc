"""The step `likewise condition catalog`: questions, weights chosen on others, methods with and without the filter."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from likewise.catalog.table import catalog_fingerprint, read_catalog
from likewise.conditional.catalog_search import (
    CatalogFeatures,
    CatalogQuestions,
    CatalogSearchSettings,
    Ranking,
    ThreeScores,
    catalog_table,
    choose_weights,
    draw_questions,
)
from likewise.conditional.composers import ComposerMethod, ImageAndText
from likewise.conditional.methods import BASELINES, get_composer, weighted_method
from likewise.conditional.screening import screen_methods
from likewise.conditional.search_models import CHOSEN_METHODS, default_tower
from likewise.conditional.towers import TwoTower
from likewise.errors import LikewiseError
from likewise.lineage.guard import EvaluationSet
from likewise.lineage.record import examples_from_catalog
from likewise.lineage.states import earlier_states, with_earlier_states
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_json, staged_workspace, write_json, write_parquet

RESULTS = "condition_catalog.parquet"
OTHER_SEED = 1000


@dataclass(frozen=True)
class CatalogSearchResult:
    """Shares of the first results per method, and a sentence for each that needs one."""

    table: pl.DataFrame
    n_questions: int
    notes: list[str]


def search_catalog(
    workspace: WorkspaceFolder,
    settings: CatalogSearchSettings | None = None,
    encoder: str | None = None,
    methods: Sequence[str] = BASELINES,
    *,
    workers: int | None = None,
    on_progress: ProgressCallback | None = None,
) -> CatalogSearchResult:
    """Measure every method on the same questions; weights of the three scores come from questions on other items."""
    settings = settings or CatalogSearchSettings()
    if settings.n < 1 or settings.top_k < 1:
        raise LikewiseError(
            f"{settings.n} questions and the first {settings.top_k} results: ask for 1 or more of both."
        )
    tower = TwoTower.from_spec(encoder or default_tower(workspace))
    tower.encode(workspace, workers=workers, on_progress=on_progress)
    questions = draw_questions(workspace, settings)
    features = CatalogFeatures.load(workspace, tower, questions)
    others = draw_questions(workspace, replace(settings, seed=settings.seed + OTHER_SEED), without=questions.reference)
    other_features = CatalogFeatures(features.images, tower.text_features(others.conditions))
    composers = [get_composer(name, workspace, tower) for name in methods]
    asked: list[tuple[Ranking, bool]] = []
    notes: list[str] = []
    for keep in (False, True):
        weights = choose_weights(others, other_features, settings.top_k, keep=keep)
        asked += [*((composer, keep) for composer in composers), (weights, keep)]
        method = weighted_method(weights.text / (weights.image + weights.text))
        notes.append(
            f"{weights.name}{', category kept' if keep else ''}: image {weights.image:g}, text {weights.text:g}, "
            f"category {weights.category:g}, chosen on {len(others.reference):,} questions on other items"
        )
    names = [*(composer.name for composer in composers), ThreeScores.name]
    judged = [*(ComposerMethod(each) for each in composers), ComposerMethod(ImageAndText(name=ThreeScores.name))]
    screening = screen_methods(workspace, tower, judged, _evaluation_set(workspace, questions))
    screening.choose(names if encoder else None)
    table = catalog_table(tower.name, questions, features, asked, settings.top_k)
    table = table.with_columns(pl.col("method").is_in(screening.learned).alias("learned"))
    notes += screening.notes(names)
    with staged_workspace(workspace) as (staged, _):
        write_parquet(table, staged.results_folder / RESULTS)
        remember_method(workspace, tower, method, staged)
    notes.append(f"search uses these weights with {tower.name} from now on: {method}, the category kept")
    return CatalogSearchResult(table, len(questions.reference), notes)


def remember_method(
    workspace: WorkspaceFolder, tower: TwoTower, method: str, staged: WorkspaceFolder | None = None
) -> None:
    """What search uses by default with this encoder; `staged` where it waits for other files."""
    path = workspace.results_folder / CHOSEN_METHODS
    known = read_json(path) if path.exists() else {}
    write_json({**known, tower.name: method}, (staged or workspace).results_folder / CHOSEN_METHODS)


def _evaluation_set(workspace: WorkspaceFolder, questions: CatalogQuestions) -> EvaluationSet:
    """For the guard: the images that may be results."""
    catalog = read_catalog(workspace)
    examples = examples_from_catalog(catalog, set(questions.images), whole_items=False)
    examples = with_earlier_states(examples, earlier_states(workspace))
    return EvaluationSet("conditions", "the questions to the catalog", examples, catalog_fingerprint(catalog))
