"""Votes are stored once, never overwritten silently, and not lost when several write."""

import shutil
import sqlite3
import subprocess
import threading
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from likewise.errors import LikewiseError
from likewise.labeling import add_votes, open_votes, read_votes, tidy_votes
from likewise.labeling.store import read_events, read_sourced_votes
from likewise.workspace import WorkspaceFolder
from tests.warm import warm

from .factories import votes_of

VOTES = votes_of(ann="sn?", bob="s.n")


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFolder:
    return WorkspaceFolder(tmp_path)


def rows_of(engine: Engine) -> list[tuple[object, ...]]:
    """The view that people see who open the database with another tool."""
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text("SELECT * FROM votes ORDER BY id"))]


def test_votes_come_back_sorted(engine: Engine, database: str) -> None:
    added = add_votes(engine, VOTES.reverse(), "import votes.csv")
    assert (added.added, added.repeated, added.replaced) == (5, 0, 0)
    again = open_votes(database)
    assert_frame_equal(read_votes(again), tidy_votes(VOTES))
    again.dispose()
    assert read_sourced_votes(engine).group_by("source", "expert").len().sort("expert").rows() == [
        ("import votes.csv", "ann", 3),
        ("import votes.csv", "bob", 2),
    ]


def test_the_same_votes_give_the_same_table(tmp_path: Path) -> None:
    tables = []
    for number, votes in enumerate([VOTES, VOTES.sample(fraction=1.0, shuffle=True, seed=7)]):
        (tmp_path / str(number)).mkdir()
        engine = open_votes(WorkspaceFolder(tmp_path / str(number)))
        add_votes(engine, votes, "x")
        tables.append(rows_of(engine))
    assert tables[0] == tables[1]


def test_a_repeat_is_skipped_and_counted(engine: Engine) -> None:
    add_votes(engine, VOTES.head(2), "first")
    again = add_votes(engine, pl.concat([VOTES, VOTES.head(1)]), "second")
    assert (again.added, again.repeated) == (3, 3)
    assert [row[-1] for row in rows_of(engine)] == ["first"] * 2 + ["second"] * 3


def test_a_contradiction_is_refused_and_nothing_is_stored(engine: Engine) -> None:
    add_votes(engine, VOTES, "first")
    before = rows_of(engine)
    changed = votes_of(ann="nn.s", cid="ssss")  # c0 contradicts; c3 and all of cid's are new
    with pytest.raises(LikewiseError, match=r"ann answered the pair \(q, c0\) 'similar' before and 'not similar' in b"):
        add_votes(engine, changed, "b.csv")
    assert rows_of(engine) == before


def test_replacing_must_be_asked_for_and_keeps_the_old_answer(engine: Engine) -> None:
    add_votes(engine, VOTES, "first")
    added = add_votes(engine, votes_of(ann="nns"), "second", replace=True)
    assert (added.added, added.repeated, added.replaced) == (0, 1, 2)
    ann = read_votes(engine).filter(pl.col("expert") == "ann")
    assert_frame_equal(ann, tidy_votes(votes_of(ann="nns")))
    log = read_events(engine).filter((pl.col("expert") == "ann") & (pl.col("candidate") == "c0"))
    assert log.select("revision", "answer", "source").rows() == [(1, "similar", "first"), (2, "not similar", "second")]


def test_more_queries_than_one_select_asks_for(engine: Engine) -> None:
    votes = VOTES.head(1).join(pl.DataFrame({"number": range(1203)}), how="cross")
    votes = votes.with_columns(query=pl.format("q{}", "number")).drop("number")
    assert add_votes(engine, votes, "x").added == 1203
    assert add_votes(engine, votes, "x").repeated == 1203


