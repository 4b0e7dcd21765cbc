"""How many outfits are generated per second, and how many questions each model answers (five choices, one process)."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl

from likewise.outfits.generate import sample_outfits
from likewise.outfits.models import FeatureSource, InMemoryFeatures
from likewise.outfits.models.card import OutfitModelCard
from likewise.outfits.models.mean_cosine import MeanCosineModel
from likewise.outfits.models.popular import PopularityModel, count_items
from likewise.outfits.models.random import RandomModel
from likewise.outfits.models.trained_model import TrainedOutfitModel, make_outfit_net
from likewise.outfits.protocol import OutfitModel, OutfitQuestion
from likewise.outfits.scoring import grade_answers, score_table
from likewise.outfits.tables import outfits_from_table
from likewise.outfits.training.examples import make_fitb_questions
from likewise.outfits.training.presets import USUAL
from likewise.outfits.vectors import VectorLookup
from likewise.synthetic import CATEGORIES, make_items

OUTFITS, QUESTIONS, ITEMS, DIM = 50_000, 2_000, 4_000, 512
ROUNDS = 3


def main() -> None:
    items = make_items(ITEMS, 1).with_columns(pl.col("item").alias("image"))
    seconds = best_of(lambda: sample_outfits(items, OUTFITS, seed=1))
    print(f"\noutfits: {OUTFITS / seconds:,.0f} valid outfits generated and verified per second (n = {OUTFITS:,})")
    outfits = outfits_from_table(sample_outfits(items, QUESTIONS, seed=2).table)
    questions = make_fitb_questions(outfits, [item for outfit in outfits for item in outfit.items], 0)
    print(f"questions answered per second (n = {len(questions):,}, vectors of {DIM}, one process)")
    for name, model in models(items, questions).items():
        seconds = best_of(partial(model.answer, questions))
        print(f"  {name:<18}{len(questions) / seconds:>12,.0f}")
    table = grade_answers("random", questions, RandomModel().answer(questions))
    seconds = best_of(lambda: score_table(table, questions))
    print(f"  {'the scores alone':<18}{len(questions) / seconds:>12,.0f}")


def models(items: pl.DataFrame, questions: list[OutfitQuestion]) -> dict[str, OutfitModel]:
    """All of them, the networks with fresh weights: learning changes no timing."""
    rows = np.random.default_rng(0).normal(size=(len(items), DIM))
    unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    vectors = VectorLookup("random", tuple(items["image"]), unit)
    features: FeatureSource = InMemoryFeatures({"random": vectors})
    worn = [question.filled(question.right or 0) for question in questions]
    found: dict[str, OutfitModel] = {
        "random": RandomModel(),
        "mean-cosine": MeanCosineModel(vectors),
        "popular": PopularityModel(count_items(worn, vectors), vectors),
    }
    for kind, preset in USUAL.items():
        card = OutfitModelCard(
            kind, kind, "vectors", "random", "", DIM, ("", *CATEGORIES), settings={"width": preset.width}
        )
        found[kind] = TrainedOutfitModel(card, make_outfit_net(card).eval(), features)
    return found


def best_of(way: Callable[[], object]) -> float:
    """The shortest of some rounds: what the machine can do when nobody else wants it."""
    seconds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        way()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


if __name__ == "__main__":
    main()
