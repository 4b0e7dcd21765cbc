"""Rendering a page: Jinja2 with everything escaped, and what every page needs."""

from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader

from likewise.labeling.store.images import store_name
from likewise.labeling.store.project import read_project
from likewise.labeling.store.queue import AskedPair, Progress
from likewise.web.access import page_token, site_of
from likewise.web.security import VISIT_COOKIE

FOLDER = Path(__file__).parent
Image = dict[str, int | str]


@cache
def _environment() -> Environment:
    return Environment(loader=FileSystemLoader(FOLDER / "templates"), autoescape=True)


def render(request: Request, template: str, status_code: int = 200, **context: Any) -> HTMLResponse:
    """A page; `csrf` is there for its forms, and any text in the context is escaped by the template."""
    shared = {"csrf": page_token(request), "project": read_project(site_of(request).engine).name}
    page = _environment().get_template(template).render(shared | context)
    response = HTMLResponse(page, status_code=status_code)
    visit = getattr(request.state, "new_visit", None)
    if visit is not None:
        secure = site_of(request).settings.secure
        response.set_cookie(VISIT_COOKIE, visit, httponly=True, samesite="lax", secure=secure, path="/")
    return response


def message(request: Request, title: str, text: str, status: int = 200) -> HTMLResponse:
    return render(request, "message.html", status, title=title, text=text, status=status)


def image_of(number: int) -> Image:
    """A picture as browsers get it: an opaque id and two addresses."""
    return {"image": number, "thumb": f"/media/thumb/{number}", "full": f"/media/full/{number}"}


def pair_of(pair: AskedPair) -> dict[str, Any]:
    return {
        "pair": pair.pair,
        "query": image_of(pair.query_image),
        "candidate": image_of(pair.candidate_image),
    }


def progress_of(progress: Progress) -> dict[str, int | float | None]:
    return {
        "answered": progress.answered,
        "total": progress.total,
        "later": progress.later,
        "seconds_per_pair": progress.seconds_per_pair,
    }


def paragraphs_of(text: str) -> list[str]:
    """Plain text as paragraphs; an empty line starts a new one."""
    return [" ".join(part.split()) for part in text.replace("\r", "").split("\n\n") if part.strip()]


def boot_of(request: Request, name: str, mode: str, practice: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """What a page's script starts with."""
    return {
        "mode": mode,
        "store": store_name(site_of(request).engine),  # keeps one project's outbox from another's on the same address
        "csrf": page_token(request),
        "expert": name,
        "project": read_project(site_of(request).engine).name,
        "api": "/api",
        "practice": practice or [],
    }
