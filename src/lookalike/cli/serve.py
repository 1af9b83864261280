"""`lookalike serve`."""

import gc
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.console import WorkspaceOption, next_step, plural, say

if TYPE_CHECKING:
    import socket

    from fastapi import FastAPI

    from lookalike.recipes.serve import Ready


def serve(
    workspace: WorkspaceOption = Path(),
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0: any that is free.", min=0, max=65535)] = 8321,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="Name or address by which people open it. May be given several times.", metavar="NAME"
        ),
    ] = None,
    behind_https: Annotated[
        bool,
        typer.Option("--behind-https", help="A proxy on this machine serves it to people through https."),
    ] = False,
) -> None:
    """Label, discuss and manage the team in the browser; Ctrl-C ends it."""
    from lookalike.recipes.serve import allowed_hosts, listen, look
    from lookalike.store.workspace import Workspace
    from lookalike.web.app import create_app
    from lookalike.web.site import Options

    opened = Workspace(workspace)
    ready = look(opened)
    hosts = allowed_hosts(host, allow_host or (), ready)
    listening = listen(host, port)
    _say(ready, f"http://{_shown(host)}:{listening.getsockname()[1]}", workspace)
    _run(create_app(opened, Options(hosts=hosts, https=behind_https)), listening, behind_https)
    say("Stopped. Every answer that was acknowledged is kept.")


def _say(ready: "Ready", address: str, workspace: Path) -> None:
    if ready.new:
        say(f"{plural(ready.new, 'pair')} of the pool joined the queue.")
    say(f"Serving {address} ({plural(ready.questions, 'open question')}, {plural(ready.people, 'account')}).")
    if not ready.has_lead:
        say("There is no lead yet; make one in another terminal, then log in:")
        next_step("lookalike users add NAME --role lead", workspace=workspace)
    elif not ready.questions:
        say("There is nothing to label yet.")
        next_step("lookalike discover", workspace=workspace)
    else:
        say("Open it in a browser and log in. Ctrl-C ends it.")
    sys.stdout.flush()


def _run(app: "FastAPI", listening: "socket.socket", behind_https: bool) -> None:
    from lookalike.web.server import server

    for number in (signal.SIGINT, signal.SIGTERM):  # the server hands them on once it has ended
        signal.signal(number, lambda *_: None)
    gc.collect()
    gc.freeze()  # what was loaded by now stays: looking for garbage among it would only hold answers up
    with listening:
        server(app, behind_https=behind_https).run(sockets=[listening])


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
