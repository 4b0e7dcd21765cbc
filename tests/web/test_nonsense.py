"""Every route of the site, pages and forms too, with every kind of visitor: nonsense never ends in an error of ours."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error

from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.labeling.store.experts import invite_expert, open_owner_session, redeem_invitation
from likewise.labeling.store.questionnaires import add_questionnaire, enter_as_guest
from likewise.web.app import create_app
from likewise.web.extension_pages import EXPERT, GUEST, OWNER, STRANGER
from likewise.web.security import SESSION_COOKIE, csrf_token
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder
from tests.conftest import write_shapes

from .conftest import OWNER_KEY, write_pool

ROLES = (OWNER, EXPERT, GUEST, STRANGER)
SHORT, LONG = 1, 25  # examples of each route, role and kind of nonsense
# Ends a session: the owner would be a stranger from then on.
ENDS_SESSIONS = ("/owner/logout",)


def all_routes(routes: Iterable[object]) -> Iterator[APIRoute]:
    for route in routes:
        if isinstance(route, APIRoute):
            yield route
        elif hasattr(route, "original_router"):
            yield from all_routes(route.original_router.routes)


class Attacked:
    """A site whose pages and forms are described as well, and a session of each kind."""

    def __init__(self, app: FastAPI) -> None:
        self.app, self.n_requests, engine = app, 0, app.state.site.engine
        self.hidden = [route for route in all_routes(app.router.routes) if not route.include_in_schema]
        for route in self.hidden:
            route.include_in_schema = True  # the routers are those of every site of this process: `leave` puts it back
        app.openapi_schema = None
        app.add_api_route("/described", lambda: app.openapi(), include_in_schema=False)
        add_questionnaire(engine, "open", "Open", consent="Really?", public=True, most_guests=100_000)
        anna = redeem_invitation(engine, invite_expert(engine, "Anna"))
        guest = enter_as_guest(engine, "open")
        self.sessions = {EXPERT: anna, GUEST: guest, OWNER: open_owner_session(engine), STRANGER: None}
        self.schema: Any = schemathesis.openapi.from_asgi("/described", app, headers={"Host": "127.0.0.1"})

    def leave(self) -> None:
        for route in self.hidden:
            route.include_in_schema = False

    def attack(self, path: str, method: str, role: str, mode: GenerationMode, n_examples: int) -> None:
        session = self.sessions[role]

        @given(case=self.schema[path][method].as_strategy(generation_mode=mode))
        @settings(max_examples=n_examples, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
        def try_it(case: Any) -> None:
            headers = {**(case.headers or {}), "Host": "127.0.0.1", "Accept": "text/html"}
            if session is not None:
                case.cookies = {SESSION_COOKIE: session}
                headers["X-CSRF-Token"] = csrf_token(session)
                if isinstance(case.body, dict) and not path.startswith("/api"):
                    case.body = {**case.body, "csrf_token": csrf_token(session)}
            case.headers = headers
            self.n_requests += 1
            reply = case.call()
            assert reply.status_code < 500, (role, method, path, case.body, reply.status_code)
            case.validate_response(reply, checks=[not_a_server_error])

        with suppress(Unsatisfiable):  # a page without any parameter cannot be asked in a wrong way
            try_it()


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    folder = tmp_path_factory.mktemp("nonsense")
    workspace = WorkspaceFolder(folder / "ws")
    reading = read(write_shapes(folder / "pictures"))
    make_catalog(workspace, reading.rows, reading.root, "table")
    write_pool(workspace)
    app = create_app(SiteSettings(workspace, owner_key=OWNER_KEY, login_attempts=100_000, guests_per_hour=100_000))
    attacked = Attacked(app)
    yield attacked
    attacked.leave()
    app.state.site.engine.dispose()


def attack_everything(attacked: Attacked, roles: Sequence[str], n_examples: int) -> None:
    """Every route, by these roles in turn."""
    before, operations = attacked.n_requests, [made.ok() for made in attacked.schema.get_all_operations()]
    for number, operation in enumerate(operations):
        role = roles[number % len(roles)]
        if role == OWNER and operation.path in ENDS_SESSIONS:
            role = STRANGER
        for mode in GenerationMode:
            attacked.attack(operation.path, operation.method.upper(), role, mode, n_examples)
    assert attacked.n_requests - before >= len(operations) > 50


def test_every_route_is_described(attacked: Attacked) -> None:
    described = {(made.ok().path, made.ok().method.upper()) for made in attacked.schema.get_all_operations()}
    routes = {
        (method, route.path) for route in all_routes(attacked.app.router.routes) for method in route.methods or ()
    }
    assert {(path, method) for method, path in routes if path != "/described"} == described


def test_some_nonsense_for_every_route(attacked: Attacked) -> None:
    attack_everything(attacked, ROLES, SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_much_nonsense_for_every_route(attacked: Attacked, role: str) -> None:
    attack_everything(attacked, [role], LONG)
