"""How visible a word is: ratings from 1 (abstract) to 5 (concrete) by Brysbaert et al. 2014, plurals included.

The ratings are research data that `likewise` does not bring along: a tab-separated file with the columns `Word` and
`Conc.M`, from the article's supplement.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.parsing import read_text
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional
from likewise.untrusted import ColumnRule, check_columns, tidy_headers

UNKNOWN = -1.0
COLUMNS = {"Word": ColumnRule(null=True), "Conc.M": ColumnRule("number", null=True, low=0.0, high=10.0)}
_IRREGULAR = {"men": "man", "clothes": "clothes", "jeans": "jeans"}


@dataclass(frozen=True)
class Concreteness:
    """Ratings by lower-case word."""

    ratings: dict[str, float]

    @classmethod
    def read(cls, path: Path) -> "Concreteness":
        if not path.is_file():
            raise LikewiseError(
                f"there are no concreteness ratings at {path}: name the file of Brysbaert et al. (2014), "
                "or mine with `--concreteness none`."
            )
        content = read_text(path).encode()
        try:
            table = pl.read_csv(
                content, separator="\t", quote_char=None, infer_schema=False, truncate_ragged_lines=True
            )
        except pl.exceptions.PolarsError as error:
            raise LikewiseError(f"{path} cannot be read ({str(error).splitlines()[0]}): get it again.") from error
        table.columns = tidy_headers(table.columns, str(path))
        if not {"Word", "Conc.M"} <= set(table.columns):
            raise LikewiseError(f"{path} has no columns Word and Conc.M: it is not the file of ratings.")
        table = table.with_columns(pl.col("Word", "Conc.M").str.strip_chars().replace("", None))
        table = check_columns(table, COLUMNS, str(path))
        words, means = table["Word"].str.to_lowercase(), table["Conc.M"]
        return cls({word: mean for word, mean in zip(words, means, strict=True) if word and mean is not None})

    def rating(self, word: str) -> float:
        """The rating of a word or, for a plural, of its singular; -1 for a word nobody rated."""
        found = self.ratings.get(word)
        return found if found is not None else self.ratings.get(singular_noun(word), UNKNOWN)


@cache
def singular_noun(word: str) -> str:
    """`dogs` to `dog`; words that only look like plurals stay as they are."""
    inflect: Any = import_optional("textblob.en.inflect", "mining captions")
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    found: str = inflect.singularize(word)
    return found
