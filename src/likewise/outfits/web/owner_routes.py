"""The owner's pages of tests of taste in the making: where each stands, going on, closing, choices changed by hand."""

from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Query, Request
from fastapi.responses import RedirectResponse, Response

from likewise.outfits.builder import OutfitTestBuilder, list_builders
from likewise.outfits.factors import count_factors
from likewise.outfits.publish import read_factor_tags, replace_distractor
from likewise.outfits.stages import BuildStatus, advance_test_stages
from likewise.outfits.web.views import drafts_view, plan_view, questions_view, tests_view
from likewise.web.access import CsrfForm, CurrentOwner, CurrentSite, or_bad_request
from likewise.web.pages import render
from likewise.web.site import Site

router = APIRouter(prefix="/owner/outfits", include_in_schema=False)
Text = Annotated[str, Form(min_length=1, max_length=500)]


@router.get("")
def overview(request: Request, who: CurrentOwner, site: CurrentSite) -> Response:
    return _page(request, site, {})


@router.post("/{name}/advance", dependencies=[CsrfForm])
def go_on(
    name: str, request: Request, who: CurrentOwner, site: CurrentSite, close: Annotated[str, Form(max_length=5)] = ""
) -> Response:
    builder = _builder(site, name)
    status = or_bad_request(lambda: advance_test_stages(builder, site.engine, close=close == "yes"))
    return _page(request, site, {name: status})


@router.get("/{name}/questions")
def questions(
    name: str, request: Request, who: CurrentOwner, site: CurrentSite, page: Annotated[int, Query(ge=1, le=10_000)] = 1
) -> Response:
    builder = _builder(site, name)
    view = or_bad_request(lambda: questions_view(site, builder, page))
    return render(request, "outfits/questions.html", name=name, view=view)


@router.post("/{name}/replace", dependencies=[CsrfForm])
def change(
    name: str,
    who: CurrentOwner,
    site: CurrentSite,
    question: Text,
    old: Text,
    new: Text,
    page: Annotated[int, Form(ge=1, le=10_000)] = 1,
) -> Response:
    builder = _builder(site, name)
    or_bad_request(lambda: replace_distractor(builder, site.engine, question, old, new))
    return RedirectResponse(f"/owner/outfits/{name}/questions?page={page}#{question}", 303)


def _page(request: Request, site: Site, statuses: dict[str, BuildStatus]) -> Response:
    return render(
        request,
        "outfits/overview.html",
        tests=tests_view(site, statuses),
        plan=plan_view(site),
        drafts=drafts_view(site),
        factors=count_factors(read_factor_tags(site.engine)),
        workspace=site.settings.workspace.quoted,
    )


def _builder(site: Site, name: str) -> OutfitTestBuilder:
    found = [builder for builder in list_builders(site.settings.workspace) if builder.name == name]
    if not found:
        raise HTTPException(404, "there is no such test: begin with likewise outfits make-test")
    return found[0]
