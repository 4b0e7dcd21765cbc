"""For whoever runs the site: is it well, and what has it done so far. Numbers only, no names, no keys."""

from ipaddress import ip_address

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from sqlalchemy import func, select

from likewise import __version__
from likewise.labeling.store.engine import StoreError, read_transaction
from likewise.labeling.store.models import Event, Expert, Pair
from likewise.web.access import CurrentSite
from likewise.web.monitoring import prometheus_text

router = APIRouter(include_in_schema=False)
PROMETHEUS = "text/plain; version=0.0.4"


@router.get("/health")
def health(site: CurrentSite) -> Response:
    """200 where the database answers, 503 where it does not."""
    try:
        with read_transaction(site.engine) as connection:
            connection.execute(select(func.count()).select_from(Expert))  # SQLite answers `1` without its file
    except StoreError:
        return JSONResponse({"status": "failing", "database": "does not answer", "version": __version__}, 503)
    return JSONResponse({"status": "ok", "database": "ok", "version": __version__})


@router.get("/metrics")
def metrics(request: Request, site: CurrentSite) -> Response:
    """Prometheus' text, for addresses of this machine and of private networks."""
    if not _is_near(request.client.host if request.client else ""):
        raise HTTPException(403, "metrics are for the network that the site runs in")
    with read_transaction(site.engine) as connection:
        events, experts, pairs = (
            connection.execute(select(func.count()).select_from(table)).scalar_one() for table in (Event, Expert, Pair)
        )
    gauges = {
        "likewise_events": ("Answers stored, changes and undone ones among them.", float(events)),
        "likewise_experts": ("Experts that were invited or have voted.", float(experts)),
        "likewise_pairs": ("Pairs that can be asked.", float(pairs)),
    }
    return PlainTextResponse(prometheus_text(site.requests, gauges), media_type=PROMETHEUS)


def _is_near(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_private or address.is_loopback
