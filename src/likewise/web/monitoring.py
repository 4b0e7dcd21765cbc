"""What operators watch: counts and times of requests, and one line of JSON for each of them on demand.

A line names the route (`/i/{token}`), never the address that was asked for: that may hold an invitation's secret.
"""

import json
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TextIO

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from likewise.labeling.store.clock import store_time_now

UNKNOWN_ROUTE = "(no route)"


@dataclass
class RequestCounts:
    """Requests so far, by method and status, and the seconds they took."""

    by_status: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, method: str, status: int, seconds: float) -> None:
        with self.lock:
            self.by_status[method, status] += 1
            self.seconds += seconds


class MonitoringMiddleware:
    """Counts every request and, with `log`, writes it down."""

    def __init__(self, app: ASGIApp, counts: RequestCounts, log: bool = False, stream: TextIO | None = None) -> None:
        self.app, self.counts, self.log, self.stream = app, counts, log, stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def send_counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_counted)
        finally:
            seconds = time.perf_counter() - started
            method = scope["method"] if scope["method"] in METHODS else "OTHER"
            self.counts.add(method, status, seconds)
            if self.log:
                self._write(scope, method, status, seconds)

    def _write(self, scope: Scope, method: str, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", None) or UNKNOWN_ROUTE
        client = scope.get("client")
        line = {
            "time": store_time_now(),
            "method": method,
            "route": route,
            "status": status,
            "milliseconds": round(1000 * seconds, 1),
            "client": client[0] if client else None,
        }
        (self.stream or sys.stderr).write(json.dumps(line) + "\n")
        (self.stream or sys.stderr).flush()


METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def prometheus_text(counts: RequestCounts, gauges: dict[str, tuple[str, float]]) -> str:
    """Counters of requests and gauges (name -> help, value) in Prometheus' text format 0.0.4."""
    with counts.lock:
        by_status, seconds = dict(counts.by_status), counts.seconds
    lines = [
        "# HELP likewise_requests_total Requests answered.",
        "# TYPE likewise_requests_total counter",
        *(
            f'likewise_requests_total{{method="{method}",status="{status}"}} {number}'
            for (method, status), number in sorted(by_status.items())
        ),
        "# HELP likewise_request_seconds Time to answer requests.",
        "# TYPE likewise_request_seconds summary",
        f"likewise_request_seconds_sum {seconds:.6f}",
        f"likewise_request_seconds_count {sum(by_status.values())}",
    ]
    for name, (words, value) in gauges.items():
        lines += [f"# HELP {name} {words}", f"# TYPE {name} gauge", f"{name} {value:g}"]
    return "\n".join(lines) + "\n"
