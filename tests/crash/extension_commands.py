"""Every command of the extensions that writes, with the shop it starts from."""

import shutil
from itertools import pairwise, product
from pathlib import Path

import polars as pl

from likewise.labeling.store import open_votes
from likewise.labeling.store.experts import invite_expert, read_experts
from likewise.labeling.store.question_queue import next_question
from likewise.labeling.store.questions import add_question_answers
from likewise.workspace import WorkspaceFolder, write_parquet
from tests.conditional.test_crops import published
from tests.conditional.test_published import cirr
from tests.crash.commands import run_all
from tests.crash.killing import Command, CommandServer
from tests.encoders.tiny import make_model, make_sentence_encoder
from tests.outfits.test_import_test import a100

MINED = ("--concreteness", "none", "--min-images", "1", "--min-objects", "1", "--n-triplets", "20")
WORDS = ("red", "small", "wet", "happy", "old")
TOWER, WORDED = "two-tower:shop/tower0", "two-tower:shop/worded"
TINY, CLIP = "hf:tiny", "hf:clip"
TWO_MODELS = ("--model", "random", "--model", "mean-cosine:colour")
IMAGE, OTHER = "shop/bags/bags-0000-v0.jpg", "shop/shoes/shoes-0001-v0.jpg"
SHOP = (
    ("new", "shop", "--wardrobe", "--items", "90", "--views", "1", "--seed", "2"),
    ("encode", "shop", "--with", "colour,layout", "--workers", "1"),
    ("discover", "shop", "--with", "colour,layout", "--n-queries", "12", "--k", "4"),
    ("label", "simulate", "shop"),
    ("label", "consensus", "shop"),
    ("train", "perceptual", "shop", "--with", "colour", "--name", "old", "--folds", "2"),
    ("condition", "two-tower", "shop", "shop/tower0", "--steps", "4", "--half", "train"),
    ("condition", "two-tower", "shop", "shop/worded", "--text", "sentences", "--steps", "4", "--half", "train"),
    ("condition", "build", "shop", "--name", "asked", "--per-task", "6", "--half", "test"),
    ("condition", "build", "shop", "--name", "lessons", "--per-task", "6", "--half", "train"),
    ("condition", "evaluate", "shop", "--with", TOWER, "--templates", "asked", "--workers", "1"),
    ("outfits", "generate", "shop", "--n", "30", "--output", "looks.parquet"),
    ("outfits", "wardrobe-test", "taste", "--n-lat", "4", "--n-aat", "27"),
    ("outfits", "train", "shop", "--n-outfits", "60", "--with", "colour", "--epochs", "2", "--name", "first"),
    ("outfits", "score", "taste", *TWO_MODELS, "--output", "scored", "--no-page"),
)
LATER = (
    ("new", "genecis", "published", "--reader", "genecis"),
    ("new", "cirr", "published-cirr", "--reader", "cirr"),
    ("condition", "verify", "verifying", "--templates", "asked"),
    ("outfits", "benchmark", "shop", *TWO_MODELS),
)
STUDIED = ("--seeds", "1", "--steps", "2", "--batch", "4", "--parts", "ablation")
BY_COLOUR = ("--with", "mean-cosine:colour")
SMALL = ("--n-outfits", "16", "--epochs", "1")
ONE_DIMENSION = ("--n-lat", "1", "--n-aat", "4", "--n-items", "600", "--only", "color")
FEW = ("--n-lat", "3", "--n-aat", "3")
CHECKED = (
    "--column",
    "category",
    "--trials",
    "2",
    "--steps",
    "10",
    "--evaluate-every",
    "5",
    "--reruns",
    "2",
    "--dim",
    "4",
)
EXTENSIONS = (
    Command(
        "train check",
        ("train", "check", "shop", "--methods", "triplet", "--with", "colour", *CHECKED, "--workers", "1"),
        but=("search.db",),
    ),
    Command("train perceptual", ("train", "perceptual", "shop", "--with", "colour,layout", "--folds", "2")),
    Command("train perceptual --force", ("train", "perceptual", "shop", "--name", "old", "--folds", "2", "--force")),
    Command(
        "train perceptual --trunk",
        ("train", "perceptual", "shop", "--trunk", "small?size=32", "--steps", "4", "--folds", "2", "--name", "whole"),
    ),
    Command("outfits generate", ("outfits", "generate", "shop", "--n", "6")),
    Command("outfits train", ("outfits", "train", "shop", "--n-outfits", "60", "--with", "colour", "--epochs", "2")),
    Command("outfits make-test", ("outfits", "make-test", "shop", "--outfits", "30", "--trust-categories")),
    Command("outfits wardrobe-test", ("outfits", "wardrobe-test", "test", *ONE_DIMENSION)),
    Command("condition build", ("condition", "build", "shop", "--name", "built", "--per-task", "6")),
    Command("condition mine", ("condition", "mine", "captions.tsv", *MINED, "--output", "mined", "--workers", "1")),
    Command("condition two-tower", ("condition", "two-tower", "shop", "shop/tower", "--steps", "4")),
    Command(
        "train lessons",
        ("train", "lessons", "shop", "--column", "category", "--with", "colour", "--random-points", "200"),
    ),
    Command("train finetune", ("train", "finetune", "shop", "--with", TINY, "--epochs", "1", "--name", "tuned")),
    Command("bundle encoder", ("bundle", "encoder", TINY, "tiny.onnx")),
    Command(
        "condition ask",
        ("condition", "ask", "shop", "--with", TOWER, "--image", IMAGE, "--text", "red"),
        timed=("asked.jsonl",),
    ),
    Command(
        "condition train-text",
        ("condition", "train-text", "shop", "--with", WORDED, "--steps", "2", "--batch", "8"),
        needs=("sentences",),
    ),
    Command(
        "condition submit", ("condition", "submit", "cirr", "sent", "--with", CLIP, "--split", "val", "--workers", "1")
    ),
    Command("condition audit", ("condition", "audit", "shop", "--templates", "asked")),
    Command(
        "condition evaluate",
        ("condition", "evaluate", "shop", "--with", TOWER, "--templates", "asked", "--methods", "text"),
    ),
    Command("condition catalog", ("condition", "catalog", "shop", "--with", TOWER, "--questions", "20", "--top", "2")),
    Command(
        "condition train",
        ("condition", "train", "shop", "--with", TOWER, "--on", "lessons", "--steps", "4", "--batch", "4"),
    ),
    Command(
        "condition study",
        ("condition", "study", "shop", "--with", TOWER, "--on", "lessons", "--test", "asked", *STUDIED),
    ),
    Command("condition verify", ("condition", "verify", "shop", "--templates", "asked")),
    Command(
        "outfits score",
        ("outfits", "score", "taste", "--model", "random", "--output", "found"),
        but=("scores.json", "found/index.html"),
    ),
    Command(
        "outfits stylists-test",
        ("outfits", "stylists-test", "shop", "real.zip", "--outfits", "looks.csv", "--licence", "CC0", *FEW),
    ),
    Command(
        "outfits import-test", ("outfits", "import-test", "A100", "a100.zip", "--layout", "a100", "--licence", "CC0")
    ),
    Command("outfits benchmark", ("outfits", "benchmark", "shop", *TWO_MODELS)),
    Command("outfits checkpoints", ("outfits", "checkpoints", "shop/outfit_models/first", "taste")),
    Command(
        "outfits train-weakest",
        ("outfits", "train-weakest", "shop", "taste", "--model", "type-aware", "--with", "colour", *SMALL),
    ),
    Command("condition crops", ("condition", "crops", "genecis", "parts")),
    Command("condition verified", ("condition", "verified", "verifying", "--templates", "asked")),
    Command("outfits complete", ("outfits", "complete", "shop", "--item", IMAGE, *BY_COLOUR, "--save", "found.csv")),
)
TRAININGS = (
    "train check",
    "train perceptual",
    "train perceptual --trunk",
    "train finetune",
    "outfits train",
    "condition two-tower",
    "condition train-text",
    "condition train",
)
WRITE_NOTHING = {
    "outfits swap": ("outfits", "swap", "shop", "--item", IMAGE, "--change", IMAGE, *BY_COLOUR),
    "outfits rate": ("outfits", "rate", "shop", "--item", IMAGE, "--item", OTHER, *BY_COLOUR),
    "outfits show": ("outfits", "show", "taste"),
    "outfits models": ("outfits", "models"),
    "outfits rules": ("outfits", "rules"),
    "outfits check": ("outfits", "check", "looks.parquet"),
    "outfits order": ("outfits", "order", "scored", "--set", "shop/results/outfits-test.parquet"),
    "outfits factors": ("outfits", "factors", "shop"),
}


