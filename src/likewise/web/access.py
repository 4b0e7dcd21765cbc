"""Who may do what: each route names one of these as a dependency, and nothing else decides.

Only `get_visitor` asks the database, for all who wait in one question; all are coroutines, so that none costs a turn
of a worker thread.
"""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Form, Header, HTTPException, Request, Response

from likewise.errors import LikewiseError
from likewise.labeling.store.engine import StoreError
from likewise.labeling.store.experts import Visitor
from likewise.web.security import SESSION_COOKIE, VISIT_COOKIE, csrf_matches, csrf_token, new_visit_token
from likewise.web.site import Site

T = TypeVar("T")
EXPIRED_FORM = "this form has expired: reload the page and try again"


def get_site(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


async def site_dependency(request: Request) -> Site:
    return get_site(request)


CurrentSite = Annotated[Site, Depends(site_dependency)]


async def get_visitor(request: Request, site: CurrentSite) -> Visitor | None:
    """Whoever this browser is logged in as."""
    token = request.cookies.get(SESSION_COOKIE)
    return await asyncio.wrap_future(site.visitors.submit(token)) if token else None


OptionalVisitor = Annotated[Visitor | None, Depends(get_visitor)]


async def require_expert(who: OptionalVisitor) -> Visitor:
    """An invited expert; guests of a questionnaire and the owner are not."""
    if who is None or who.is_owner or who.questionnaire is not None:
        raise HTTPException(401, "open your invitation link first")
    return who


async def require_respondent(who: OptionalVisitor) -> Visitor:
    """Anyone who answers questions: an expert or a guest."""
    if who is None or who.is_owner:
        raise HTTPException(401, "open your invitation link first")
    return who


async def require_owner(who: OptionalVisitor) -> Visitor:
    if who is None or not who.is_owner:
        raise HTTPException(401, "log in as the owner first")
    return who


async def require_login(who: OptionalVisitor) -> Visitor:
    if who is None:
        raise HTTPException(401, "open your invitation link first")
    return who


async def require_explorer(who: OptionalVisitor, site: CurrentSite) -> bool:
    """Whoever may look at what models find: the owner, and anyone where the site was started for looking.

    Says whether it is the owner, who may also change something.
    """
    is_owner = who is not None and who.is_owner
    if not is_owner and not site.settings.explore_without_login:
        raise HTTPException(401, "log in as the owner first")
    return is_owner


async def check_csrf_header(request: Request, x_csrf_token: Annotated[str | None, Header()] = None) -> None:
    """A request of our own script: it carries the page's token."""
    cookies = request.cookies
    if not csrf_matches(cookies.get(SESSION_COOKIE) or cookies.get(VISIT_COOKIE), x_csrf_token):
        raise HTTPException(403, EXPIRED_FORM)


async def check_csrf_form(request: Request, csrf_token: Annotated[str, Form(max_length=200)] = "") -> None:
    """A form of our own page; before login the visit's cookie stands in for the session's."""
    cookies = request.cookies
    if not csrf_matches(cookies.get(SESSION_COOKIE) or cookies.get(VISIT_COOKIE), csrf_token):
        raise HTTPException(403, EXPIRED_FORM)


def page_csrf_token(request: Request) -> str:
    """The token for the forms of a page that is being rendered; a new visit gets its cookie with the response."""
    secret = request.cookies.get(SESSION_COOKIE) or request.cookies.get(VISIT_COOKIE)
    secret = secret or getattr(request.state, "new_visit", None)
    if secret is None:
        secret = request.state.new_visit = new_visit_token()
    return csrf_token(secret)


def set_session_cookie(response: Response, token: str, site: Site, days: float) -> None:
    response.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=int(days * 86_400),
        httponly=True,
        samesite="lax",  # "strict" would forget who clicks an invitation in a mail
        secure=site.settings.secure,
        path="/",
    )


def or_bad_request(do: Callable[[], T], status: int = 400) -> T:
    """A mistake of whoever asks becomes one sentence, not an error of the site's."""
    try:
        return do()
    except StoreError:
        raise
    except LikewiseError as error:
        raise HTTPException(status, str(error).rstrip(".")) from error


CurrentExpert = Annotated[Visitor, Depends(require_expert)]
CurrentRespondent = Annotated[Visitor, Depends(require_respondent)]
CurrentOwner = Annotated[Visitor, Depends(require_owner)]
CurrentVisitor = Annotated[Visitor, Depends(require_login)]
IsOwner = Annotated[bool, Depends(require_explorer)]
CsrfHeader = Depends(check_csrf_header)
CsrfForm = Depends(check_csrf_form)
