"""Logging in and out, links that let somebody in, one's own password, sessions and tokens."""

import re
from typing import Annotated

from fastapi import APIRouter, Form
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.core.errors import AccessError, ArgumentError, LookalikeError
from lookalike.store import access, invites, passwords, people
from lookalike.store.people import Login, Person
from lookalike.web import sessions
from lookalike.web.deps import ANYBODY, SIGNED_IN, Number, PersonPart, SessionPart, SitePart, address_of
from lookalike.web.failures import headers_of, status_of
from lookalike.web.render import page
from lookalike.web.site import Site

open_router = APIRouter(dependencies=ANYBODY, include_in_schema=False)
router = APIRouter(dependencies=SIGNED_IN, include_in_schema=False)
HOME, ACCOUNT = "/", "/account"
Word = Annotated[str, Form()]
LOCAL = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")


@open_router.get("/login")
def login_page(request: Request, session: SessionPart, next: str = "/") -> Response:
    """The login form; who is logged in goes on."""
    return page(request, "login.html.j2", next=local(next), name="", failure=None)


@open_router.post("/login")
async def log_in(
    request: Request,
    site: SitePart,
    name: Word = "",
    password: Word = "",
    next: Word = "/",
) -> Response:
    """Log in."""
    address = address_of(request)
    try:
        site.throttle.attempt(name, address, site.now())
        login = await run_in_threadpool(_authenticated, site, name, password)
    except AccessError as error:
        now, said = site.now(), people.folded(name)[:60]
        if error.code == "password":
            await site.write(lambda c: access.record(c, now, None, "login failed", said, address))
        values = {"next": local(next), "name": name[:200], "failure": error}
        return page(request, "login.html.j2", status=status_of(error), headers=headers_of(error), **values)
    site.throttle.succeeded(name, address)
    rehashed = await run_in_threadpool(passwords.hashed, password) if login.is_outdated else ""
    now = site.now()

    def note(connection: Connection) -> None:
        if rehashed:
            people.keep_rehashed(connection, login, rehashed)
        access.record(connection, now, login.person.id, "login", address=address)

    await site.write(note)
    _begin(request, site, login.person.id, login.person.epoch)
    return RedirectResponse(local(next), 303)


@router.post("/logout")
async def log_out(request: Request, site: SitePart, person: PersonPart) -> Response:
    """End this browser's session."""
    now, address = site.now(), address_of(request)
    await site.write(lambda c: access.record(c, now, person.id, "logout", address=address))
    sessions.keep(request, None, site.key)
    return RedirectResponse("/login", 303)


@open_router.get("/invite/{secret}")
def invite_page(request: Request, site: SitePart, secret: str) -> Response:
    """The form behind a link: a name and a password, or a new password."""
    with site.database.read() as connection:
        link = invites.look(connection, secret, site.now())
    return page(request, "invite.html.j2", link=link, secret=secret, name="", failure=None)


@open_router.post("/invite/{secret}")
async def use_invite(
    request: Request, site: SitePart, secret: str, name: Word = "", password: Word = "", again: Word = ""
) -> Response:
    """Use a link, and log in."""
    link = await run_in_threadpool(_look, site, secret)
    try:
        kept = await run_in_threadpool(_new_password, password, again)
        now, address = site.now(), address_of(request)

        def redeem(connection: Connection) -> Person:
            found = invites.redeem(connection, secret, name, kept, now)
            what = "joined" if link.person is None else "password by link"
            access.record(connection, now, found.id, what, address=address)
            return found

        found = await site.write(redeem)
    except LookalikeError as error:
        if getattr(error, "code", "") == "link-ended" or status_of(error) == 503:
            raise
        shown = error
        return page(
            request,
            "invite.html.j2",
            status=status_of(shown),
            link=link,
            secret=secret,
            name=name[:200],
            failure=shown,
        )
    _begin(request, site, found.id, found.epoch)
    return RedirectResponse("/", 303)


@router.get("/")
def home(person: PersonPart) -> Response:
    """Labelling is what experts come for. A lead's pairs are none: to look at the page would take some from others."""
    return RedirectResponse("/team" if person.is_lead else "/label", 303)


