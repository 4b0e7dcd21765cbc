"""Running the site until somebody stops it."""

import gc
import secrets
from dataclasses import replace

import uvicorn

from likewise.errors import LikewiseError
from likewise.labeling.store.engine import open_votes
from likewise.labeling.store.experts import owner_password_hash, set_owner_password_hash
from likewise.labeling.store.project import change_project, read_project
from likewise.web.app import create_app
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
        if read_project(engine).url != settings.base_url:
            change_project(engine, url=settings.base_url)
    finally:
        engine.dispose()
    return settings if has_password else replace(settings, owner_key=secrets.token_urlsafe(24))


def serve(settings: SiteSettings) -> None:
    """Answer requests until interrupted. No access log: it would hold the secrets of invitation links."""
    app = create_app(settings)
    gc.collect()
    gc.freeze()  # what is loaded by now stays: looking through it for garbage would keep experts waiting, 0.1 s a time
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,  # experts think for a while between two answers
        timeout_graceful_shutdown=5,
    )
