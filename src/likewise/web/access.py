"""Who may do what: each route names one of these as a dependency, and nothing else decides.

Only `visitor` asks the database; the others are coroutines, so that they cost no turn of a worker thread each.
"""

from typing import Annotated

from fastapi import Depends, Form, Header, HTTPException, Request, Response

from likewise.labeling.store.experts import Visitor, visitor_of
from likewise.web.security import SESSION_COOKIE, VISIT_COOKIE, csrf_matches, csrf_token, new_visit
from likewise.web.site import Site

WRONG_TOKEN = "this form has expired: reload the page and try again"


def site_of(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


async def the_site(request: Request) -> Site:
    return site_of(request)


TheSite = Annotated[Site, Depends(the_site)]


def visitor(request: Request, site: TheSite) -> Visitor | None:
    """Whoever this browser is logged in as."""
    token = request.cookies.get(SESSION_COOKIE)
    return visitor_of(site.engine, token) if token else None


AnyVisitor = Annotated[Visitor | None, Depends(visitor)]


async def expert_only(who: AnyVisitor) -> Visitor:
    """An invited expert; guests of a questionnaire and the owner are not."""
    if who is None or who.is_owner or who.questionnaire is not None:
        raise HTTPException(401, "open your invitation link first")
    return who


async def respondent_only(who: AnyVisitor) -> Visitor:
    """Anyone who answers questions: an expert or a guest."""
    if who is None or who.is_owner:
        raise HTTPException(401, "open your invitation link first")
    return who


async def owner_only(who: AnyVisitor) -> Visitor:
    if who is None or not who.is_owner:
        raise HTTPException(401, "log in as the owner first")
    return who


async def anyone_logged_in(who: AnyVisitor) -> Visitor:
    if who is None:
        raise HTTPException(401, "open your invitation link first")
    return who


async def checked_header(request: Request, x_csrf_token: Annotated[str | None, Header()] = None) -> None:
    """A request of our own script: it carries the page's token."""
    if not csrf_matches(request.cookies.get(SESSION_COOKIE), x_csrf_token):
        raise HTTPException(403, WRONG_TOKEN)


async def checked_form(request: Request, csrf_token: Annotated[str, Form(max_length=200)] = "") -> None:
    """A form of our own page; before login the visit's cookie stands in for the session's."""
    cookies = request.cookies
    if not csrf_matches(cookies.get(SESSION_COOKIE) or cookies.get(VISIT_COOKIE), csrf_token):
        raise HTTPException(403, WRONG_TOKEN)


def page_token(request: Request) -> str:
    """The token for the forms of a page that is being rendered; a new visit gets its cookie with the response."""
    secret = request.cookies.get(SESSION_COOKIE) or request.cookies.get(VISIT_COOKIE)
    if secret is None:
        secret = request.state.new_visit = new_visit()
    return csrf_token(secret)


def set_session(response: Response, token: str, site: Site, days: float) -> None:
    response.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=int(days * 86_400),
        httponly=True,
        samesite="lax",  # "strict" would forget who clicks an invitation in a mail
        secure=site.settings.secure,
        path="/",
    )


Expert = Annotated[Visitor, Depends(expert_only)]
Respondent = Annotated[Visitor, Depends(respondent_only)]
Owner = Annotated[Visitor, Depends(owner_only)]
LoggedIn = Annotated[Visitor, Depends(anyone_logged_in)]
CheckedHeader = Depends(checked_header)
CheckedForm = Depends(checked_form)
