"""Running the site until somebody stops it."""

import errno
import gc
import secrets
import signal
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace

import uvicorn
from fastapi import FastAPI

from likewise.errors import LikewiseError
from likewise.labeling.store import open_votes
from likewise.labeling.store.experts import owner_password_hash, set_owner_password_hash
from likewise.labeling.store.project import change_project, read_project
from likewise.web.app import create_app
from likewise.web.connections import REQUEST_SECONDS, connection_protocol
from likewise.web.passwords import hash_password, password_matches
from likewise.web.settings import SiteSettings


def prepare(settings: SiteSettings, password: str | None = None) -> SiteSettings:
    """Store the owner's password if one is given, and make sure that a site others can reach has one.

    A site without a password, which only this machine can reach, gets a key for the owner's link instead.
    """
    engine = open_votes(settings.database or settings.workspace)
    try:
        stored = owner_password_hash(engine)
        if password is not None and (stored is None or not password_matches(stored, password)):
            set_owner_password_hash(engine, hash_password(password))
        has_password = stored is not None or password is not None
        if not has_password and not settings.local_only:
            raise LikewiseError(
                f"on {settings.host} others can reach the owner's page, so it needs a password: put one in a file and "
                "add `--owner-password-file FILE`, or set LIKEWISE_OWNER_PASSWORD."
            )
        # A site for looking around invites nobody: links go on leading to the labelling site.
        if not settings.explore_without_login and read_project(engine).url != settings.base_url:
            change_project(engine, url=settings.base_url)
    finally:
        engine.dispose()
    return settings if has_password else replace(settings, owner_key=secrets.token_urlsafe(24))


def serve(settings: SiteSettings) -> None:
    """Answer requests until somebody stops it (Ctrl-C, SIGTERM, a closed terminal); those under way are finished.

    No access log: it would hold the secrets of invitation links.
    """
    app = create_app(settings)
    gc.collect()
    gc.freeze()  # what is loaded by now stays: looking through it for garbage would keep experts waiting, 0.1 s a time
    server = uvicorn.Server(server_config(app, settings))
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, server.handle_exit)
    with suppress(KeyboardInterrupt):  # the server raises again, when all is done, what it was told to stop by
        server.run()


def refuse_used_port(host: str, port: int) -> None:
    """Say so before any address is printed or stored, if something else listens there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise LikewiseError(
                f"something listens on {host}, port {port} already, perhaps another site of yours: use that one, or "
                "choose another port with --port."
            ) from error
        raise LikewiseError(
            f"cannot listen on {host}, port {port} ({error.strerror}): choose another with --port."
        ) from error


def free_port() -> int:
    """A port of this machine on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@dataclass(frozen=True)
class BackgroundSite:
    """A site in a thread of this process: it ends with the process, or with `stop`."""

    url: str
    server: uvicorn.Server
    thread: threading.Thread

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=20)


def serve_in_background(settings: SiteSettings) -> BackgroundSite:
    """Start the site and come back once it answers."""
    server = uvicorn.Server(server_config(create_app(settings), settings))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.02)
    if not server.started:
        raise LikewiseError(f"the site could not start on port {settings.port}: choose another port.")
    return BackgroundSite(settings.base_url, server, thread)


def server_config(app: FastAPI, settings: SiteSettings, request_seconds: float = REQUEST_SECONDS) -> uvicorn.Config:
    """How the site listens: what it believes of proxies, and how long it waits for requests."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        http=connection_protocol(frozenset(settings.trusted_proxies), request_seconds),
        timeout_keep_alive=75,  # experts think for a while between two answers
        timeout_graceful_shutdown=5,
    )
