"""A real labelling site for the browser tests: a small workspace, a server process, and what it has stored."""

import itertools
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import uvicorn
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import Engine, select

from likewise.catalog import make_catalog, read_catalog
from likewise.catalog.readers import read
from likewise.discovery.pool import POOL_SCHEMA, QueryGallery, sort_pool
from likewise.discovery.step import Pool, PoolSettings, store_pool
from likewise.labeling.store import open_votes
from likewise.labeling.store.engine import read_transaction
from likewise.labeling.store.events import SubmittedAnswer, add_answers
from likewise.labeling.store.experts import invite_expert, read_experts
from likewise.labeling.store.gold_pairs import set_gold_pairs
from likewise.labeling.store.models import Image, Pair
from likewise.labeling.store.project import change_project
from likewise.labeling.store.queue import next_pairs
from likewise.labeling.store.read import read_events
from likewise.web.app import create_app
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder
from tests.conftest import COLOURS, SHAPES, write_shapes

GENERATOR = "encoder-of-the-pool"
OWNER_KEY = "the-key-of-the-tests"
SERVE = f"""
import sys, uvicorn
from pathlib import Path
from likewise.web.app import create_app
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder
port = int(sys.argv[2])
app = create_app(SiteSettings(workspace=WorkspaceFolder(Path(sys.argv[1])), port=port, owner_key={OWNER_KEY!r}))
uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", timeout_graceful_shutdown=1)
"""
QUERIES = ("circle-red", "square-blue", "triangle-green", "circle-orange")
CANDIDATES_PER_QUERY = 6
TOO_SOON_MS = 300  # a little more than the page takes for an accident
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
PairKey = tuple[str, str]


def make_workspace(folder: Path) -> WorkspaceFolder:
    """Drawn shapes, and a pool of four queries with six candidates each."""
    workspace = WorkspaceFolder(folder / "ws")
    reading_of = read(write_shapes(folder / "pictures"))
    make_catalog(workspace, reading_of.rows, reading_of.root, "table")
    rows = []
    for query in QUERIES:
        shape, colour = query.split("-")
        others = [(s, c) for s, c in itertools.product(SHAPES, COLOURS) if (s, c) != (shape, colour)]
        others.sort(key=lambda other: (other[0] != shape) + (other[1] != colour))
        for rank, (other_shape, other_colour) in enumerate(others[:CANDIDATES_PER_QUERY]):
            candidate = f"{other_shape}/{other_colour}-0.png"
            rows.append((f"{shape}/{colour}-0.png", candidate, GENERATOR, rank, 1.0 - rank / 10))
    pool = sort_pool(pl.DataFrame([(*row, 1.0, 1) for row in rows], schema=POOL_SCHEMA, orient="row"))
    catalog = read_catalog(workspace)
    searched = QueryGallery.from_catalog(catalog, pool["query"].unique(), catalog["image"])
    settings = PoolSettings((GENERATOR,), k=CANDIDATES_PER_QUERY, n_queries=len(QUERIES), n_random=0)
    store_pool(workspace, Pool(pool, settings, searched))
    return workspace


