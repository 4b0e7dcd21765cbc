"""What an expert's page asks and tells: next pairs, a grid, answers, an undo. Opaque ids only, and only their own.

What every vote asks for is a coroutine: a plain function would take a turn of a worker thread more for its response.
"""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from fastapi.concurrency import run_in_threadpool

from likewise.errors import LikewiseError
from likewise.labeling.store.engine import StoreError, reading
from likewise.labeling.store.events import GivenAnswer, undo_answer
from likewise.labeling.store.project import read_project
from likewise.labeling.store.queue import asked_pair, next_grid, next_pairs, progress_of
from likewise.web import pages, shapes
from likewise.web.access import CheckedHeader, Expert, TheSite
from likewise.web.site import Site

router = APIRouter(prefix="/api", tags=["expert"])


@router.get("/next", response_model=shapes.NextOut, responses=shapes.PROBLEMS)
async def get_next(
    who: Expert,
    site: TheSite,
    count: Annotated[int, Query(ge=1, le=50)] = 6,
    mode: Annotated[str, Query(pattern="^pair$")] = "pair",
    skip: shapes.Skip = "",
) -> dict[str, Any]:
    """The next pairs to show, without those that the page already holds (`skip`)."""
    assert who.expert is not None
    return await run_in_threadpool(_next, site, who.expert, count, shapes.skipped(skip))


def _next(site: Site, expert: int, count: int, skip: set[int]) -> dict[str, Any]:
    paused = read_project(site.engine).paused
    pairs, progress = next_pairs(site.engine, expert, count, skip)
    return {
        "pairs": [] if paused else [pages.pair_of(pair) for pair in pairs],
        "progress": pages.progress_of(progress),
        "paused": paused,
    }


@router.get("/grid", response_model=shapes.GridOut, responses=shapes.PROBLEMS)
def get_grid(who: Expert, site: TheSite, skip: shapes.Skip = "") -> dict[str, Any]:
    """One query with all its candidates that this expert has not answered."""
    assert who.expert is not None
    paused = read_project(site.engine).paused
    grid, progress = next_grid(site.engine, who.expert, shapes.skipped(skip))
    shown = grid is not None and not paused
    return {
        "query": pages.image_of(grid.query_image) if grid is not None and shown else None,
        "candidates": [
            {"pair": pair.pair, "candidate": pages.image_of(pair.candidate_image), "answer": answer}
            for pair, answer in (grid.candidates if grid is not None and shown else [])
        ],
        "progress": pages.progress_of(progress),
        "paused": paused,
    }


@router.post("/answers", response_model=shapes.AnswersOut, responses=shapes.PROBLEMS, dependencies=[CheckedHeader])
async def post_answers(sent: shapes.AnswersIn, who: Expert, site: TheSite) -> dict[str, Any]:
    """Store answers; what is accepted here is on the disk."""
    assert who.expert is not None
    answers = [GivenAnswer(**event.model_dump()) for event in sent.events]
    stored = await asyncio.wrap_future(site.scribe.add(who.expert, answers))
    assert stored.progress is not None
    return {
        "accepted": stored.accepted,
        "refused": [{"client_id": client_id, "why": why} for client_id, why in stored.refused],
        "progress": pages.progress_of(stored.progress),
    }


@router.post("/undo", response_model=shapes.UndoOut, responses=shapes.PROBLEMS, dependencies=[CheckedHeader])
def post_undo(sent: shapes.UndoIn, who: Expert, site: TheSite) -> dict[str, Any]:
    """Take the answer to a pair back, and show the pair again."""
    assert who.expert is not None
    pair = asked_pair(site.engine, who.expert, sent.pair)
    if pair is None:
        raise HTTPException(404, "this pair is not in your queue")
    try:
        undo_answer(site.engine, who.expert, sent.pair, sent.client_id)
    except StoreError:
        raise
    except LikewiseError as error:
        raise HTTPException(409, str(error)) from error
    with reading(site.engine) as connection:
        progress = progress_of(connection, who.expert)
    return {"pair": pages.pair_of(pair), "progress": pages.progress_of(progress)}
