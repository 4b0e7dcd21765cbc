"""A backup restored is the database it was made from, whichever kind either is."""

import stat
import zipfile
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import Engine, select

from likewise.cli.app import app
from likewise.errors import LikewiseError
from likewise.labeling import add_votes, open_votes, read_votes
from likewise.labeling.store.backup import WITHOUT, backup_votes, restore_votes
from likewise.labeling.store.experts import invite_expert
from likewise.labeling.store.models import Base
from likewise.labeling.store.project import change_project, read_project
from likewise.workspace import WorkspaceFolder
from tests.databases import KINDS, new_database

VOTES = [("q", "a", "ann", "similar"), ("q", "b", "ann", "exact"), ("q", "a", "bob", "cannot tell")]


def filled(url: str) -> Engine:
    engine = open_votes(url)
    add_votes(engine, pl.DataFrame(VOTES, schema=["query", "candidate", "expert", "answer"], orient="row"), "import")
    add_votes(
        engine,
        pl.DataFrame(
            [("q", "a", "ann", "not similar")], schema=["query", "candidate", "expert", "answer"], orient="row"
        ),
        "again",
        replace=True,
    )
    invite_expert(engine, "Änne", 30)
    change_project(engine, "named", name="Schuhe", graded=True)
    return engine


def contents(engine: Engine) -> dict[str, list[tuple[object, ...]]]:
    with engine.connect() as connection:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for table in Base.metadata.sorted_tables
            if table.name not in WITHOUT
        }


@pytest.mark.parametrize("into", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_database_is_the_one_that_was_backed_up(kind: str, into: str, tmp_path: Path) -> None:
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
    before = filled(new_database(kind, tmp_path / "from"))
    made = backup_votes(before, tmp_path / "votes.zip")
    assert made.n_events == 4
    assert stat.S_IMODE((tmp_path / "votes.zip").stat().st_mode) == 0o600
    after = open_votes(new_database(into, tmp_path / "to"))
    assert restore_votes(after, tmp_path / "votes.zip") == made
    assert contents(after) == contents(before)
    assert read_votes(after).equals(read_votes(before)) and read_project(after) == read_project(before)
    more = pl.DataFrame([("q", "c", "eve", "similar")], schema=["query", "candidate", "expert", "answer"], orient="row")
    assert add_votes(after, more, "later").added == 1  # numbers go on where they were
    with pytest.raises(LikewiseError, match="has 5 answers already"):
        restore_votes(after, tmp_path / "votes.zip")
    restore_votes(after, tmp_path / "votes.zip", replace=True)
    assert contents(after) == contents(before)
    before.dispose()
    after.dispose()


def test_a_damaged_backup_changes_nothing(tmp_path: Path) -> None:
    engine = filled(new_database("sqlite", tmp_path))
    backup_votes(engine, tmp_path / "votes.zip")
    with zipfile.ZipFile(tmp_path / "votes.zip") as whole, zipfile.ZipFile(tmp_path / "cut.zip", "w") as cut:
        for name in whole.namelist():
            content = whole.read(name)
            cut.writestr(name, content if name != "events.jsonl" else content[: content.index(b"\n") + 1])
    before = contents(engine)
    with pytest.raises(LikewiseError, match="1 rows of events and should have 4"):
        restore_votes(engine, tmp_path / "cut.zip", replace=True)
    (tmp_path / "no.zip").write_bytes(b"no zip")
    with pytest.raises(LikewiseError, match="damaged or no backup"):
        restore_votes(engine, tmp_path / "no.zip", replace=True)
    assert contents(engine) == before
    engine.dispose()


def test_one_command_each(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    filled(f"sqlite:///{workspace.votes_file}").dispose()
    votes = read_votes(open_votes(workspace))
    app(["label", "backup", str(workspace.path), str(tmp_path / "b.zip")], standalone_mode=False)
    workspace.votes_file.unlink()
    app(["label", "restore", str(workspace.path), str(tmp_path / "b.zip")], standalone_mode=False)
    assert read_votes(open_votes(workspace)).equals(votes)
