"""Designers' pages: writing AAT questions for planned sub-dimensions, voting on them, tagging factors of questions."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from likewise.errors import LikewiseError
from likewise.labeling.store.expert_notes import add_note
from likewise.outfits.aat import QuestionDraft, check_draft
from likewise.outfits.designer_pictures import add_designer_picture, picture_path, remove_designer_picture
from likewise.outfits.dimensions import AAT_PLAN
from likewise.outfits.factors import FACTORS, check_factors
from likewise.outfits.protocol import Item
from likewise.outfits.publish import DRAFT, FACTOR, VOTE, catalog_attributes, question_items, read_drafts
from likewise.outfits.rules import CATEGORIES
from likewise.outfits.web.own_pictures import own_picture_response, prepare_picture
from likewise.outfits.web.tagging import question_to_tag
from likewise.outfits.web.views import designer_picture, drafts_view, own_pictures_view, plan_view, shelf_view
from likewise.web.access import CsrfForm, CsrfHeader, CurrentExpert, CurrentSite, CurrentVisitor, or_bad_request
from likewise.web.pages import message_page, render, script_settings
from likewise.web.site import Site

router = APIRouter(prefix="/outfits", include_in_schema=False)
api = APIRouter(prefix="/api/outfits", include_in_schema=False)
Names = Annotated[list[str], Form(max_length=20)]
Word = Annotated[str, Query(max_length=80)]


@router.get("/designs")
def designs(request: Request, who: CurrentExpert, site: CurrentSite) -> Response:
    drafts, own = drafts_view(site, who.name), own_pictures_view(site, who.name)
    return render(request, "outfits/designs.html", plan=plan_view(site), drafts=drafts, pictures=own)


@router.get("/designs/new")
def new_design(
    request: Request,
    who: CurrentExpert,
    site: CurrentSite,
    dimension: Word,
    sub: Word,
    category: Word = "tops",
    search: Word = "",
) -> Response:
    """The editor: which outfit, which right choice, which wrong ones."""
    return _editor(request, site, dimension, sub, category, search)


@router.post("/designs", dependencies=[CsrfForm])
async def write_design(request: Request, who: CurrentExpert, site: CurrentSite) -> Response:
    """Check a draft and keep it; a refusal brings the editor back with one sentence and everything chosen."""
    form = await request.form()
    text = {name: str(form.get(name, ""))[:500] for name in ("dimension", "sub", "category", "search", "right", "idea")}
    worn = tuple(str(value) for name, value in form.multi_items() if name.startswith("worn-") and value)
    wrong = tuple(str(value) for value in form.getlist("wrong"))
    draft = QuestionDraft(
        name=f"draft-{secrets.token_hex(6)}",
        author=who.name,
        dimension=text["dimension"],
        sub_dimension=text["sub"],
        worn=worn,
        choices=(text["right"], *(name for name in wrong if name != text["right"])),
        only_this_differs=form.get("only") == "yes",
        idea=text["idea"],
    )
    workspace = site.settings.workspace
    try:
        check_draft(draft, question_items(workspace, site.engine), catalog_attributes(workspace))
    except LikewiseError as error:
        said = str(error)
        return _editor(
            request, site, text["dimension"], text["sub"], text["category"], text["search"], error=said, draft=draft
        )
    add_note(site.engine, DRAFT, draft.name, who.expert, draft.to_dict())
    return RedirectResponse("/outfits/designs", 303)


@router.post("/designs/{name}/withdraw", dependencies=[CsrfForm])
def withdraw(name: str, who: CurrentExpert, site: CurrentSite) -> Response:
    if not any(draft.name == name and draft.author == who.name for draft in read_drafts(site.engine)):
        raise HTTPException(404, "you have no such question")
    add_note(site.engine, DRAFT, name, who.expert, None)
    return RedirectResponse("/outfits/designs", 303)


@api.post("/pictures", dependencies=[CsrfHeader])
async def bring_picture(request: Request, who: CurrentExpert, site: CurrentSite, category: Word) -> dict[str, str]:
    """A picture of the designer's own as the body; it becomes an item that questions may show."""
    content, workspace = await request.body(), site.settings.workspace

    def keep() -> Item:
        picture = prepare_picture(content)
        return add_designer_picture(workspace, site.engine, who.expert, who.name, picture, category)

    item = await run_in_threadpool(or_bad_request, keep)
    return {"item": item.item, "category": item.category, "picture": designer_picture(item.image)["thumb"]}


