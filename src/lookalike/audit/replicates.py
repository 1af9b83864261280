"""Bootstrap replicates of many scores on the same resampled queries, looked up by score."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from lookalike.core.progress import Progress
from lookalike.core.types import Score
from lookalike.evaluate.significance.bootstrap import Resampling, replicates


class ScoreReplicates:
    """Replicates of some scores, each computed once; none without a resampling."""

    def __init__(
        self, scores: Sequence[Score], resampling: Resampling | None, progress: Progress | None = None
    ) -> None:
        self.any = resampling is not None
        self.kept = list(
            {id(score): score for score in scores}.values()
        )  # as long as they are kept, ids are unique
        self.column = {id(score): at for at, score in enumerate(self.kept)}
        if resampling is not None:
            self.values = replicates(self.kept, resampling, progress)

    def of(self, scores: Sequence[Score]) -> Float64[np.ndarray, "replicates scores"]:
        """The replicates of some of the scores."""
        return self.values[:, [self.column[id(score)] for score in scores]]
