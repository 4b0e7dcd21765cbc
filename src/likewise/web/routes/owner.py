"""The owner's pages: login, the board, and what can be done from it."""

import hmac
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from likewise.errors import LikewiseError
from likewise.labeling.store.clock import in_days
from likewise.labeling.store.engine import StoreError
from likewise.labeling.store.experts import (
    OWNER_SESSION_DAYS,
    close_session,
    invite,
    open_owner_session,
    owner_password_hash,
    revoke,
)
from likewise.labeling.store.owner import adjudicate, remove_votes
from likewise.labeling.store.project import change_project
from likewise.web.access import AnyVisitor, CheckedForm, Owner, TheSite, set_session
from likewise.web.board import board_of
from likewise.web.pages import render
from likewise.web.passwords import password_matches
from likewise.web.security import SESSION_COOKIE
from likewise.web.site import Site

router = APIRouter(prefix="/owner", include_in_schema=False)
Made = TypeVar("Made")
Name = Annotated[str, Form(min_length=1, max_length=100)]


@router.get("/login")
def login_page(request: Request, who: AnyVisitor, site: TheSite) -> Response:
    if who is not None and who.is_owner:
        return RedirectResponse("/owner", 303)
    hint = (
        ""
        if owner_password_hash(site.engine)
        else "No password is set: open the link that `likewise label serve` printed."
    )
    return render(request, "login.html", error=hint)


@router.post("/login", dependencies=[CheckedForm])
def login(request: Request, site: TheSite, password: Annotated[str, Form(max_length=1000)] = "") -> Response:
    address = request.client.host if request.client else ""
    if site.patience.exhausted(address):
        return render(request, "login.html", 429, error="Too many wrong passwords: wait a few minutes and try again.")
    stored = owner_password_hash(site.engine)
    if stored is None or not password_matches(stored, password):
        site.patience.failed(address)
        return render(request, "login.html", 403, error="This is not the owner's password.")
    site.patience.succeeded(address)
    return _let_in(site)


@router.get("/enter/{key}")
def enter(key: str, request: Request, site: TheSite) -> Response:
    """The link printed by a server that only this machine can reach."""
    wanted = site.settings.owner_key
    if wanted is None or not hmac.compare_digest(wanted.encode(), key.encode()):
        raise HTTPException(404, "this link does not work (any more): see what `likewise label serve` printed")
    return _let_in(site)


@router.post("/logout", dependencies=[CheckedForm])
def logout(request: Request, who: Owner, site: TheSite) -> Response:
    close_session(site.engine, request.cookies.get(SESSION_COOKIE, ""))
    response = RedirectResponse("/owner/login", 303)
    response.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="lax", secure=site.settings.secure)
    return response


@router.get("")
def board(request: Request, who: Owner, site: TheSite) -> Response:
    return render(request, "owner.html", board=board_of(site))


@router.post("/pause", dependencies=[CheckedForm])
def pause(who: Owner, site: TheSite) -> Response:
    change_project(site.engine, "The project was paused.", paused=True)
    return _back()


@router.post("/resume", dependencies=[CheckedForm])
def resume(who: Owner, site: TheSite) -> Response:
    change_project(site.engine, "The project was resumed.", paused=False)
    return _back()


@router.post("/invite", dependencies=[CheckedForm])
def make_invitation(
    request: Request, who: Owner, site: TheSite, name: Name, days: Annotated[float, Form(gt=0, le=3650)] = 30.0
) -> Response:
    token = _or_refuse(lambda: invite(site.engine, name, days))
    link = {"expert": " ".join(name.split()), "link": f"{site.settings.base_url}/i/{token}", "expires": in_days(days)}
    return render(request, "owner.html", board=board_of(site), invitation=link)


@router.post("/revoke", dependencies=[CheckedForm])
def end_invitation(who: Owner, site: TheSite, expert: Name) -> Response:
    _or_refuse(lambda: revoke(site.engine, expert))
    return _back()


@router.post("/remove-votes", dependencies=[CheckedForm])
def take_votes_out(
    who: Owner, site: TheSite, expert: Name, reason: Annotated[str, Form(min_length=1, max_length=300)]
) -> Response:
    _or_refuse(lambda: remove_votes(site.engine, expert, reason))
    return _back()


@router.post("/adjudicate", dependencies=[CheckedForm])
def decide(
    who: Owner, site: TheSite, pair: Annotated[int, Form(ge=1)], answer: Annotated[str, Form(max_length=20)]
) -> Response:
    _or_refuse(lambda: adjudicate(site.engine, pair, answer))
    return RedirectResponse("/owner#divided", 303)


def _or_refuse(do: Callable[[], Made]) -> Made:
    """A mistake of the owner's becomes one sentence, not an error of the site's."""
    try:
        return do()
    except StoreError:
        raise
    except LikewiseError as error:
        raise HTTPException(400, str(error).rstrip(".")) from error


def _let_in(site: Site) -> Response:
    response = RedirectResponse("/owner", 303)
    set_session(response, open_owner_session(site.engine), site, OWNER_SESSION_DAYS)
    return response


def _back() -> Response:
    return RedirectResponse("/owner", 303)
