"""The labelling commands, as an owner types them."""

import json
from pathlib import Path

import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run

__all__ = ["run"]

COMMANDS = ("serve", "invite", "revoke", "status", "settings", "pause", "resume", "add-pairs", "remove-votes", "export")


def test_every_command_shows_an_example(run: Run) -> None:
    for command in COMMANDS:
        text = run("label", command, "--help").out
        assert f"Example: likewise label {command}" in text
        assert "<bool>" not in text


def test_a_project_from_the_command_line(run: Run, workspace: WorkspaceFolder, tmp_path: Path) -> None:
    ws = workspace.path
    assert run("encode", ws, "--with", "colour,shape", "--workers", 1).code == 0
    assert run("discover", ws, "--with", "colour", "--k", 3, "--n-queries", 6, "--random", 5).code == 0
    invited = run("label", "invite", ws, "--name", "anna", "--json")
    assert json.loads(invited.out)["link"].startswith("http://127.0.0.1:8000/i/")
    assert "earlier link no longer works" in run("label", "invite", ws, "--name", "anna").out
    votes = tmp_path / "votes.csv"
    pool = pl.read_parquet(workspace.pool_file).select("query", "candidate").unique()
    pool.with_columns(expert=pl.lit("anna"), answer=pl.lit("yes")).write_csv(votes)
    assert run("label", "import", ws, votes).code == 0
    status = json.loads(run("label", "status", ws, "--json").out)
    assert [(row["name"], row["answered"]) for row in status["experts"]] == [("anna", pool.height)]
    assert "Visual similarity" in run("label", "status", ws).out
    added = json.loads(run("label", "add-pairs", ws, "--with", "shape", "--json").out)
    assert added["added"] > 0
    assert added["known"] >= pool.height
    assert set(pl.read_parquet(workspace.pool_file)["generator"]) == {"colour", "shape", "random"}
    again = run("label", "add-pairs", ws, "--with", "shape")
    assert (again.code, "already contributed to this pool" in again.err) == (2, True)
    assert run("label", "settings", ws, "--name", "Shapes", "--grouped").code == 0
    assert json.loads(run("label", "settings", ws, "--json").out)["grouped_by_query"] is True
    assert run("label", "pause", ws).code == 0
    assert run("label", "resume", ws).code == 0
    for file, what, first in (
        ("crowd.csv", "crowdkit", "task,worker,label"),
        ("all-votes.csv", "votes", "query,candidate,expert,answer,time"),
        ("tags.json", "labels", "["),
    ):
        assert run("label", "export", ws, tmp_path / file, "--what", what).code == 0
        assert (tmp_path / file).read_text().startswith(first)
    assert run("label", "export", ws, tmp_path / "events.csv", "--what", "events").code == 0
    assert pl.read_csv(tmp_path / "events.csv").height == pool.height
    assert run("label", "remove-votes", ws, "--expert", "anna", "--reason", "a test").code == 0
    assert run("label", "revoke", ws, "--expert", "anna").code == 0


def test_mistakes_are_one_sentence(run: Run, workspace: WorkspaceFolder, tmp_path: Path) -> None:
    ws = workspace.path
    for arguments, sentence in (
        (["status", ws], "holds no votes yet"),
        (["revoke", ws, "--expert", "eve"], "nobody called 'eve' was invited"),
        (["serve", ws, "--host", "0.0.0.0"], "needs a password"),
        (["export", ws, tmp_path / "x.csv", "--what", "pictures"], "labels, votes"),
        (["add-pairs", ws, "--with", "shape"], "run `likewise discover"),
        (["settings", ws, "--repeats", "0.9"], "give a share from 0 to 0.5"),
        (["invite", ws, "--name", " "], "1 to 80 printable characters"),
        (["settings", ws, "--catch", tmp_path / "none.csv"], "does not exist"),
    ):
        ran = run("label", *arguments)
        assert ran.code == 2, arguments
        assert sentence in ran.err, ran.err
        assert ran.err.count("\n") == 1


def test_a_port_that_is_taken_is_said_before_any_address() -> None:
    """Nothing is printed or stored about a site that cannot start."""
    import socket

    from likewise.web.serve import refuse_used_port

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LikewiseError, match=f"something listens on 127.0.0.1, port {port} already.* --port"):
            refuse_used_port("127.0.0.1", port)
