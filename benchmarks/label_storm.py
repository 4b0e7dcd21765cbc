"""The labelling site in a storm: the server killed every 15 s, the disk full for a while, the database restarted twice.

    python -m benchmarks.label_storm --write             ten minutes on each database, into docs/labeling.md
    python -m benchmarks.label_storm --minutes 2 --database sqlite --full-seconds 15

50 experts answer 100 pairs a second and, like the page's outbox, send again what was not acknowledged. In the end every
acknowledged answer must be stored exactly once, and every expert must have been answered after the last fault. The
disk is a small tmpfs of this process's own mount namespace (Linux, root); elsewhere the full disk is NOT tried.

Three times are given. A site that is there: answers between the disturbances; a disturbance begins with a fault (the
disk: full until it is free) and ends when each of the 50 pages has been answered again. The requests themselves: from
the moment when the request was sent that was acknowledged, those in the rush after a restart included. All answers:
from the moment when they were sent first, with every repetition while nobody could answer.
"""

import argparse
import asyncio
import json
import logging
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import polars as pl

from benchmarks.label_load import EXPERTS, PAGE, SERVE, Browser, free_port, pairs_of, postgresql, small_workspace
from benchmarks.pages import fill
from likewise.labeling.store import open_votes, read_events
from likewise.labeling.store.experts import invite_expert
from likewise.labeling.store.pairs import add_pairs
from likewise.labeling.store.project import change_project
from likewise.workspace import WorkspaceFolder

PER_SECOND = 100.0
KILL_EVERY_SECONDS = 15.0
DISK = "LIKEWISE_STORM_DISK"  # the folder of the small disk, once it is mounted
DISK_MEGABYTES = {"sqlite": 160, "postgresql": 500}
DISK_FULL, DISK_FREE = "disk full", "disk free"
PATIENCE_SECONDS = 180.0  # for what is still unacknowledged when the storm is over


@dataclass(frozen=True)
class Answer:
    """One acknowledged answer: whose, and when it was sent, acknowledged and sent last, in seconds since the start."""

    expert: int
    sent: float
    acknowledged: float
    sent_last: float

    @property
    def milliseconds(self) -> float:
        return 1000 * (self.acknowledged - self.sent)

    @property
    def milliseconds_of_request(self) -> float:
        """Of the request that was acknowledged, whatever was tried before."""
        return 1000 * (self.acknowledged - self.sent_last)


@dataclass(frozen=True)
class Fault:
    """What was done to the site, and from when to when, in seconds since the start."""

    what: str
    began: float
    done: float


@dataclass
class Storm:
    """What the experts' browsers saw."""

    acknowledged: list[str] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    sent_again: int = 0
    refused: int = 0
    faults: list[Fault] = field(default_factory=list)

    def disturbances(self) -> list[tuple[float, float]]:
        """From each fault to the moment in which every page had been answered again."""
        freed = [fault.done for fault in self.faults if fault.what == DISK_FREE]
        return [
            (fault.began, self.all_answered_after(freed[0] if fault.what == DISK_FULL else fault.done))
            for fault in self.faults
        ]

    def all_answered_after(self, moment: float) -> float:
        """When the last page was answered for the first time after a moment; never, if one was not."""
        first: dict[int, float] = {}
        for answer in self.answers:
            if answer.sent >= moment:
                first[answer.expert] = min(first.get(answer.expert, math.inf), answer.acknowledged)
        return max(first.values()) if len(first) == EXPERTS else math.inf

    def undisturbed(self) -> list[Answer]:
        """The answers between the disturbances."""
        found = self.disturbances()
        return [
            answer
            for answer in self.answers
            if not any(began <= answer.acknowledged and answer.sent <= ended for began, ended in found)
        ]


class Server:
    """The site in a process of its own, which is killed and started again on the same port."""

    def __init__(self, workspace: WorkspaceFolder, url: str) -> None:
        self.arguments, self.port = [str(workspace.path), url], free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE, *self.arguments, str(self.port)], stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=30)

    @property
    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None


async def keep_running(server: Server, until: float) -> None:
    """What a service manager does: a server that could not start (its database is away) is started again."""
    while time.monotonic() < until:
        if server.has_ended:
            server.start()
        await asyncio.sleep(1.0)


async def persist(ask: Callable[[], Awaitable[Any]], browser: Browser, storm: Storm, until: float) -> Any:
    """Ask until there is an answer, as the page does; a broken connection is made anew."""
    while time.monotonic() < until:
        try:
            return await asyncio.wait_for(ask(), timeout=20)
        except (OSError, EOFError, asyncio.IncompleteReadError, TimeoutError, RefusedError):
            storm.sent_again += 1
            await asyncio.sleep(0.3)
            browser.close()
            with suppress(OSError):
                browser.reader, browser.writer = await asyncio.open_connection("127.0.0.1", browser.port)
    raise SystemExit("an expert's page did not recover")


