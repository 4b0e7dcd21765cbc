"""Templates from captions alone: what several say is there, what one says is unknown, what nobody says is not."""

import numpy as np
import polars as pl
import pytest

from likewise.conditional.templates.annotations import readable_kind
from likewise.conditional.templates.build import build_templates
from likewise.conditional.templates.caption_annotations import caption_annotations
from likewise.conditional.templates.matching import UNKNOWN, YES, AttributeMatching

pytest.importorskip("textblob")
SUBJECTS, COLOURS, PLACES = ("dog", "cat", "horse"), ("black", "white", "brown"), ("beach", "street", "garden", "sofa")
CAPTIONS = ("caption1", "caption2", "caption3")
N = 240


@pytest.fixture(scope="module")
def catalog() -> pl.DataFrame:
    """Three captions each; the third names a ball in every seventh picture, which the others do not."""
    rng = np.random.default_rng(2)
    rows = []
    for number in range(N):
        subject, colour, place = (str(rng.choice(words)) for words in (SUBJECTS, COLOURS, PLACES))
        odd = " with a ball" if number % 7 == 0 else ""
        rows.append(
            {
                "image": f"{number}.jpg",
                "item": str(number),
                "category": None,
                "caption1": f"a {colour} {subject} on the {place}",
                "caption2": f"the {subject} is {'sitting' if number % 2 else 'running'} on a {place}",
                "caption3": f"a {colour} {subject}{odd}",
                "truth": f"{subject} {colour} {place}",
            }
        )
    return pl.DataFrame(rows, schema_overrides={"category": pl.String})


def test_captions_become_annotations(catalog: pl.DataFrame) -> None:
    known = caption_annotations(catalog, CAPTIONS)
    assert sorted(known.category_names) == sorted(SUBJECTS)
    names = [attribute.value for attribute in known.attributes]
    for row, truth in enumerate(catalog["truth"]):
        subject, colour, place = truth.split()
        assert known.category_names[known.categories[row]] == subject
        assert known.has[row, names.index(colour)] and known.has[row, names.index(place)]
        assert all(known.lacks[row, names.index(other)] for other in {*COLOURS, *PLACES} - {colour, place})
    assert "ball" not in names  # one person of three is no agreement


def test_what_one_person_says_is_not_certain(catalog: pl.DataFrame) -> None:
    everywhere = catalog.with_columns(
        pl.when(pl.int_range(pl.len()) < 4).then(pl.lit("a dog with a ball")).otherwise("caption2").alias("caption2")
    )
    rows = everywhere.with_columns(
        pl.when(pl.int_range(pl.len()) < 4).then(pl.lit("a dog and a ball")).otherwise("caption1").alias("caption1")
    )
    known = caption_annotations(rows, CAPTIONS)
    ball = [attribute.value for attribute in known.attributes].index("ball")
    verdicts = AttributeMatching(known).satisfies(ball)
    at = {image: row for row, image in enumerate(known.images)}
    assert verdicts[at["1.jpg"]] == YES and verdicts[at["14.jpg"]] == UNKNOWN and verdicts[at["15.jpg"]] not in (1, -1)


def test_templates_obey_what_is_true(catalog: pl.DataFrame) -> None:
    """The target has the condition and the reference's subject; no distractor has both; the reference lacks it."""
    known = caption_annotations(catalog, CAPTIONS)
    built = build_templates(known, tasks=("change_attribute",), per_task=40, seed=1)
    truth = {image: set(words.split()) for image, words in catalog.select("image", "truth").iter_rows()}
    assert built.height == 40
    for row in built.iter_rows(named=True):
        [subject] = truth[row["reference"]] & set(SUBJECTS)
        wanted = {subject, row["condition"]}
        if row["condition"] not in {*COLOURS, *PLACES, *SUBJECTS}:
            continue
        assert row["condition"] not in truth[row["reference"]]
        assert wanted <= truth[row["target"]]
        assert not any(wanted <= truth[image] for image in row["gallery"])


def test_a_person_may_be_a_man() -> None:
    """Neither is surely unlike the other, so neither is a distractor for the other's sake."""
    said = ["a man on the beach", "a person on the beach", "a dog on the beach"] * 8
    rows = pl.DataFrame(
        {"image": [f"{n}.jpg" for n in range(24)], "item": [str(n) for n in range(24)], "caption": said},
    ).with_columns(pl.lit(None, pl.String).alias("category"))
    known = caption_annotations(rows, ["caption"])
    similar = AttributeMatching(known).similar_to(0, 0)
    assert similar[:3].tolist() == [1, UNKNOWN, 0]


def test_kinds_are_said_as_people_say_them() -> None:
    assert [readable_kind(kind) for kind in ("colour", "base_colour", "baseColour")] == [
        "colour",
        "base colour",
        "base colour",
    ]
