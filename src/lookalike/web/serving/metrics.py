"""Counters and times of requests in the text format of Prometheus.

The format: https://prometheus.io/docs/instrumenting/exposition_formats/. Only the event loop counts, so no lock is
needed.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Labels = tuple[tuple[str, str], ...]


@dataclass
class Histogram:
    """Times in buckets."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one time."""
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.total += seconds


@dataclass
class Metrics:
    """Requests by method, address (as routes declare it) and status; and their times by method and address."""

    requests: Counter[Labels] = field(default_factory=Counter)
    seconds: dict[Labels, Histogram] = field(default_factory=dict)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        where = (("method", method), ("route", route))
        self.requests[(*where, ("status", str(status)))] += 1
        self.seconds.setdefault(where, Histogram()).add(seconds)

    def text(self, gauges: Mapping[str, Mapping[Labels, float]], help_texts: Mapping[str, str]) -> str:
        """Everything counted so far, and these gauges."""
        lines = _family("lookalike_http_requests_total", "counter", "Requests.")
        lines += [_line("lookalike_http_requests_total", labels, n) for labels, n in self.requests.items()]
        name = "lookalike_http_request_seconds"
        lines += _family(name, "histogram", "Time of a request, from its head to the end of its answer.")
        for labels, one in self.seconds.items():
            so_far = 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), one.counts, strict=True):
                so_far += count
                lines.append(_line(f"{name}_bucket", (*labels, ("le", bound)), so_far))
            lines += [_line(f"{name}_sum", labels, one.total), _line(f"{name}_count", labels, so_far)]
        for gauge, values in gauges.items():
            lines += _family(gauge, "gauge", help_texts[gauge])
            lines += [_line(gauge, labels, value) for labels, value in values.items()]
        return "\n".join(lines) + "\n"


class Measured:
    """Middleware: counts every request of a route with its time. Unknown addresses count as one."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, answer)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if route != "other" else "any"
            self.metrics.count(method, route, status, time.perf_counter() - began)


def _family(name: str, kind: str, words: str) -> list[str]:
    return [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]


def _line(name: str, labels: Labels, value: float) -> str:
    """One sample.

    >>> _line("requests", (("route", 'a"b'),), 3)
    'requests{route="a\\\\"b"} 3'
    """
    escaped = (
        (key, text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")) for key, text in labels
    )
    inside = ",".join(f'{key}="{text}"' for key, text in escaped)
    return f"{name}{{{inside}}} {value:.15g}" if inside else f"{name} {value:.15g}"
