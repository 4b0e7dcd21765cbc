"""Requests that no page of ours sends: each is answered with a refusal, with the site's headers, never with a 500."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from PIL import Image
from sqlalchemy import Engine

from likewise.labeling.store.experts import set_owner_password_hash
from likewise.labeling.store.gold_pairs import sample_pairs
from likewise.labeling.store.project import read_project
from likewise.web import passwords
from likewise.web.passwords import hash_password
from likewise.web.security import VISIT_COOKIE, csrf_token
from likewise.web.thumbnails import Thumbnails
from likewise.workspace import WorkspaceFolder

from .conftest import BASE, Browser

VISIT = "a-visit"


def stranger(app: FastAPI) -> TestClient:
    client = TestClient(app, base_url=BASE, follow_redirects=False)
    client.cookies.set(VISIT_COOKIE, VISIT)
    return client


@pytest.mark.parametrize("host", ["[", "[::1", "a]b", "%00", ""])
def test_a_host_that_is_no_name_is_refused_with_the_sites_headers(app: FastAPI, host: str) -> None:
    answer = stranger(app).get("/owner/login", headers={"Host": host})
    assert answer.status_code == 400
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_a_token_with_other_letters_is_a_wrong_token(app: FastAPI) -> None:
    assert stranger(app).post("/owner/login", data={"csrf_token": "é", "password": "x"}).status_code == 403


def test_parallel_guesses_are_counted_before_they_are_checked(app: FastAPI, engine: Engine) -> None:
    set_owner_password_hash(engine, hash_password("a long enough password"))
    client, guess = stranger(app), {"csrf_token": csrf_token(VISIT), "password": "wrong"}
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: client.post("/owner/login", data=guess).status_code, range(40)))
    assert answers.count(403) == app.state.site.settings.login_attempts
    assert set(answers) == {403, 429}


@pytest.mark.parametrize(
    ("pair", "answer", "status"), [("²", "similar", 422), ("-1", "similar", 303), ("one of ours", "perhaps", 400)]
)
def test_a_form_that_makes_no_sense_changes_nothing(
    owner: Browser, engine: Engine, pair: str, answer: str, status: int
) -> None:
    pair = str(sample_pairs(engine, 1)[0].pair) if pair == "one of ours" else pair
    form = {"text": "New text.", "pair": pair, "use": "example", "answer": answer, "note": "", "csrf_token": owner.csrf}
    assert owner.client.post("/owner/guidelines", data=form, follow_redirects=False).status_code == status
    assert (read_project(engine).guidelines == "New text.") == (status == 303)


def test_the_description_of_the_interface_is_not_public(app: FastAPI) -> None:
    assert stranger(app).get("/openapi.json").status_code == 404


def test_parallel_first_requests_of_a_picture_all_get_it(workspace: WorkspaceFolder) -> None:
    thumbnails = Thumbnails(workspace)
    make: Callable[[int], object] = lambda _: thumbnails.thumbnail("circle/red-0.png")  # noqa: E731
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(make, range(64)))
    sizes = {Image.open(BytesIO(one.content)).size for one in made}  # type: ignore[attr-defined]
    assert sizes == {(64, 64)}
    assert not list(thumbnails.folder.rglob("*.tmp"))


def test_few_passwords_are_hashed_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash takes 64 MB: however many guess, two are checked at once."""
    lock, checked = threading.Lock(), {"now": 0, "most": 0}

    class Slow:
        def verify(self, stored: str, password: str) -> bool:
            with lock:
                checked["now"] += 1
                checked["most"] = max(checked["most"], checked["now"])
            threading.Event().wait(0.3)
            with lock:
                checked["now"] -= 1
            return False

    monkeypatch.setattr(passwords, "_hasher", Slow())
    with ThreadPoolExecutor(8) as pool:
        assert not any(pool.map(lambda _: passwords.password_matches("", ""), range(8)))
    assert checked["most"] <= 2


@pytest.mark.parametrize("address", ["/api/answers", "/api/undo", "/api/questions/answers"])
def test_fields_that_nobody_asked_for_are_refused(address: str, expert: Callable[[str], Browser]) -> None:
    anna = expert("Anna")
    sent = {"pair": 1, "client_id": "0" * 32} if address == "/api/undo" else {"events": []}
    assert anna.post(address, sent).status_code != 422
    assert anna.post(address, sent | {"more": 1}).status_code == 422
