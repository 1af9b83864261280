"""The views of SimCLR and DINO, by the transforms of `lightly`: equal photos, numbers and seeds give equal views."""

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image

from lookalike.learn.objectives.lightly import lightly_part


@dataclass(frozen=True)
class LightlyView:
    """One view: `kind` is simclr, or one of DINO's: global, second (global, blurred less, solarised), local.

    It draws from the generators of the process, so one thread of a process may use it at a time. With `prepare` the
    view is then prepared as the network takes photos; without, it has `side` pixels a side.
    """

    kind: str
    side: int
    prepare: Callable[[Image.Image], np.ndarray] | None = None

    def __call__(self, photo: Image.Image, number: int, seed: int) -> UInt8[np.ndarray, "height width 3"]:
        """The view of a number."""
        content = hashlib.sha256(repr(photo.size).encode() + photo.tobytes()).digest()
        drawn = int(np.random.default_rng([int.from_bytes(content, "little"), number, seed]).integers(2**32))
        with torch.random.fork_rng(devices=[]):
            kept = random.getstate(), np.random.get_state()
            torch.manual_seed(drawn)
            random.seed(drawn)
            np.random.seed(drawn)
            try:
                made = self._transform(photo)
            finally:
                random.setstate(kept[0])
                np.random.set_state(kept[1])
        pixels = (made.permute(1, 2, 0) * 255).round().to(torch.uint8).numpy()
        return pixels if self.prepare is None else self.prepare(Image.fromarray(pixels))

    @cached_property
    def _transform(self) -> Callable[[Image.Image], torch.Tensor]:
        if self.kind == "simclr":
            made = lightly_part("lightly.transforms", "SimCLRTransform")(input_size=self.side, normalize=None)
            return made.transforms[0]
        made = lightly_part("lightly.transforms", "DINOTransform")(
            global_crop_size=self.side, local_crop_size=self.side, n_local_views=1, normalize=None
        )
        return made.transforms[("global", "second", "local").index(self.kind)]

    def __getstate__(self) -> dict[str, object]:
        """Without the transform: a worker makes its own."""
        return {"kind": self.kind, "side": self.side, "prepare": self.prepare}
