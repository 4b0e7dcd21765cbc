"""The sheet experts fill in: every pair once, blind, grouped by query, in a random order."""

from pathlib import Path

import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.labeling import read_votes_file, voting_sheet
from likewise.labeling.sheet import blind_name

POOL = pl.DataFrame(
    [(f"q{q}", f"c{c}", generator, c, 0.5) for q in range(8) for c in range(12) for generator in ("colour", "shape")],
    schema=["query", "candidate", "generator", "rank", "score"],
    orient="row",
)


def test_a_sheet_is_blind_and_whole() -> None:
    sheet = voting_sheet(POOL, "ann", seed=1)
    assert sheet.columns == ["query", "candidate", "expert", "question", "answer"]
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


def test_hidden_repeats_come_later_and_are_told_from_first_answers_when_the_sheet_comes_back(tmp_path: Path) -> None:
    repeats = POOL.filter(pl.col("candidate") == "c3").select("query", "candidate")
    sheet = voting_sheet(POOL, "ann", seed=1, repeats=repeats)
    assert sheet.height == 96 + 8
    rows: dict[tuple[str, str], list[int]] = {}
    for place, pair in enumerate(sheet.select("query", "candidate").rows()):
        rows.setdefault(pair, []).append(place)
    twice = {pair: places for pair, places in rows.items() if len(places) == 2}
    assert set(twice) == set(repeats.unique().rows())
    assert all(second - first >= 12 or second == 95 + 8 for first, second in twice.values() if first < 60)
    assert sheet["question"].n_unique() == sheet.height
    second = [places[1] for places in twice.values()]
    answers = ["no" if place in second else "yes" for place in range(sheet.height)]
    filled = sheet.with_columns(answer=pl.Series(answers)).sample(fraction=1.0, shuffle=True, seed=3)  # sorted anew
    for blind in (False, True):
        names = [pl.col(name).map_elements(blind_name, pl.String) for name in ("query", "candidate")] if blind else []
        filled.with_columns(names).write_csv(tmp_path / "ann.csv")
        read = read_votes_file(tmp_path / "ann.csv")
        assert read.votes.height == 96
        assert set(read.votes["answer"]) == {"similar"}
        assert (read.repeats.height, set(read.repeats["answer"])) == (8, {"not similar"})


def test_a_repeat_whose_first_answer_was_given_elsewhere_is_asked_alone() -> None:
    pool, repeats = POOL.filter(pl.col("query") != "q0"), POOL.filter(pl.col("query") == "q0").head(1)
    sheet = voting_sheet(pool, "ann", repeats=repeats)
    assert sheet.filter(pl.col("query") == "q0").height == 1
    given = repeats.select("query", "candidate", expert=pl.lit("ann"), answer=pl.lit("similar"))
    assert voting_sheet(pool, "ann", answered=given, repeats=repeats).filter(pl.col("query") == "q0").is_empty()