class RefusedError(Exception):
    """An answer other than 200."""


async def one_expert(number: int, port: int, token: str, storm: Storm, start: float, end: float) -> None:
    browser, waiting, turn, until = Browser(port), list[int](), 0, end + PATIENCE_SECONDS

    async def next_pairs() -> list[int]:
        _, status, reply = await browser.request("GET", "/api/next?count=6")
        if status != 200:
            raise RefusedError(status)
        return [pair["pair"] for pair in json.loads(reply)["pairs"]]

    await persist(lambda: browser.open(token), browser, storm, until)
    while time.monotonic() < end:
        if not waiting:
            waiting = await persist(next_pairs, browser, storm, until)
            if not waiting:
                raise SystemExit("there are too few pairs for so long a storm")
        due = start + (turn * EXPERTS + number) / PER_SECOND
        turn = max(turn + 1, int((time.monotonic() - start) * PER_SECOND / EXPERTS))  # whoever waited does not rush
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        event = {"client_id": str(uuid4()), "pair": waiting.pop(0), "answer": "similar", "milliseconds": 900}
        body, tried = json.dumps({"events": [event]}).encode(), list[float]()

        async def send(body: bytes = body, tried: list[float] = tried) -> list[str]:
            tried.append(time.monotonic() - start)
            _, status, reply = await browser.request("POST", "/api/answers", body)
            if status != 200:
                storm.refused += 1
                raise RefusedError(status)
            accepted: list[str] = json.loads(reply)["accepted"]
            return accepted

        sent = time.monotonic() - start
        storm.acknowledged += await persist(send, browser, storm, until)
        storm.answers.append(Answer(number, sent, time.monotonic() - start, tried[-1]))
    browser.close()


async def faults(server: Server, storm: Storm, plan: list[tuple[float, str, Callable[[], None]]], start: float) -> None:
    for after, what, do in sorted(plan, key=lambda each: each[0]):
        await asyncio.sleep(max(0.0, start + after - time.monotonic()))
        began = time.monotonic() - start
        await asyncio.to_thread(do)
        storm.faults.append(Fault(what, began, time.monotonic() - start))


def plan_faults(
    server: Server, database: Any, disk: Path | None, seconds: float, full_seconds: float, kill_every: float
) -> list[tuple[float, str, Callable[[], None]]]:
    def restart_server() -> None:
        if not server.has_ended:
            server.kill()
        server.start()

    kills = np.arange(kill_every, seconds - 3, kill_every)
    plan: list[tuple[float, str, Callable[[], None]]] = [(float(at), "server killed", restart_server) for at in kills]
    if database is not None:
        plan += [
            (share * seconds + 4, "database restarted", lambda: restart_database(database)) for share in (0.25, 0.75)
        ]
    if disk is not None:
        filler = disk / "filler"
        plan.append((0.5 * seconds, DISK_FULL, lambda: fill_disk(filler)))
        plan.append((0.5 * seconds + full_seconds, DISK_FREE, lambda: empty_disk(filler, database)))
    return plan


def fill_disk(filler: Path) -> None:
    with suppress(OSError), filler.open("wb") as file:
        while True:
            file.write(bytes(1 << 16))
            file.flush()


def empty_disk(filler: Path, database: Any) -> None:
    filler.unlink()
    if database is not None:
        database.ensure_postgres_running()  # a PostgreSQL that cannot write its log ends: its operator starts it again


def restart_database(database: Any) -> None:
    """At once, as in a crash: it recovers from its log."""
    process = database.get_postmaster_info().process
    process.send_signal(signal.SIGQUIT)
    process.wait(30)
    database.ensure_postgres_running()


async def blow(server: Server, tokens: list[str], plan: list[Any], seconds: float) -> Storm:
    storm, start = Storm(), time.monotonic() + 2.0
    end = start + seconds
    keeping = asyncio.create_task(keep_running(server, end + PATIENCE_SECONDS))
    failing = asyncio.create_task(faults(server, storm, plan, start))
    experts = (one_expert(n, server.port, token, storm, start, end) for n, token in enumerate(tokens))
    await asyncio.gather(*experts)
    await failing
    keeping.cancel()
    return storm


