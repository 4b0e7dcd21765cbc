"""The page of a test of taste answers its question, and shows questions only when they are opened."""

import polars as pl
import pytest

from likewise.outfits.report.taste import taste_verdict
from likewise.outfits.scoring import DIFFERENCE_SCHEMA

NUMBERS = {"value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "chance": pl.Float64}
SCORE_COLUMNS = {"score": pl.String, "dimension": pl.String, "model": pl.String} | NUMBERS


def scores_of(*rows: tuple[str, str, float, float, float, float]) -> pl.DataFrame:
    told = [(score, None, *rest) for score, *rest in rows]
    return pl.DataFrame(told, schema=SCORE_COLUMNS, orient="row")


def differences_of(significant: bool) -> pl.DataFrame:
    row = ("LATs", None, "b", "a", 0.1, 0.01, 0.2, 0.04, 0.04, significant, 40)
    return pl.DataFrame([row], schema=DIFFERENCE_SCHEMA, orient="row")


@pytest.mark.parametrize(
    ("low", "significant", "said"),
    [
        (0.45, True, "a has most taste of these models"),
        (0.45, False, "a has most taste, but not significantly more than b"),
        (0.24, True, "No model here shows more taste than chance"),
    ],
)
def test_the_title_answers(low: float, significant: bool, said: str) -> None:
    scores = scores_of(
        ("LATs", "b", 0.4, 0.3, 0.5, 0.25), ("LATs", "a", 0.5, low, 0.6, 0.25), ("AATs", "b", 0.9, 0.8, 1.0, 0.2)
    )
    title, numbers = taste_verdict(scores, differences_of(significant))
    assert title == said
    assert "50.0" in numbers and "25.0" in numbers and "what most people picked" in numbers


def test_one_model_alone_has_taste_or_not() -> None:
    alone = scores_of(("AATs", "a", 0.5, 0.4, 0.6, 0.2))
    assert taste_verdict(alone, differences_of(True).clear())[0] == "a has taste"
    assert taste_verdict(alone.clear(), differences_of(True).clear())[0] == "No model could be scored"
