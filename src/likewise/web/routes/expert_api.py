"""What an expert's page asks and tells: next pairs, a grid, answers, an undo. Opaque ids only, and only their own.

What every vote asks for is a coroutine: a plain function would take a turn of a worker thread more for its response.
"""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from fastapi.concurrency import run_in_threadpool

from likewise.errors import LikewiseError
from likewise.labeling.grades import GRADED_ONLY
from likewise.labeling.store.engine import StoreError, read_transaction
from likewise.labeling.store.events import SubmittedAnswer, undo_answer
from likewise.labeling.store.project import read_project
from likewise.labeling.store.queue import next_grid, next_pairs, read_progress, read_queued_pair
from likewise.web import pages, schemas
from likewise.web.access import CsrfHeader, CurrentExpert, CurrentSite
from likewise.web.site import Site

router = APIRouter(prefix="/api", tags=["expert"])
NOT_GRADED = "this project asks for similar or not similar: reload the page"


@router.get("/next", response_model=schemas.NextOut, responses=schemas.ERROR_RESPONSES)
async def get_next(
    who: CurrentExpert,
    site: CurrentSite,
    count: Annotated[int, Query(ge=1, le=50)] = 6,
    mode: Annotated[str, Query(pattern="^pair$")] = "pair",
    skip: schemas.SkippedIds = "",
) -> dict[str, Any]:
    """The next pairs to show, without those that the page already holds (`skip`)."""
    assert who.expert is not None
    return await run_in_threadpool(_next, site, who.expert, count, schemas.parse_ids(skip))


def _next(site: Site, expert: int, count: int, skip: set[int]) -> dict[str, Any]:
    site.follow_workspace()
    paused = read_project(site.engine).paused
    pairs, progress = next_pairs(site.engine, expert, count, skip)
    if not pairs and not paused and site.deal_next_round():
        pairs, progress = next_pairs(site.engine, expert, count, skip)
    return {
        "pairs": [] if paused else [pages.pair_json(pair) for pair in pairs],
        "progress": pages.progress_json(progress),
        "paused": paused,
    }


@router.get("/grid", response_model=schemas.GridOut, responses=schemas.ERROR_RESPONSES)
def get_grid(who: CurrentExpert, site: CurrentSite, skip: schemas.SkippedIds = "") -> dict[str, Any]:
    """One query with all its candidates that this expert has not answered."""
    assert who.expert is not None
    site.follow_workspace()
    paused = read_project(site.engine).paused
    skipped = schemas.parse_ids(skip)
    grid, progress = next_grid(site.engine, who.expert, skipped)
    if grid is None and not paused and site.deal_next_round():
        grid, progress = next_grid(site.engine, who.expert, skipped)
    shown = grid is not None and not paused
    return {
        "query": pages.image_links(grid.query_image) if grid is not None and shown else None,
        "candidates": [
            {"pair": pair.pair, "candidate": pages.image_links(pair.candidate_image), "answer": answer}
            for pair, answer in (grid.candidates if grid is not None and shown else [])
        ],
        "progress": pages.progress_json(progress),
        "paused": paused,
    }


@router.post(
    "/answers", response_model=schemas.AnswersOut, responses=schemas.ERROR_RESPONSES, dependencies=[CsrfHeader]
)
async def post_answers(sent: schemas.AnswersIn, who: CurrentExpert, site: CurrentSite) -> dict[str, Any]:
    """Store answers; what is accepted here is on the disk."""
    assert who.expert is not None
    unasked: list[schemas.AnswerIn] = []
    graded = [event for event in sent.events if event.answer in GRADED_ONLY]
    if graded and not (await run_in_threadpool(read_project, site.engine)).graded:
        unasked = graded  # of a page that was opened before the owner changed the question
    answers = [SubmittedAnswer(**event.model_dump()) for event in sent.events if event not in unasked]
    stored = await asyncio.wrap_future(site.vote_writer.add(who.expert, answers))
    assert stored.progress is not None
    return {
        "accepted": stored.accepted,
        "refused": [{"client_id": client_id, "why": why} for client_id, why in stored.refused]
        + [{"client_id": event.client_id, "why": NOT_GRADED} for event in unasked],
        "progress": pages.progress_json(stored.progress),
    }


@router.post("/undo", response_model=schemas.UndoOut, responses=schemas.ERROR_RESPONSES, dependencies=[CsrfHeader])
def post_undo(sent: schemas.UndoIn, who: CurrentExpert, site: CurrentSite) -> dict[str, Any]:
    """Take the answer to a pair back, and show the pair again."""
    assert who.expert is not None
    pair = read_queued_pair(site.engine, who.expert, sent.pair)
    if pair is None:
        raise HTTPException(404, "this pair is not in your queue")
    try:
        undo_answer(site.engine, who.expert, sent.pair, sent.client_id)
    except StoreError:
        raise
    except LikewiseError as error:
        raise HTTPException(409, str(error)) from error
    with read_transaction(site.engine) as connection:
        progress = read_progress(connection, who.expert)
    return {"pair": pages.pair_json(pair), "progress": pages.progress_json(progress)}
