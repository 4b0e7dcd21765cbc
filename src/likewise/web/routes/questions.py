"""Questions of other kinds, for experts and for the guests of a public questionnaire."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from likewise.labeling.store.question_queue import AskedQuestion, next_question, question_progress
from likewise.labeling.store.questionnaires import GUEST_DAYS, enter_as_guest, read_questionnaire
from likewise.labeling.store.questions import add_question_answers
from likewise.web import shapes
from likewise.web.access import AnyVisitor, CheckedForm, CheckedHeader, Respondent, TheSite, set_session
from likewise.web.pages import boot_of, image_of, paragraphs_of, progress_of, render

router = APIRouter()


@router.get("/api/questions/next", response_model=shapes.NextQuestionOut, responses=shapes.PROBLEMS)
def get_next(who: Respondent, site: TheSite, skip: shapes.Skip = "") -> dict[str, Any]:
    assert who.expert is not None
    question, progress = next_question(site.engine, who.expert, who.questionnaire, shapes.skipped(skip))
    return {"question": _shown(question), "progress": progress_of(progress)}


@router.post(
    "/api/questions/answers",
    response_model=shapes.AnswersOut,
    responses=shapes.PROBLEMS,
    dependencies=[CheckedHeader],
)
def post_answers(sent: shapes.QuestionAnswersIn, who: Respondent, site: TheSite) -> dict[str, Any]:
    assert who.expert is not None
    answers = [(event.client_id, event.question, event.value, event.milliseconds) for event in sent.events]
    stored = add_question_answers(site.engine, who.expert, who.questionnaire, answers)
    progress = question_progress(site.engine, who.expert, who.questionnaire)
    return {
        "accepted": stored.accepted,
        "refused": [{"client_id": client_id, "why": why} for client_id, why in stored.refused],
        "progress": progress_of(progress),
    }


@router.get("/questions", include_in_schema=False)
def questions(request: Request, who: Respondent) -> Response:
    mode = "questions" if who.questionnaire is None else "public"
    return render(request, "questions.html", boot=boot_of(request, who.name, mode))


@router.get("/q/{slug}", include_in_schema=False)
def consent(slug: str, request: Request, who: AnyVisitor, site: TheSite) -> Response:
    """The door of a public questionnaire; someone who came in before goes on where they were."""
    return _door(slug, request, who, site)


@router.post("/q/{slug}", include_in_schema=False, dependencies=[CheckedForm])
def enter(
    slug: str, request: Request, who: AnyVisitor, site: TheSite, agree: Annotated[str, Form(max_length=10)] = ""
) -> Response:
    if read_questionnaire(site.engine, slug) is None:
        raise HTTPException(404, "there is no open questionnaire here")
    if agree != "yes":
        return _door(slug, request, who, site, "Please tick the box if you want to take part.")
    address = request.client.host if request.client else ""
    if site.newcomers.exhausted(address):
        raise HTTPException(429, "too many people came from your address: try again later")
    site.newcomers.failed(address)
    session = enter_as_guest(site.engine, slug)
    if session is None:
        return _door(slug, request, who, site, "This questionnaire has all the answers it needs. Thank you!")
    response = RedirectResponse("/questions", 303)
    set_session(response, session, site, GUEST_DAYS)
    return response


def _door(slug: str, request: Request, who: AnyVisitor, site: TheSite, error: str = "") -> Response:
    found = read_questionnaire(site.engine, slug)
    if found is None:
        raise HTTPException(404, "there is no open questionnaire here")
    if who is not None and who.questionnaire == slug:
        return RedirectResponse("/questions", 303)
    paragraphs = paragraphs_of(found.consent)
    return render(request, "consent.html", project=found.title, consent=paragraphs, slug=slug, error=error)


def _shown(question: AskedQuestion | None) -> dict[str, Any] | None:
    if question is None:
        return None
    return {
        "id": question.id,
        "kind": question.kind,
        "prompt": question.prompt,
        "images": [image_of(number) for number in question.images],
        "options": [
            {**option, "image": None if option["image"] is None else image_of(option["image"])}
            for option in question.options
        ],
    }
