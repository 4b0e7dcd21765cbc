"""The page on which models differ: queries by disagreement, worst AP or split experts, and every mistake."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from likewise.explore.disagreement import SORTS, find_disagreement, find_mistakes
from likewise.web.access import IsOwner, or_bad_request
from likewise.web.explore import label_json
from likewise.web.routes.explore import explore_page, get_service

router = APIRouter(include_in_schema=False)
EncoderName = Annotated[str, Query(max_length=300)]
Start = Annotated[int, Query(ge=0)]
ROWS_SENT = 20
MISTAKES_SENT = 60


@router.get("/explore/differences")
def differences_page(request: Request, is_owner: IsOwner) -> Response:
    return explore_page(request, "/explore/differences", "differences", is_owner, {"sorts": list(SORTS.items())})


@router.get("/api/explore/differences")
def differences(
    request: Request,
    is_owner: IsOwner,
    first: EncoderName,
    second: EncoderName,
    order: Annotated[str, Query(max_length=20)] = "lists",
    after: Start = 0,
) -> dict[str, Any]:
    """Queries on which two encoders differ, a page at a time, each with what both find."""
    service = get_service(request)

    def find() -> dict[str, Any]:
        found = service.disagreement(first, second, find_disagreement)
        table = found.by(order)
        shown = table.slice(after, ROWS_SENT)
        rows = [service.gallery.row_of[query] for query in shown["query"]]
        lists = service.gallery.neighbours_of_many(rows, [first, second], k=found.k) if rows else []
        return {
            "k": found.k,
            "total": len(table),
            "n_queries": found.n_queries,
            "learned": list(found.learned),
            "labelled": bool((found.table["n_labels"] > 0).any()),
            "queries": [
                {**row, "lists": service.lists_json(row["query"], each)}
                for row, each in zip(shown.iter_rows(named=True), lists, strict=True)
            ],
        }

    return or_bad_request(find)


@router.get("/api/explore/mistakes")
def mistakes(request: Request, is_owner: IsOwner, encoder: EncoderName, after: Start = 0) -> dict[str, Any]:
    """Every mistake of an encoder against the labels, the worst first, a page at a time."""
    service = get_service(request)
    found = or_bad_request(lambda: find_mistakes(service.gallery, service.labels, encoder))
    shown = found.slice(after, MISTAKES_SENT)
    return {
        "total": len(found),
        "mistakes": [
            {**row, "label": label_json(service.labels.of_query(row["query"]).get(row["candidate"]))}
            for row in shown.iter_rows(named=True)
        ],
    }
