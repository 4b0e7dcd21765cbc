"""No cell of an exported CSV is a formula, and every text comes back as it was."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from likewise.spreadsheets import defuse_formulas, restore_formulas


@given(st.lists(st.text("'=+-@\t\rab", max_size=6), min_size=1, max_size=8))
def test_formulas_are_defused_and_restored(texts: list[str]) -> None:
    table = pl.DataFrame({"expert": texts, "n": range(len(texts))}, schema={"expert": pl.String, "n": pl.Int64})
    defused = defuse_formulas(table)
    assert not [text for text in defused["expert"] if text[:1] in ("=", "+", "-", "@", "\t", "\r")]
    assert restore_formulas(defused).equals(table)
