"""Login and logout, links to join or to set a password, and a person's own password, sessions and tokens."""

import re
from dataclasses import replace

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.core.errors import AccessError, ArgumentError, LookalikeError
from lookalike.core.text import plural
from lookalike.store.people import access, invites, passwords, people
from lookalike.store.people.people import Login, Person
from lookalike.web import actions
from lookalike.web.access import sessions
from lookalike.web.access.dependencies import (
    ANYBODY,
    SIGNED_IN,
    ActorPart,
    Number,
    PersonPart,
    SessionPart,
    SitePart,
    Word,
    address_of,
)
from lookalike.web.actions import Actor
from lookalike.web.pages.forms import FormPart
from lookalike.web.pages.render import page
from lookalike.web.pages.status import must_be_raised
from lookalike.web.schemas import NewToken
from lookalike.web.site import Site

open_router = APIRouter(dependencies=ANYBODY, include_in_schema=False)
router = APIRouter(dependencies=SIGNED_IN, include_in_schema=False)
HOME, ACCOUNT = "/", "/account"
REVOKE, KEEP = "revoke", "keep"
LOCAL = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")


@open_router.get("/login")
def login_page(request: Request, session: SessionPart, next: str = "/") -> Response:
    """The login form."""
    return page(request, "account/login.html.j2", next=local(next), name="", failure=None)


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
        if error.code == "password":
            now, tried = site.now(), people.folded(name)[:60]
            await site.write(lambda c: access.record(c, now, None, "login failed", tried, address))
        return page(request, "account/login.html.j2", next=local(next), name=name[:200], failure=error)
    site.throttle.succeeded(name, address)
    rehashed = await run_in_threadpool(passwords.hashed, password) if login.is_outdated else ""
    by = Actor(login.person, site.now(), address)
    new = sessions.begin(login.person.id, by.now)
    await site.write(lambda connection: actions.log_in(connection, by, login, rehashed, new.nonce))
    sessions.keep(request, new, site.key)
    return RedirectResponse(local(next), 303)


@router.post("/logout")
async def log_out(request: Request, site: SitePart, by: ActorPart) -> Response:
    """End this browser's session."""
    nonce = request.state.session.nonce
    await site.write(lambda connection: actions.log_out(connection, by, nonce))
    sessions.keep(request, None, site.key)
    return RedirectResponse("/login", 303)


@open_router.get("/invite/{secret}")
def invite_page(request: Request, site: SitePart, secret: str) -> Response:
    """The form behind a link: to join with a name and a password, or to set a new password."""
    link = _look(site, secret)
    return page(request, "account/invite.html.j2", link=link, secret=secret, name="", failure=None)


@open_router.post("/invite/{secret}")
async def use_invite(
    request: Request, site: SitePart, secret: str, name: Word = "", password: Word = "", again: Word = ""
) -> Response:
    """Use a link, and log in."""
    link = await run_in_threadpool(_look, site, secret)
    new, address = sessions.begin(None, site.now()), address_of(request)
    try:
        hashed = await run_in_threadpool(_new_password, password, again)
        found = await site.write(
            lambda c: actions.use_invite(c, secret, name, hashed, new.began, address, new.nonce)
        )
    except LookalikeError as error:
        if must_be_raised(error):
            raise
        return page(
            request, "account/invite.html.j2", link=link, secret=secret, name=name[:200], failure=error
        )
    sessions.keep(request, replace(new, annotator=found.id), site.key)
    return RedirectResponse("/", 303)


@router.get("/")
def home(person: PersonPart) -> Response:
    """Annotators come to label. Leads go to the team page: the label page would reserve pairs for them."""
    return RedirectResponse("/team" if person.is_lead else "/label", 303)


@router.get("/account")
def account_page(request: Request, site: SitePart, person: PersonPart) -> Response:
    """The account of the sender of the request."""
    return _account(request, site, person)


