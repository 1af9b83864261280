"""The session cookie, signed, and the CSRF token of its forms.

The cookie holds a person's number and a nonce, when the session began and when it was last seen. A person's session is
also a row of the database (store/people/sessions.py), and ends with it. The session of a visitor is only a cookie.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace

from itsdangerous import BadData, URLSafeSerializer
from starlette.requests import HTTPConnection

from lookalike.store.people.sessions import LONGEST_SESSION

MINUTE = 60_000
IDLE = 12 * 60 * MINUTE
RENEWED = 5 * MINUTE  # not on every request: parallel requests would overwrite each other's cookie
COOKIE = "cookie"  # in the state of a request: the value that the answer sets
AHEAD = 5 * MINUTE  # tolerance for a clock that was set back


@dataclass(frozen=True)
class Session:
    """One browser's session; `annotator` is None before the login."""

    annotator: int | None
    began: int
    seen: int
    nonce: str

    def csrf(self, key: str) -> str:
        """The CSRF token of this session's forms."""
        return hmac.new(
            key.encode(), f"csrf {self.annotator} {self.nonce}".encode(), hashlib.sha256
        ).hexdigest()

    def lives(self, now: int) -> bool:
        """Whether the session has not ended."""
        fresh = self.seen - AHEAD <= now <= self.seen + IDLE
        return fresh and self.began - AHEAD <= now <= self.began + LONGEST_SESSION


def begin(annotator: int | None, now: int) -> Session:
    """A new session."""
    return Session(annotator, now, now, secrets.token_urlsafe(18))


def packed(session: Session, key: str) -> str:
    """The value of the cookie."""
    parts = [session.annotator, session.began, session.seen, session.nonce]
    return str(_serializer(key).dumps(parts))


def unpacked(value: str, key: str, now: int) -> Session | None:
    """The session in a cookie's value; None if it is forged, broken or has ended."""
    try:
        annotator, began, seen, nonce = _serializer(key).loads(value)
    except (BadData, ValueError, TypeError):
        return None
    numbers = [began, seen, *([] if annotator is None else [annotator])]
    if any(type(number) is not int for number in numbers) or type(nonce) is not str:
        return None
    found = Session(annotator, began, seen, nonce)
    return found if found.lives(now) else None


def cookie_name(https: bool) -> str:
    """The name of the cookie. Over https, browsers accept this name from this host only."""
    return "__Host-lookalike" if https else "lookalike"


def read(request: HTTPConnection, key: str, *, https: bool, now: int) -> Session | None:
    """The session of a request. One that was not seen for a while is renewed."""
    value = request.cookies.get(cookie_name(https), "")
    found = unpacked(value, key, now) if value else None
    if found is not None and found.annotator is not None and now - found.seen > RENEWED:
        keep(request, replace(found, seen=now), key)
    return found


def keep(request: HTTPConnection, session: Session | None, key: str) -> None:
    """Send this session with the answer; None ends the current one."""
    setattr(request.state, COOKIE, "" if session is None else packed(session, key))


def cookie_line(value: str, *, https: bool) -> str:
    """The header that sets the cookie to a value; "" deletes it."""
    life = LONGEST_SESSION // 1000 if value else 0
    secure = "; Secure" if https else ""
    return f"{cookie_name(https)}={value}; Path=/; Max-Age={life}; HttpOnly; SameSite=Lax{secure}"


def _serializer(key: str) -> URLSafeSerializer:
    return URLSafeSerializer(key, salt="lookalike session", signer_kwargs={"digest_method": hashlib.sha256})
