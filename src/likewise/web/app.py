"""The site as one ASGI app."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException

from likewise.labeling.store.engine import StoreError
from likewise.web.explore import CurrentExploreService
from likewise.web.extension_pages import mount_extensions
from likewise.web.monitoring import MonitoringMiddleware
from likewise.web.pages import WEB_FOLDER, message_page
from likewise.web.routes import (
    expert_api,
    expert_pages,
    explore,
    explore_copies,
    explore_differences,
    explore_map,
    media,
    operations,
    owner,
    owner_files,
    questions,
)
from likewise.web.security import SecurityMiddleware
from likewise.web.settings import SiteSettings
from likewise.web.site import open_site
from likewise.web.sub_path import SubPathMiddleware

STORE_UNAVAILABLE = "the answer could not be stored just now (the disk is full or the database is busy): try again"
TITLES = {401: "Please log in", 403: "Not allowed", 404: "Not found", 429: "Too many attempts", 503: "Try again soon"}


def create_app(settings: SiteSettings) -> FastAPI:
    """The labelling site over one workspace."""
    site = open_site(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        site.vote_writer.close()
        site.visitors.close()
        site.engine.dispose()  # the last connection to close empties SQLite's write-ahead log into votes.db

    app = FastAPI(title="likewise", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.state.site = site
    app.state.store_error = ""
    app.state.explore = CurrentExploreService(settings.workspace)
    for routes in (
        expert_pages,
        expert_api,
        media,
        operations,
        questions,
        owner,
        owner_files,
        explore,
        explore_copies,
        explore_differences,
        explore_map,
    ):
        app.include_router(routes.router)
    mount_extensions(app, settings.workspace)
    app.mount("/static", StaticFiles(directory=WEB_FOLDER / "static", check_dir=False), name="static")
    app.add_middleware(SecurityMiddleware, settings=settings)
    app.add_middleware(SubPathMiddleware, prefix=settings.prefix)
    app.add_middleware(MonitoringMiddleware, counts=site.requests, log=settings.log_requests)
    app.add_exception_handler(StarletteHTTPException, _handle_http_error)
    app.add_exception_handler(RequestValidationError, _handle_validation_error)
    app.add_exception_handler(StoreError, _handle_store_error)
    return app


def _handle_http_error(request: Request, error: Exception) -> Response:
    """One sentence: as JSON for scripts, as a page for people, or the way to the login."""
    assert isinstance(error, StarletteHTTPException)
    if _wants_page(request):
        if error.status_code == 401 and request.url.path.startswith(("/owner", "/explore")):
            return RedirectResponse("/owner/login", 303)
        title = TITLES.get(error.status_code, "That did not work")
        detail = str(error.detail)
        return message_page(request, title, f"{detail[:1].upper()}{detail[1:]}.", error.status_code)
    return JSONResponse({"detail": str(error.detail)}, error.status_code, headers=error.headers)


def _handle_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return _handle_http_error(request, HTTPException(422, f"{where}: {first['msg']}"))


def _handle_store_error(request: Request, error: Exception) -> Response:
    """Experts are told to try again; why, stands once in the output of the site, for whoever runs it."""
    if request.app.state.store_error != str(error):
        request.app.state.store_error = str(error)
        sys.stderr.write(f"likewise: {error}\n")
        sys.stderr.flush()
    return _handle_http_error(request, HTTPException(503, STORE_UNAVAILABLE, headers={"Retry-After": "2"}))


def _wants_page(request: Request) -> bool:
    path = request.url.path
    return not path.startswith(("/api", "/media", "/static")) and "text/html" in request.headers.get("accept", "")
