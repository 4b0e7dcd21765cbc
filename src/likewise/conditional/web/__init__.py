"""The search page, "like this, but …", for the owner."""

from pathlib import Path

from likewise.conditional.web.routes import router
from likewise.conditional.web.search import SearchService
from likewise.web.extension_pages import OWNER, Pages

PAGES = Pages(
    routers=(router,),
    roles={
        ("GET", "/search"): frozenset({OWNER}),
        ("GET", "/api/search"): frozenset({OWNER}),
        ("GET", "/api/search/slider"): frozenset({OWNER}),
        ("GET", "/api/search/pictures"): frozenset({OWNER}),
        ("POST", "/api/search/upload"): frozenset({OWNER}),
    },
    folder=Path(__file__).parent,
    links={"/search": "Search"},
    state=SearchService,
)
