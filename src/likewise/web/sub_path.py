"""The site under a path of a larger one, such as https://example.org/label behind a reverse proxy.

The path is that of `--url`. Requests may come with it or without it (proxies differ); what the site sends always has
it: redirects, cookies, and every address in pages and scripts. Templates write `href="/owner"`, and the prefix is put
before it when they are loaded.
"""

import re
from contextvars import ContextVar

from jinja2 import Environment
from jinja2.ext import Extension
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_prefix: ContextVar[str] = ContextVar("prefix", default="")
ADDRESS = re.compile(r'\b((?:href|src|action|formaction)=")/(?!/)')
COOKIE_PATH = re.compile(r"(?i)(;\s*path=)/(?=;|$)")


def with_prefix(path: str) -> str:
    """An address of this site, as the browser of the present request must ask for it."""
    return _prefix.get() + path


class _Prefix:
    """Known only when a page is rendered."""

    def __str__(self) -> str:
        return _prefix.get()


class PrefixedAddresses(Extension):
    """Puts the prefix before every address that a template writes out."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        environment.globals["prefix"] = _Prefix()

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return ADDRESS.sub(r"\1{{ prefix }}/", source)


class SubPathMiddleware:
    """Takes the prefix off requests, and puts it into what is sent."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app, self.prefix = app, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        _prefix.set(self.prefix)
        path: str = scope["path"]
        if self.prefix and (path == self.prefix or path.startswith(f"{self.prefix}/")):
            scope["path"] = path[len(self.prefix) :] or "/"
            scope["raw_path"] = scope["path"].encode()

        async def send_with_prefix(message: Message) -> None:
            if message["type"] == "http.response.start" and self.prefix:
                headers = MutableHeaders(scope=message)
                location = headers.get("location", "")
                if location.startswith("/") and not location.startswith("//"):
                    headers["location"] = self.prefix + location
                message["headers"] = [
                    (name, COOKIE_PATH.sub(rf"\g<1>{self.prefix}", value.decode("latin-1")).encode("latin-1"))
                    if name == b"set-cookie"
                    else (name, value)
                    for name, value in message["headers"]
                ]
            await send(message)

        await self.app(scope, receive, send_with_prefix)
