"""A trained head on the encoder it belongs to, as an encoder of its own."""

import threading

import numpy as np
import torch
from jaxtyping import Float32

from lookalike.core.errors import EncoderError
from lookalike.core.types import Origin
from lookalike.encode.checkpoint_file import headed_origin
from lookalike.encode.encoder import Encoder
from lookalike.encode.head import Head, apply_head, placed
from lookalike.encode.spec import EncoderSpec
from lookalike.encode.weights import parameters_hash


class Headed:
    """An encoder and the head on it: photos are prepared and encoded as by the former, then the head is applied."""

    def __init__(self, origin: Origin, base: Encoder, head: Head) -> None:
        self.origin = origin
        self.base = base
        self.prepare, self.size_hint = base.prepare, base.size_hint
        self.batch, self.threads = base.batch, base.threads
        self.dimension = head.projection
        self.head = placed(head)

    @classmethod
    def of(cls, spec: EncoderSpec, recorded: Origin, head: Head, base: Encoder) -> "Headed":
        """A head on its encoder as that opens now; an encoder that is not the recorded one is refused."""
        require_same(spec, recorded, head, base)
        return cls(headed_origin(spec, base.origin, parameters_hash(head)), base, head)

    def vectors(self, ready: np.ndarray) -> Float32[np.ndarray, "photos dimension"]:
        """Ready photos, stacked, to their vectors."""
        found = self.base.vectors(ready)
        if (
            self.head.first.weight.device.type == "cpu"
            and threading.current_thread() is not threading.main_thread()
        ):
            torch.set_num_threads(1)  # of this thread alone: several of them share the cores
        return apply_head(self.head, found)


def require_same(spec: EncoderSpec, recorded: Origin, head: Head, base: Encoder) -> None:
    """Refuse a head whose encoder has become another: its vectors would mean nothing. Precision may differ."""
    differs = []
    if base.origin.weights != recorded.weights:
        differs.append(
            f"its weights are {_short(base.origin.weights)}, those of the training {_short(recorded.weights)}"
        )
    if base.origin.preprocessing != recorded.preprocessing:
        differs.append(
            f"photos are fitted otherwise ({base.origin.preprocessing}; at the training {recorded.preprocessing})"
        )
    if base.dimension != head.features:
        differs.append(f"it gives {base.dimension:,} numbers, and the head takes {head.features:,}")
    if differs:
        raise EncoderError(
            f"{spec} is a head for another network than {recorded.spec} is now: {'; '.join(differs)}.",
            fix=f"Put back the weights that {recorded.spec} had when the head was trained, or train a head on "
            "what it is now: lookalike finetune ENCODER --name NAME",
        )


def _short(weights: str) -> str:
    return weights[:12] or "none"