@router.post("/account/password")
async def change_password(
    request: Request,
    site: SitePart,
    by: ActorPart,
    old: Word = "",
    password: Word = "",
    again: Word = "",
    tokens: Word = "",
) -> Response:
    """Set a new password and end all other sessions. The form asks people with tokens whether to revoke them, too."""
    try:
        await run_in_threadpool(_require_choice, site, by, tokens)
        site.throttle.attempt(by.person.name, by.address, by.now)
        await run_in_threadpool(_authenticated, site, by.person.name, old)
        site.throttle.succeeded(by.person.name, by.address)
        hashed = await run_in_threadpool(_new_password, password, again)
    except LookalikeError as error:
        if must_be_raised(error):
            raise
        shown = error
        if error.code == "password":
            shown = ArgumentError("The current password is wrong.", fix="Type the password you log in with.")
        return await run_in_threadpool(_account, request, site, by.person, failure=shown)
    new = sessions.begin(by.person.id, by.now)
    ends = tokens == REVOKE
    await site.write(
        lambda connection: actions.change_password(connection, by, hashed, new.nonce, revoke_tokens=ends)
    )
    sessions.keep(request, new, site.key)
    return RedirectResponse(ACCOUNT, 303)


@router.post("/account/sessions")
async def end_sessions(request: Request, site: SitePart, by: ActorPart) -> Response:
    """End all sessions except this one, and all tokens."""
    nonce = request.state.session.nonce
    await site.write(lambda connection: actions.end_other_sessions(connection, by, nonce))
    return RedirectResponse(ACCOUNT, 303)


@router.post("/account/tokens")
async def create_token(request: Request, site: SitePart, by: ActorPart, form: FormPart) -> Response:
    """Create a token. Only the page that this answers with shows it."""
    token = access.new_token()
    try:
        new = NewToken(**form)
        await site.write(lambda connection: actions.create_token(connection, by, new, token))
    except LookalikeError as error:
        if must_be_raised(error):
            raise
        return await run_in_threadpool(_account, request, site, by.person, failure=error)
    return await run_in_threadpool(_account, request, site, by.person, token=token)


@router.post("/account/tokens/{number}/revoke")
async def revoke_token(site: SitePart, by: ActorPart, number: Number) -> Response:
    """Revoke a token."""
    await site.write(lambda connection: actions.revoke_token(connection, by, number))
    return RedirectResponse(ACCOUNT, 303)


def local(address: str) -> str:
    """An address of this app to redirect to; "/" for any other.

    >>> local("/team?by=category"), local("//elsewhere"), local("https://elsewhere")
    ('/team?by=category', '/', '/')
    """
    return address if LOCAL.fullmatch(address) else "/"


def _account(
    request: Request, site: Site, person: Person, *, token: str = "", failure: LookalikeError | None = None
) -> Response:
    tokens = site.database.fetch(lambda connection: access.tokens(connection, person.id))
    now = site.now()
    live = [one for one in tokens if one.revoked is None and one.until > now]
    return page(request, "account/account.html.j2", tokens=tokens, live=live, token=token, failure=failure)


def _require_choice(site: Site, by: Actor, choice: str) -> None:
    count = site.database.fetch(lambda connection: access.live_tokens(connection, by.person.id, by.now))
    if count and choice not in (REVOKE, KEEP):
        raise ArgumentError(
            f"You have {plural(count, 'token')} for programs.",
            fix="Choose whether your tokens stay valid, then change the password.",
        )


def _authenticated(site: Site, name: str, password: str) -> Login:
    found = site.database.fetch(lambda connection: people.candidate(connection, name))
    return people.verified(found, password)  # slow: no connection waits for it


def _look(site: Site, secret: str) -> invites.Link:
    return site.database.fetch(lambda connection: invites.look(connection, secret, site.now()))


def _new_password(password: str, again: str) -> str:
    if password != again:
        raise ArgumentError("The two passwords differ.", fix="Type the new password twice.")
    return passwords.hashed(password)
