"""Who may call what: every route against every kind of visitor. A new route fails here until it is listed."""

from collections.abc import Callable, Iterable, Iterator

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from likewise.labeling.store.experts import invite_expert, open_owner_session, redeem_invitation
from likewise.labeling.store.questionnaires import add_questionnaire, enter_as_guest
from likewise.web.extension_pages import EXPERT, GUEST, OWNER, ROLES, STRANGER, Route, extension_pages
from likewise.web.security import SESSION_COOKIE, csrf_token

from .conftest import BASE, OWNER_KEY, Browser

# may: who gets past the door (whatever the answer is then); everyone else is told 401.
CORE: dict[Route, frozenset[str]] = {
    ("GET", "/"): ROLES,
    ("GET", "/health"): ROLES,
    ("GET", "/metrics"): frozenset(),  # by address, not by role: tests/web/test_operations.py
    ("GET", "/i/{token}"): ROLES,
    ("GET", "/welcome"): frozenset({EXPERT}),
    ("GET", "/practice"): frozenset({EXPERT}),
    ("GET", "/work"): frozenset({EXPERT}),
    ("GET", "/grid"): frozenset({EXPERT}),
    ("GET", "/done"): frozenset({EXPERT}),
    ("GET", "/api/next"): frozenset({EXPERT}),
    ("GET", "/api/grid"): frozenset({EXPERT}),
    ("POST", "/api/answers"): frozenset({EXPERT}),
    ("POST", "/api/undo"): frozenset({EXPERT}),
    ("GET", "/api/questions/next"): frozenset({EXPERT, GUEST}),
    ("POST", "/api/questions/answers"): frozenset({EXPERT, GUEST}),
    ("GET", "/questions"): frozenset({EXPERT, GUEST}),
    ("GET", "/q/{slug}"): ROLES,
    ("POST", "/q/{slug}"): ROLES,
    ("GET", "/media/thumb/{image}"): frozenset({EXPERT, GUEST, OWNER}),
    ("GET", "/media/full/{image}"): frozenset({EXPERT, GUEST, OWNER}),
    ("GET", "/owner/login"): ROLES,
    ("POST", "/owner/login"): ROLES,
    ("GET", "/owner/enter/{key}"): ROLES,
    ("POST", "/owner/logout"): frozenset({OWNER}),
    ("GET", "/owner"): frozenset({OWNER}),
    ("POST", "/owner/pause"): frozenset({OWNER}),
    ("POST", "/owner/resume"): frozenset({OWNER}),
    ("POST", "/owner/invite"): frozenset({OWNER}),
    ("POST", "/owner/revoke"): frozenset({OWNER}),
    ("POST", "/owner/remove-votes"): frozenset({OWNER}),
    ("POST", "/owner/adjudicate"): frozenset({OWNER}),
    ("GET", "/owner/guidelines"): frozenset({OWNER}),
    ("POST", "/owner/guidelines"): frozenset({OWNER}),
    ("POST", "/owner/guidelines/preview"): frozenset({OWNER}),
    ("GET", "/owner/export/{file}"): frozenset({OWNER}),
    ("GET", "/explore"): frozenset({OWNER}),
    ("GET", "/api/explore/picture"): frozenset({OWNER}),
    ("GET", "/api/explore/images"): frozenset({OWNER}),
    ("GET", "/api/explore/step"): frozenset({OWNER}),
    ("GET", "/api/explore/neighbours"): frozenset({OWNER}),
    ("GET", "/explore/map"): frozenset({OWNER}),
    ("GET", "/explore/report"): frozenset({OWNER}),
    ("GET", "/api/explore/map"): frozenset({OWNER}),
    ("GET", "/api/explore/map/colours"): frozenset({OWNER}),
    ("GET", "/explore/copies"): frozenset({OWNER}),
    ("GET", "/explore/differences"): frozenset({OWNER}),
    ("GET", "/api/explore/differences"): frozenset({OWNER}),
    ("GET", "/api/explore/mistakes"): frozenset({OWNER}),
    ("GET", "/api/explore/copies"): frozenset({OWNER}),
    ("GET", "/api/explore/copies.csv"): frozenset({OWNER}),
    ("POST", "/api/explore/copies/decide"): frozenset({OWNER}),
    ("POST", "/api/explore/upload"): frozenset({OWNER}),
    ("POST", "/api/explore/ask"): frozenset({OWNER}),
}
MAY = CORE | {route: roles for pages in extension_pages().values() for route, roles in pages.roles.items()}
VALUES = {"token": "nobody", "slug": "open", "image": "1", "key": OWNER_KEY, "file": "events.csv", "name": "taste"}
PUBLIC = {"/static", *(f"/static/{name}" for name in extension_pages())}


def routes_of(routes: Iterable[object]) -> Iterator[tuple[str, str]]:
    for route in routes:
        if isinstance(route, APIRoute):
            yield from ((method, route.path) for method in route.methods or ())
        elif hasattr(route, "original_router"):
            yield from routes_of(route.original_router.routes)
        else:
            assert getattr(route, "path", None) in PUBLIC, route


@pytest.fixture
def visitors(app: FastAPI, engine: Engine) -> Callable[[str], Browser]:
    add_questionnaire(engine, "open", "Open", consent="Really?", public=True, most_guests=500)

    def visit(role: str) -> Browser:
        client = TestClient(app, base_url=BASE, follow_redirects=False)
        token: str | None = None
        if role == EXPERT:
            token = redeem_invitation(engine, invite_expert(engine, "Anna"))
        elif role == GUEST:
            token = enter_as_guest(engine, "open")
        elif role == OWNER:
            token = open_owner_session(engine)
        if token:
            client.cookies.set(SESSION_COOKIE, token)
        return Browser(client, csrf_token(token) if token else "")

    return visit


def test_every_route_is_listed(app: FastAPI) -> None:
    described = {(method.upper(), path) for path, methods in app.openapi()["paths"].items() for method in methods}
    found = set(routes_of(app.router.routes))
    assert found == set(MAY)
    assert described <= set(MAY)


@pytest.mark.parametrize("role", [EXPERT, GUEST, OWNER, STRANGER])
def test_roles_are_checked_on_every_route(visitors: Callable[[str], Browser], role: str) -> None:
    for (method, path), may in MAY.items():
        browser = visitors(role)
        address = path.format(**VALUES)
        headers = {"X-CSRF-Token": browser.csrf}
        if method == "GET":
            status = browser.client.get(address).status_code
        elif path.startswith("/api"):
            status = browser.client.post(address, json={"events": []}, headers=headers).status_code
        else:
            status = browser.client.post(address, data={"csrf_token": browser.csrf}).status_code
        if role in may:
            # without the password, or the token of the consent page, these two refuse everyone
            refused = {401} if path in ("/owner/login", "/q/{slug}") else {401, 403}
            assert status not in refused, (method, path)
        elif path == "/metrics":
            assert status == 403  # the test client has no private address
        else:
            assert status in ((401, 403) if method == "POST" else (401,)), (method, path, status)


@pytest.mark.parametrize("role", [EXPERT, GUEST, OWNER])
def test_nothing_is_changed_without_the_pages_token(visitors: Callable[[str], Browser], role: str) -> None:
    for (method, path), may in MAY.items():
        if method == "POST" and role in may:
            browser = visitors(role)
            address = path.format(**VALUES)
            for token in ("", "0" * 48):
                if path.startswith("/api"):
                    reply = browser.client.post(address, json={"events": []}, headers={"X-CSRF-Token": token})
                else:
                    reply = browser.client.post(address, data={"csrf_token": token})
                assert reply.status_code == 403, (path, reply.status_code)