class Site:
    """A server in a thread (quick to start), or as a process of its own that can be killed."""

    def __init__(self, workspace: WorkspaceFolder, own_process: bool = False, for_looking: bool = False) -> None:
        self.workspace = workspace
        self.own_process = own_process
        self.for_looking = for_looking  # as `likewise explore` starts it
        self.process: subprocess.Popen[bytes] | None = None
        self.server: uvicorn.Server | None = None
        self.thread: threading.Thread | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        if self.own_process:
            command = [sys.executable, "-c", SERVE, str(self.workspace.path), str(self.port)]
            self.process = subprocess.Popen(command)
        else:
            settings = SiteSettings(workspace=self.workspace, port=self.port, owner_key=OWNER_KEY)
            app = create_app(replace(settings, explore_without_login=self.for_looking))
            self.server = uvicorn.Server(uvicorn.Config(app, port=self.port, log_level="warning"))
            self.thread = threading.Thread(target=self.server.run, daemon=True)
            self.thread.start()
        for _ in range(2400):  # a busy machine takes its time to import all that
            assert self.process is None or self.process.poll() is None, "the server did not start"
            try:
                with urllib.request.urlopen(f"{self.url}/static/icon.svg", timeout=5):
                    return
            except OSError:
                time.sleep(0.05)
        self.kill()
        raise AssertionError("the server does not answer")

    def kill(self) -> None:
        """No goodbye: SIGKILL (a thread is asked to end)."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
        if self.server is not None and self.thread is not None:
            self.server.should_exit = self.server.force_exit = True
            self.thread.join(timeout=20)

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        opened = open_votes(self.workspace)
        yield opened
        opened.dispose()

    def invite(self, name: str) -> str:
        """A new expert's invitation link."""
        with self.engine() as engine:
            return f"{self.url}/i/{invite_expert(engine, name)}"

    def change(self, **changes: Any) -> None:
        with self.engine() as engine:
            change_project(engine, **changes)

    def answer(self, expert: str, answer: str, but: int) -> None:
        """Answer all but the last few open pairs of an expert, without a browser."""
        with self.engine() as engine:
            number = next(one.id for one in read_experts(engine) if one.name == expert)
            pairs, _ = next_pairs(engine, number, 1000)
            given = [
                SubmittedAnswer(str(uuid.uuid4()), pair.pair, answer, None, 2000) for pair in pairs[: len(pairs) - but]
            ]
            assert len(add_answers(engine, number, given).accepted) == len(given)

    def events(self, expert: str) -> list[dict[str, Any]]:
        """Everything stored about one expert, in order, pairs by their keys."""
        with self.engine() as engine:
            return [row for row in read_events(engine).iter_rows(named=True) if row["expert"] == expert]

    def votes(self, expert: str) -> dict[PairKey, str]:
        """The answers that stand."""
        standing: dict[PairKey, list[str]] = {}
        for event in self.events(expert):
            answers = standing.setdefault((event["query"], event["candidate"]), [])
            if event["undoes"] is None:
                answers.append(event["answer"])
            else:
                answers.pop()
        return {pair: answers[-1] for pair, answers in standing.items() if answers}

    def keys_of_pairs(self) -> dict[int, PairKey]:
        """What the opaque ids stand for."""
        with self.engine() as engine, read_transaction(engine) as connection:
            images = {row.id: row.key for row in connection.execute(select(Image.id, Image.key))}
            pairs = connection.execute(select(Pair.id, Pair.query_image, Pair.candidate_image))
            return {pair: (images[query], images[candidate]) for pair, query, candidate in pairs}


@contextmanager
def running_site(folder: Path, own_process: bool = False, for_looking: bool = False) -> Iterator[Site]:
    site = Site(make_workspace(folder), own_process, for_looking)
    with site.engine() as engine:
        change_project(engine, name="Shapes", guidelines="Compare the outline.\n\nIgnore the colour.", repeat_share=0.0)
        example = ("circle/red-0.png", "circle/blue-0.png", "similar", "Same outline, other colour.")
        other = ("circle/red-0.png", "square/red-0.png", "not similar", "Another outline.")
        set_gold_pairs(engine, "example", [example, other])
        set_gold_pairs(engine, "practice", [("square/red-0.png", "square/green-0.png", "similar", "Both are squares.")])
    site.start()
    try:
        yield site
    finally:
        site.kill()


@contextmanager
def opened(browser: Browser, allowed: str = "(?!)", **options: Any) -> Iterator[Page]:
    """A page in a fresh profile; an error in its console that `allowed` does not name fails the test."""
    context = browser.new_context(**({"viewport": {"width": 1200, "height": 800}} | options))
    page = context.new_page()
    complaints: list[str] = []
    listen(page, complaints)
    yield page
    context.close()
    assert [text for text in complaints if not re.search(allowed, text)] == []


def listen(page: Page, complaints: list[str]) -> None:
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))


NO_NETWORK = "Failed to load resource: net::ERR_"


def enter(page: Page, site: Site, name: str, path: str = "/work") -> None:
    """Come by invitation and go to a page."""
    page.goto(site.invite(name))
    page.goto(f"{site.url}{path}")


def shown(page: Page) -> int:
    """The id of the pair on the screen, once it can be answered."""
    expect(page.locator("#main[data-state=showing][data-pair]")).to_be_attached()
    expect(page.locator("#stage")).to_be_visible()
    return int(page.locator("#main").get_attribute("data-pair") or "-1")


def press(page: Page, key: str) -> int:
    """Answer the pair on the screen with a key, after a decent look at it; says which pair that was."""
    pair = shown(page)
    page.wait_for_timeout(TOO_SOON_MS)
    page.keyboard.press(key)
    page.wait_for_function(
        "before => document.getElementById('main').dataset.state !== 'showing'"
        " || document.getElementById('main').dataset.pair !== before",
        arg=str(pair),
    )
    return pair


def saved(page: Page) -> None:
    """Wait until the page says that everything is stored."""
    page.wait_for_function("() => !Object.keys(localStorage).some(key => /:(answers|questions):/.test(key))")
    expect(page.locator("#saved")).to_have_text("Saved")
