"""The address of a judge: who may get the photos of a catalog, and with which key."""

import os
from dataclasses import dataclass, field
from ipaddress import ip_address
from math import nan
from urllib.parse import urlsplit

from pydantic import Field

from lookalike.core.errors import ArgumentError, JudgeError
from lookalike.core.settings import CheckedSettings

KEY = "LOOKALIKE_JUDGE_KEY"
PATH = "/chat/completions"
SENT = "the photos of the judged pairs, the guidelines, and the example pairs with photos, labels and notes"


class EndpointSettings(CheckedSettings):
    """Which model judges, and how it is called."""

    endpoint: str | None = Field(
        None,
        description="Address of an OpenAI-compatible endpoint with a vision model, e.g. http://localhost:8000/v1. Its "
        f"key is read from the environment variable {KEY}.",
    )
    model: str | None = Field(None, description="Name of the model, for --endpoint.")
    send_photos_to: str | None = Field(
        None, description=f"Name of a host that is not this machine, to allow that it receives {SENT}."
    )
    examples: int = Field(
        4, ge=0, le=20, description="Number of labelled pairs in every request, as examples."
    )
    pixels: int = Field(512, ge=64, le=2048, description="Longer side of the photos in a request, in pixels.")
    parallel: int = Field(8, ge=1, le=256, description="Maximum number of calls at the same time.")
    timeout: float = Field(120.0, gt=0, description="Seconds to wait for an answer.")
    price: str | None = Field(
        None,
        pattern=r"^\d+(\.\d+)?/\d+(\.\d+)?$",
        description="Price per million tokens in and out, e.g. 0.15/0.60.",
        examples=["0.15/0.60"],
    )

    def cost(self, tokens_in: float | int, tokens_out: float | int) -> float:
        """What tokens cost; NaN without a price."""
        per_in, per_out = map(float, self.price.split("/")) if self.price else (nan, nan)
        return (tokens_in * per_in + tokens_out * per_out) / 1e6


@dataclass(frozen=True)
class Endpoint:
    """Where requests go. The key is in no text of this object."""

    url: str
    host: str
    key: str = field(default="", repr=False)

    def cleaned(self, text: str) -> str:
        """A text of the endpoint without the key, and with spaces for all that cannot be printed."""
        kept = text.replace(self.key, "[key]") if self.key else text
        return "".join(one if one.isprintable() else " " for one in kept)


def endpoint_of(settings: EndpointSettings) -> Endpoint:
    """Check the address. Raises ArgumentError for a host that is not this machine unless the settings name it."""
    if settings.endpoint is None or settings.model is None:
        raise ArgumentError(
            "--endpoint and --model belong together.",
            fix="For example: lookalike judge --endpoint http://localhost:8000/v1 --model NAME",
        )
    try:
        parts = urlsplit(settings.endpoint)
        host = parts.hostname or ""
        is_complete = (
            parts.scheme in ("http", "https") and bool(host) and parts.port != 0 and parts.path.isprintable()
        )
    except ValueError:
        is_complete, parts, host = False, urlsplit(""), ""
    if not is_complete or parts.query or parts.fragment or "@" in parts.netloc:
        raise ArgumentError(
            "--endpoint is not an address of the form http://HOST:PORT/v1 without a user, a query or a key.",
            fix=f"Put the key into the environment variable {KEY}. It is never stored.",
        )
    allowed, is_here = (settings.send_photos_to or "").lower(), _is_this_machine(host)
    if is_here and allowed not in ("", host):
        raise ArgumentError(f"{host} receives the photos, not {allowed}.", fix="Leave out --send-photos-to.")
    if not is_here and allowed != host:
        raise ArgumentError(
            f"{host} is not this machine. It would receive {SENT}.",
            fix=f"If you may send them there, add --send-photos-to {host}",
        )
    path = parts.path.rstrip("/").removesuffix(PATH) + PATH
    return Endpoint(f"{parts.scheme}://{parts.netloc}{path}", host, _key())


def _is_this_machine(host: str) -> bool:
    """Whether a host is a loopback address.

    >>> [_is_this_machine(host) for host in ("localhost", "127.0.0.1", "::1", "10.0.0.1", "localhost.example.com")]
    [True, True, True, False, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _key() -> str:
    key = os.environ.get(KEY, "").strip()
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise JudgeError(
            f"The environment variable {KEY} holds characters that no key has.", fix="Copy the key again."
        )
    return key
