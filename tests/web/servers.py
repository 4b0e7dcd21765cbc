"""A real server in a process of its own, for the tests that kill it."""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

SERVE = """
import sys
from pathlib import Path
from likewise.web.serve import serve
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder
serve(SiteSettings(WorkspaceFolder(Path(sys.argv[1])), sys.argv[2], port=int(sys.argv[3])))
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(workspace: Path, database: str, port: int, *before: str) -> Iterator[subprocess.Popen[bytes]]:
    """The site on a port of this machine until the block ends, however it ends."""
    server = subprocess.Popen([*before, sys.executable, "-c", SERVE, str(workspace), database, str(port)])
    try:
        wait_until_up(server, port)
        yield server
    finally:
        server.kill()
        server.wait(timeout=30)


def wait_until_up(server: "subprocess.Popen[Any]", port: int, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert server.poll() is None, "the server ended by itself"
        try:
            httpx.get(f"http://127.0.0.1:{port}/owner/login", timeout=5)
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")


def logged_in(port: int, token: str) -> httpx.Client:
    """A client that opened an invitation and has its page's token."""
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20)
    client.get(f"/i/{token}")
    found = re.search(r'name="csrf-token" content="([^"]+)"', client.get("/work").text)
    assert found
    client.headers["X-CSRF-Token"] = found[1]
    return client
