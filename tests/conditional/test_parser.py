"""The parser of captions: sentences whose relations are plain, and 200 real captions that a person read first."""

from pathlib import Path

import polars as pl
import pytest

from likewise.conditional.mining import parsing
from likewise.conditional.mining.hand_annotations import caption_digest, read_annotations, score_parser
from likewise.conditional.mining.relations import extract_attributes, extract_relations
from likewise.conditional.mining.tagging import Tagger, textblob_tagger
from tests.real.places import real_data

ANNOTATIONS = Path(__file__).with_name("relations.tsv")


@pytest.fixture(scope="module")
def tag() -> Tagger:
    return textblob_tagger()


@pytest.mark.parametrize(
    ("caption", "relations"),
    [
        ("A young man riding a horse on the beach", "man riding horse; man on beach"),
        (
            "portrait of a woman wearing a red hat and gloves",
            "portrait of woman; woman wearing hat; woman wearing gloves",
        ),
        ("a group of people sitting on a bench", "people sitting on bench"),
        ("cat and dog in front of the house", "cat in front of house; dog in front of house"),
        (
            "the tree that stands on the corner was donated by the family",
            "tree stands on corner; tree donated by family",
        ),
        ("it is raining", ""),
        ("", ""),
        ("!!! - - ...", ""),
    ],
)
def test_plain_captions(tag: Tagger, caption: str, relations: str) -> None:
    found = [" ".join(relation) for relation in extract_relations(tag([caption])[0])]
    assert found == [text for text in relations.split("; ") if text]


@pytest.mark.parametrize(
    ("caption", "attributes"),
    [
        ("a red wool coat, striped, with long sleeves", "red coat; wool coat; long sleeves"),
        (
            "A little girl in a dark blue dress going into a wooden cabin .",
            "little girl; dark blue dress; wooden cabin",
        ),
        ("several other dogs", ""),
        ("", ""),
    ],
)
def test_what_stands_before_a_noun(tag: Tagger, caption: str, attributes: str) -> None:
    found = [f"{thing} {subject}" for subject, _, thing in extract_attributes(tag([caption])[0])]
    assert found == [text for text in attributes.split("; ") if text]


def test_precision_and_recall_on_captions_that_a_person_read(tag: Tagger) -> None:
    """The goal is .8 and .6; `docs/mining.md` says what was measured."""
    lines = (real_data("captions") / "cc3m_validation.tsv").read_text(encoding="utf-8").split("\n")
    annotated = read_annotations(ANNOTATIONS)
    captions = [lines[each.line].split("\t")[0] for each in annotated]
    assert [caption_digest(text) for text in captions] == [each.digest for each in annotated]
    measured = score_parser(annotated, [extract_relations(words) for words in tag(captions)])
    assert measured.n_captions == 200
    assert measured.n_annotated > 300
    assert measured.precision >= 0.8
    assert measured.recall >= 0.6


def test_photographs_captions_that_a_person_read(tag: Tagger) -> None:
    """100 captions, annotated before any parser ran on them; `docs/mining.md` says what was measured."""
    rows = pl.read_csv(real_data("captioned") / "catalog.csv", infer_schema_length=None)
    texts = [text for row in rows.select(f"caption{number}" for number in range(1, 6)).iter_rows() for text in row]
    annotated = read_annotations(ANNOTATIONS.with_name("photo_relations.tsv"))
    captions = [texts[each.line] for each in annotated]
    assert [caption_digest(text) for text in captions] == [each.digest for each in annotated]
    found = [[*extract_relations(words), *extract_attributes(words)] for words in tag(captions)]
    measured = score_parser(annotated, found)
    assert measured.n_captions == 100
    assert measured.precision >= 0.8 and measured.recall >= 0.75


def test_a_product_title_is_found_by_its_row_and_says_what_was_annotated(tag: Tagger) -> None:
    titles = pl.read_csv(real_data("products") / "catalog.csv", infer_schema_length=None)["title"].to_list()
    annotated = read_annotations(ANNOTATIONS.with_name("title_relations.tsv"))
    captions = [titles[each.line] for each in annotated]
    assert [caption_digest(text) for text in captions] == [each.digest for each in annotated]
    measured = score_parser(annotated, [extract_attributes(words) for words in tag(captions)])
    assert measured.n_captions == 100 and measured.recall >= 0.7  # precision comes with the filter of names


def test_silence_and_nonsense_are_not_rewarded() -> None:
    annotated = read_annotations(ANNOTATIONS)
    assert score_parser(annotated, [[] for _ in annotated]).recall == 0.0
    wrong = [extract_relations([("stone", "NN"), ("on", "IN"), ("moon", "NN")]) for _ in annotated]
    assert score_parser(annotated, wrong).precision == 0.0


def test_a_caption_of_a_hundred_thousand_words_is_parsed_no_further_than_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parser takes time by the square of a sentence."""
    seen: list[str] = []

    def parse(texts: list[str]) -> list[list[tuple[str, str, str]]]:
        seen.extend(texts)
        return [[] for _ in texts]

    monkeypatch.setattr(parsing, "_parser", lambda name: parse)
    pl.DataFrame({"caption": ["dog " * 100_000, "a red dog", None]}).write_parquet(parsing.captions_file(tmp_path))
    parsing.parse_shard(tmp_path, 0, 10, "any")
    assert [len(text) for text in seen] == [parsing.MAX_CHARACTERS, 9, 0]