@router.get("/designs/picture/{name}")
def own_picture(name: str, who: CurrentVisitor, site: CurrentSite) -> Response:
    """For designers, who vote on each other's questions, and the owner."""
    if who.questionnaire is not None:
        raise HTTPException(401, "open your invitation link first")
    return own_picture_response(lambda: picture_path(site.settings.workspace, name))


@router.post("/designs/picture/{name}/remove", dependencies=[CsrfForm])
def remove_picture(name: str, who: CurrentExpert, site: CurrentSite) -> Response:
    used = {item for draft in read_drafts(site.engine) for item in (*draft.worn, *draft.choices)}
    workspace = site.settings.workspace
    or_bad_request(lambda: remove_designer_picture(workspace, site.engine, who.expert, who.name, name, used))
    return RedirectResponse("/outfits/designs", 303)


@router.get("/votes")
def votes(request: Request, who: CurrentExpert, site: CurrentSite) -> Response:
    """Drafts of the others, those without one's vote first."""
    others = [one for one in drafts_view(site) if one["draft"].author != who.name]
    others.sort(key=lambda one: (who.name in one["votes"], one["draft"].name))
    n_open = sum(who.name not in one["votes"] for one in others)
    return render(request, "outfits/votes.html", drafts=others, me=who.name, n_open=n_open)


@router.post("/votes", dependencies=[CsrfForm])
def vote(
    who: CurrentExpert,
    site: CurrentSite,
    draft: Annotated[str, Form(max_length=60)],
    keep: Annotated[str, Form(max_length=5)],
) -> Response:
    if not any(one.name == draft and one.author != who.name for one in read_drafts(site.engine)):
        raise HTTPException(404, "there is no such question, or it is your own")
    add_note(site.engine, VOTE, draft, who.expert, keep == "yes")
    return RedirectResponse("/outfits/votes", 303)


@router.get("/factors")
def factors(request: Request, who: CurrentExpert, site: CurrentSite) -> Response:
    """A fill-in-the-blank question of a data set: what makes its wrong answers wrong?"""
    view = question_to_tag(site, who.name)
    if view is None:
        return message_page(
            request, "Nothing to tag", "Every question is tagged, or this catalog came without questions."
        )
    return render(request, "outfits/factors.html", view=view, factors=FACTORS)


@router.post("/factors", dependencies=[CsrfForm])
def tag(
    who: CurrentExpert,
    site: CurrentSite,
    question: Annotated[str, Form(min_length=1, max_length=100)],
    factor: Names | None = None,
) -> Response:
    chosen = or_bad_request(lambda: check_factors(factor or []))
    add_note(site.engine, FACTOR, question, who.expert, chosen)
    return RedirectResponse("/outfits/factors", 303)


def _editor(
    request: Request,
    site: Site,
    dimension: str,
    sub: str,
    category: str,
    search: str,
    *,
    error: str = "",
    draft: QuestionDraft | None = None,
) -> Response:
    if sub not in AAT_PLAN.get(dimension, {}) or category not in CATEGORIES:
        raise HTTPException(404, "there is no such sub-dimension or category")
    return render(
        request,
        "outfits/editor.html",
        400 if error else 200,
        dimension=dimension,
        sub=sub,
        category=category,
        search=search,
        categories=CATEGORIES,
        shelf=shelf_view(site, CATEGORIES, search),
        error=error,
        draft=draft,
        boot=script_settings(request, "", "designs") | {"category": category},
    )
