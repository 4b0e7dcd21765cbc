"""Make `stylist.md` and its pictures again: `python docs/stylist.py --work FOLDER` (hours on a busy machine; goes
on).

A wardrobe is drawn and encoded, a test of taste is made from another one, every model is trained and takes the
test; then models that cannot see colour take it, and one is trained again with more outfits on its weakest
dimension. Every stage leaves its files in FOLDER and is not done twice.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from stylist_page import write_page

from likewise.catalog import make_catalog
from likewise.catalog.table import read_catalog
from likewise.catalog.wardrobe import build_wardrobe
from likewise.encoders.encode import encode_catalog
from likewise.outfits.bundle import OutfitTest, open_test
from likewise.outfits.models import Sight, WorkspaceSight, open_model
from likewise.outfits.models.card import models_folder, read_card
from likewise.outfits.protocol import Question
from likewise.outfits.scoring import score_table, take
from likewise.outfits.taking import Taking, TakingSight, score_models
from likewise.outfits.training.examples import Examples
from likewise.outfits.training.remedy import Remedy, remedy
from likewise.outfits.training.step import Request, styled_examples, train_in
from likewise.outfits.wardrobe import Scale, draw, make_wardrobe_test, wardrobe_items
from likewise.outfits.wardrobe_aat import make_aat
from likewise.workspace import Workspace

HERE = Path(__file__).parent
SEEING, BLIND = "colour+texture+shape", "texture+shape"
KINDS = ("bi-lstm", "type-aware", "sce-net", "fhn", "ngnn", "set-transformer")
BLIND_KINDS = ("type-aware",)
CURED = "type-aware"
WORLD_SEED, TEST_SEED = 11, 1001
TEST_ITEMS, PIXELS = 600, 224
GREY = {"colour": "grey", "second_colour": "grey"}


@dataclass(frozen=True)
class Plan:
    """Sizes of the whole experiment."""

    work: Path
    items: int
    lat: int
    aat: int
    outfits: int
    epochs: int

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.work / "wardrobe")

    @property
    def test(self) -> Path:
        return self.work / "taste"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="where everything is kept")
    for name, value in (("items", 6000), ("lat", 100), ("aat", 300), ("outfits", 6000), ("epochs", 6)):
        parser.add_argument(f"--{name}", type=int, default=value)
    plan = Plan(**vars(parser.parse_args()))
    draw_world(plan)
    taking = Taking(make_test(plan), plan.work / "results")
    examples = outfits_of(plan)
    for kind in (*KINDS, "popular"):
        trained(plan, examples, kind, kind, SEEING)
    for kind in BLIND_KINDS:
        trained(plan, examples, kind, f"{kind}-blind", BLIND)
    scores = taste(plan, taking)
    blind = blindness(plan, taking)
    curves = {kind: models_folder(plan.workspace) / kind / "curves.parquet" for kind in KINDS}
    cards = {kind: read_card(models_folder(plan.workspace) / kind) for kind in KINDS}
    about = {"items": f"{plan.items:,}", "encoders": SEEING}
    write_page(HERE, cards, curves, scores, blind, None, about)
    write_page(HERE, cards, curves, scores, blind, cure(plan, taking), about)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def draw_world(plan: Plan) -> None:
    """The wardrobe that models learn from: one picture per item, all encoders."""
    if not plan.workspace.settings_file.exists():
        say(f"drawing {plan.items} items")
        root = plan.workspace.path / "images"
        rows = build_wardrobe(root, n_items=plan.items, views_per_item=1, seed=WORLD_SEED)
        make_catalog(plan.workspace, rows, root, "wardrobe")
    encode_catalog(plan.workspace, SEEING.split("+"), workers=1)


def make_test(plan: Plan) -> OutfitTest:
    """A100-like: LAT with simulated people, AAT whose choices differ in one attribute; items of another seed."""
    if plan.test.exists():
        return open_test(plan.test)
    say("making the test")
    scale = Scale(n_questions=plan.lat)
    return make_wardrobe_test(
        plan.test, seed=TEST_SEED, n_items=TEST_ITEMS, scale=scale, n_aat=plan.aat, size=PIXELS, workers=1
    )


def request(plan: Plan, kind: str, name: str, encoders: str) -> Request:
    tests = (plan.test,)
    return Request(kind, name, encoders, n_outfits=plan.outfits, tests=tests, epochs=plan.epochs)


def outfits_of(plan: Plan) -> Examples:
    """What the wardrobe's stylists put together; the same for every model."""
    asked = request(plan, "set-transformer", "", SEEING)
    return styled_examples(plan.workspace, asked, read_catalog(plan.workspace))


def trained(plan: Plan, examples: Examples, kind: str, name: str, encoders: str) -> None:
    card = train_in(plan.workspace, request(plan, kind, name, encoders), examples, on_epoch=told(name))
    say(f"{name}: {card.trained}")


def told(name: str) -> Callable[[int, int, dict[str, float]], None]:
    def tell(epoch: int, epochs: int, values: dict[str, float]) -> None:
        say(f"{name}: epoch {epoch} of {epochs}, {100 * values['validation accuracy']:.1f} %")

    return tell


def taste(plan: Plan, taking: Taking) -> pl.DataFrame:
    """Every model takes the test."""
    sight, folder = TakingSight(taking), models_folder(plan.workspace)
    names = ("random", f"mean-cosine:{SEEING}", "popular", *KINDS)
    models = [open_model(name, sight, folder) for name in names]
    return score_models(taking, models).scores


def blindness(plan: Plan, taking: Taking) -> pl.DataFrame:
    """Two ways to lose colour: never learned (no colour encoder), and taken away (the test drawn all in grey)."""
    sight, folder = TakingSight(taking), models_folder(plan.workspace)
    questions = [question for question in taking.test.questions if question.kind == "AAT"][::2]  # half the drawing
    grey = grey_sight(plan, questions)
    taken = []
    for kind in BLIND_KINDS:
        ways = (("with colour", kind, sight), ("without colour", f"{kind}-blind", sight), ("shown grey", kind, grey))
        for label, name, sees in ways:
            model = open_model(name, sees, folder)
            taken.append(take(f"{kind}, {label}", questions, model.answer(questions)))
    return score_table(pl.concat(taken), questions)


def grey_sight(plan: Plan, questions: Sequence[Question]) -> Sight:
    """The vectors of the same test, every item drawn grey: choices that differ in colour become one picture."""
    workspace = Workspace(plan.work / "grey")
    if not workspace.settings_file.exists():
        say("drawing the test in grey")
        items = wardrobe_items(TEST_ITEMS, TEST_SEED)
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
    encode_catalog(workspace, SEEING.split("+"), workers=1)
    return WorkspaceSight(workspace)


def cure(plan: Plan, taking: Taking) -> Remedy:
    """More outfits on the weakest dimension, or as many more without a focus (sec. 4.2)."""
    asked = request(plan, CURED, f"{CURED}-cured", SEEING)
    return remedy(plan.workspace, asked, taking.test.questions, TakingSight(taking), say=say)


if __name__ == "__main__":
    main()
