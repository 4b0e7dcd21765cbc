"""Whole-catalog search: shares of the first results against counting by hand, weights, the kept category."""

import json

import numpy as np
import polars as pl
import pytest

from likewise.conditional.catalog_search import (
    CatalogFeatures,
    CatalogQuestions,
    CatalogSearchSettings,
    ThreeScores,
    catalog_scores,
    choose_weights,
    draw_questions,
    first_shares,
)
from likewise.conditional.composers import ImageOnly
from likewise.conditional.search import Searcher
from likewise.conditional.search_models import CHOSEN_METHODS
from likewise.conditional.towers import TwoTower
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run

__all__ = ["run"]
N, K = 60, 5


def known_world(category_seen: float = 1.0) -> tuple[CatalogQuestions, CatalogFeatures]:
    """Three categories and four colours; features are their two codes side by side, so that the text is exact."""
    rng = np.random.default_rng(0)
    category, colour = rng.integers(0, 3, N), rng.integers(0, 4, N)
    images = np.hstack([category_seen * np.eye(3)[category], np.eye(4)[colour], 0.01 * rng.normal(size=(N, 2))]).astype(
        np.float32
    )
    rows = list(range(12))
    wanted = (colour[rows] + 1) % 4
    texts = np.hstack([np.zeros((12, 3)), np.eye(4)[wanted], np.zeros((12, 2))]).astype(np.float32)
    questions = CatalogQuestions(
        [f"{n}.jpg" for n in range(N)],
        np.arange(N, dtype=np.float64),
        rows,
        [str(each) for each in wanted],
        category[None, :] == category[rows][:, None],
        colour[None, :] == wanted[:, None],
    )
    return questions, CatalogFeatures(images, texts)


def test_shares_are_counted_among_the_first() -> None:
    questions, features = known_world()
    scores = catalog_scores(questions, features, ImageOnly(), keep=False)
    shares = first_shares(questions, scores, K)
    for number, row in enumerate(questions.reference):
        near = features.images @ features.images[row] / np.linalg.norm(features.images, axis=1)
        near[row] = -np.inf
        first = sorted(range(N), key=lambda image: -near[image])[:K]
        kept = [questions.same_category[number, image] for image in first]
        met = [questions.meets[number, image] for image in first]
        both = [a and b for a, b in zip(kept, met, strict=True)]
        np.testing.assert_allclose(shares[:, number], [np.mean(kept), np.mean(met), np.mean(both)])


def test_weights_are_chosen_that_keep_both() -> None:
    """The features do not show the category here, so image and text together lose it; the three scores do not."""
    questions, features = known_world(category_seen=0.0)
    chosen = choose_weights(questions, features, 2, keep=False)
    assert chosen.category > 0
    found = first_shares(questions, catalog_scores(questions, features, chosen, keep=False), 2)[2].mean()
    alone = first_shares(questions, catalog_scores(questions, features, ThreeScores(1, 1, 0), keep=False), 2)[2].mean()
    assert found > alone + 0.2 and found > 0.9


def test_a_kept_category_is_always_kept_and_the_own_item_never_found() -> None:
    questions, features = known_world()
    scores = catalog_scores(questions, features, ThreeScores(1, 1, 0), keep=True)
    assert first_shares(questions, scores, K)[0].min() == 1.0
    assert all(scores[number, row] == -np.inf for number, row in enumerate(questions.reference))


def test_questions_can_be_answered(drawn: WorkspaceFolder) -> None:
    settings = CatalogSearchSettings(["colour"], n=40, top_k=2)
    questions = draw_questions(drawn, settings)
    both = questions.same_category & questions.meets
    assert (both.sum(axis=1) >= 2).all()
    assert not any(both[number, row] for number, row in enumerate(questions.reference))
    others = draw_questions(drawn, settings, without=questions.reference)
    assert not set(others.reference) & set(questions.reference)
    with pytest.raises(LikewiseError, match="name other `--attributes`"):
        draw_questions(drawn, CatalogSearchSettings(["colour"], top_k=200))


def test_results_keep_the_category_until_it_is_freed(drawn: WorkspaceFolder, tower: TwoTower) -> None:
    searcher = Searcher.open(drawn, tower.spec, "image+text", workers=1)
    image = searcher.images[0]
    kept = searcher.search(image, "in red", top_k=10)
    assert set(kept["category"]) == set(searcher.catalog.filter(image=image)["category"])
    freed = searcher.search(image, "in red", top_k=200, keep=())
    assert freed["category"].n_unique() > 3
    red = searcher.search(image, "in red", top_k=200, keep=(), where="colour=red")
    colours = dict(searcher.catalog.select("image", "colour").iter_rows())
    assert {colours[name] for name in red["image"]} == {"red"}
    assert red["score"].to_list() == sorted(red["score"].to_list(), reverse=True)
    with pytest.raises(LikewiseError, match="has no column size"):
        searcher.search(image, "in red", keep=("size",))


def test_the_command_prints_shares(run: Run, drawn: WorkspaceFolder, tower: TwoTower) -> None:
    asked = ("condition", "catalog", drawn.path, "--with", tower.spec, "--attributes", "colour", "--top", 2)
    rows = json.loads(run(*asked, "--questions", 30, "--json").out)
    table = pl.DataFrame(rows)
    assert set(table["measure"]) == {"category kept@2", "condition met@2", "both@2"}
    kept = table.filter(pl.col("kept") == "category", pl.col("measure") == "category kept@2")
    assert set(kept["value"]) == {1.0} and "three scores" in set(kept["method"])
    shown = run(*asked, "--questions", 30)
    assert shown.code == 0 and "three scores, category kept" in shown.out and "chosen on 30 questions" in shown.out
    used = Searcher.open(drawn, tower.spec, workers=1).composer.name
    assert used.startswith("image + text, text ") and used.endswith(" %")
    (drawn.results_folder / CHOSEN_METHODS).unlink()  # other tests search with the plain mean
    wrong = run("condition", "ask", drawn.path, "--with", tower.spec, "--method", "image+text:much", "--text", "red")
    assert wrong.code == 2 and "a weight of the text from 0 to 1" in wrong.err
