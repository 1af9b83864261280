"""The server of the app: one process, no log of addresses, headers that say nothing of it."""

import uvicorn
from fastapi import FastAPI

GRACE_SECONDS = 5


def server(app: FastAPI, *, behind_https: bool = False) -> uvicorn.Server:
    """A server for sockets that listen already.

    `behind_https` believes a proxy on this machine about where a request came from.
    """
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # addresses hold the secrets of links
        server_header=False,
        proxy_headers=behind_https,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return uvicorn.Server(config)
