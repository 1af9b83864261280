"""Checks of every request before a route gets it: known host, small body, strict headers, no traceback."""

import logging
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lookalike.web.access.sessions import COOKIE, cookie_line
from lookalike.web.pages.failures import too_large, unexpected, unknown_host

STRICT = {
    "Content-Security-Policy": "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "X-Robots-Tag": "noindex, nofollow",
}
HTTPS_ONLY = "max-age=31536000"
STATIC = "/static/"
log = logging.getLogger("lookalike.web")


class SafeAnswers:
    """Middleware: answers only to known host names, with strict headers, the session cookie, and without a traceback.

    Unknown host names are refused, which prevents DNS rebinding. An answer is not cached unless the route allows it.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], https: bool) -> None:
        self.app, self.https = app, https
        self.hosts = frozenset(host.casefold() for host in hosts)
        self._strict = {**STRICT, "Strict-Transport-Security": HTTPS_ONLY} if https else STRICT

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        state, begun = scope.setdefault("state", {}), False

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                headers.update(self._strict)
                headers.setdefault(
                    "Cache-Control", "no-cache" if scope["path"].startswith(STATIC) else "no-store"
                )
                if COOKIE in state:
                    headers.append("Set-Cookie", cookie_line(state[COOKIE], https=self.https))
            await send(message)

        hosts = Headers(scope=scope).getlist("host")
        is_known = len(hosts) == 1 and host_name(hosts[0]) in self.hosts
        try:
            await (self.app if is_known else unknown_host(Request(scope)))(scope, receive, answer)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if begun:  # part of the answer is sent: the server closes the connection
                raise
            state.pop(COOKIE, None)
            await unexpected(Request(scope))(scope, receive, answer)


class BodyLimit:
    """Middleware: bodies up to a limit, whether they declare their length or come in chunks."""

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self.app = app
        self.most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "0")
        if not (declared.isascii() and declared.isdecimal()) or int(declared[:20]) > self.most:
            await self._refuse(scope, receive, send)
            return
        came, begun, over = 0, False, False

        async def limited() -> Message:
            nonlocal came, over
            message = await receive()
            came += len(message.get("body", b""))
            over = over or came > self.most
            if over:
                raise _TooLargeError
            return message

        async def watched(message: Message) -> None:
            nonlocal begun
            if over and not begun:  # drop the route's answer to the incomplete body
                return
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, limited, watched)
        except _TooLargeError:
            if begun:
                raise
        if over and not begun:
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        await too_large(Request(scope), self.most)(scope, receive, send)


class _TooLargeError(Exception):
    """The body has more bytes than allowed."""


def host_name(host: str) -> str:
    """The host without its port; "" for an invalid host.

    >>> host_name("Shop.example:8321"), host_name("[::1]:8321"), host_name("a:b:c")
    ('shop.example', '[::1]', '')
    """
    name, port = host, ""
    if not host.endswith("]"):
        name, colon, port = host.rpartition(":") if ":" in host else (host, "", "")
        if colon and not port.isdecimal():
            return ""
    if ":" in name and not (name.startswith("[") and name.endswith("]")):
        return ""
    return name.casefold().removesuffix(".")
