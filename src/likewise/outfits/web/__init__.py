"""Pages of outfits: looks and tests of taste in the making for the owner, designs, votes and factors for designers."""

from pathlib import Path

from likewise.outfits.web import designer_routes, look_routes, owner_routes
from likewise.outfits.web.look_service import LookService
from likewise.web.extension_pages import EXPERT, OWNER, Pages

PAGES = Pages(
    routers=(owner_routes.router, designer_routes.router, designer_routes.api, look_routes.router, look_routes.api),
    roles={
        ("GET", "/owner/outfits"): frozenset({OWNER}),
        ("GET", "/owner/outfits/{name}/questions"): frozenset({OWNER}),
        ("POST", "/owner/outfits/{name}/advance"): frozenset({OWNER}),
        ("POST", "/owner/outfits/{name}/replace"): frozenset({OWNER}),
        ("GET", "/owner/looks"): frozenset({OWNER}),
        ("GET", "/owner/looks/export.csv"): frozenset({OWNER}),
        ("POST", "/owner/looks/save"): frozenset({OWNER}),
        ("POST", "/owner/looks/remove"): frozenset({OWNER}),
        ("POST", "/api/looks/upload"): frozenset({OWNER}),
        ("GET", "/owner/looks/picture/{name}"): frozenset({OWNER}),
        ("GET", "/outfits/designs"): frozenset({EXPERT}),
        ("GET", "/outfits/designs/new"): frozenset({EXPERT}),
        ("POST", "/outfits/designs"): frozenset({EXPERT}),
        ("POST", "/outfits/designs/{name}/withdraw"): frozenset({EXPERT}),
        ("POST", "/api/outfits/pictures"): frozenset({EXPERT}),
        ("GET", "/outfits/designs/picture/{name}"): frozenset({EXPERT, OWNER}),
        ("POST", "/outfits/designs/picture/{name}/remove"): frozenset({EXPERT}),
        ("GET", "/outfits/votes"): frozenset({EXPERT}),
        ("POST", "/outfits/votes"): frozenset({EXPERT}),
        ("GET", "/outfits/factors"): frozenset({EXPERT}),
        ("POST", "/outfits/factors"): frozenset({EXPERT}),
    },
    folder=Path(__file__).parent,
    links={"/owner/outfits": "Outfits", "/owner/looks": "Looks"},
    state=LookService,
)