@router.get("/account")
def account_page(request: Request, site: SitePart, person: PersonPart) -> Response:
    """One's own account."""
    return _account(request, site, person)


@router.post("/account/password")
async def change_password(
    request: Request,
    site: SitePart,
    person: PersonPart,
    old: Word = "",
    password: Word = "",
    again: Word = "",
) -> Response:
    """Set a new password; all other sessions end."""
    address = address_of(request)
    try:
        site.throttle.attempt(person.name, address, site.now())
        await run_in_threadpool(_authenticated, site, person.name, old)
        site.throttle.succeeded(person.name, address)
        kept = await run_in_threadpool(_new_password, password, again)
    except LookalikeError as error:
        if status_of(error) == 503:
            raise
        shown = error
        if getattr(error, "code", "") == "password":
            shown = ArgumentError("The present password is wrong.", fix="Type the one you log in with.")
        return await run_in_threadpool(
            _account, request, site, person, failure=shown, headers=headers_of(error)
        )
    now = site.now()

    def change(connection: Connection) -> int:
        access.record(connection, now, person.id, "password", address=address)
        return people.set_password(connection, person.id, kept)

    _begin(request, site, person.id, await site.write(change))
    return RedirectResponse(ACCOUNT, 303)


@router.post("/account/sessions")
async def end_sessions(request: Request, site: SitePart, person: PersonPart) -> Response:
    """End all sessions but this one."""
    now, address = site.now(), address_of(request)

    def end(connection: Connection) -> int:
        access.record(connection, now, person.id, "sessions ended", address=address)
        return people.end_sessions(connection, person.id)

    _begin(request, site, person.id, await site.write(end))
    return RedirectResponse(ACCOUNT, 303)


@router.post("/account/tokens")
async def make_token(request: Request, site: SitePart, person: PersonPart, name: Word = "") -> Response:
    """Make a token; it is shown once, on the page this answers with."""
    now, address, token = site.now(), address_of(request), access.new_token()

    def make(connection: Connection) -> None:
        access.create_token(connection, person.id, name, token, now)
        access.record(connection, now, person.id, "token", name, address)

    try:
        await site.write(make)
    except ArgumentError as error:
        return await run_in_threadpool(_account, request, site, person, failure=error)
    return await run_in_threadpool(_account, request, site, person, token=token)


@router.post("/account/tokens/{number}/revoke")
async def revoke_token(request: Request, site: SitePart, person: PersonPart, number: Number) -> Response:
    """End a token."""
    now, address = site.now(), address_of(request)

    def revoke(connection: Connection) -> None:
        access.revoke_token(connection, person.id, number, now)
        access.record(connection, now, person.id, "token revoked", str(number), address)

    await site.write(revoke)
    return RedirectResponse(ACCOUNT, 303)


def local(address: str) -> str:
    """An address of this app to go on to, "/" for anything else.

    >>> local("/team?by=category"), local("//elsewhere"), local("https://elsewhere")
    ('/team?by=category', '/', '/')
    """
    return address if LOCAL.fullmatch(address) else "/"


def _account(
    request: Request, site: Site, person: Person, *, token: str = "", failure: LookalikeError | None = None,
    headers: dict[str, str] | None = None,
) -> Response:  # fmt: skip
    with site.database.read() as connection:
        tokens = access.tokens(connection, person.id)
    status = status_of(failure) if failure else 200
    values = {"tokens": tokens, "token": token, "failure": failure}
    return page(request, "account.html.j2", status=status, headers=headers, **values)


def _authenticated(site: Site, name: str, password: str) -> Login:
    with site.database.read() as connection:
        found = people.candidate(connection, name)
    return people.verified(found, password)  # slow: no connection waits for it


def _look(site: Site, secret: str) -> invites.Link:
    with site.database.read() as connection:
        return invites.look(connection, secret, site.now())


def _new_password(password: str, again: str) -> str:
    if password != again:
        raise ArgumentError("The two passwords differ.", fix="Type the new password twice.")
    return passwords.hashed(password)


def _begin(request: Request, site: Site, number: int, epoch: int) -> None:
    sessions.keep(request, sessions.begin(number, epoch, site.now()), site.key)
