"""The map page: points, their colours, and work that goes on while the page waits."""

import base64
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import JSONResponse, Response

from likewise.explore.map_colours import CLUSTER, LABEL, MODEL, colour_by
from likewise.explore.projection import PCA, TSNE, ImageMap, best_method, make_map
from likewise.web.access import IsOwner, or_bad_request
from likewise.web.explore import ExploreService, progress_response
from likewise.web.jobs import Job
from likewise.web.routes.explore import Key, Names, explore_page, get_service

router = APIRouter(include_in_schema=False)
EncoderName = Annotated[str, Query(max_length=300)]
Method = Annotated[str, Query(max_length=10)]


@router.get("/explore/map")
def map_page(request: Request, is_owner: IsOwner) -> Response:
    methods = [TSNE, PCA] if best_method() == TSNE else [PCA]
    return explore_page(request, "/explore/map", "map", is_owner, {"methods": methods})


@router.get("/api/explore/map")
def points(
    request: Request, is_owner: IsOwner, encoder: EncoderName = "", method: Method = "", sample: bool = False
) -> Response:
    """Every point as two little-endian float32 numbers, and the images in the same order."""
    made = _map(get_service(request), encoder, method, sample)
    if isinstance(made, Job):
        return progress_response(made)
    xy = made.table.select("x", "y").to_numpy().astype("<f4").tobytes()
    return JSONResponse(
        {
            "encoder": made.encoder,
            "method": made.method,
            "n_images": made.n_images,
            "points": base64.b64encode(xy).decode("ascii"),
            "images": made.table["image"].to_list(),
        }
    )


@router.get("/api/explore/map/colours")
def colours(
    request: Request,
    is_owner: IsOwner,
    encoder: EncoderName = "",
    method: Method = "",
    by: Annotated[str, Query(max_length=200)] = CLUSTER,
    image: Key = "",
    names: Names = [],  # noqa: B006
) -> dict[str, Any]:
    """What to colour the points by: cluster, label, model, or a column of the catalog."""
    service = get_service(request)
    made = _map(service, encoder, method, sample=True)
    if isinstance(made, Job):
        raise HTTPException(409, "the map is not ready yet")
    found = or_bad_request(lambda: colour_by(made, service.gallery, service.labels, by, image, names))
    return {
        "names": found.names,
        "codes": found.codes,
        "rest": found.rest,
        "note": found.note,
        "further": [CLUSTER, LABEL, MODEL],
    }


def _map(service: ExploreService, encoder: str, method: str, sample: bool) -> ImageMap | Job[ImageMap]:
    chosen = or_bad_request(lambda: service.gallery.choose_encoders([encoder] if encoder else [])[0])
    how = method if method in (TSNE, PCA) else best_method()

    def work(progress: Any) -> ImageMap:
        return make_map(service.gallery, chosen, how, sample=sample, on_progress=progress)

    return or_bad_request(lambda: service.maps.ask(f"{chosen}\n{how}", work))
