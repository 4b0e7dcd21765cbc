"""Fill the tables of `stylist.md` and draw its pictures: `python docs/stylist.py --work FOLDER`.

A wardrobe is drawn and encoded, a test of taste is made from another one, and every model is trained and scored on the
test. Then one model answers it drawn all in grey, and one is trained again with more outfits on its weakest dimension
and measured on a second test. Every stage leaves its files in FOLDER and is not repeated; all take about an hour of one
core.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from stylist_page import KINDS, Facts, fill_page

from likewise.catalog import make_catalog
from likewise.catalog.table import read_catalog
from likewise.encoders.running.encode import encode_catalog
from likewise.outfits.bundle import OutfitTest, open_test
from likewise.outfits.models import FeatureSource, WorkspaceFeatures, open_model
from likewise.outfits.models.card import models_folder, read_model_card
from likewise.outfits.protocol import OutfitQuestion
from likewise.outfits.results import OutfitTestFeatures, OutfitTestResults, score_models
from likewise.outfits.scoring import grade_answers, score_table
from likewise.outfits.training.examples import OutfitExamples
from likewise.outfits.training.step import TrainingRequest, train_outfit_model
from likewise.outfits.training.targeted_data import TargetedDataResult, train_with_targeted_data
from likewise.synthetic import DIMENSIONS, build_wardrobe, compatibility_many
from likewise.synthetic.outfits.aat_questions import make_aat
from likewise.synthetic.outfits.examples import styled_examples
from likewise.synthetic.outfits.taste_test import N_ITEMS, Scale, draw, make_wardrobe_test, wardrobe_items
from likewise.workspace import WorkspaceFolder

HERE = Path(__file__).parent
SEEING = "efficientnet-lite0?pooling=stages"
BLINDED = "type-aware"
CURED = "bi-lstm"
WORLD_SEED, TEST_SEED, CLOSER_SEED = 11, 5001, 3001
PIXELS = 224
GREY = {"colour": "grey", "second_colour": "grey"}


@dataclass(frozen=True)
class Plan:
    """Sizes of the whole experiment."""

    work: Path
    items: int
    lat: int
    aat: int
    closer: int
    outfits: int
    epochs: int

    @property
    def workspace(self) -> WorkspaceFolder:
        return WorkspaceFolder(self.work / "wardrobe")

    @property
    def test(self) -> Path:
        return self.work / f"taste-{TEST_SEED}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="where everything is kept")
    sizes = {"items": 6000, "lat": 300, "aat": 3200, "closer": 300, "outfits": 36000, "epochs": 2}
    for name, value in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    plan = Plan(**vars(parser.parse_args()))
    draw_world(plan)
    results = OutfitTestResults(make_test(plan), plan.work / "results")
    examples = outfits_of(plan)
    for kind in (*KINDS, "popular"):
        train_kind(plan, examples, kind)
    scores, speed = taste(plan, results)
    blind = blindness(plan, results)
    folders = {kind: models_folder(plan.workspace) / kind for kind in KINDS}
    facts = Facts(
        command=f"python docs/stylist.py --work FOLDER{said(plan, sizes)}",
        n_items=plan.items,
        encoders=SEEING,
        cards={kind: read_model_card(folder) for kind, folder in folders.items()},
        curves={kind: folder / "curves.parquet" for kind, folder in folders.items()},
        training=dimensions_of(plan, examples),
        speed=speed,
    )
    fill_page(HERE, facts, scores, blind, None)
    fill_page(HERE, facts, scores, blind, targeted_data(plan, results))


def said(plan: Plan, sizes: dict[str, int]) -> str:
    """The options that differ from the usual ones."""
    return "".join(f" --{name} {getattr(plan, name)}" for name, usual in sizes.items() if getattr(plan, name) != usual)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def draw_world(plan: Plan) -> None:
    """The wardrobe that models learn from: one picture per item, all encoders."""
    if not plan.workspace.settings_file.exists():
        say(f"drawing {plan.items} items")
        root = plan.workspace.path / "images"
        rows = build_wardrobe(root, n_items=plan.items, views_per_item=1, seed=WORLD_SEED)
        make_catalog(plan.workspace, rows, root, "wardrobe")
    encode_catalog(plan.workspace, [SEEING], workers=1)


def make_test(plan: Plan) -> OutfitTest:
    """A100-like: LAT with simulated people, AAT whose choices differ in one attribute; items of another seed."""
    if plan.test.exists():
        return open_test(plan.test)
    say("making the test")
    scale = Scale.of(plan.lat)
    return make_wardrobe_test(plan.test, seed=TEST_SEED, scale=scale, n_aat=plan.aat, size=PIXELS, workers=1)


def request(plan: Plan, kind: str) -> TrainingRequest:
    words, tests = kind != "popular", (plan.test,)
    epochs = None if kind == "ngnn" else plan.epochs  # which starts at random, and needs its preset's twelve
    return TrainingRequest(kind, kind, SEEING, n_outfits=plan.outfits, tests=tests, epochs=epochs, words=words)


def outfits_of(plan: Plan) -> OutfitExamples:
    """What the wardrobe's stylists put together; the same for every model."""
    return styled_examples(request(plan, KINDS[0]), read_catalog(plan.workspace))


