"""One connection of a client, with limits on what it may send and how long it may wait."""

from asyncio import TimerHandle, Transport
from dataclasses import dataclass
from itertools import count

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

TURNS = count(1)
REASON = b"The head of the request is too large."
TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%b" % (len(REASON), REASON)
)


@dataclass(frozen=True)
class Limits:
    """The largest head of a request, how long it may take, how long a connection may wait, and their number.

    A body has `idle_seconds` to arrive. Fifty people with six connections each are 300.
    """

    head_bytes: int = 64 << 10
    head_seconds: float = 10
    idle_seconds: float = 30
    connections: int = 500


class LimitedConnection(HttpToolsProtocol):
    """A connection that is closed when its client keeps the server waiting.

    With too many connections, a new one takes the place of the one whose client keeps the server waiting longest.
    """

    limits = Limits()
    _timer: TimerHandle | None = None
    _turn = 0  # a smaller one waits for longer; 0: a request is complete and its answer is not
    _in_head = False
    _head = 0  # bytes of the head, as it was parsed
    _unparsed = 0  # bytes that came since the head began
    _unsent = 0  # bytes of the answer that the client had not read at the last look

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait_for_request()
        if len(self.connections) > self.limits.connections:
            all_ = (one for one in self.connections if isinstance(one, LimitedConnection))
            waiting = (one for one in all_ if one._turn)  # this one at least
            longest = min(waiting, key=lambda one: one._turn)
            longest._turn = 0  # its place is taken once
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._expect(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came. A head that does not end is refused before it is complete."""
        self._unparsed += len(data)
        super().data_received(data)
        if self._in_head and self._unparsed > self.limits.head_bytes:
            self._refuse_head()

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._in_head, self._head, self._unparsed = True, 0, 0
        self._expect(self.limits.head_seconds)

    def on_url(self, url: bytes) -> None:
        """Count the address."""
        super().on_url(url)
        self._head += len(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        super().on_header(name, value)
        self._head += len(name) + len(value) + len(b": \r\n")

    def on_headers_complete(self) -> None:
        """Start the request, and wait for its body."""
        self._in_head = False
        if self._head > self.limits.head_bytes:
            raise _HeadTooLargeError  # the parser stops, and calls `send_400_response`
        super().on_headers_complete()
        self._expect(self.limits.idle_seconds)

    def on_message_complete(self) -> None:
        """The client did its part."""
        super().on_message_complete()
        if self.cycle.response_complete:
            self._wait_for_request()
        else:
            self._turn = 0
            self._expect(None)

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is being read or answered already."""
        super().on_response_complete()
        if self.cycle.response_complete and not (self._in_head or self.cycle.more_body):
            self._wait_for_request()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, or is one with a head that is too large."""
        if self._head > self.limits.head_bytes:
            self._refuse_head()
        else:
            super().send_400_response(msg)

    def _refuse_head(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(TOO_LARGE)
        self.transport.close()

    def _wait_for_request(self) -> None:
        self._turn = next(TURNS)
        self._unsent = self.transport.get_write_buffer_size()
        self._expect(self.limits.idle_seconds)

    def _expect(self, seconds: float | None) -> None:
        """Close the connection after some seconds, unless the client does its part; None: wait for ever."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        """The time is over. A client that still reads its answer gets more; one that reads nothing is cut off."""
        unsent = self.transport.get_write_buffer_size()
        if not unsent:
            self.transport.close()
        elif unsent >= self._unsent:
            self.transport.abort()
        else:
            self._unsent = unsent
            self._expect(self.limits.idle_seconds)


class _HeadTooLargeError(Exception):
    """The head of a request has more bytes than allowed."""
