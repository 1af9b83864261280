"""Bootstrap replicates of many scores on the same draws of queries, on all cores."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from jaxtyping import Float64
from threadpoolctl import threadpool_limits

from lookalike.core.cores import cores
from lookalike.core.progress import Progress
from lookalike.core.types import Score
from lookalike.evaluate.resample import Resampling, replicates

TOGETHER = 24  # scores of one task: enough to share the drawing


def drawn(
    scores: Sequence[Score], resampling: Resampling, progress: Progress | None = None
) -> Float64[np.ndarray, "replicates scores"]:
    """`replicates` of every score. A score that comes several times is drawn once; threads change no value."""
    once = list({id(score): score for score in scores}.values())
    once.sort(key=lambda score: score.pooled is None)  # the slow ones first, spread over the tasks
    tasks = max(1, -(-len(once) // TOGETHER))
    groups = [once[first::tasks] for first in range(tasks)]
    column = {id(score): at for at, score in enumerate(score for group in groups for score in group)}
    found = []
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(cores()) as pool:
        for done, part in enumerate(pool.map(lambda group: replicates(group, resampling), groups)):
            found.append(part)
            if progress is not None:
                progress(done + 1, len(groups))
    return np.concatenate(found, axis=1)[:, [column[id(score)] for score in scores]]


class Draws:
    """Replicates of some scores, looked up by score; none where no resampling is asked for."""

    def __init__(
        self, scores: Sequence[Score], resampling: Resampling | None, progress: Progress | None = None
    ) -> None:
        self.any = resampling is not None
        self.column = {id(score): at for at, score in enumerate(scores)}
        self.kept = scores  # as long as they live, no other score has their id
        if resampling is not None:
            self.values = drawn(scores, resampling, progress)

    def of(self, scores: Sequence[Score]) -> Float64[np.ndarray, "replicates scores"]:
        """The replicates of some of the scores."""
        return self.values[:, [self.column[id(score)] for score in scores]]
