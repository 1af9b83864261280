"""Which settings of a training run are tuned, and between which values."""

from collections.abc import Collection
from dataclasses import dataclass

from lookalike.core.errors import ArgumentError
from lookalike.learn.request import TrainingRequest

Number = int | float
RATES = 30.0  # the highest rate is this factor above the default, and the lowest below it
MARGINS = {"con": 1.0, "trpl": 0.2}  # the defaults of the losses
BATCHES, TEMPERATURES, SIGMAS = (32, 512), (0.01, 1.0), (1.0, 100.0)
MARGIN_RANGES = {"con": (0.1, 2.0), "trpl": (0.02, 1.0)}  # the largest distance is 2


@dataclass(frozen=True)
class SettingRange:
    """A setting to tune, its lowest and its highest value, and its default. Values are drawn by their logarithm."""

    name: str
    low: Number
    high: Number
    default: Number

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.name == "batch"

    def __str__(self) -> str:
        return f"{self.name} {self.low:g} to {self.high:g}"

    def rounded(self, value: Number) -> Number:
        """A drawn value with two significant digits, so that a command can name it; whole numbers stay.

        >>> SettingRange("rate", 1e-05, 0.009, 0.0003).rounded(0.00123456)
        0.0012
        """
        return round(value) if self.whole else float(f"{value:.2g}")


def tuned_ranges(request: TrainingRequest, fixed: Collection[str] = ()) -> tuple[SettingRange, ...]:
    """The settings of a request to tune: the rate, the batch, and what its loss has. Those in `fixed` stay as they are.

    Raises ArgumentError if nothing is left to tune.

    >>> [one.name for one in tuned_ranges(TrainingRequest())]
    ['rate', 'batch', 'temperature']
    >>> [str(one) for one in tuned_ranges(TrainingRequest(loss="trpl"), ["batch"])]
    ['rate 1e-05 to 0.009', 'margin 0.02 to 1']
    """
    found = [SettingRange("rate", *_around(request.rate), request.rate)]
    if request.in_pairs:
        found.append(SettingRange("sigma", *SIGMAS, request.sigma))
    else:  # where all pairs are one batch, its size means nothing
        found.append(SettingRange("batch", *BATCHES, request.batch))
    if request.loss in ("supcon", "simclr"):
        found.append(SettingRange("temperature", *TEMPERATURES, request.temperature))
    if request.loss in MARGINS:
        found.append(SettingRange("margin", *MARGIN_RANGES[request.loss], MARGINS[request.loss]))
    left = tuple(one for one in found if one.name not in fixed)
    if not left:
        raise ArgumentError(
            f"Nothing is left to tune, because {', '.join(one.name for one in found)} are given.",
            fix="Leave out at least one of them.",
        )
    return left


def _around(rate: float) -> tuple[float, float]:
    return float(f"{rate / RATES:.2g}"), float(f"{rate * RATES:.2g}")
