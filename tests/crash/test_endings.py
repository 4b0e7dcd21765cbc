"""Ended from outside: a supervisor or a container sends SIGTERM, a terminal is closed, somebody presses Ctrl-C.

A command says so in one sentence, exits with the code that shells expect, leaves nothing half written and no process,
and goes on when it is run again. The site finishes the requests under way, and is done.
"""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from likewise.files import TEMPORARY
from likewise.labeling import open_votes, read_votes
from likewise.labeling.store.experts import invite_expert
from tests.crash.killing import folder_state
from tests.web.servers import free_port, logged_in, wait_until_up

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these are signals of POSIX")
GOES_ON = "the same command goes on where it stopped."
ENDS = [
    (signal.SIGTERM, False, 143, "ended by SIGTERM"),  # a supervisor, a container
    (signal.SIGTERM, True, 143, "ended by SIGTERM"),  # a service's whole control group
    (signal.SIGHUP, True, 129, "ended by SIGHUP"),
    (signal.SIGINT, True, 130, "interrupted"),
]


def start(argv: list[str], folder: Path) -> "subprocess.Popen[str]":
    """A command in a group of processes of its own, which hears Ctrl-C even where whoever runs the tests does not."""
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\nfrom likewise.cli import main"
    return subprocess.Popen(
        [sys.executable, "-c", f"{program}\nif __name__ == '__main__': main()", *argv],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(found: Callable[[], object], running: "subprocess.Popen[str]") -> None:
    until = time.monotonic() + 60
    while not found():
        assert running.poll() is None, "it was done before it could be ended"
        assert time.monotonic() < until
        time.sleep(0.01)


def members(group: int) -> list[str]:
    """Processes of a group that still run."""
    found = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True, check=True)
    rows = [line.split() for line in found.stdout.splitlines()]
    return [state for number, state in rows if number == str(group) and not state.startswith("Z")]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shop")
    made = ["new", "shop", "--wardrobe", "--items", "120", "--views", "2", "--seed", "1"]
    subprocess.run([sys.executable, "-m", "likewise", *made], cwd=place, check=True, capture_output=True)
    return place / "shop"


@pytest.mark.parametrize(("number", "group", "code", "sentence"), ENDS)
def test_a_command_with_two_workers_is_ended_and_goes_on(
    shop: Path, tmp_path: Path, number: int, group: bool, code: int, sentence: str
) -> None:
    argv = ["encode", "ws", "--with", "texture", "--workers", "2"]
    shutil.copytree(shop, tmp_path / "ws")
    running = start(argv, tmp_path)
    wait_for(lambda: len(members(running.pid)) >= 4, running)  # two workers, and what keeps count of their semaphores
    (os.killpg if group else os.kill)(running.pid, number)
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (code, f"likewise: {sentence}; {GOES_ON}\n")
    assert [path for path in tmp_path.rglob("*") if path.name.endswith(TEMPORARY)] == []
    wait_for_nobody(running.pid)
    for folder, place in (("ws", tmp_path), ("whole", tmp_path / "whole")):
        if folder == "whole":
            shutil.copytree(shop, place / "ws")
        done = subprocess.run([sys.executable, "-m", "likewise", *argv], cwd=place, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    assert folder_state(tmp_path / "ws") == folder_state(tmp_path / "whole" / "ws")


def wait_for_nobody(group: int) -> None:
    until = time.monotonic() + 30
    while members(group):
        assert time.monotonic() < until, "processes outlived their command"
        time.sleep(0.05)


def test_workers_end_with_a_command_that_is_killed(tmp_path: Path) -> None:
    """Also those of steps that a person may run for hours: drawing a wardrobe stands for them."""
    running = start(["new", "shop", "--wardrobe", "--items", "5000", "--views", "3"], tmp_path)
    wait_for(lambda: len(members(running.pid)) >= 3, running)
    running.kill()
    running.communicate(timeout=60)
    wait_for_nobody(running.pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_site_finishes_the_request_under_way_and_is_done(shop: Path, tmp_path: Path, number: int) -> None:
    workspace, port = tmp_path / "shop", free_port()
    shutil.copytree(shop, workspace)
    for step in (
        ["encode", "shop", "--with", "colour", "--workers", "1"],
        ["discover", "shop", "--with", "colour", "--n-queries", "3", "--k", "3"],
        ["label", "invite", "shop", "--name", "Zoe"],
    ):
        subprocess.run([sys.executable, "-m", "likewise", *step], cwd=tmp_path, check=True, capture_output=True)
    database = workspace / "votes.db"
    engine = open_votes(f"sqlite:///{database}")
    token = invite_expert(engine, "Ann")
    engine.dispose()
    server = start(["label", "serve", "shop", "--port", str(port)], tmp_path)
    wait_until_up(server, port)
    client = logged_in(port, token)
    [pair] = client.get("/api/next?count=1").json()["pairs"]
    body = client.build_request(
        "POST",
        "/api/answers",
        json={"events": [{"client_id": str(uuid4()), "pair": pair["pair"], "answer": "similar", "milliseconds": 900}]},
    )
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")  # the vote waits for it
    with socket.create_connection(("127.0.0.1", port)) as connection:
        head = [f"POST /api/answers HTTP/1.1\r\nHost: 127.0.0.1:{port}"]
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        head += [f"{name}: {value}" for name, value in body.headers.items() if name not in ("host", "cookie")]
        connection.sendall(("\r\n".join([*head, f"Cookie: {cookies}"]) + "\r\n\r\n").encode() + body.read())
        assert httpx.get(f"http://127.0.0.1:{port}/owner/login").status_code == 200  # what came before it has arrived
        server.send_signal(number)
        other.execute("ROLLBACK")
        other.close()
        with connection.makefile("rb") as answered:
            reply = answered.readline()
    client.close()
    _, said = server.communicate(timeout=60)
    assert (reply.split()[1], server.returncode, said) == (b"200", 0, "")
    engine = open_votes(f"sqlite:///{database}")
    assert read_votes(engine)["expert"].to_list() == ["Ann"]
    engine.dispose()
    assert [path.name for path in workspace.glob("votes.db*")] == ["votes.db"]
