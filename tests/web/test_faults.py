"""Nothing acknowledged disappears: the server is killed under load, the disk is full, the database is locked."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from fastapi.testclient import TestClient

from likewise.labeling import open_votes, read_votes
from likewise.labeling.store import engine as store_engine
from likewise.labeling.store import read_events
from likewise.labeling.store.backup import backup_votes, restore_votes
from likewise.labeling.store.experts import invite_expert
from likewise.labeling.store.pairs import add_pairs
from likewise.web.app import create_app
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder

from .conftest import BASE, csrf_of, write_pool
from .servers import free_port, logged_in, running

EXPERTS, VOTES_BEFORE_THE_KILL = 4, 40


class Voter(threading.Thread):
    """Answers as fast as the server lets it, and remembers what was acknowledged; what was not is sent again later."""

    def __init__(self, port: int, token: str) -> None:
        super().__init__()
        self.client, self.acknowledged, self.waiting = logged_in(port, token), list[str](), list[dict[str, object]]()
        self.stop = threading.Event()

    def run(self) -> None:
        try:
            while not self.stop.is_set():
                pairs = self.client.get("/api/next?count=5").json()["pairs"]
                if not pairs:
                    return
                for pair in pairs:
                    event = {"client_id": str(uuid4()), "pair": pair["pair"], "answer": "similar", "milliseconds": 5}
                    self.waiting.append(event)
                    reply = self.client.post("/api/answers", json={"events": [event]})
                    if reply.status_code == 200:
                        self.acknowledged += reply.json()["accepted"]
        except (httpx.HTTPError, ValueError):
            return  # the server is gone, as it should be


def test_killing_the_server_under_load_loses_no_acknowledged_vote(workspace: WorkspaceFolder, database: str) -> None:
    engine = open_votes(database)
    add_pairs(engine, write_pool(workspace, 4, 20))
    tokens = [invite_expert(engine, f"expert {number}") for number in range(EXPERTS)]
    port = free_port()
    with running(workspace.path, database, port) as server:
        voters = [Voter(port, token) for token in tokens]
        for voter in voters:
            voter.start()
        until = time.monotonic() + 60
        while sum(len(voter.acknowledged) for voter in voters) < VOTES_BEFORE_THE_KILL and time.monotonic() < until:
            time.sleep(0.01)
        server.kill()
        server.wait(timeout=30)
        for voter in voters:
            voter.join(timeout=30)
    acknowledged = [client_id for voter in voters for client_id in voter.acknowledged]
    stored = set(read_events(engine)["client_id"])
    assert len(acknowledged) >= VOTES_BEFORE_THE_KILL
    assert set(acknowledged) <= stored
    # The browsers' outboxes send everything they are not sure of again, to the next server: nothing counts twice.
    app = create_app(SiteSettings(workspace, database))
    for voter, token in zip(voters, tokens, strict=True):
        client = TestClient(app, base_url=BASE)
        headers = {"X-CSRF-Token": csrf_of(client.get(f"/i/{token}").text)}
        for start in range(0, len(voter.waiting), 50):
            events = voter.waiting[start : start + 50]
            client.post("/api/answers", json={"events": events}, headers=headers).raise_for_status()
        voter.client.close()
    app.state.site.engine.dispose()
    sent = {str(event["client_id"]) for voter in voters for event in voter.waiting}
    assert sorted(read_events(engine)["client_id"]) == sorted(sent)  # each once, acknowledged or not
    assert read_votes(engine).height <= len(sent)
    engine.dispose()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="a small disk needs root: NOT run")
def test_a_full_disk_is_said_and_what_was_stored_stays(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    """votes.db lives on a disk of 1 MB that only the server's mount namespace sees; it is copied out at the end."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        pytest.skip("unshare is not allowed here: the full-disk test was NOT run")
    home, disk, port = tmp_path / "home", tmp_path / "disk", free_port()
    home.mkdir()
    disk.mkdir()
    engine = open_votes(f"sqlite:///{home}/votes.db")
    add_pairs(engine, write_pool(workspace, 4, 20))
    token = invite_expert(engine, "Anna")
    script = f'mount -t tmpfs -o size=1m tmpfs {disk} && cp {home}/votes.db {disk}/ && exec "$@"'
    shell = ["unshare", "-m", "sh", "-c", script, "sh"]
    acknowledged, refused = [], []
    with running(workspace.path, f"sqlite:///{disk}/votes.db", port, *shell) as server:
        client = logged_in(port, token)
        pairs = client.get("/api/next?count=50").json()["pairs"]
        for number in range(3000):
            reason = "x" * 300
            event = {
                "client_id": str(uuid4()),
                "pair": pairs[number % 50]["pair"],
                "answer": "similar",
                "reason": reason,
            }
            reply = client.post("/api/answers", json={"events": [event]})
            if reply.status_code == 200:
                acknowledged += reply.json()["accepted"]
            else:
                refused.append(reply)
                if len(refused) > 3:
                    break
        assert [reply.status_code for reply in refused] == [503] * 4
        assert "try again" in refused[0].json()["detail"]
        assert "Retry-After" in refused[0].headers
        assert client.get("/api/next").status_code == 200  # reading goes on
        client.close()
        for file in Path(f"/proc/{server.pid}/root{disk}").iterdir():  # the disk, as the server sees it
            shutil.copy(file, home)
    stored = set(read_events(open_votes(f"sqlite:///{home}/votes.db"))["client_id"])
    assert len(acknowledged) > 20
    assert set(acknowledged) <= stored


