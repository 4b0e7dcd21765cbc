"""Pages that extensions add to the site: their routes, who may call each, their templates and static files."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles

from likewise.errors import LikewiseError
from likewise.extensions import extensions
from likewise.workspace import WorkspaceFolder

EXPERT, GUEST, OWNER, STRANGER = "expert", "guest", "owner", "stranger"
ROLES = frozenset({EXPERT, GUEST, OWNER, STRANGER})
Route = tuple[str, str]
"""Method and path: ("GET", "/search")."""


@dataclass(frozen=True)
class Pages:
    """What one extension adds.

    `folder` holds templates/ (named EXTENSION/FILE) and static/ (at /static/EXTENSION/FILE).
    """

    routers: tuple[APIRouter, ...]
    roles: Mapping[Route, frozenset[str]]
    """Of every route who may call it; the routes themselves ask with `likewise.web.access`."""
    folder: Path
    links: Mapping[str, str] = field(default_factory=dict)
    """Between the owner's pages: address and label."""
    state: Callable[[WorkspaceFolder], object] | None = None
    """Makes what the routes share; they find it in `app.state` under the extension's name."""

    def routes(self) -> Iterator[Route]:
        for router in self.routers:
            for route in router.routes:
                if isinstance(route, APIRoute):
                    yield from ((method, route.path) for method in route.methods or ())


@cache
def extension_pages() -> dict[str, Pages]:
    """By the name of the extension; a route without roles, or the other way round, is an error."""
    found = {}
    for extension in extensions():
        if not extension.pages:
            continue
        pages = extension.load(extension.pages)
        if not isinstance(pages, Pages):
            raise LikewiseError(f"{extension.pages} of the extension {extension.name} is no Pages.")
        if wrong := sorted(set(pages.routes()) ^ set(pages.roles)):
            raise LikewiseError(
                f"the extension {extension.name} must say who may call each of its routes, and of no others: "
                f"{' '.join(wrong[0])} is only on one of the two lists."
            )
        found[extension.name] = pages
    return found


def owner_links() -> list[tuple[str, str]]:
    """(address, label) of the pages between which the owner moves, by label."""
    links = [link for pages in extension_pages().values() for link in pages.links.items()]
    return sorted(links, key=lambda link: link[1])


def mount_extensions(app: FastAPI, workspace: WorkspaceFolder) -> None:
    """Add the pages of every extension to the site."""
    for name, pages in extension_pages().items():
        for router in pages.routers:
            app.include_router(router)
        if pages.state is not None:
            setattr(app.state, name, pages.state(workspace))
        app.mount(f"/static/{name}", StaticFiles(directory=pages.folder / "static", check_dir=False))
