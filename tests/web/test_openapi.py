"""Nonsense of every kind, made from the site's own description: it is refused in words, never with a crash."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.labeling.store.experts import invite_expert, redeem_invitation
from likewise.web.app import create_app
from likewise.web.security import SESSION_COOKIE, csrf_token
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder
from tests.conftest import write_shapes

from .conftest import write_pool

EXAMPLES = 12
TOKEN: dict[str, str] = {}


@pytest.fixture(scope="module")
def interface(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("openapi")
    workspace = WorkspaceFolder(folder / "ws")
    reading = read(write_shapes(folder / "pictures"))
    make_catalog(workspace, reading.rows, reading.root, "table")
    write_pool(workspace)
    app = create_app(SiteSettings(workspace))
    token = redeem_invitation(app.state.site.engine, invite_expert(app.state.site.engine, "Anna"))
    assert token
    TOKEN["session"] = token
    app.add_api_route("/described", lambda: app.openapi(), include_in_schema=False)  # the site shows it to nobody
    return schemathesis.openapi.from_asgi("/described", app, headers={"Host": "127.0.0.1"})


OPERATIONS = [
    ("/api/next", "GET"),
    ("/api/grid", "GET"),
    ("/api/answers", "POST"),
    ("/api/undo", "POST"),
    ("/api/questions/next", "GET"),
    ("/api/questions/answers", "POST"),
]


def test_all_operations_are_tried(interface: Any) -> None:
    described = {(made.ok().path, made.ok().method.upper()) for made in interface.get_all_operations()}
    assert described == set(OPERATIONS)


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_the_interface_keeps_its_description(interface: Any, path: str, method: str, mode: GenerationMode) -> None:
    @given(case=interface[path][method].as_strategy(generation_mode=mode))
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    def try_it(case: Any) -> None:
        case.headers = {**(case.headers or {}), "Host": "127.0.0.1", "X-CSRF-Token": csrf_token(TOKEN["session"])}
        case.cookies = {SESSION_COOKIE: TOKEN["session"]}
        case.call_and_validate()

    try_it()
