"""What an operator needs: a sub-path behind a proxy, health, metrics, logs without secrets."""

import io
import json
import re

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from likewise.labeling.store.experts import invite_expert
from likewise.web.app import create_app
from likewise.web.monitoring import MonitoringMiddleware
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder

from .conftest import OWNER_KEY, csrf_of, write_pool

URL = "https://example.org/label"
NEAR = ("127.0.0.1", 5000)


@pytest.fixture
def below(workspace: WorkspaceFolder, database: str) -> FastAPI:
    """The site under /label."""
    write_pool(workspace)
    return create_app(SiteSettings(workspace, database, url=URL, owner_key=OWNER_KEY))


@pytest.mark.parametrize("stripped", [False, True], ids=["proxy-keeps-the-prefix", "proxy-takes-it-off"])
def test_every_address_of_a_site_under_a_path_has_the_path(below: FastAPI, engine: Engine, stripped: bool) -> None:
    token = invite_expert(engine, "Anna", 30)
    with TestClient(below, base_url="https://example.org", follow_redirects=False) as client:

        def get(path: str) -> str:
            """As a browser asks, through a proxy that may take the prefix off."""
            assert path.startswith("/label/"), path
            reply = client.get(path.removeprefix("/label") if stripped else path)
            if reply.status_code == 303:
                return get(reply.headers["location"])
            assert reply.status_code == 200, path
            return reply.text

        reply = client.get(f"{'' if stripped else '/label'}/i/{token}")
        assert reply.headers["location"] == "/label/welcome"
        assert re.search(r"(?i)path=/label(;|$)", reply.headers["set-cookie"])
        client.cookies.set("likewise_session", reply.cookies["likewise_session"], domain="example.org", path="/")
        for page in ("/label/welcome", "/label/work", "/label/grid"):
            text = get(page)
            addresses = re.findall(r'(?:href|src|action)="(/[^"]*)"', text)
            assert addresses and all(each.startswith("/label/") for each in addresses), page
            for each in addresses:
                get(each.partition("#")[0])
        boot = json.loads(re.findall(r'id="boot">(.*?)</script>', get("/label/work"))[0])
        assert boot["api"] == "/label/api" and boot["prefix"] == "/label"
        pair = json.loads(get("/label/api/next?count=1"))["pairs"][0]
        assert pair["query"]["thumb"].startswith("/label/media/")
        assert client.get(pair["query"]["thumb"].removeprefix("/label") if stripped else pair["query"]["thumb"]).content
        answer = {"client_id": "a" * 20, "pair": pair["pair"], "answer": "similar"}
        csrf = {"X-CSRF-Token": csrf_of(get("/label/work"))}
        sent = client.post(f"{'' if stripped else '/label'}/api/answers", json={"events": [answer]}, headers=csrf)
        assert sent.json()["accepted"] == ["a" * 20]


def test_health_and_metrics(app: FastAPI) -> None:
    with TestClient(app, base_url="http://127.0.0.1:8000", client=NEAR) as client:
        assert client.get("/health").json()["status"] == "ok"
        text = client.get("/metrics").text
        assert 'likewise_requests_total{method="GET",status="200"} 1' in text
        assert "likewise_pairs 24" in text
        for line in text.splitlines():
            assert re.fullmatch(r"# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? [0-9.e+-]+", line), line
    with TestClient(app, base_url="http://127.0.0.1:8000", client=("8.8.8.8", 5000)) as far:
        assert far.get("/metrics").status_code == 403


def test_health_says_when_the_database_is_gone(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    from likewise.labeling.store.engine import StoreError

    def gone(_: Engine) -> None:
        raise StoreError("gone")

    monkeypatch.setattr("likewise.web.routes.operations.read_transaction", gone)
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        assert client.get("/health").status_code == 503


def test_logs_are_lines_of_json_without_secrets(app: FastAPI, engine: Engine) -> None:
    token, log = invite_expert(engine, "Anna", 30), io.StringIO()
    logged = MonitoringMiddleware(app, app.state.site.requests, log=True, stream=log)
    with TestClient(logged, base_url="http://127.0.0.1:8000") as client:
        client.get(f"/i/{token}")
        client.get("/nowhere/secret?key=secret")
        client.get(f"/owner/enter/{OWNER_KEY}")
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert lines[0]["route"] == "/i/{token}"
    assert all({"time", "method", "route", "status", "milliseconds", "client"} == set(line) for line in lines)
    for secret in (token, "secret", OWNER_KEY):
        assert secret not in log.getvalue()
