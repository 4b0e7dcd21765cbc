"""Votes are stored once, never overwritten silently, and not lost when several write."""

import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from likewise.errors import LikewiseError
from likewise.labeling import add_votes, count_votes_by_source, open_votes, read_votes, tidy_votes
from likewise.workspace import Workspace

from .making import votes_of

VOTES = votes_of(ann="sn?", bob="s.n")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def raw_rows(workspace: Workspace) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(workspace.votes_file)
    try:
        return connection.execute("SELECT * FROM votes ORDER BY id").fetchall()
    finally:
        connection.close()


def test_votes_come_back_sorted(workspace: Workspace) -> None:
    engine = open_votes(workspace)
    added = add_votes(engine, VOTES.reverse(), "import votes.csv")
    assert (added.added, added.repeated, added.replaced) == (5, 0, 0)
    assert_frame_equal(read_votes(open_votes(workspace)), tidy_votes(VOTES))
    assert count_votes_by_source(engine).rows() == [("import votes.csv", "ann", 3), ("import votes.csv", "bob", 2)]


def test_the_same_votes_give_the_same_table(tmp_path: Path) -> None:
    tables = []
    for number, votes in enumerate([VOTES, VOTES.sample(fraction=1.0, shuffle=True, seed=7)]):
        (tmp_path / str(number)).mkdir()
        workspace = Workspace(tmp_path / str(number))
        add_votes(open_votes(workspace), votes, "x")
        tables.append(raw_rows(workspace))
    assert tables[0] == tables[1]


def test_a_repeat_is_skipped_and_counted(workspace: Workspace) -> None:
    engine = open_votes(workspace)
    add_votes(engine, VOTES.head(2), "first")
    again = add_votes(engine, pl.concat([VOTES, VOTES.head(1)]), "second")
    assert (again.added, again.repeated) == (3, 3)
    assert [row[-1] for row in raw_rows(workspace)] == ["first"] * 2 + ["second"] * 3


def test_a_contradiction_is_refused_and_nothing_is_stored(workspace: Workspace) -> None:
    engine = open_votes(workspace)
    add_votes(engine, VOTES, "first")
    before = raw_rows(workspace)
    changed = votes_of(ann="nn.s", cid="ssss")  # c0 contradicts; c3 and all of cid's are new
    with pytest.raises(LikewiseError, match=r"ann answered the pair \(q, c0\) 'similar' before and 'not similar' in b"):
        add_votes(engine, changed, "b.csv")
    assert raw_rows(workspace) == before


def test_replacing_must_be_asked_for(workspace: Workspace) -> None:
    engine = open_votes(workspace)
    add_votes(engine, VOTES, "first")
    added = add_votes(engine, votes_of(ann="nns"), "second", replace=True)
    assert (added.added, added.repeated, added.replaced) == (0, 1, 2)
    ann = read_votes(engine).filter(pl.col("expert") == "ann")
    assert_frame_equal(ann, tidy_votes(votes_of(ann="nns")))


def test_more_queries_than_one_select_asks_for(workspace: Workspace) -> None:
    votes = VOTES.head(1).join(pl.DataFrame({"number": range(1203)}), how="cross")
    votes = votes.with_columns(query=pl.format("q{}", "number")).drop("number")
    engine = open_votes(workspace)
    assert add_votes(engine, votes, "x").added == 1203
    assert add_votes(engine, votes, "x").repeated == 1203


def test_an_answer_outside_the_three_never_reaches_the_table(workspace: Workspace) -> None:
    engine = open_votes(workspace)
    with pytest.raises(LikewiseError, match="'maybe': write one of similar, not similar, cannot tell"):
        add_votes(engine, VOTES.with_columns(answer=pl.lit("maybe")), "x")
    connection = sqlite3.connect(workspace.votes_file)
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("INSERT INTO votes VALUES (1, 'q', 'c', 'e', 'maybe', NULL, 'x')")
    connection.close()


def test_the_file_alone_holds_every_vote(workspace: Workspace, tmp_path: Path) -> None:
    """People back up votes.db and forget votes.db-wal."""
    engine = open_votes(workspace)
    add_votes(engine, VOTES, "x")
    (tmp_path / "copy").mkdir()
    copy = Workspace(tmp_path / "copy")
    shutil.copy(workspace.votes_file, copy.votes_file)
    assert read_votes(open_votes(copy)).height == VOTES.height


WRITER = """
import sys, polars as pl
from likewise.labeling import add_votes, open_votes
url, expert = sys.argv[1:]
for number in range(60):
    vote = pl.DataFrame({"query": "q", "candidate": f"c{number}", "expert": expert, "answer": "similar"})
    assert add_votes(open_votes(url), vote, expert).added == 1
"""


def test_two_processes_write_at_once_and_nothing_is_lost(workspace: Workspace) -> None:
    url = f"sqlite:///{workspace.votes_file}"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, url, expert]) for expert in ("ann", "bob")]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    votes = read_votes(open_votes(workspace))
    assert votes.group_by("expert").len().sort("expert").rows() == [("ann", 60), ("bob", 60)]


KILLED = """
import os, signal, sys, polars as pl
from sqlalchemy import insert
from likewise.labeling import add_votes, open_votes
from likewise.labeling.store.engine import writing
from likewise.labeling.store.models import Vote
engine = open_votes(sys.argv[1])
vote = {"query": "q", "candidate": "c", "expert": "ann", "answer": "similar"}
add_votes(engine, pl.DataFrame(vote), "stored")
with writing(engine) as connection:
    connection.execute(insert(Vote), vote | {"expert": "bob", "source": "lost"})
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_writer_leaves_what_was_stored_and_no_lock(workspace: Workspace) -> None:
    url = f"sqlite:///{workspace.votes_file}"
    assert subprocess.run([sys.executable, "-c", KILLED, url], check=False, timeout=60).returncode == -9
    engine = open_votes(workspace)
    assert read_votes(engine)["expert"].to_list() == ["ann"]
    assert add_votes(engine, votes_of(bob="s"), "after").added == 1


def test_threads_share_an_engine(workspace: Workspace) -> None:
    engine = open_votes(workspace)

    def write(expert: str) -> None:
        for number in range(20):
            add_votes(engine, votes_of(**{expert: "." * number + "s"}), expert)

    threads = [threading.Thread(target=write, args=(f"e{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert read_votes(engine).height == 80


def test_a_file_that_is_no_database_is_said_so(workspace: Workspace) -> None:
    workspace.votes_file.write_text("query,candidate\n" * 100)
    with pytest.raises(LikewiseError, match=r"votes\.db could not be written \(file is not a database\)"):
        open_votes(workspace)


def test_wrong_places_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(LikewiseError, match="does not exist: make the workspace first"):
        open_votes(Workspace(tmp_path / "nowhere"))
    with pytest.raises(LikewiseError, match="postgresql:// or sqlite:///"):
        open_votes("mysql://host/votes")
    with pytest.raises(LikewiseError, match="names no file"):
        open_votes("sqlite://")
