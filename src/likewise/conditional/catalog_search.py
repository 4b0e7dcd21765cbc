"""Search of a whole catalog as a shopper sees it: how many of the first 12 keep the category and meet the condition.

A question is an item and a value of one of its attributes that it does not have ("this, but in red"), where enough
other items of its category have it.  The ranking adds three scores, each over the whole catalog:

    a cos(image, candidate)  +  b cos(text, candidate)  +  c [same category]

or takes the cosine of a composed query; a kept column leaves candidates with another value out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl

from likewise.catalog.table import read_catalog, select_catalog_rows
from likewise.conditional.protocol import Composer, Features, Floats
from likewise.conditional.templates.annotations import Bools, catalog_annotations
from likewise.conditional.towers import TwoTower, normalize
from likewise.errors import LikewiseError
from likewise.intervals import query_interval
from likewise.lineage.halves import select_half
from likewise.workspace import WorkspaceFolder

TOP_K = 12
N_QUESTIONS = 500
WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
CATEGORY_WEIGHTS = (0.0, 0.25, 0.5, 1.0, 4.0)
SHARES = ("category kept", "condition met", "both")
CATALOG_RESULT_SCHEMA = {
    "encoder": pl.String(),
    "method": pl.String(),
    "kept": pl.String(),
    "measure": pl.String(),
    "value": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "n": pl.Int64(),
}


@dataclass(frozen=True)
class CatalogQuestions:
    """Questions and, for each, which images of the catalog are of its category and which meet its condition."""

    images: list[str]
    items: Floats
    reference: list[int]
    conditions: list[str]
    same_category: Bools
    """(questions, images)"""
    meets: Bools


@dataclass(frozen=True)
class CatalogSearchSettings:
    """Which questions are asked."""

    attributes: Sequence[str] | None = None
    category: str = "category"
    where: str | None = None
    half: str | None = None
    n: int = N_QUESTIONS
    top_k: int = TOP_K
    seed: int = 0


def draw_questions(
    workspace: WorkspaceFolder, settings: CatalogSearchSettings, *, without: Sequence[int] = ()
) -> CatalogQuestions:
    """Random items with a random value that at least `top_k` other items of their category have, each kind in turn.

    The rows `without` are not asked about; at most every second image is, so that others are left to choose on.
    """
    catalog = select_catalog_rows(select_half(read_catalog(workspace), settings.half), settings.where)
    known = catalog_annotations(catalog, category=settings.category, attributes=settings.attributes)
    rng = np.random.default_rng([settings.seed, 31])
    counts = np.zeros((len(known.category_names), len(known.attributes)), np.int64)
    np.add.at(counts, known.categories, known.has.astype(np.int64))
    kinds = sorted({attribute.kind for attribute in known.attributes})
    of_kind = {kind: [i for i, each in enumerate(known.attributes) if each.kind == kind] for kind in kinds}
    asked: dict[tuple[int, int], None] = {}
    left_out = set(without)
    wanted = max(1, min(settings.n, len(known.images) // 2))
    order = rng.permutation(len(known.images)).tolist()
    for number, row in enumerate(row for row in order if row not in left_out):
        values = [
            value
            for value in of_kind[kinds[number % len(kinds)]]
            if known.lacks[row, value] and counts[known.categories[row], value] >= settings.top_k
        ]
        if values:
            asked.setdefault((row, values[int(rng.integers(len(values)))]))
        if len(asked) == wanted:
            break
    if not asked:
        raise LikewiseError(
            f"no item has {settings.top_k} others of its category with another value: name other `--attributes`."
        )
    rows, values = [row for row, _ in asked], [value for _, value in asked]
    return CatalogQuestions(
        known.images,
        known.items.astype(np.float64),
        rows,
        [known.attributes[value].phrase for value in values],
        known.categories[None, :] == known.categories[rows][:, None],
        known.has[:, values].T,
    )


@dataclass(frozen=True)
class ThreeScores:
    """Weights of the image, of the text and of the category, which is a column of the catalog."""

    image: float
    text: float
    category: float
    name: str = "three scores"


Ranking = Composer | ThreeScores


@dataclass(frozen=True)
class CatalogFeatures:
    """Features of the catalog's images and of the questions' texts."""

    images: Features
    texts: Features

    @classmethod
    def load(cls, workspace: WorkspaceFolder, tower: TwoTower, questions: CatalogQuestions) -> "CatalogFeatures":
        return cls(tower.image_features(workspace, questions.images), tower.text_features(questions.conditions))


def catalog_scores(questions: CatalogQuestions, features: CatalogFeatures, ranking: Ranking, keep: bool) -> Floats:
    """(questions, images); -inf for the reference's own item and, with `keep`, for other categories."""
    unit, reference = normalize(features.images), features.images[questions.reference]
    if isinstance(ranking, ThreeScores):
        query = np.float32(ranking.image) * normalize(reference) + np.float32(ranking.text) * normalize(features.texts)
        scores = (query @ unit.T).astype(np.float64) + ranking.category * questions.same_category
    else:
        scores = (ranking.compose(reference, features.texts) @ unit.T).astype(np.float64)
    own = questions.items[questions.reference][:, None] == questions.items[None, :]
    return np.where(own | (keep & ~questions.same_category), -np.inf, scores)


def first_shares(questions: CatalogQuestions, scores: Floats, top_k: int) -> Floats:
    """(3, questions): of the first `top_k`, the share that keeps the category, meets the condition, does both."""
    first = np.argsort(-scores, axis=1, kind="stable")[:, :top_k]
    there = np.isfinite(np.take_along_axis(scores, first, axis=1))
    kept = np.take_along_axis(questions.same_category, first, axis=1) & there
    met = np.take_along_axis(questions.meets, first, axis=1) & there
    return np.stack([each.mean(axis=1) for each in (kept, met, kept & met)])


def choose_weights(questions: CatalogQuestions, features: CatalogFeatures, top_k: int, *, keep: bool) -> ThreeScores:
    """The weights whose first results most often keep the category and meet the condition; the image's is 1."""
    best, chosen = -1.0, ThreeScores(1.0, 1.0, 0.0)
    for text, category in product(WEIGHTS[1:], (0.0,) if keep else CATEGORY_WEIGHTS):
        ranking = ThreeScores(1.0, text, category)
        both = float(first_shares(questions, catalog_scores(questions, features, ranking, keep), top_k)[2].mean())
        if both > best + 1e-12:
            best, chosen = both, ranking
    return chosen


def catalog_table(
    encoder: str,
    questions: CatalogQuestions,
    features: CatalogFeatures,
    methods: Sequence[tuple[Ranking, bool]],
    k: int,
) -> pl.DataFrame:
    """One row per method and share, with intervals over questions."""
    rows: list[tuple[object, ...]] = []
    for ranking, keep in methods:
        shares = first_shares(questions, catalog_scores(questions, features, ranking, keep), k)
        for name, values in zip(SHARES, shares, strict=True):
            n = len(values)
            low, high = query_interval(float(values.mean()), float(values.std(ddof=1) / np.sqrt(n)), n)
            kept = "category" if keep else ""
            rows.append((encoder, ranking.name, kept, f"{name}@{k}", float(values.mean()), low, high, n))
    return pl.DataFrame(rows, schema=CATALOG_RESULT_SCHEMA, orient="row")
