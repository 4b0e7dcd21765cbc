"""A100's explainability, proved: what a model cannot see falls to chance, and the other dimensions stay.

The wardrobe's attributes themselves stand in for an encoder that sees everything, so nothing has to be drawn; a blind
model is one whose input lacks the two attributes of colour.
"""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.encoders.normalization import unit_rows
from likewise.outfits.models import InMemoryFeatures
from likewise.outfits.models.random import RandomModel
from likewise.outfits.models.registry import load_model
from likewise.outfits.protocol import OutfitModel
from likewise.outfits.scoring import grade_answers, score_table
from likewise.outfits.training.examples import OutfitExamples
from likewise.outfits.training.presets import Preset
from likewise.outfits.training.trainer import TrainingJob, train_model
from likewise.outfits.vectors import VectorLookup
from likewise.synthetic import ATTRIBUTE_NAMES, ATTRIBUTES
from likewise.synthetic.outfits.aat_questions import make_aat
from likewise.synthetic.outfits.stylists import style_outfits
from likewise.synthetic.outfits.taste_test import wardrobe_items

COLOURS = ("colour", "second_colour")
PRESET = Preset(48, epochs=5, batch_size=64, n_negatives=3, learning_rate=3e-3)


def attribute_features(tables: list[pl.DataFrame], without: tuple[str, ...]) -> InMemoryFeatures:
    """One number per value of every attribute that the model may see."""
    names = [name for name in ATTRIBUTE_NAMES if name not in without]
    items = pl.concat([table.select("image", *ATTRIBUTE_NAMES) for table in tables])
    columns = [items[name] == value for name in names for value in ATTRIBUTES[name]]
    seen = np.stack([column.fill_null(False).to_numpy() for column in columns], axis=1).astype(np.float32)
    return InMemoryFeatures({"attributes": VectorLookup("attributes", tuple(items["image"]), unit_rows(seen))})


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """What a model that sees everything, a colour-blind one and chance get in one AAT."""
    items = wardrobe_items(900, 3).with_columns(("world/" + pl.col("image")).alias("image"))
    questions, drawn = make_aat(wardrobe_items(300, 8), 240, 8)
    shown = pl.DataFrame([row | {"image": f"{key}.jpg"} for key, row in drawn.items()])
    styled = style_outfits(items, 1500, seed=1)
    examples = OutfitExamples(styled.outfits, styled.outfits[:60], styled.users)
    graded = [grade_answers("random", questions, RandomModel().answer(questions))]
    folder = tmp_path_factory.mktemp("blind")
    for name, without in (("sees", ()), ("colour-blind", COLOURS)):
        model = learned(folder / name, examples, attribute_features([items, shown], without))
        graded.append(grade_answers(name, questions, model.answer(questions)))
    return score_table(pl.concat(graded), questions)


def learned(folder: Path, examples: OutfitExamples, sees: InMemoryFeatures) -> OutfitModel:
    train_model(TrainingJob("type-aware", folder.name, PRESET, "attributes"), examples, sees, folder)
    return load_model(folder, sees)


def index(scores: pl.DataFrame, model: str) -> dict[str, dict[str, float]]:
    mine = scores.filter((pl.col("model") == model) & (pl.col("score") == "index"))
    return {row["dimension"]: row for row in mine.iter_rows(named=True)}


def n_negatives(indexes: dict[str, dict[str, float]], what: str) -> float:
    """Of the five dimensions beside color, together."""
    rest = [row for name, row in indexes.items() if name != "color"]
    return sum(row[what] * row["n_questions"] for row in rest) / sum(row["n_questions"] for row in rest)


def test_a_trained_model_is_clearly_above_chance(scores: pl.DataFrame) -> None:
    whole = {row["model"]: row for row in scores.filter(pl.col("score") == "AATs").iter_rows(named=True)}
    assert whole["sees"]["low"] > whole["random"]["high"]
    assert whole["sees"]["low"] > whole["sees"]["chance"] + 0.2


def test_the_index_of_an_unseen_dimension_is_chance_and_the_others_stay(scores: pl.DataFrame) -> None:
    sees, blind = index(scores, "sees"), index(scores, "colour-blind")
    assert blind["color"]["value"] == pytest.approx(blind["color"]["chance"])  # all choices tied: exactly chance
    assert sees["color"]["low"] > sees["color"]["chance"]
    assert blind["style"]["low"] > blind["style"]["chance"] + 0.2
    assert n_negatives(blind, "value") > n_negatives(blind, "chance") + 0.2
    assert n_negatives(blind, "value") == pytest.approx(n_negatives(sees, "value"), abs=0.1)
