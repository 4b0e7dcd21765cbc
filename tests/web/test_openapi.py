"""Nonsense of every kind, made from the site's own description: it is refused in words, never with a crash."""

from uuid import uuid4

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import CHECKS

from likewise.labeling import open_votes
from likewise.labeling.store.experts import enter, invite
from likewise.web.app import create_app
from likewise.web.security import SESSION_COOKIE, csrf_token
from likewise.web.settings import SiteSettings
from likewise.workspace import Workspace
from tests.conftest import write_shapes

from .conftest import write_pool

EXAMPLES = 25
_state: dict[str, str] = {}


@pytest.fixture(scope="module")
def interface(tmp_path_factory: pytest.TempPathFactory) -> schemathesis.schemas.BaseSchema:
    from likewise.catalog import make_catalog
    from likewise.catalog.readers import read

    folder = tmp_path_factory.mktemp("openapi")
    workspace = Workspace(folder / "ws")
    reading = read(write_shapes(folder / "pictures"))
    make_catalog(workspace, reading.rows, reading.root, "table")
    write_pool(workspace)
    app = create_app(SiteSettings(workspace))
    token = enter(app.state.site.engine, invite(app.state.site.engine, "Anna"))
    assert token
    _state["token"] = token
    return schemathesis.openapi.from_asgi("/openapi.json", app, base_url="http://127.0.0.1:8000")
