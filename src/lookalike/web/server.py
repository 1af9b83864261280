"""The server of the app: one process, no access log, no header that names the server."""

import uvicorn
from fastapi import FastAPI

GRACE_SECONDS = 5


def server(app: FastAPI, *, behind_https: bool = False) -> uvicorn.Server:
    """A server for sockets that already listen.

    `behind_https`: trust the client address that a proxy on this machine reports.
    """
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # addresses of links contain secrets
        server_header=False,
        proxy_headers=behind_https,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return uvicorn.Server(config)
