"""The sheet experts fill in: every pair once, blind, grouped by query, in a random order."""

from pathlib import Path

import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.labeling import read_votes_file, voting_sheet

POOL = pl.DataFrame(
    [(f"q{q}", f"c{c}", generator, c, 0.5) for q in range(8) for c in range(12) for generator in ("colour", "shape")],
    schema=["query", "candidate", "generator", "rank", "score"],
    orient="row",
)


def test_a_sheet_is_blind_and_whole() -> None:
    sheet = voting_sheet(POOL, "ann", seed=1)
    assert sheet.columns == ["query", "candidate", "expert", "answer"]
    pairs = POOL.select("query", "candidate").unique().sort("query", "candidate")
    assert sheet.select("query", "candidate").sort("query", "candidate").equals(pairs)
    assert set(sheet["answer"]) == {""}


def test_the_candidates_of_a_query_stand_together_in_another_order() -> None:
    sheet = voting_sheet(POOL, "ann", seed=1)
    queries = sheet["query"].rle().struct.field("value").to_list()
    assert len(queries) == 8
    assert queries != sorted(queries)
    assert sheet.filter(pl.col("query") == "q0")["candidate"].to_list() != [f"c{c}" for c in range(12)]


def test_the_order_depends_on_pairs_expert_and_seed_only() -> None:
    sheet = voting_sheet(POOL, "ann", seed=1)
    assert voting_sheet(POOL.reverse(), "ann", seed=1).equals(sheet)
    assert not voting_sheet(POOL, "ann", seed=2).equals(sheet)
    assert voting_sheet(POOL, "bob", seed=1)["query"].to_list() != sheet["query"].to_list()


def test_a_filled_sheet_can_be_read_back(tmp_path: Path) -> None:
    sheet = voting_sheet(POOL, "ann", seed=1)
    sheet.write_csv(tmp_path / "ann.csv")
    with pytest.raises(LikewiseError, match="has 96 rows and no answer yet"):
        read_votes_file(tmp_path / "ann.csv")
    sheet.with_columns(answer=pl.lit("no")).write_csv(tmp_path / "ann.csv")
    assert read_votes_file(tmp_path / "ann.csv").votes.height == 96