def build_extension_start(server: CommandServer, folder: Path) -> None:
    """The labelled workspace `shop`, whose items make outfits, with an encoder `old` that experts taught; captions."""
    folder.mkdir(parents=True)
    make_model("vit", folder / "tiny")
    make_model("clip", folder / "clip")
    make_sentence_encoder(folder / "sentences", WORDS)
    run_all(server, folder, SHOP)
    lines = [f"a {word} dog on the {place} beach\t{n}.jpg" for n, (word, place) in enumerate(product(WORDS, WORDS))]
    looks = pl.read_parquet(folder / "looks.parquet").select("outfit", "item")
    looks.write_csv(folder / "looks.csv")
    _ask_questions(folder / "shop", looks)
    published(folder / "published")
    cirr(folder / "published-cirr")
    a100(folder / "A100")
    shutil.copytree(folder / "shop", folder / "verifying")
    run_all(server, folder, LATER)
    _answer_questions(WorkspaceFolder(folder / "verifying"))
    (folder / "captions.tsv").write_text("\n".join(lines * 6) + "\n")


def _ask_questions(shop: Path, looks: pl.DataFrame) -> None:
    """Questions of a data set: the last item of each look is the right one of two."""
    outfits = [each["item"].to_list() for each in looks.partition_by("outfit", maintain_order=True)]
    rows = [
        (number, "test", worn[:-1], [worn[-1], others[-1]], 0, None)
        for number, (worn, others) in enumerate(pairwise(outfits))
        if worn[-1] != others[-1]
    ]
    columns: dict[str, pl.DataType | type[pl.DataType]] = {
        "question": pl.Int64,
        "split": pl.String,
        "items": pl.List(pl.String),
        "answers": pl.List(pl.String),
    }
    schema = columns | {"right": pl.Int64, "position": pl.Int64}
    write_parquet(pl.DataFrame(rows, schema=schema, orient="row"), shop / "tables" / "questions.parquet")


def _answer_questions(workspace: WorkspaceFolder) -> None:
    engine = open_votes(workspace)
    invite_expert(engine, "Zoe")
    [zoe] = [expert.id for expert in read_experts(engine) if expert.name == "Zoe"]
    for number in range(8):
        question, _ = next_question(engine, zoe, None)
        assert question is not None
        answer = (f"{number:032x}", question.id, question.options[0]["value"], 900)
        add_question_answers(engine, zoe, None, [answer])
    engine.dispose()
