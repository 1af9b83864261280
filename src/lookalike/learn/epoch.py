"""What a run keeps of an epoch."""

import math
from typing import NamedTuple


class Epoch(NamedTuple):
    """One line of a run's history.

    `value` is the measure on the validation split, NaN where undefined. `kept` and `skipped` count anchors, `negatives`
    ordered pairs with P = 0 that acted as negatives, `positives` those with P > 0, over the epoch's batches. `recall`
    is aR@1 of the training pairs before the epoch's step, where they are left and right images.
    """

    number: int
    loss: float
    value: float
    rate: float
    kept: int
    skipped: int
    positives: int
    negatives: int
    recall: float = math.nan
