"""Which conditions a result meets, where the catalog knows: "in navy blue" is met where a column says Navy Blue.

A condition is read as values of the catalog's describing columns: the longest value first, in lower case, a plural like
its singular.  Values of one column are alternatives ("red or blue"), so are columns that share a value; other values
must all hold.  After "not", "no" or "without" none may.  Where a word is left that no column knows ("a red shirt" in
a catalog without colours), a condition is never called met.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from likewise.catalog.table import KEY_COLUMNS
from likewise.conditional.mining.lexicon import PREPOSITIONS
from likewise.conditional.templates.annotations import describing_columns

NEGATIONS = frozenset({"not", "no", "without"})
TOO_COMMON = frozenset(
    {"all", "and", "any", "but", "for", "from", "like", "new", "none", "not", "off", "one", "only"}
    | {"other", "others", "the", "this", "true", "false", "with", "yes"}
)
"""Values that are also little words: a column that says "Other" is not what "the other one" asks for."""
COLUMN_WORDS = frozenset({"colour", "color", "coloured", "colored", "please", "version"})
"""Words that name no value and ask for nothing more."""
Alternatives = frozenset[tuple[str, str]]
"""Columns and values of which one must hold."""


@dataclass(frozen=True)
class AttributeCondition:
    """What a condition says about columns of the catalog."""

    required: tuple[Alternatives, ...]
    negated: bool = False
    whole: bool = True
    """Whether every word of it was understood; otherwise nobody knows that it is met, at most that it is not."""

    def met_by(self, known: dict[str, str | None]) -> bool | None:
        """Of one image, given what the catalog says about it; None where that is not enough."""
        told = [_one_holds(each, known) for each in self.required]
        if self.negated:
            return None if not self.whole else False if True in told else None if None in told else True
        return False if False in told else None if None in told or not self.whole else True


@dataclass(frozen=True)
class KnownAttributes:
    """The describing columns of a catalog, and what conditions say about them."""

    catalog: pl.DataFrame

    @cached_property
    def columns(self) -> list[str]:
        return ["category", *describing_columns(self.catalog, KEY_COLUMNS, required=False)]

    @cached_property
    def _texts(self) -> pl.DataFrame:
        return self.catalog.select(pl.col(self.columns).cast(pl.String))

    @cached_property
    def _phrases(self) -> dict[tuple[str, ...], set[tuple[str, str]]]:
        """Words of a value -> the columns and values that are written so."""
        found: dict[tuple[str, ...], set[tuple[str, str]]] = {}
        for column in self.columns:
            for value in self._texts[column].drop_nulls().unique():
                words = condition_words(value)
                if words and not (len(words) == 1 and (words[0] in TOO_COMMON or len(words[0]) < 3)):
                    found.setdefault(words, set()).add((column, value))
        return found

    @cached_property
    def _longest(self) -> int:
        return max((len(words) for words in self._phrases), default=0)

    def read(self, condition: str) -> AttributeCondition | None:
        """What a condition says about the catalog's columns; None where it names none of their values."""
        words, groups, place, left = condition_words(condition), list[set[tuple[str, str]]](), 0, set[str]()
        while place < len(words):
            lengths = range(min(self._longest, len(words) - place), 0, -1)
            length = next((each for each in lengths if words[place : place + each] in self._phrases), 0)
            if length:
                named = self._phrases[words[place : place + length]]
                columns = {column for column, _ in named}
                same = next((each for each in groups if columns & {column for column, _ in each}), None)
                if same is None:
                    groups.append(set(named))
                else:
                    same |= named
            else:
                left.add(words[place])
            place += max(1, length)
        if not groups:
            return None
        whole = all(len(word) < 3 for word in left - TOO_COMMON - PREPOSITIONS - NEGATIONS - COLUMN_WORDS)
        return AttributeCondition(tuple(map(frozenset, groups)), not NEGATIONS.isdisjoint(words), whole)

    def meets(self, conditions: Sequence[str], rows: Sequence[int]) -> list[dict[str, bool]]:
        """Of every row of the catalog: condition -> whether it is met; left out where nobody knows."""
        read = {condition: asked for condition in conditions if (asked := self.read(condition)) is not None}
        if not read:
            return [{} for _ in rows]
        told = []
        for known in self._texts[list(rows)].iter_rows(named=True):
            met = {condition: asked.met_by(known) for condition, asked in read.items()}
            told.append({condition: each for condition, each in met.items() if each is not None})
        return told


def condition_words(text: str) -> tuple[str, ...]:
    """Lower-case words, a plural like its singular: "Casual Shoes" and "casual shoe" are one."""
    found = re.findall(r"[^\W_]+", text.lower())
    return tuple(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in found
    )


def _one_holds(alternatives: Alternatives, known: dict[str, str | None]) -> bool | None:
    if any(known[column] == value for column, value in alternatives):
        return True
    return None if any(known[column] is None for column, _ in alternatives) else False
