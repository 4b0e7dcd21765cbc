"""Questions of other kinds, for experts and for the guests of a public questionnaire."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from likewise.labeling.store.question_queue import QueuedQuestion, next_question, question_progress
from likewise.labeling.store.questionnaires import GUEST_DAYS, enter_as_guest, read_questionnaire
from likewise.labeling.store.questions import add_question_answers
from likewise.web import schemas
from likewise.web.access import (
    CsrfForm,
    CsrfHeader,
    CurrentRespondent,
    CurrentSite,
    OptionalVisitor,
    set_session_cookie,
)
from likewise.web.pages import image_links, progress_json, render, script_settings, split_paragraphs

router = APIRouter()


@router.get("/api/questions/next", response_model=schemas.NextQuestionOut, responses=schemas.ERROR_RESPONSES)
def get_next(who: CurrentRespondent, site: CurrentSite, skip: schemas.SkippedIds = "") -> dict[str, Any]:
    assert who.expert is not None
    question, progress = next_question(site.engine, who.expert, who.questionnaire, schemas.parse_ids(skip))
    return {"question": _question_json(question), "progress": progress_json(progress)}


@router.post(
    "/api/questions/answers",
    response_model=schemas.AnswersOut,
    responses=schemas.ERROR_RESPONSES,
    dependencies=[CsrfHeader],
)
def post_answers(sent: schemas.QuestionAnswersIn, who: CurrentRespondent, site: CurrentSite) -> dict[str, Any]:
    assert who.expert is not None
    answers = [(event.client_id, event.question, event.value, event.milliseconds) for event in sent.events]
    stored = add_question_answers(site.engine, who.expert, who.questionnaire, answers)
    progress = question_progress(site.engine, who.expert, who.questionnaire)
    return {
        "accepted": stored.accepted,
        "refused": [{"client_id": client_id, "why": why} for client_id, why in stored.refused],
        "progress": progress_json(progress),
    }


@router.get("/questions", include_in_schema=False)
def questions(request: Request, who: CurrentRespondent) -> Response:
    mode = "questions" if who.questionnaire is None else "public"
    return render(request, "questions.html", boot=script_settings(request, who.name, mode))


@router.get("/q/{slug}", include_in_schema=False)
def consent(slug: str, request: Request, who: OptionalVisitor, site: CurrentSite) -> Response:
    """The door of a public questionnaire; someone who came in before goes on where they were."""
    return _consent_page(slug, request, who, site)


@router.post("/q/{slug}", include_in_schema=False, dependencies=[CsrfForm])
def enter(
    slug: str,
    request: Request,
    who: OptionalVisitor,
    site: CurrentSite,
    agree: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    if read_questionnaire(site.engine, slug) is None:
        raise HTTPException(404, "there is no open questionnaire here")
    if agree != "yes":
        return _consent_page(slug, request, who, site, "Please tick the box if you want to take part.")
    address = request.client.host if request.client else ""
    if not site.guest_limiter.take_attempt(address):
        raise HTTPException(429, "too many people came from your address: try again later")
    session = enter_as_guest(site.engine, slug)
    if session is None:
        return _consent_page(slug, request, who, site, "This questionnaire has all the answers it needs. Thank you!")
    response = RedirectResponse("/questions", 303)
    set_session_cookie(response, session, site, GUEST_DAYS)
    return response


def _consent_page(slug: str, request: Request, who: OptionalVisitor, site: CurrentSite, error: str = "") -> Response:
    found = read_questionnaire(site.engine, slug)
    if found is None:
        raise HTTPException(404, "there is no open questionnaire here")
    if who is not None and who.questionnaire == slug:
        return RedirectResponse("/questions", 303)
    paragraphs = split_paragraphs(found.consent)
    return render(request, "consent.html", project=found.title, consent=paragraphs, slug=slug, error=error)


def _question_json(question: QueuedQuestion | None) -> dict[str, Any] | None:
    if question is None:
        return None
    return {
        "id": question.id,
        "kind": question.kind,
        "prompt": question.prompt,
        "images": [image_links(number) for number in question.images],
        "options": [
            {**option, "image": None if option["image"] is None else image_links(option["image"])}
            for option in question.options
        ],
    }