def test_a_locked_database_is_said_and_nothing_is_half_stored(
    workspace: WorkspaceFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_engine, "BUSY_SECONDS_SERVING", 1)
    write_pool(workspace)
    app = create_app(SiteSettings(workspace))
    client = TestClient(app, base_url=BASE)
    csrf = csrf_of(client.get(f"/i/{invite_expert(app.state.site.engine, 'Anna')}").text)
    pair = client.get("/api/next").json()["pairs"][0]["pair"]
    event = {"client_id": str(uuid4()), "pair": pair, "answer": "similar"}
    blocker = sqlite3.connect(workspace.votes_file, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    reply = client.post("/api/answers", json={"events": [event]}, headers={"X-CSRF-Token": csrf})
    assert reply.status_code == 503
    blocker.execute("ROLLBACK")
    blocker.close()
    assert read_votes(app.state.site.engine).is_empty()
    again = client.post("/api/answers", json={"events": [event]}, headers={"X-CSRF-Token": csrf})
    assert again.json()["accepted"] == [event["client_id"]]
    app.state.site.engine.dispose()


@pytest.mark.parametrize("how", ["removed", "moved", "replaced"])
def test_no_vote_is_acknowledged_into_a_file_that_is_not_there_any_more(
    workspace: WorkspaceFolder, how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """An open file can be written long after it was removed: the site would say that it stored what nobody finds."""
    write_pool(workspace)
    app = create_app(SiteSettings(workspace))
    client = TestClient(app, base_url=BASE)
    csrf = csrf_of(client.get(f"/i/{invite_expert(app.state.site.engine, 'Anna')}").text)
    pairs = [pair["pair"] for pair in client.get("/api/next?count=4").json()["pairs"]]

    def vote(pair: int) -> int:
        events = [{"client_id": str(uuid4()), "pair": pair, "answer": "similar"}]
        return client.post("/api/answers", json={"events": events}, headers={"X-CSRF-Token": csrf}).status_code

    assert vote(pairs[0]) == 200
    file, aside = workspace.votes_file, workspace.path / "aside.db"
    backup = workspace.path / "votes.zip"
    backup_votes(app.state.site.engine, backup)
    if how == "replaced":
        engine = open_votes(f"sqlite:///{aside}")
        restore_votes(engine, backup)
        engine.dispose()
        for rest in workspace.path.glob("votes.db-*"):
            rest.unlink()
        aside.replace(file)
    elif how == "moved":
        file.rename(aside)
    else:
        file.unlink()
    assert vote(pairs[1]) == 503
    assert "votes.db" in capfd.readouterr().err  # why, for whoever runs the site
    if how == "replaced":  # by the same votes, without sessions
        assert client.get("/health").status_code == 200
        assert read_votes(app.state.site.engine).height == 1
    else:
        assert client.get("/health").status_code == 503
    if how == "moved":
        aside.rename(file)
        assert vote(pairs[2]) == 200
        assert read_votes(app.state.site.engine).height == 2
    app.state.site.engine.dispose()
