"""Slow and many connections, pictures that unpack to gigabytes, and whom a proxy's word is taken from."""

import io
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from fastapi import FastAPI, Request
from PIL import Image

from likewise.errors import LikewiseError
from likewise.web import connections
from likewise.web.serve import free_port, server_config
from likewise.web.settings import SiteSettings, check_address
from likewise.web.uploads import MAX_UPLOAD_PIXELS, Uploads
from likewise.workspace import WorkspaceFolder


@contextmanager
def site(seconds: float = 0.4, proxies: tuple[str, ...] = ()) -> Iterator[int]:
    """A server with the site's protocol and one page that says where a request comes from."""
    app, port = FastAPI(), free_port()

    @app.get("/")
    def whoami(request: Request) -> str:
        return request.client.host if request.client else ""

    @app.post("/")
    async def size(request: Request) -> int:
        return len(await request.body())

    settings = SiteSettings(WorkspaceFolder(Path("nowhere")), port=port, trusted_proxies=proxies)
    server = uvicorn.Server(server_config(app, settings, seconds))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join(timeout=20)


def closes(connection: socket.socket) -> bool:
    """Whether the server ends a connection within some seconds, without an answer."""
    connection.settimeout(10)
    try:
        return connection.recv(100) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf",
    ],
)
def test_a_request_that_never_arrives_is_ended(sent: bytes) -> None:
    with site() as port, socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(sent)
        assert closes(connection)


ENDLESS = [
    b"GET /",
    b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: ",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nX: ",
]


@pytest.mark.parametrize("sent", ENDLESS)
@pytest.mark.parametrize("more", [b"a" * 1000, b"a: b\r\n" * 200])
def test_headers_without_end_are_ended(sent: bytes, more: bytes) -> None:
    """Long before the time of a request is over: each would be kept in memory."""
    with site(seconds=60) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(sent)
        sent_bytes = 0
        with pytest.raises(OSError):  # a pipe that is broken, or a connection that is reset
            while sent_bytes < 20_000_000:
                connection.sendall(more)
                sent_bytes += len(more)
        assert httpx.get(f"http://127.0.0.1:{port}/").json() == "127.0.0.1"


def test_many_requests_and_large_bodies_of_one_connection_are_answered() -> None:
    with site(seconds=60) as port, httpx.Client() as client:
        for _ in range(150):
            assert client.get(f"http://127.0.0.1:{port}/", headers={"X-Long": "a" * 1000}).json() == "127.0.0.1"
        assert client.post(f"http://127.0.0.1:{port}/", content=b"a" * 900_000).json() == 900_000
        assert client.get(f"http://127.0.0.1:{port}/").json() == "127.0.0.1"


def test_a_client_that_leaves_while_its_requests_are_answered_is_no_error() -> None:
    """What is being answered finds the connection closed: nothing is written to it, and no traceback is logged."""
    logged, handler = list[str](), logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]
    with site(seconds=60) as port:
        logging.getLogger("uvicorn.error").addHandler(handler)
        for n_read in (0, 100, 1000, 10_000):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 3000)
                connection.recv(n_read)
        assert httpx.get(f"http://127.0.0.1:{port}/").json() == "127.0.0.1"
        logging.getLogger("uvicorn.error").removeHandler(handler)
    assert [said for said in logged if "Exception" in said] == []


def test_the_second_request_of_a_connection_has_its_time_too() -> None:
    with site() as port, socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.settimeout(30)
        answer = b""
        while b"127.0.0.1" not in answer:  # the head and the body may come apart
            part = connection.recv(1000)
            assert part, answer
            answer += part
        connection.sendall(b"GET / HT")
        assert closes(connection)


def test_a_connection_that_has_asked_may_think() -> None:
    with site(seconds=0.2) as port, httpx.Client() as client:
        for _ in range(2):
            assert client.get(f"http://127.0.0.1:{port}/").status_code == 200
            time.sleep(0.5)


def test_one_address_cannot_take_all_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_FROM_ONE_ADDRESS", 20)
    with site(seconds=60) as port:
        opened = [
            socket.create_connection(("127.0.0.1", port), source_address=("127.0.0.2", 0), timeout=10)
            for _ in range(30)
        ]
        try:
            assert all(closes(each) for each in opened[20:])
            assert httpx.get(f"http://127.0.0.1:{port}/").json() == "127.0.0.1"
        finally:
            for each in opened:
                each.close()


@pytest.mark.parametrize(
    ("proxies", "seen"), [((), "127.0.0.1"), (("127.0.0.1",), "203.0.113.7"), (("127.0.0.9",), "127.0.0.1")]
)
def test_only_a_trusted_proxy_says_where_a_request_comes_from(proxies: tuple[str, ...], seen: str) -> None:
    with site(proxies=proxies) as port:
        reply = httpx.get(f"http://127.0.0.1:{port}/", headers={"X-Forwarded-For": "203.0.113.7"})
        assert reply.json() == seen


@pytest.mark.parametrize("text", ["*", "proxy.example.org", "", "10.0.0.0/8"])
def test_a_proxy_is_named_by_its_address(text: str) -> None:
    with pytest.raises(LikewiseError, match="no address of a proxy"):
        check_address(text)


def test_a_small_file_of_a_huge_picture_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    side = int(MAX_UPLOAD_PIXELS**0.5) + 100
    content = io.BytesIO()
    Image.new("1", (side, side)).save(content, "PNG")
    assert len(content.getvalue()) < 100_000
    monkeypatch.setattr("likewise.web.uploads.open_picture", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(LikewiseError, match="pixels: choose one of at most"):
        Uploads().add(content.getvalue())