def test_an_answer_outside_the_known_never_reaches_the_table(engine: Engine) -> None:
    with pytest.raises(LikewiseError, match="'maybe': write one of similar, not similar, cannot tell"):
        add_votes(engine, VOTES.with_columns(answer=pl.lit("maybe")), "x")
    add_votes(engine, VOTES, "x")
    forge = (
        "INSERT INTO events (pair, expert, revision, answer, stored, source) "
        "SELECT pair, expert, 9, 'maybe', '', '' FROM events"
    )
    with pytest.raises(IntegrityError), engine.begin() as connection:
        connection.execute(text(forge))


def test_the_file_alone_holds_every_vote(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    """People back up votes.db and forget votes.db-wal."""
    engine = open_votes(workspace)
    add_votes(engine, VOTES, "x")
    (tmp_path / "copy").mkdir()
    copy = WorkspaceFolder(tmp_path / "copy")
    shutil.copy(workspace.votes_file, copy.votes_file)
    assert read_votes(open_votes(copy)).height == VOTES.height


WRITER = """
import sys, polars as pl
from likewise.labeling import add_votes, open_votes
url, expert = sys.argv[1:]
for number in range(8):
    vote = pl.DataFrame({"query": "q", "candidate": f"c{number}", "expert": expert, "answer": "similar"})
    engine = open_votes(url)
    assert add_votes(engine, vote, expert).added == 1
    engine.dispose()
"""


def test_two_processes_write_at_once_and_nothing_is_lost(engine: Engine, database: str) -> None:
    writers = [subprocess.Popen([*warm("-c", WRITER), database, expert]) for expert in ("ann", "bob")]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    votes = read_votes(engine)
    assert votes.group_by("expert").len().sort("expert").rows() == [("ann", 8), ("bob", 8)]


KILLED = """
import os, signal, sys, polars as pl
from sqlalchemy import text
from likewise.labeling import add_votes, open_votes
from likewise.labeling.store.engine import write_transaction
engine = open_votes(sys.argv[1])
vote = {"query": "q", "candidate": "c", "expert": "ann", "answer": "similar"}
add_votes(engine, pl.DataFrame(vote), "stored")
with write_transaction(engine) as connection:
    connection.execute(text(
        "INSERT INTO events (pair, expert, revision, answer, stored, source) "
        "SELECT pair, expert, 2, 'not similar', stored, 'lost' FROM events"))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_writer_leaves_what_was_stored_and_no_lock(engine: Engine, database: str) -> None:
    assert subprocess.run([*warm("-c", KILLED), database], check=False, timeout=60).returncode == -9
    assert read_votes(engine).select("expert", "answer").rows() == [("ann", "similar")]
    assert add_votes(engine, votes_of(bob="s"), "after").added == 1


def test_threads_share_an_engine(engine: Engine) -> None:
    def write(expert: str) -> None:
        for number in range(20):
            add_votes(engine, votes_of(**{expert: "." * number + "s"}), expert)

    threads = [threading.Thread(target=write, args=(f"e{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert read_votes(engine).height == 80


def test_a_file_that_is_no_database_is_said_so(workspace: WorkspaceFolder) -> None:
    workspace.votes_file.write_text("query,candidate\n" * 100)
    with pytest.raises(LikewiseError, match=r"votes\.db could not be written \(file is not a database\)"):
        open_votes(workspace)


def test_a_database_of_a_later_version_is_left_alone(workspace: WorkspaceFolder) -> None:
    open_votes(workspace)
    connection = sqlite3.connect(workspace.votes_file)
    connection.execute("UPDATE alembic_version SET version_num = '0999'")
    connection.commit()
    connection.close()
    with pytest.raises(LikewiseError, match="has schema 0999, this likewise knows"):
        open_votes(workspace)


def test_wrong_places_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(LikewiseError, match="does not exist: make the workspace first"):
        open_votes(WorkspaceFolder(tmp_path / "nowhere"))
    with pytest.raises(LikewiseError, match="postgresql:// or sqlite:///"):
        open_votes("mysql://host/votes")
    with pytest.raises(LikewiseError, match="names no file"):
        open_votes("sqlite://")
