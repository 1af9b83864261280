"""Checks of every request before a route gets it: known host, small body, strict headers, no traceback."""

import logging
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
CACHE = b"cache-control"
log = logging.getLogger("lookalike.web")


class StrictHeaders:
    """Middleware: strict headers on every answer, which is not cached unless the route allows it."""

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self.app = app
        strict = {**STRICT, "Strict-Transport-Security": HTTPS_ONLY} if https else STRICT
        self._strict = [(name.lower().encode(), value.encode()) for name, value in strict.items()]
        self._names = {name for name, _ in self._strict}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = [one for one in message["headers"] if one[0].lower() not in self._names]
                if not any(name.lower() == CACHE for name, _ in given):
                    given.append((CACHE, b"no-cache" if scope["path"].startswith(STATIC) else b"no-store"))
                message["headers"] = [*given, *self._strict]
            await send(message)

        await self.app(scope, receive, with_headers)


class NoTraceback:
    """Middleware: logs an unexpected error, and answers with a page that does not show it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception:
            if scope["type"] != "http":
                raise
            log.exception("%s %s failed", scope["method"], scope["path"])
            if begun:  # part of the answer is sent: the server closes the connection
                raise
            await unexpected(Request(scope))(scope, receive, send)


class KnownHosts:
    """Middleware: only host names it was started for, which prevents DNS rebinding."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str]) -> None:
        self.app = app
        self.hosts = frozenset(host.casefold() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] == "http":
            given = Headers(scope=scope).getlist("host")
            if len(given) != 1 or host_name(given[0]) not in self.hosts:
                await unknown_host(Request(scope))(scope, receive, send)
                return
        await self.app(scope, receive, send)


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
