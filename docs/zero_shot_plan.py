"""What the zero-shot study compares: settings, arms, towers, and the sets it is chosen and tested on."""

from dataclasses import dataclass, replace
from typing import Any

from likewise.conditional.templates.workspace_annotations import AnnotationOptions
from likewise.conditional.training import CONJUNCTIVE_SETTINGS, LINEAR_SETTINGS, TrainingSettings

COMBINER_NAME, ONE_VECTOR = "Combiner", "Combiner, one query vector"
CAPTIONED, HOUSE, LESSONS, OTHER_PHOTOGRAPHS = "captioned", "stylists", "lessons", "photographs-test"
"""Photographs, a fashion house's packshots, both in one catalog to learn from, photographs that only a test shows."""
SOURCES = {CAPTIONED: "photographs", HOUSE: "packshots"}
"""What the column `source` of the catalog to learn from says."""
HOUSE_ATTRIBUTES = ("category", "colour", "group")
N_ITEMS = {"products": 5000, "emoji": 1600}
"""Of the larger catalogs, drawn at random, with one picture of each."""
CLOTHES, N_CLOTHES, NO_CATEGORIES = "clothing", 1500, ("Not sure", "Other", "Skip")
SAID = {"Body": "bodysuit", "Longsleeve": "long sleeve shirt", "Outwear": "outerwear"}
"""Photographs that people took of their clothes at home: how many names of categories a tower reads on a catalog that
it did not learn from.  No test uses them."""
CAPTIONS = tuple(f"caption{number}" for number in range(1, 6))
TRAINED, VALIDATED = slice(0, 3200), slice(4000, 4800)
"""Of the photographs in random order; the others are a test."""
N_HOUSE_HELD = 1000
"""Items of the fashion house that settings are chosen on."""
SEEDS = tuple(range(6))
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
USED = StudyArm("conjunctive, filter none, 40,000 triplets, own negatives too, temperature 1, learning rate 0.0005")
"""As it was chosen for earlier towers, and not chosen again."""
ARMS = (
    USED,
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
    "photographs and packshots": {},
    "photographs alone": {"where": "split=train,source=photographs"},
    "packshots alone": {"where": "split=train,source=packshots"},
    "both, words of its own": {"sentences": ""},
    "both, 1,000 steps": {"steps": 1000},
    "both, 512 numbers": {"dim": 512},
}
"""Towers that are compared on the validation sets, with a conjunctive Combiner; the first is used."""
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
        LESSONS,
        "validate",
        "photographs",
        AnnotationOptions(words=",".join(CAPTIONS), where="split=validate,source=photographs"),
    ),
    TestSet(
        LESSONS,
        "validate-packshots",
        "packshots",
        AnnotationOptions(attributes=["colour", "group"], where="split=validate,source=packshots"),
        ("change_attribute", "focus_object", "change_object"),
    ),
)
"""What settings are chosen on: held-out pictures of both kinds."""
