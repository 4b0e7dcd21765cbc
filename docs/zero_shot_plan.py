"""What the zero-shot study compares: settings, arms, towers, and the sets it is chosen and tested on."""

from dataclasses import dataclass, replace
from typing import Any

from likewise.conditional.templates.workspace_annotations import AnnotationOptions
from likewise.conditional.training import CONJUNCTIVE_SETTINGS, LINEAR_SETTINGS, TrainingSettings

COMBINER_NAME, ONE_VECTOR = "Combiner", "Combiner, one query vector"
CAPTIONED, OTHER_PHOTOGRAPHS = "captioned", "photographs-test"
N_ITEMS = {"stylists": 3000, "products": 5000, "emoji": 1600}
"""Of the larger catalogs, drawn at random, with one picture of each."""
CAPTIONS = tuple(f"caption{number}" for number in range(1, 6))
N_TRAIN, N_VALIDATE = 4000, 800
SEEDS = (0, 1, 2, 3, 4)
WORD_SEEDS = (0,)
"""Pseudo-words are trained once: their training runs through the whole sentence encoder."""
TOWER_STEPS, DIM, N_TRIPLETS, PER_TASK, WORD_STEPS = 300, 256, 40_000, 2000, 60
WORD_TEMPLATES = 300
"""Of each task that pseudo-words answer: each question is a sentence of its own."""
COMBINER = CONJUNCTIVE_SETTINGS
GATED = TrainingSettings(
    steps=400,
    learning_rate=1e-3,
    temperature=0.1,
    validate_every=50,
    negatives_per_triplet=0,
    projection=1,
    hidden=1,
)
"""The paper's Combiner and loss, over the targets of the batch, as wide as its inputs."""


@dataclass(frozen=True)
class StudyArm:
    """One way to train, beside the first: what differs is what it is called by."""

    name: str
    triplets: str = "none"
    settings: TrainingSettings = COMBINER


LINEAR = StudyArm("linear, temperature 0.5", settings=LINEAR_SETTINGS)
ARMS = (
    StudyArm("conjunctive, filter none, 40,000 triplets, own negatives too, temperature 1, learning rate 0.0005"),
    StudyArm("filter genecis", "genecis"),
    StudyArm("2,000 triplets", "none2"),
    StudyArm("loss: the batch alone", settings=replace(COMBINER, negatives_per_triplet=0)),
    LINEAR,
    StudyArm("gated, filter genecis, the batch alone, temperature 0.1, learning rate 0.001", "genecis", GATED),
)
MINED = {
    "none": ("none", N_TRIPLETS),
    "none2": ("none", N_TRIPLETS // 20),
    "genecis": ("genecis", N_TRIPLETS),
}
"""Filter and number of triplets."""
TOWERS: dict[str, dict[str, Any]] = {
    "all stages of EfficientNet-Lite0": {},
    "all stages, words of its own": {"sentences": ""},
    "all stages, 1,000 steps": {"steps": 1000},
    "all stages, 512 numbers": {"dim": 512},
    "last features of EfficientNet-Lite0": {"base": "efficientnet-lite0"},
    "all stages of EfficientNet-Lite1": {"base": "efficientnet-lite1?pooling=stages"},
}
"""Towers that are compared on the validation sets, with a linear Combiner; the first is used."""
ARM_SEEDS = SEEDS[:1]
FIXED_WEIGHTS = (30, 40, 50, 60, 70, 80)
"""Of the text, in percent."""
BASELINES = ("image", "text", "image+text", "image+text:unscaled", "late-fusion", "soft-minimum")
WORDS = ("focus_object", "change_object")


@dataclass(frozen=True)
class TestSet:
    """Templates of one kind of pictures."""

    workspace: str
    name: str
    title: str
    annotations: AnnotationOptions
    tasks: tuple[str, ...] = ()


TESTS = (
    TestSet(OTHER_PHOTOGRAPHS, "test", "Photographs", AnnotationOptions(words=",".join(CAPTIONS))),
    TestSet(
        "products",
        "attributes",
        "Products, attributes",
        AnnotationOptions(attributes=["baseColour", "gender", "usage"]),
    ),
    TestSet("products", "titles", "Products, titles", AnnotationOptions(attributes=[], words="title"), WORDS),
    TestSet("emoji", "captions", "Emoji", AnnotationOptions(attributes=[], words="caption"), WORDS),
    TestSet("wardrobe", "attributes", "Drawn wardrobe", AnnotationOptions()),
)


VALIDATION = (
    TestSet(
        "captioned",
        "validate",
        "photographs",
        AnnotationOptions(words=",".join(CAPTIONS), where="split=validate"),
    ),
    TestSet(
        "stylists",
        "validate",
        "a fashion house",
        AnnotationOptions(attributes=["colour", "group"]),
        ("change_attribute", "focus_object", "change_object"),
    ),
)
"""What settings are chosen on: photographs, and a catalog of another kind."""