def run(asked: argparse.Namespace, disk: Path | None) -> bool:
    kind = asked.database
    with tempfile.TemporaryDirectory(prefix="likewise-storm-") as name:
        folder = Path(name)
        workspace = small_workspace(folder, n_images=90)
        home = disk or folder
        database = postgresql(home) if kind == "postgresql" else None
        if kind == "postgresql" and database is None:
            print("PostgreSQL did not start here: NOT measured")
            return False
        url = database.get_uri() if database is not None else f"sqlite:///{home}/votes.db"
        engine = open_votes(url)
        change_project(engine, repeat_share=0.0)
        images = pl.read_parquet(workspace.catalog_file)["image"].to_list()
        add_pairs(engine, pairs_of(images, 40, 50))
        tokens = [invite_expert(engine, f"expert {number}") for number in range(EXPERTS)]
        engine.dispose()
        server, seconds = Server(workspace, url), 60.0 * asked.minutes
        server.start()
        try:
            plan = plan_faults(server, database, disk, seconds, asked.full_seconds, asked.kill_every)
            storm = asyncio.run(blow(server, tokens, plan, seconds))
        finally:
            with suppress(ProcessLookupError):
                server.kill()
        engine = open_votes(url)
        stored = read_events(engine)["client_id"].to_list()
        engine.dispose()
        if database is not None:
            database.cleanup()
        return report(kind, storm, stored, seconds, write=asked.write)


def report(kind: str, storm: Storm, stored: list[str], seconds: float, *, write: bool) -> bool:
    lost = len(set(storm.acknowledged) - set(stored))
    twice = len(stored) - len(set(stored))
    unacknowledged = len(set(stored) - set(storm.acknowledged))
    last_fault = max((fault.done for fault in storm.faults), default=0.0)
    recovered = len({answer.expert for answer in storm.answers if answer.sent > last_fault})
    undisturbed = storm.undisturbed()
    longest = max((answer.milliseconds for answer in storm.answers), default=math.nan) / 1000
    told = ", ".join(f"{what}: {number}" for what, number in Counter(fault.what for fault in storm.faults).items())
    print(f"\n{kind}: {seconds / 60:.0f} minutes, {EXPERTS} experts, load average {os.getloadavg()[0]:.1f}")
    print(f"  {told}")
    print(f"  {len(storm.acknowledged):,} acknowledged: {lost} lost, {twice} stored twice, {unacknowledged} unknown")
    between = percentiles([answer.milliseconds for answer in undisturbed])
    requests = percentiles([answer.milliseconds_of_request for answer in storm.answers])
    everything = percentiles([answer.milliseconds for answer in storm.answers])
    print(f"  between the disturbances, {len(undisturbed):,} answers: {between}")
    print(f"  every request that was acknowledged: {requests}")
    print(f"  all, with repetitions: {everything}; longest wait {longest:.0f} s")
    print(f"  sent again {storm.sent_again:,} times ({storm.refused:,} told to try again)")
    print(f"  {recovered} of {EXPERTS} pages were answered after the last fault (at {last_fault:.0f} s)")
    if write:
        pages = f"{recovered} of {EXPERTS} pages went on by themselves after the last of them"
        text = (
            f"{kind}, {seconds / 60:.0f} minutes ({told}): {len(storm.acknowledged):,} answers acknowledged, "
            f"{lost} lost, {twice} stored twice; {pages}. Answers between the disturbances ({len(undisturbed):,}) took "
            f"{between}; the requests that were acknowledged, the rush after each restart included, {requests}; all "
            "answers, from the moment when they were sent first, with every repetition while nobody could answer, "
            f"{everything}, the longest {longest:.0f} s."
        )
        sqlite, postgresql = {"labeling-storm-sqlite": text}, {"labeling-storm-postgresql": text}
        fill(PAGE, sqlite if kind == "sqlite" else postgresql)
    return not lost and not twice and recovered == EXPERTS


def percentiles(milliseconds: list[float]) -> str:
    p50, p99 = np.percentile(milliseconds or [np.nan], [50, 99])
    return f"p50 {p50:,.0f} ms, p99 {p99:,.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--full-seconds", type=float, default=60.0)
    parser.add_argument("--kill-every", type=float, default=KILL_EVERY_SECONDS)
    parser.add_argument("--database", choices=("sqlite", "postgresql"))
    parser.add_argument("--write", action="store_true", help="put what was measured into docs/labeling.md")
    asked = parser.parse_args()
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # sockets of a server that was killed
    if asked.database is None:
        again = [sys.executable, "-m", "benchmarks.label_storm", *sys.argv[1:], "--database"]
        raise SystemExit(max(subprocess.call([*again, kind]) for kind in DISK_MEGABYTES))
    disk = os.environ.get(DISK)
    if disk is None and os.geteuid() == 0 and shutil.which("unshare"):
        with tempfile.TemporaryDirectory(prefix="likewise-disk-") as place:
            size = DISK_MEGABYTES[asked.database]
            script = f'mount -t tmpfs -o size={size}m,mode=755 tmpfs {place} && {DISK}={place} exec "$@"'
            inner = ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, "-m", "benchmarks.label_storm"]
            raise SystemExit(subprocess.call([*inner, *sys.argv[1:]]))
    if disk is None:
        print("a small disk needs Linux and root: the full disk is NOT tried")
    raise SystemExit(not run(asked, Path(disk) if disk else None))


if __name__ == "__main__":
    main()
