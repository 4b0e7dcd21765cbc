"""The copies page: pairs that may be copies, what was decided about them, and a table to take away."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response

from likewise.catalog.perceptual_hash import BITS, COPY_BITS
from likewise.explore.copies import COPY_COSINE, MAX_BITS, Boundaries, CopyPairs, copies_table, find_copies
from likewise.neighbours.leaks import read_decisions, store_decisions
from likewise.spreadsheets import csv_text
from likewise.web.access import CsrfHeader, CurrentOwner, IsOwner, or_bad_request
from likewise.web.explore import ExploreService, progress_response
from likewise.web.jobs import Job
from likewise.web.routes.explore import explore_page, get_service
from likewise.web.schemas import CopyDecision

router = APIRouter(include_in_schema=False)
EncoderName = Annotated[str, Query(alias="with", max_length=300)]


@router.get("/explore/copies")
def copies_page(request: Request, is_owner: IsOwner) -> Response:
    return explore_page(request, "/explore/copies", "copies", is_owner)


@router.get("/api/explore/copies")
def copies(request: Request, is_owner: IsOwner, encoder: EncoderName = "") -> Response:
    """Every pair with its cosine and bits, once; where the line is drawn is the page's business."""
    service = get_service(request)
    found = _find(service, encoder)
    if isinstance(found, Job):
        return progress_response(found)
    images, pairs = service.gallery.images, found.pairs
    rows = sorted({*pairs["first"].to_list(), *pairs["second"].to_list()})
    place = {row: number for number, row in enumerate(rows)}
    lines = Boundaries(service.gallery.catalog).columns
    return JSONResponse(
        {
            "encoder": found.encoder,
            "floor": found.floor,
            "cosine": COPY_COSINE,
            "bits": COPY_BITS,
            "max_bits": MAX_BITS,
            "hash_bits": BITS,
            "images": [images[row] for row in rows],
            "sides": {name: [side[row] for row in rows] for name, side in lines.items()},
            "pairs": [
                [place[first], place[second], None if cosine is None else round(cosine, 4), bits, exact]
                for first, second, cosine, bits, exact in pairs.iter_rows()
            ],
            "decisions": read_decisions(service.workspace).rows(),
        }
    )


@router.get("/api/explore/copies.csv")
def export(
    request: Request,
    is_owner: IsOwner,
    encoder: EncoderName = "",
    cosine: Annotated[float, Query(ge=0, le=1.01)] = COPY_COSINE,
    bits: Annotated[int, Query(ge=-1, le=BITS)] = COPY_BITS,
) -> Response:
    """The groups that the page shows, as a table."""
    service = get_service(request)
    found = _find(service, encoder)
    if isinstance(found, Job):
        return progress_response(found)
    table = copies_table(service.gallery, found, cosine, bits)
    headers = {"Content-Disposition": 'attachment; filename="copies.csv"'}
    return Response(csv_text(table), media_type="text/csv", headers=headers)


@router.post("/api/explore/copies/decide", dependencies=[CsrfHeader])
def decide(request: Request, body: CopyDecision, who: CurrentOwner) -> dict[str, Any]:
    """Call pairs copies, tell them apart, or take that back."""
    workspace = get_service(request).workspace
    or_bad_request(lambda: store_decisions(workspace, [(one, other) for one, other in body.pairs], body.decision))
    return {"decisions": read_decisions(workspace).rows()}


def _find(service: ExploreService, encoder: str) -> CopyPairs | Job[CopyPairs]:
    chosen = or_bad_request(lambda: service.gallery.choose_encoders([encoder] if encoder else [])[0])
    work = lambda progress: find_copies(service.gallery, chosen, progress)  # noqa: E731
    return or_bad_request(lambda: service.copies.ask(chosen, work))