def train_kind(plan: Plan, examples: OutfitExamples, kind: str) -> None:
    card = train_outfit_model(plan.workspace, request(plan, kind), examples, on_epoch=report_epochs(kind))
    say(f"{kind}: {card.training}")


def report_epochs(name: str) -> Callable[[int, int, dict[str, float]], None]:
    def tell(epoch: int, epochs: int, values: dict[str, float]) -> None:
        say(f"{name}: epoch {epoch} of {epochs}, {100 * values['validation accuracy']:.1f} %")

    return tell


def dimensions_of(plan: Plan, examples: OutfitExamples) -> pl.DataFrame:
    """The taste in the training outfits, per dimension: how they agree, and how with one item changed for another."""
    items = read_catalog(plan.workspace).unique("item", keep="first", maintain_order=True)
    rows = {image: place for place, image in enumerate(items["image"])}
    of_category = dict(items.with_row_index("row").group_by("category").agg("row").iter_rows())
    rng = np.random.default_rng(0)
    good = [[rows[item.image] for item in outfit.items] for outfit in examples.train]
    corrupted = []
    for outfit in good:
        blank = int(rng.integers(len(outfit)))
        others = of_category[items["category"][outfit[blank]]]
        corrupted.append([*outfit[:blank], others[int(rng.integers(len(others)))], *outfit[blank + 1 :]])
    first, second = compatibility_many(items, good), compatibility_many(items, corrupted)
    lines = [
        (name, first[name].mean(), second[name].mean(), (first[name] > second[name]).mean(), len(good))
        for name in DIMENSIONS
    ]
    return pl.DataFrame(lines, schema=["dimension", "styled", "changed", "better", "n"], orient="row")


def taste(plan: Plan, results: OutfitTestResults) -> tuple[pl.DataFrame, dict[str, float]]:
    """Every model takes the test; also how many questions each answers per second of one core."""
    features, folder = OutfitTestFeatures(results), models_folder(plan.workspace)
    names = ("random", f"mean-cosine:{SEEING}", "popular", *KINDS)
    models = [open_model(name, features, folder) for name in names]
    scores = score_models(results, models).scores
    speed = {}
    for model in models:
        started = time.process_time()
        model.answer(results.test.questions)
        speed[model.name] = len(results.test.questions) / (time.process_time() - started)
    return scores, speed


def blindness(plan: Plan, results: OutfitTestResults) -> pl.DataFrame:
    """Colour is taken away: the same model, and the test drawn all in grey."""
    folder = models_folder(plan.workspace)
    questions = [question for question in results.test.questions if question.kind == "AAT"][::8]  # less drawing
    graded = []
    for label, sees in (("as drawn", OutfitTestFeatures(results)), ("shown grey", grey_features(plan, questions))):
        model = open_model(BLINDED, sees, folder)
        graded.append(grade_answers(f"{BLINDED}, {label}", questions, model.answer(questions)))
    return score_table(pl.concat(graded), questions)


def grey_features(plan: Plan, questions: Sequence[OutfitQuestion]) -> FeatureSource:
    """The vectors of the same test, every item drawn grey: choices that differ in colour become one picture."""
    workspace = WorkspaceFolder(plan.work / f"grey-{TEST_SEED}")
    if not workspace.settings_file.exists():
        say("drawing the test in grey")
        items = wardrobe_items(N_ITEMS, TEST_SEED)
        _, attributes = make_aat(items, plan.aat, TEST_SEED)
        shown = sorted({item for q in questions for item in (*q.items, *q.choices)}, key=lambda item: item.image)
        root = workspace.path / "images"
        root.mkdir(parents=True, exist_ok=True)
        for item in shown:
            (root / item.image).write_bytes(draw(attributes[item.item] | GREY, TEST_SEED, PIXELS))
        rows = pl.DataFrame(
            [(i.image, i.item, i.category) for i in shown], schema=["image", "item", "category"], orient="row"
        )
        make_catalog(workspace, rows, root, "test in grey")
    encode_catalog(workspace, [SEEING], workers=1)
    return WorkspaceFeatures(workspace)


def targeted_data(plan: Plan, results: OutfitTestResults) -> TargetedDataResult:
    """More outfits on the weakest dimension, or as many more without a focus (sec. 4.2).

    The test finds the weakest dimension; a second one, about nothing else, measures.
    """
    found = pl.read_parquet(results.folder / "scores.parquet")
    index = found.filter((pl.col("model") == CURED) & (pl.col("score") == "index"))
    weak = str(index.sort("value", "dimension")["dimension"][0])
    path = plan.work / f"closer-{weak}"
    if not path.exists():
        say(f"making a test about {weak}")
        make_wardrobe_test(
            path, seed=CLOSER_SEED, scale=Scale.of(0), n_aat=plan.closer, only=(weak,), size=PIXELS, workers=1
        )
    closer = OutfitTestResults(open_test(path), plan.work / f"closer-{weak}-results")
    asked = replace(request(plan, CURED), tests=(plan.test, path))
    sources = (OutfitTestFeatures(results), OutfitTestFeatures(closer))
    measure_on = (closer.test.questions, sources[1])
    return train_with_targeted_data(
        plan.workspace, asked, results.test.questions, sources[0], outfit_source=styled_examples, measure_on=measure_on
    )


if __name__ == "__main__":
    main()
