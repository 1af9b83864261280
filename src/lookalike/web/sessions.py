"""The cookie: who somebody is, signed; and the token that forms of theirs carry.

It holds an annotator's number and epoch, when it began and when it was last seen. Of all this only the epoch is kept on
the server: a new password, another role or removal raises that, and every cookie of before has ended.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace

from itsdangerous import BadData, URLSafeSerializer
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MINUTE = 60_000
IDLE, LONGEST_SESSION = 12 * 60 * MINUTE, 7 * 24 * 60 * MINUTE
RENEWED = 5 * MINUTE  # not on every request: two that cross would undo each other's
AHEAD = 5 * MINUTE  # a clock that was set back this far is forgiven


@dataclass(frozen=True)
class Session:
    """One browser's session; `annotator` is None before the login."""

    annotator: int | None
    epoch: int
    began: int
    seen: int
    nonce: str

    def csrf(self, key: str) -> str:
        """What forms of this session carry."""
        return hmac.new(
            key.encode(), f"csrf {self.annotator} {self.nonce}".encode(), hashlib.sha256
        ).hexdigest()

    def lives(self, now: int) -> bool:
        """Whether it has not ended."""
        fresh = self.seen - AHEAD <= now <= self.seen + IDLE
        return fresh and self.began - AHEAD <= now <= self.began + LONGEST_SESSION


def begin(annotator: int | None, epoch: int, now: int) -> Session:
    """A new session."""
    return Session(annotator, epoch, now, now, secrets.token_urlsafe(18))


def packed(session: Session, key: str) -> str:
    """The cookie's value."""
    parts = [session.annotator, session.epoch, session.began, session.seen, session.nonce]
    return str(_serializer(key).dumps(parts))


def unpacked(value: str, key: str, now: int) -> Session | None:
    """The session of a cookie's value, None for one that is forged, broken or has ended."""
    try:
        annotator, epoch, began, seen, nonce = _serializer(key).loads(value)
    except (BadData, ValueError, TypeError):
        return None
    numbers = [epoch, began, seen, *([] if annotator is None else [annotator])]
    if any(type(number) is not int for number in numbers) or type(nonce) is not str:
        return None
    found = Session(annotator, epoch, began, seen, nonce)
    return found if found.lives(now) else None


def cookie_name(https: bool) -> str:
    """Over https a name that browsers accept from this very host only."""
    return "__Host-lookalike" if https else "lookalike"


def read(request: HTTPConnection, key: str, *, https: bool, now: int) -> Session | None:
    """The session a request came with; one seen a while ago goes on from now."""
    value = request.cookies.get(cookie_name(https), "")
    found = unpacked(value, key, now) if value else None
    if found is not None and found.annotator is not None and now - found.seen > RENEWED:
        keep(request, replace(found, seen=now), key)
    return found


def keep(request: HTTPConnection, session: Session | None, key: str) -> None:
    """Send this session with the answer; None ends the one there is."""
    request.state.cookie = "" if session is None else packed(session, key)


class SessionCookies:
    """Middleware: sets the cookie that `keep` was asked for, whatever the answer is."""

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self.app = app
        self.https = https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and "cookie" in state:
                MutableHeaders(scope=message).append("set-cookie", self._line(state["cookie"]))
            await send(message)

        await self.app(scope, receive, with_cookie)

    def _line(self, value: str) -> str:
        life = LONGEST_SESSION // 1000 if value else 0
        secure = "; Secure" if self.https else ""
        return f"{cookie_name(self.https)}={value}; Path=/; Max-Age={life}; HttpOnly; SameSite=Lax{secure}"


def _serializer(key: str) -> URLSafeSerializer:
    return URLSafeSerializer(key, salt="lookalike session", signer_kwargs={"digest_method": hashlib.sha256})
