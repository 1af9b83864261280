"""Counters and times of requests, and the state of search, for Prometheus."""

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as MEDIA_TYPE
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


class Metrics:
    """What one app counts, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = known = CollectorRegistry()
        where = ("method", "route")  # the address as routes declare it
        self.requests = Counter("lookalike_http_requests", "Requests.", (*where, "status"), registry=known)
        self.seconds = Histogram(
            "lookalike_http_request_seconds",
            "Time of a request, from its head to the end of its answer.",
            where,
            buckets=BUCKETS,
            registry=known,
        )
        self.ready = Gauge("lookalike_ready", "1: the served encoder is loaded.", registry=known)
        self.busy = Gauge(
            "lookalike_busy", "Searches, photos and uploads that run or wait.", ("work",), registry=known
        )
        self.loaded = Gauge(
            "lookalike_loaded_images",
            "Images that a loaded encoder searches.",
            ("encoder", "served"),
            registry=known,
        )

    def answer(self) -> Response:
        """Everything counted so far, in the text format of Prometheus."""
        return Response(generate_latest(self.registry), media_type=MEDIA_TYPE)


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
            self.metrics.requests.labels(method, route, str(status)).inc()
            self.metrics.seconds.labels(method, route).observe(time.perf_counter() - began)
