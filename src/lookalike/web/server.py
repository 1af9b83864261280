"""The server of the app: one process, limited connections, no access log, no header that names the server."""

import uvicorn
from fastapi import FastAPI

from lookalike.web.connection import LimitedConnection, Limits

GRACE_SECONDS = 5


def server(app: FastAPI, *, behind_https: bool = False, limits: Limits | None = None) -> uvicorn.Server:
    """A server for sockets that already listen.

    `behind_https`: trust the client address that a proxy on this machine reports.
    """
    limits = limits or Limits()
    config = uvicorn.Config(
        app,
        http=type("Connection", (LimitedConnection,), {"limits": limits}),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # addresses of links contain secrets
        server_header=False,
        proxy_headers=behind_https,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_keep_alive=int(limits.idle_seconds) + 1,  # the connection itself ends before
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return uvicorn.Server(config)
