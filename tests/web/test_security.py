"""The doors: passwords, cookies, headers, host names, and text that would like to be code."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine, insert

from likewise.errors import LikewiseError
from likewise.labeling.store.experts import owner_password_hash, set_owner_password_hash
from likewise.labeling.store.models import Image
from likewise.labeling.store.project import change_project
from likewise.web.app import create_app
from likewise.web.passwords import hash_password, password_matches
from likewise.web.security import SESSION_COOKIE
from likewise.web.serve import prepare
from likewise.web.settings import SiteSettings, is_loopback
from likewise.workspace import WorkspaceFolder

from .conftest import BASE, OWNER_KEY, Browser, csrf_of

PASSWORD = "correct horse battery"


def log_in(client: TestClient, password: str) -> int:
    token = csrf_of(client.get("/owner/login").text)
    reply = client.post("/owner/login", data={"csrf_token": token, "password": password}, follow_redirects=False)
    return reply.status_code


def test_the_owner_logs_in_and_out(stranger: TestClient, engine: Engine) -> None:
    set_owner_password_hash(engine, hash_password(PASSWORD))
    assert stranger.get("/owner", follow_redirects=False).status_code == 401
    page = stranger.get("/owner", headers={"Accept": "text/html"}, follow_redirects=False)
    assert (page.status_code, page.headers["location"]) == (303, "/owner/login")
    assert log_in(stranger, "wrong") == 403
    assert log_in(stranger, PASSWORD) == 303
    board = stranger.get("/owner")
    assert board.status_code == 200
    cookie = stranger.cookies[SESSION_COOKIE]
    assert stranger.post("/owner/logout", data={"csrf_token": csrf_of(board.text)}).status_code == 200
    stranger.cookies.set(SESSION_COOKIE, cookie)  # the cookie alone, kept by a thief, is worth nothing any more
    assert stranger.get("/owner", follow_redirects=False).status_code == 401


def test_passwords_are_hashed_with_argon2_and_not_too_short(engine: Engine) -> None:
    set_owner_password_hash(engine, hash_password(PASSWORD))
    stored = owner_password_hash(engine)
    assert stored is not None
    assert stored.startswith("$argon2id$")
    assert "m=65536" in stored  # 64 MB for each guess
    assert PASSWORD not in stored
    assert password_matches(stored, PASSWORD)
    assert not password_matches(stored, PASSWORD + " ")
    assert not password_matches("not a hash", PASSWORD)
    with pytest.raises(LikewiseError, match="10 or more"):
        hash_password("short")


def test_a_new_password_ends_the_owners_sessions(stranger: TestClient, engine: Engine) -> None:
    set_owner_password_hash(engine, hash_password(PASSWORD))
    assert log_in(stranger, PASSWORD) == 303 and stranger.get("/owner").status_code == 200
    set_owner_password_hash(engine, hash_password("another long password"))
    assert stranger.get("/owner", follow_redirects=False).status_code == 401


def test_guessing_is_slowed_down(stranger: TestClient, engine: Engine) -> None:
    set_owner_password_hash(engine, hash_password(PASSWORD))
    assert [log_in(stranger, f"guess {number}") for number in range(5)] == [403] * 5
    assert log_in(stranger, PASSWORD) == 429


def test_the_key_of_the_printed_link_opens_the_owners_page(stranger: TestClient) -> None:
    assert stranger.get("/owner/enter/guess").status_code == 404
    assert stranger.get(f"/owner/enter/{OWNER_KEY}").status_code == 200
    assert stranger.get("/owner").status_code == 200


def test_every_reply_carries_the_headers(stranger: TestClient, expert: Callable[[str], Browser]) -> None:
    anna = expert("Anna")
    for reply in (stranger.get("/owner/login"), stranger.get("/nowhere"), anna.get("/api/next"), anna.get("/work")):
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http:" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["x-frame-options"] == "DENY"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cache-control"] == "no-store"


def test_cookies_cannot_be_read_by_scripts_or_sent_from_elsewhere(stranger: TestClient, engine: Engine) -> None:
    cookie = stranger.get(f"/owner/enter/{OWNER_KEY}", follow_redirects=False).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie  # http on this machine


def test_an_https_site_keeps_its_cookies_to_https(workspace: WorkspaceFolder, database: str) -> None:
    settings = SiteSettings(workspace, database, url="https://label.example.org", owner_key=OWNER_KEY)
    with TestClient(create_app(settings), base_url="https://label.example.org") as client:
        reply = client.get(f"/owner/enter/{OWNER_KEY}", follow_redirects=False)
        assert "Secure" in reply.headers["set-cookie"]
        assert "max-age" in reply.headers["strict-transport-security"]


def test_a_local_site_answers_only_to_its_own_name(app: FastAPI) -> None:
    evil = TestClient(app, base_url="http://evil.example")
    assert evil.get("/owner/login").status_code == 400
    assert TestClient(app, base_url="http://localhost:8000").get("/owner/login").status_code == 200


def test_bodies_have_a_limit(app: FastAPI) -> None:
    client = TestClient(app, base_url=BASE)
    assert client.post("/api/answers", content=b"x" * 1_000_001).status_code == 413


@pytest.mark.parametrize("written", ["chunked", "Chunked", "CHUNKED", "gzip, Chunked"])
def test_a_body_of_unknown_length_is_refused_however_it_is_written(app: FastAPI, written: str) -> None:
    """Names of encodings have no case; who sends without end need not be logged in."""
    client = TestClient(app, base_url=BASE)
    parts = (b"x" * 1000 for _ in range(3))
    assert client.post("/api/answers", content=parts, headers={"Transfer-Encoding": written}).status_code == 413


@pytest.mark.parametrize("length", ["²", "-1", "1e3", ""])
def test_a_length_that_is_no_number_is_refused(app: FastAPI, length: str) -> None:
    headers = {b"Content-Length": length.encode("latin-1")}
    assert TestClient(app, base_url=BASE).post("/owner/login", headers=headers).status_code == 413


def test_text_of_people_is_escaped(owner: Browser, expert: Callable[[str], Browser], engine: Engine) -> None:
    code = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    change_project(engine, name=code, guidelines=f"Look.\n\n{code}")
    pages = [expert(code).get(path).text for path in ("/welcome", "/work", "/grid")]
    pages += [owner.get("/owner").text, owner.get("/owner/guidelines").text]
    pages.append(owner.form("/owner/invite", name=code, days="3").text)
    for page in pages:
        assert "alert(" in page
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_pictures_are_found_by_id_only(expert: Callable[[str], Browser], stranger: TestClient, pictures: Path) -> None:
    anna = expert("Anna")
    shown = anna.get("/api/next").json()["pairs"][0]["query"]
    assert anna.get(shown["thumb"]).headers["content-type"] == "image/jpeg"
    assert stranger.get(shown["thumb"]).status_code == 401
    outside = pictures.parent / "secret.png"
    outside.write_bytes(b"secret")
    for path in ("../secret.png", "%2e%2e%2fsecret.png", "circle%2Fred-0.png", "17", "-1", str(2**60), "1e3"):
        for size in ("thumb", "full"):
            reply = anna.get(f"/media/{size}/{path}")
            assert reply.status_code in (404, 422), path
            assert reply.content != b"secret"


def test_thumbnails_are_cached_on_disk_and_in_the_browser(
    expert: Callable[[str], Browser], workspace: WorkspaceFolder, pictures: Path
) -> None:
    anna = expert("Anna")
    shown = anna.get("/api/next").json()["pairs"][0]["query"]
    first = anna.get(shown["thumb"])
    assert first.headers["cache-control"].startswith("private, max-age=")
    assert len(list((workspace.path / "thumbnails").rglob("*.jpg"))) == 1
    again = anna.get(shown["thumb"], headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for file in pictures.rglob("*.png"):
        file.write_bytes(file.read_bytes() + b"\0")  # another file now
    changed = anna.get(shown["thumb"], headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200
    assert anna.get(shown["full"]).headers["etag"] != changed.headers["etag"]
    for file in pictures.rglob("*.png"):
        file.unlink()
    assert anna.get(shown["full"]).status_code == 404


def test_an_open_address_needs_a_password(workspace: WorkspaceFolder) -> None:
    settings = SiteSettings(workspace, host="0.0.0.0")
    with pytest.raises(LikewiseError, match="needs a password"):
        prepare(settings)
    assert prepare(settings, PASSWORD).owner_key is None
    assert prepare(settings).owner_key is None  # it is stored now
    for host, local in (("127.0.0.1", True), ("localhost", True), ("::1", True), ("10.0.0.5", False), ("", False)):
        assert is_loopback(host) is local


def test_a_local_site_without_a_password_gets_a_key(workspace: WorkspaceFolder) -> None:
    keys = {prepare(SiteSettings(workspace)).owner_key for _ in range(2)}
    assert len(keys) == 2
    assert None not in keys


def test_pictures_that_are_not_in_the_catalog_are_not_opened(
    expert: Callable[[str], Browser], engine: Engine, workspace: WorkspaceFolder
) -> None:
    """Not even where the database names a file that is there."""
    browser = expert("Anna")
    (workspace.root.parent / "private.png").write_bytes(next(workspace.root.rglob("*.png")).read_bytes())
    with engine.begin() as connection:
        connection.execute(insert(Image), {"id": 12345, "key": "../private.png"})
    for size in ("thumb", "full"):
        assert browser.get(f"/media/{size}/12345").status_code == 404
