"""What a judge thinks of pairs: a score in 0 to 1 for each, with the model, its version and the prompt.

Judgments are covariates of estimates (SPEC 17). They are never labels, votes, rows of a measure or training pairs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64, Shaped

Kind = Literal["endpoint", "encoder", "file"]


@dataclass(frozen=True)
class JudgeExample:
    """A decided pair that a judge was shown with its answer, so its judgment of this pair is no judgment."""

    query: str
    candidate: str
    label: int
    note: str = ""


@dataclass(frozen=True)
class Judge:
    """Who judged what. `prompt` is a hash of all that the model is told beside the two photos ("" without a prompt).

    The judge was given the open questions of the top `k` lists of `encoders`: of `questions` of them a simple random
    sample without replacement, each with `probability`, drawn by `seed`. For a file, `probability` is None: how its
    pairs were chosen is unknown.
    """

    name: str
    kind: Kind
    model: str
    version: str = ""
    prompt: str = ""
    examples: tuple[JudgeExample, ...] = ()
    encoders: tuple[str, ...] = ()
    k: int = 0
    questions: int = 0
    probability: float | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Judgments:
    """The scores of a judge for pairs of images: `score`, in 0 to 1, is how likely a pair is similar; NaN: none.

    `lists` says how many of the encoders' lists hold the pair. `flipped` is 1 where the answer changes with the order
    of the photos, NaN where one order alone was judged. `failed` counts the pairs without a score by reason.
    """

    judge: Judge
    query: Shaped[np.ndarray, " pairs"]
    candidate: Shaped[np.ndarray, " pairs"]
    lists: Int64[np.ndarray, " pairs"]
    score: Float64[np.ndarray, " pairs"]
    flipped: Float64[np.ndarray, " pairs"]
    failed: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.score)

    def of(self, query: Iterable[str], candidate: Iterable[str]) -> Float64[np.ndarray, " pairs"]:
        """The score of each (query, candidate), looked up in either order; NaN where there is none.

        >>> first, second, lists = np.array(["a", "b"]), np.array(["b", "c"]), np.array([1, 1])
        >>> judge, score = Judge("j", "file", "m"), np.array([0.5, 0.25])
        >>> Judgments(judge, first, second, lists, score, np.full(2, nan)).of(["b", "a"], ["a", "c"]).tolist()
        [0.5, nan]
        """
        ends = zip(query, candidate, strict=True)
        return np.array([self._by_pair.get(_ends(a, b), nan) for a, b in ends], np.float64)

    @cached_property
    def _by_pair(self) -> dict[tuple[str, str], float]:
        given = zip(self.query, self.candidate, self.score.tolist(), strict=True)
        return {_ends(a, b): score for a, b, score in given}


def _ends(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)
