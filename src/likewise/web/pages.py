"""Rendering a page: Jinja2 with everything escaped, and what every page needs."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader
from markupsafe import Markup, escape
from sqlalchemy import Engine

from likewise.labeling.store.engine import write_transaction
from likewise.labeling.store.images import ensure_images, image_ids, read_store_id
from likewise.labeling.store.project import read_project
from likewise.labeling.store.queue import QueuedPair, QueueProgress
from likewise.web.access import get_site, page_csrf_token
from likewise.web.extension_pages import extension_pages, owner_links
from likewise.web.security import VISIT_COOKIE
from likewise.web.sub_path import PrefixedAddresses, with_prefix
from likewise.web.thumbnails import ImageContent

WEB_FOLDER = Path(__file__).parent
CACHED_SECONDS = 7 * 86_400
ImageLinks = dict[str, int | str]


@cache
def _environment() -> Environment:
    added = {name: FileSystemLoader(pages.folder / "templates") for name, pages in extension_pages().items()}
    loader = ChoiceLoader([FileSystemLoader(WEB_FOLDER / "templates"), PrefixLoader(added)])
    environment = Environment(loader=loader, autoescape=True, extensions=[PrefixedAddresses])
    environment.globals["owner_links"] = owner_links()
    environment.filters["with_code"] = with_code
    return environment


def with_code(text: str) -> Markup:
    """A sentence with commands between backticks, as errors have them, for a page."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def render(request: Request, template: str, status_code: int = 200, **context: Any) -> HTMLResponse:
    """A page; `csrf` is there for its forms, and any text in the context is escaped by the template."""
    project = read_project(get_site(request).engine)
    shared = {"csrf": page_csrf_token(request), "project": project.name, "graded": project.graded}
    page = _environment().get_template(template).render(shared | context)
    response = HTMLResponse(page, status_code=status_code)
    visit = getattr(request.state, "new_visit", None)
    if visit is not None:
        secure = get_site(request).settings.secure
        response.set_cookie(VISIT_COOKIE, visit, httponly=True, samesite="lax", secure=secure, path="/")
    return response


def message_page(request: Request, title: str, text: str, status: int = 200) -> HTMLResponse:
    return render(request, "message.html", status, title=title, text=text, status=status)


def image_links(number: int) -> ImageLinks:
    """A picture as browsers get it: an opaque id and two addresses."""
    return {
        "image": number,
        "thumb": with_prefix(f"/media/thumb/{number}"),
        "full": with_prefix(f"/media/full/{number}"),
    }


def ensure_image_links(engine: Engine, keys: Iterable[str]) -> dict[str, ImageLinks]:
    """Of pictures by their keys; one that has no id yet gets one."""
    wanted = set(keys)
    ids = image_ids(engine, wanted)
    if len(ids) < len(wanted):
        with write_transaction(engine) as connection:
            ids = ensure_images(connection, wanted)
    return {key: image_links(number) for key, number in ids.items()}


def pair_json(pair: QueuedPair) -> dict[str, Any]:
    return {
        "pair": pair.pair,
        "query": image_links(pair.query_image),
        "candidate": image_links(pair.candidate_image),
    }


def progress_json(progress: QueueProgress) -> dict[str, int | float | None]:
    return {
        "answered": progress.answered,
        "total": progress.total,
        "later": progress.later,
        "seconds_per_pair": progress.seconds_per_pair,
    }


def split_paragraphs(text: str) -> list[str]:
    """Plain text as paragraphs; an empty line starts a new one."""
    return [" ".join(part.split()) for part in text.replace("\r", "").split("\n\n") if part.strip()]


def script_settings(
    request: Request, name: str, mode: str, practice: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """What a page's script starts with."""
    project = read_project(get_site(request).engine)
    return {
        "mode": mode,
        "store": read_store_id(get_site(request).engine),  # tells the outboxes of two projects on one address apart
        "csrf": page_csrf_token(request),
        "expert": name,
        "project": project.name,
        "graded": project.graded,
        "prefix": with_prefix(""),
        "api": with_prefix("/api"),
        "practice": practice or [],
    }


def picture_response(request: Request, picture: ImageContent | None) -> Response:
    """A picture that the browser keeps until it changes."""
    if picture is None:
        raise HTTPException(404, "this picture cannot be read")
    headers = {
        "ETag": f'"{picture.tag}"',
        "Cache-Control": f"private, max-age={CACHED_SECONDS}",  # private: no shared cache may keep them
        "Vary": "Cookie",
    }
    if f'"{picture.tag}"' in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(picture.content, media_type=picture.media_type, headers=headers)
