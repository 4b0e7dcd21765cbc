"""How a site is run."""

import socket
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class SiteSettings:
    """What `likewise label serve` was told.

    `owner_key` opens the owner's page without a password: it is in the link printed by a server that listens on
    this machine only, and ends with that server.
    """

    workspace: WorkspaceFolder
    database: str | None = None  # None: votes.db of the workspace
    host: str = "127.0.0.1"
    port: int = 8000
    url: str | None = None  # how experts reach the site, when not by host and port
    owner_key: str | None = field(default=None, repr=False)
    login_attempts: int = 5  # wrong passwords from one address before it must wait
    login_wait_seconds: float = 300.0
    explore_without_login: bool = False  # `likewise explore`: whoever sits at this machine may look, not change
    framed: bool = False  # a notebook on this machine may show the pages inside its own
    guests_per_hour: int = 30  # of a public questionnaire, from one address
    log_requests: bool = False  # a line of JSON for each, on standard error
    trusted_proxies: tuple[str, ...] = ()  # whose word counts about where a request comes from

    @property
    def base_url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def prefix(self) -> str:
        """The path of the public address, under which a proxy has put the site; empty for none."""
        return urlsplit(self.base_url).path.rstrip("/")

    @property
    def secure(self) -> bool:
        """Whether browsers reach the site by https, so that cookies may be kept to it."""
        return self.base_url.startswith("https://")

    @property
    def local_only(self) -> bool:
        return is_loopback(self.host)


def check_address(text: str) -> str:
    """An address in numbers, or a sentence: `*` would let everybody say where they come from."""
    try:
        return str(ip_address(text))
    except ValueError:
        raise LikewiseError(f"{text!r} is no address of a proxy: write one in numbers, such as 127.0.0.1.") from None


def is_loopback(host: str) -> bool:
    """Whether nobody outside this machine can reach a server that listens there."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_stopped(url: str) -> bool:
    """Whether nothing listens at an address of this machine; of other machines nobody is asked."""
    at = urlsplit(url)
    if at.hostname is None or not is_loopback(at.hostname):
        return False
    try:
        socket.create_connection((at.hostname, at.port or (443 if at.scheme == "https" else 80)), timeout=2.0).close()
    except OSError:
        return True
    return False
