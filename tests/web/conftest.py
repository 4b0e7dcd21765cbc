"""A small site over the shape pictures, once on SQLite and once on PostgreSQL, and browsers without a screen."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from likewise.discovery.pool import POOL_SCHEMA, QueryGallery, sort_pool
from likewise.discovery.step import Pool, PoolSettings, store_pool
from likewise.labeling import open_votes
from likewise.labeling.store.experts import invite_expert, open_owner_session
from likewise.labeling.store.project import change_project
from likewise.web.app import create_app
from likewise.web.security import SESSION_COOKIE
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder
from tests.databases import database

__all__ = ["database"]

BASE = "http://127.0.0.1:8000"
OWNER_KEY = "only-for-the-tests-0123456789"
GENERATORS = ("zebra-encoder", "quokka-encoder")  # words that appear nowhere else


def write_pool(workspace: WorkspaceFolder, n_queries: int = 4, n_candidates: int = 6) -> pl.DataFrame:
    """Every query with its candidates, proposed by both generators."""
    images = pl.read_parquet(workspace.catalog_file)["image"].to_list()
    rows = [
        (query, candidate, generator, rank, 0.987654 - rank / 1000, 1.0, 1)
        for query in images[:n_queries]
        for rank, candidate in enumerate(images[n_queries : n_queries + n_candidates])
        for generator in GENERATORS
    ]
    pool = pl.DataFrame(rows, schema=POOL_SCHEMA, orient="row")
    searched = QueryGallery.from_catalog(
        pl.read_parquet(workspace.catalog_file), images[:n_queries], images[n_queries:]
    )
    settings = PoolSettings(GENERATORS, k=n_candidates, n_queries=n_queries, n_random=0)
    store_pool(workspace, Pool(sort_pool(pool), settings, searched), replace=True)
    return pool


@dataclass
class Browser:
    """A client with its cookies and the token of its pages."""

    client: TestClient
    csrf: str

    def get(self, path: str, **options: Any) -> Any:
        return self.client.get(path, **options)

    def post(self, path: str, body: Any) -> Any:
        return self.client.post(path, json=body, headers={"X-CSRF-Token": self.csrf})

    def form(self, path: str, **fields: Any) -> Any:
        return self.client.post(path, data={"csrf_token": self.csrf} | fields, follow_redirects=False)


def csrf_of(page: str) -> str:
    found = re.search(r'name="csrf-token" content="([^"]+)"', page)
    assert found, page
    return found[1]


@pytest.fixture
def app(workspace: WorkspaceFolder, database: str) -> Iterator[FastAPI]:
    write_pool(workspace)
    first = open_votes(database)
    change_project(first, repeat_share=0.0)
    first.dispose()
    made = create_app(SiteSettings(workspace, database, owner_key=OWNER_KEY))
    with TestClient(made, base_url=BASE):
        yield made


@pytest.fixture
def engine(app: FastAPI) -> Engine:
    engine: Engine = app.state.site.engine
    return engine


@pytest.fixture
def expert(app: FastAPI, engine: Engine) -> Callable[[str], Browser]:
    """`expert("Anna")`: a browser that opened Anna's invitation."""

    def open_invitation(name: str) -> Browser:
        client = TestClient(app, base_url=BASE)
        page = client.get(f"/i/{invite_expert(engine, name)}", headers={"Accept": "text/html"})
        assert page.status_code == 200, page.text
        return Browser(client, csrf_of(page.text))

    return open_invitation


@pytest.fixture
def owner(app: FastAPI, engine: Engine) -> Browser:
    client = TestClient(app, base_url=BASE)
    client.cookies.set(SESSION_COOKIE, open_owner_session(engine))
    return Browser(client, csrf_of(client.get("/owner").text))


@pytest.fixture
def stranger(app: FastAPI) -> TestClient:
    return TestClient(app, base_url=BASE)


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    return tmp_path / "pictures"
