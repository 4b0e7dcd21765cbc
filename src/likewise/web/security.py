"""What every request and response must have: headers, cookies, a token against forged forms, a limit on logins."""

import hmac
import secrets
import threading
import time
from collections import deque
from hashlib import blake2b
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from likewise.web.settings import SiteSettings

SESSION_COOKIE = "likewise_session"
VISIT_COOKIE = "likewise_visit"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # an invitation's address is a secret
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
NOTEBOOKS = "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*"
MAX_BODY_BYTES = 1_000_000


class SecurityMiddleware:
    """Adds the headers, refuses foreign host names on a local server, and bodies larger than any form of ours."""

    def __init__(self, app: ASGIApp, settings: SiteSettings) -> None:
        self.app = app
        self.secure = settings.secure
        self.headers = _framed_headers() if settings.framed else HEADERS
        self.hosts = {"127.0.0.1", "localhost", "::1", settings.host, urlsplit(settings.base_url).hostname or ""}
        self.any_host = not settings.local_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    ours.setdefault(name, value)
                if self.secure:
                    ours["Strict-Transport-Security"] = "max-age=31536000"
                is_static = scope["path"].startswith("/static/")
                ours.setdefault("Cache-Control", "no-cache" if is_static else "no-store")
            await send(message)

        # A page elsewhere whose name was pointed at this machine must not talk to us as if it were ours.
        if not self.any_host and _host_name(headers.get("host", "")) not in self.hosts:
            await _error_response("this site does not answer under that name", 400)(scope, receive, send_with_headers)
            return
        length = headers.get("content-length", "0")
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and (
            not length.isdecimal()
            or int(length) > MAX_BODY_BYTES
            or "transfer-encoding" in headers  # of unknown length
        ):
            await _error_response("the request is too large", 413)(scope, receive, send_with_headers)
            return
        await self.app(scope, receive, send_with_headers)


def _framed_headers() -> dict[str, str]:
    """For a page that only looks: notebooks of this machine may show it in a frame, and nobody else."""
    policy = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", NOTEBOOKS)
    others = {name: value for name, value in HEADERS.items() if name != "X-Frame-Options"}
    return others | {"Content-Security-Policy": policy}


def _host_name(host: str) -> str | None:
    """Without the port; None for what is no host's name."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _error_response(text: str, status: int) -> JSONResponse:
    return JSONResponse({"detail": text}, status_code=status)


def new_visit_token() -> str:
    """A secret for a browser that is not logged in, so that its login form can be told from a forged one."""
    return secrets.token_urlsafe(18)


def csrf_token(secret: str) -> str:
    """The token that goes with a session's (or a visit's) cookie; another site can read neither."""
    return blake2b(b"csrf", key=secret.encode()[:64], digest_size=24).hexdigest()


def csrf_matches(secret: str | None, token: str | None) -> bool:
    return bool(secret and token) and hmac.compare_digest(csrf_token(secret or "").encode(), (token or "").encode())


class RateLimiter:
    """At most so many failures from one address (and ten times as many from all) within a while."""

    def __init__(self, attempts: int, wait_seconds: float) -> None:
        self.attempts, self.wait_seconds = attempts, wait_seconds
        self._failures: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def take_attempt(self, address: str) -> bool:
        """Count an attempt before it is looked at, so that parallel ones cannot slip through; False: refuse it."""
        with self._lock:
            self._drop_expired()
            everywhere = sum(map(len, self._failures.values()))
            if len(self._failures.get(address, ())) >= self.attempts or everywhere >= 10 * self.attempts:
                return False
            self._failures.setdefault(address, deque()).append(time.monotonic())
            return True

    def reset(self, address: str) -> None:
        with self._lock:
            self._failures.pop(address, None)

    def _drop_expired(self) -> None:
        oldest = time.monotonic() - self.wait_seconds
        for address, failures in list(self._failures.items()):
            while failures and failures[0] < oldest:
                failures.popleft()
            if not failures:
                del self._failures[address]
