"""The page of a test of taste: scores, radar and bars, differences, every question with all choices."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from likewise.outfits.protocol import OutfitQuestion
from likewise.outfits.report.bars import ScoreBar, bar_plot
from likewise.outfits.report.radar import radar_plot
from likewise.outfits.results import OutfitTestResults, OutfitTestScores, prepare_workspace
from likewise.report.formatting import NBSP, interval, join_names, percent
from likewise.report.page import asset, render
from likewise.report.plots.palette import DASHES, MODEL_LIGHT, model_styles
from likewise.report.thumbnails import EmbeddedThumbnails
from likewise.workspace import write_text

TASTE_SCORES = {
    "LATs": "picks what most people picked",
    "AATs": "picks the designer’s answer",
    "FITB": "fills the blank as the stylist did",
}
"""By which score the page answers its question: the first that a test has."""
WHOLE_TEST_SCORES = ("LATs", "mLATs", "AATs", "FITB")


@dataclass(frozen=True)
class ChoiceView:
    """One choice of a question: its picture, whether it is right, who of the people and of the models chose it."""

    image: str
    right: bool
    people: int
    share: float | None
    models: list[str]


@dataclass(frozen=True)
class QuestionView:
    """One question as the page shows it."""

    question: OutfitQuestion
    choices: list[ChoiceView]
    n_people: int
    n_right: int


def write_taste_page(results: OutfitTestResults, scored: OutfitTestScores) -> Path:
    """Write index.html into the folder of results and return its path."""
    questions = results.test.questions
    workspace = prepare_workspace(results)
    catalog = pl.read_parquet(workspace.catalog_file, glob=False)
    thumbnails = EmbeddedThumbnails(workspace.root, catalog)
    for question in questions:
        for item in (*question.items, *question.choices):
            thumbnails.add(item.image)
    thumbnails.embed()
    models = scored.scores["model"].unique(maintain_order=True).to_list()
    styles = model_styles(models)
    page = render(
        "taste.html",
        package="likewise.outfits.report",
        taste_style=asset("taste.css", "likewise.outfits.report"),
        verdict=taste_verdict(scored.scores, scored.differences),
        card=results.test.card,
        models=models,
        marks={name: (MODEL_LIGHT.index(c), DASHES.index(d)) for name, (c, d) in styles.items()},
        rows=_rows(scored.scores.filter(pl.col("sub_dimension").is_null())),
        sub_rows=_rows(scored.scores.filter(pl.col("score") == "sub-index")),
        differences=scored.differences.filter(pl.col("dimension").is_null()).to_dicts(),
        dimension_differences=scored.differences.filter(
            pl.col("dimension").is_not_null() & pl.col("significant")
        ).to_dicts(),
        speed=scored.speed,
        radar=_radar(scored.scores, models),
        bars=_bars(scored.scores, models),
        groups=_groups(questions, scored.graded),
        thumbnails=thumbnails,
    )
    write_text(page, results.page)
    return results.page


def taste_verdict(scores: pl.DataFrame, differences: pl.DataFrame) -> tuple[str, str]:
    """The answer to "does a model have taste?": a sentence to remember, and the numbers behind it."""
    whole = scores.filter(pl.col("dimension").is_null() & pl.col("value").is_not_null())
    name = next((each for each in TASTE_SCORES if each in set(whole["score"])), None)
    if name is None:
        return "No model could be scored", "No question has an answer to compare with."
    mine = whole.filter(score=name).sort("value", "model", descending=[True, False])
    best = mine.row(0, named=True)
    numbers = (
        f"{best['model']} {TASTE_SCORES[name]} in {percent(best['value'])}{NBSP}% of questions ({name}, 95{NBSP}% "
        f"interval {interval(best['low'], best['high'])}); choosing by lot reaches {percent(best['chance'])}{NBSP}%."
    )
    if best["low"] is None or best["low"] <= best["chance"]:
        return "No model here shows more taste than chance", numbers
    pairs = differences.filter((pl.col("score") == name) & pl.col("dimension").is_null())
    close = [
        row["model_b"] if row["model_a"] == best["model"] else row["model_a"]
        for row in pairs.iter_rows(named=True)
        if best["model"] in (row["model_a"], row["model_b"]) and not row["significant"]
    ]
    ordered = [model for model in mine["model"] if model in close]
    if ordered:
        return f"{best['model']} has most taste, but not significantly more than {join_names(ordered)}", numbers
    return f"{best['model']} has most taste of these models" if len(mine) > 1 else f"{best['model']} has taste", numbers


def _rows(scores: pl.DataFrame) -> list[dict[str, Any]]:
    """One row per score with a cell per model; the best value of a row is marked."""
    rows = []
    keys = ["score", "dimension", "sub_dimension"]
    for _, mine in scores.group_by(keys, maintain_order=True):
        first = mine.row(0, named=True)
        cells = {row["model"]: row for row in mine.iter_rows(named=True)}
        best = max((row["value"] for row in cells.values() if row["value"] is not None), default=None)
        rows.append(first | {"cells": cells, "best": best})
    return rows


def _radar(scores: pl.DataFrame, models: list[str]) -> object:
    indexes = scores.filter(pl.col("score") == "index")
    spokes = indexes["dimension"].unique(maintain_order=True).to_list()
    if len(spokes) < 3:
        return None
    cells = {(row["model"], row["dimension"]): row for row in indexes.iter_rows(named=True)}
    values = {model: [cells[model, spoke]["value"] for spoke in spokes] for model in models}
    chance = [cells[models[0], spoke]["chance"] for spoke in spokes]
    return radar_plot(spokes, values, chance, model_styles(models))


def _bars(scores: pl.DataFrame, models: list[str]) -> object:
    whole = scores.filter(pl.col("score").is_in(WHOLE_TEST_SCORES) & pl.col("value").is_not_null())
    groups = whole["score"].unique(maintain_order=True).to_list()
    bars: dict[str, dict[str, ScoreBar]] = {model: {} for model in models}
    for row in whole.iter_rows(named=True):
        bars[row["model"]][row["score"]] = ScoreBar(row["value"], row["low"], row["high"])
    chance = dict(whole.select("score", "chance").iter_rows())
    return bar_plot("taste", groups, bars, chance, model_styles(models), "right or shared answers")


def _groups(questions: list[OutfitQuestion], graded: pl.DataFrame) -> list[tuple[str, list[QuestionView]]]:
    """Questions under their headings: LAT, FITB, and every dimension of AAT."""
    picks: dict[str, list[dict[str, Any]]] = {}
    for row in graded.iter_rows(named=True):
        picks.setdefault(row["question"], []).append(row)
    groups: dict[str, list[QuestionView]] = {}
    for question in questions:
        heading = f"AAT: {question.dimension}" if question.kind == "AAT" else question.kind
        groups.setdefault(heading, []).append(_question_view(question, picks.get(question.name, [])))
    return list(groups.items())


def _question_view(question: OutfitQuestion, rows: list[dict[str, Any]]) -> QuestionView:
    n_people = sum(question.people)
    most = max(question.people, default=0)
    choices = []
    for place, item in enumerate(question.choices):
        people = question.people[place] if question.people else 0
        right = people == most > 0 if question.kind == "LAT" else place == question.right
        mine = [row["model"] for row in rows if row["choice"] == place and row["n_tied"] == 1]
        choices.append(ChoiceView(item.image, right, people, people / n_people if n_people else None, mine))
    n_right = sum((row["credit"] or 0) > 0.5 for row in rows)
    return QuestionView(question, choices, n_people, n_right)
