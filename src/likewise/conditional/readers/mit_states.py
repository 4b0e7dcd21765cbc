"""MIT-States: `images/<adjective> <noun>/*.jpg`; the folders `adj <noun>` (no adjective known) are passed over.

Test pictures are those whose noun is one of 49. Table `queries`: every test picture with every *other* adjective that
its noun has; right is any test picture of that adjective and noun, the gallery is all test pictures.
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.locations import list_images
from likewise.catalog.readers.parsing import AnnotationParser, to_table
from likewise.catalog.readers.reading import MalformedLine, Reading
from likewise.errors import LikewiseError

TEST_NOUNS = """
armor bracelet bush camera candy castle ceramic cheese clock clothes coffee fan fig fish foam forest fruit furniture
garden gate glass horse island laptop lead lightning mirror orange paint persimmon plastic plate potato road rubber sand
shell sky smoke steel stream table tea tomato vacuum wax wheel window wool
"""
TEST = frozenset(TEST_NOUNS.split())
NO_ADJECTIVE = "adj"
SCHEMA = {"row": pl.Int64, **dict.fromkeys(("image", "category", "adjective", "noun", "split"), pl.String)}


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture: noun as category, adjective, and split."""
    base = root or path
    below = "images" if (base / "images").is_dir() else "."
    parser = AnnotationParser(base)
    rows: list[tuple[object, ...]] = []
    odd: set[str] = set()
    for picture in list_images(base / below):
        words = picture.parts[0].split() if len(picture.parts) > 1 else []
        if len(words) != 2:
            odd.add(picture.parts[0])
        elif words[0] != NO_ADJECTIVE:
            adjective, noun = words
            key = (base / below / picture).relative_to(base).as_posix()
            split = "test" if noun in TEST else "train"
            rows.append((len(rows) + 1, key, noun, adjective, noun, split))
    parser.malformed += [MalformedLine(name, 0, "folder", "`<adjective> <noun>`", repr(name)) for name in sorted(odd)]
    if not rows:
        raise LikewiseError(
            f"{base / below} has no folders `<adjective> <noun>` with pictures: give MIT-States' folder."
        )
    found = to_table(rows, SCHEMA)
    test = found.filter(pl.col("split") == "test")
    others = test.select("noun", pl.col("adjective").alias("condition")).unique(maintain_order=True)
    queries = test.join(others, on="noun", maintain_order="left_right").filter(
        pl.col("adjective") != pl.col("condition")
    )
    return parser.to_reading(found, base, {"queries": queries.select("image", "condition", "noun", "adjective")})
