"""An expert's pages: invitation, guidelines, practice, pairs, grid."""

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from likewise.labeling.store.experts import SESSION_DAYS, redeem_invitation
from likewise.labeling.store.gold_pairs import EXAMPLE, PRACTICE, read_gold_pairs
from likewise.labeling.store.project import read_project
from likewise.labeling.store.question_queue import has_questions
from likewise.labeling.store.queue import next_pairs
from likewise.labeling.votes import POSITIVE_ANSWERS
from likewise.web.access import CurrentExpert, CurrentSite, OptionalVisitor, set_session_cookie
from likewise.web.pages import image_links, message_page, render, script_settings, split_paragraphs

router = APIRouter(include_in_schema=False)


@router.get("/")
def front(who: OptionalVisitor) -> Response:
    """Where somebody lands who typed only the site's name."""
    if who is None or who.is_owner:
        return RedirectResponse("/owner" if who else "/owner/login", 303)
    return RedirectResponse("/questions" if who.questionnaire else "/welcome", 303)


@router.get("/i/{token}")
def invitation(token: str, request: Request, site: CurrentSite) -> Response:
    """Turn an invitation into a session."""
    session = redeem_invitation(site.engine, token) if len(token) <= 100 else None
    if session is None:
        return message_page(
            request,
            "This invitation does not work",
            "It may have expired or been replaced by a newer one. Please ask whoever sent it for another link.",
            404,
        )
    response = RedirectResponse("/welcome", 303)
    set_session_cookie(response, session, site, SESSION_DAYS)
    return response


@router.get("/welcome")
def welcome(request: Request, who: CurrentExpert, site: CurrentSite) -> Response:
    project = read_project(site.engine)
    examples = [
        {
            "query": image_links(known.query_image),
            "candidate": image_links(known.candidate_image),
            "similar": known.answer in POSITIVE_ANSWERS,
            "answer": known.answer.capitalize(),
            "note": known.note,
        }
        for known in read_gold_pairs(site.engine, EXAMPLE)
    ]
    guidelines = split_paragraphs(project.guidelines)
    return render(
        request,
        "welcome.html",
        expert=who.name,
        guidelines=guidelines,
        examples=examples,
        n_practice=len(read_gold_pairs(site.engine, PRACTICE)),
        has_questions=has_questions(site.engine, who.expert),
    )


@router.get("/practice")
def practice(request: Request, who: CurrentExpert, site: CurrentSite) -> Response:
    pairs = [
        {
            "pair": known.pair,
            "query": image_links(known.query_image),
            "candidate": image_links(known.candidate_image),
            "answer": known.answer,
            "note": known.note,
        }
        for known in read_gold_pairs(site.engine, PRACTICE)
    ]
    if not pairs:
        return RedirectResponse("/work", 303)
    boot = script_settings(request, who.name, "practice", pairs)
    return render(request, "work.html", boot=boot, files=site.thumbnails.kind)


@router.get("/work")
def work(request: Request, who: CurrentExpert, site: CurrentSite) -> Response:
    return render(
        request,
        "work.html",
        files=site.thumbnails.kind,
        boot=script_settings(request, who.name, "pair"),
        has_questions=has_questions(site.engine, who.expert),
    )


@router.get("/grid")
def grid(request: Request, who: CurrentExpert, site: CurrentSite) -> Response:
    if read_project(site.engine).graded:  # one mark for each picture cannot say four things
        return RedirectResponse("/work", 303)
    return render(
        request,
        "grid.html",
        boot=script_settings(request, who.name, "grid"),
        has_questions=has_questions(site.engine, who.expert),
    )


@router.get("/done")
def done(request: Request, who: CurrentExpert, site: CurrentSite) -> Response:
    assert who.expert is not None
    waiting, progress = next_pairs(site.engine, who.expert, 1)
    if waiting or not progress.total:
        return RedirectResponse("/work", 303)
    return message_page(request, "All done", "Thank you! You have answered every pair. You can close this page.")
