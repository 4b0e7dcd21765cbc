"""The owner's pages: login, the board, and what can be done from it."""

import hmac
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from likewise.labeling.store.clock import days_from_now
from likewise.labeling.store.experts import (
    OWNER_SESSION_DAYS,
    close_session,
    has_invitation,
    invite_expert,
    open_owner_session,
    owner_password_hash,
    revoke_expert,
)
from likewise.labeling.store.owner import adjudicate, remove_votes
from likewise.labeling.store.project import change_project
from likewise.web.access import (
    CsrfForm,
    CurrentOwner,
    CurrentSite,
    OptionalVisitor,
    or_bad_request,
    set_session_cookie,
)
from likewise.web.dashboard import dashboard_context
from likewise.web.pages import render
from likewise.web.passwords import password_matches
from likewise.web.security import SESSION_COOKIE
from likewise.web.site import Site

router = APIRouter(prefix="/owner", include_in_schema=False)
Name = Annotated[str, Form(min_length=1, max_length=100)]


@router.get("/login")
def login_page(request: Request, who: OptionalVisitor, site: CurrentSite) -> Response:
    if who is not None and who.is_owner:
        return RedirectResponse("/owner", 303)
    has_password = bool(owner_password_hash(site.engine))
    hint = "" if has_password else "No password is set: open the link that `likewise label serve` printed."
    return render(request, "login.html", error=hint, has_password=has_password)


@router.post("/login", dependencies=[CsrfForm])
def login(request: Request, site: CurrentSite, password: Annotated[str, Form(max_length=1000)] = "") -> Response:
    address = request.client.host if request.client else ""
    if not site.login_limiter.take_attempt(address):
        return _refuse_login(request, 429, "Too many wrong passwords: wait a few minutes and try again.")
    stored = owner_password_hash(site.engine)
    if stored is None or not password_matches(stored, password):
        return _refuse_login(request, 403, "This is not the owner's password.")
    site.login_limiter.reset(address)
    return _log_in_owner(site)


def _refuse_login(request: Request, status: int, error: str) -> Response:
    return render(request, "login.html", status, error=error, has_password=True)


@router.get("/enter/{key}")
def enter(key: str, request: Request, site: CurrentSite) -> Response:
    """The link printed by a server that only this machine can reach."""
    wanted = site.settings.owner_key
    if wanted is None or not hmac.compare_digest(wanted.encode(), key.encode()):
        raise HTTPException(404, "this link does not work (any more): see what `likewise label serve` printed")
    return _log_in_owner(site)


@router.post("/logout", dependencies=[CsrfForm])
def logout(request: Request, who: CurrentOwner, site: CurrentSite) -> Response:
    close_session(site.engine, request.cookies.get(SESSION_COOKIE, ""))
    response = RedirectResponse("/owner/login", 303)
    response.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="lax", secure=site.settings.secure)
    return response


@router.get("")
def board(request: Request, who: CurrentOwner, site: CurrentSite) -> Response:
    site.follow_workspace()
    return render(request, "owner.html", board=dashboard_context(site))


@router.post("/pause", dependencies=[CsrfForm])
def pause(who: CurrentOwner, site: CurrentSite) -> Response:
    change_project(site.engine, "The project was paused.", paused=True)
    return _redirect_to_dashboard()


@router.post("/resume", dependencies=[CsrfForm])
def resume(who: CurrentOwner, site: CurrentSite) -> Response:
    change_project(site.engine, "The project was resumed.", paused=False)
    return _redirect_to_dashboard()


@router.post("/invite", dependencies=[CsrfForm])
def make_invitation(
    request: Request,
    who: CurrentOwner,
    site: CurrentSite,
    name: Name,
    days: Annotated[float, Form(gt=0, le=3650)] = 30.0,
) -> Response:
    again = has_invitation(site.engine, name)
    token = or_bad_request(lambda: invite_expert(site.engine, name, days))
    url, expires = f"{site.settings.base_url}/i/{token}", days_from_now(days)
    link = {"expert": " ".join(name.split()), "link": url, "expires": expires, "again": again}
    return render(request, "owner.html", board=dashboard_context(site), invitation=link)


@router.post("/revoke", dependencies=[CsrfForm])
def end_invitation(who: CurrentOwner, site: CurrentSite, expert: Name) -> Response:
    or_bad_request(lambda: revoke_expert(site.engine, expert))
    return _redirect_to_dashboard()


@router.post("/remove-votes", dependencies=[CsrfForm])
def take_votes_out(
    who: CurrentOwner, site: CurrentSite, expert: Name, reason: Annotated[str, Form(min_length=1, max_length=300)]
) -> Response:
    or_bad_request(lambda: remove_votes(site.engine, expert, reason))
    return _redirect_to_dashboard()


@router.post("/adjudicate", dependencies=[CsrfForm])
def decide(
    who: CurrentOwner, site: CurrentSite, pair: Annotated[int, Form(ge=1)], answer: Annotated[str, Form(max_length=20)]
) -> Response:
    or_bad_request(lambda: adjudicate(site.engine, pair, answer))
    return RedirectResponse("/owner#divided", 303)


def _log_in_owner(site: Site) -> Response:
    response = RedirectResponse("/owner", 303)
    set_session_cookie(response, open_owner_session(site.engine), site, OWNER_SESSION_DAYS)
    return response


def _redirect_to_dashboard() -> Response:
    return RedirectResponse("/owner", 303)
