"""Words that no native speaker of the field uses stay out of what people read."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READ = [
    *(ROOT / "src").rglob("*.py"),
    *(ROOT / "src").rglob("*.html"),
    *(ROOT / "src").rglob("*.js"),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "docs").glob("*.py"),  # they write tables into the pages
    ROOT / "README.md",
]
UNUSUAL = (
    "suspects",
    "its alone",
    "fed the pool",
    "best area of a column",
    "the gravest first",
    "one class only",
    "both alike",
    "print the version and leave",
    "not to be had",
    "a core and hour",
    "absurd size",
    "majority of 1 expert",
    "redrawn sets",
    "notes of who proposed",
)


@pytest.mark.parametrize("words", UNUSUAL)
def test_unusual_words_are_gone(words: str) -> None:
    found = [str(path.relative_to(ROOT)) for path in READ if words in path.read_text(encoding="utf-8").lower()]
    assert found == []
