"""What `positiveness` reports: the graph of labels, the pairs it makes positive, and the labels in conflict."""

from dataclasses import dataclass

from lookalike.api.positiveness import Outlook
from lookalike.rank.pairs import Unusable
from lookalike.workflows.learn.positiveness_files import ListedPairs

CONTRADICTION = ("query", "candidate", "distance", "positiveness")
MOST = 1_000  # contradictions that are listed


@dataclass(frozen=True)
class ConflictingLabel:
    """A labelled negative that is `distance` hops of positives away, and the positiveness it would have."""

    query: str
    candidate: str
    distance: int
    positiveness: float


@dataclass(frozen=True)
class ConflictingLabels:
    """How many labelled negatives conflict with positives, and the nearest of them."""

    count: int
    nearest: tuple[ConflictingLabel, ...]


@dataclass(frozen=True)
class PositivenessResult:
    """Soft positives of the labels. `counted` says whether `pairs` is exact, else it has a standard error.

    `written` counts the pairs of the file by distance; `given` is None unless pairs were looked up.
    """

    beta: float
    max_distance: int
    sought_to: int
    nodes: str
    split: str | None
    images: int
    labelled_images: int
    positives: int
    negatives: int
    unusable: tuple[Unusable, ...]
    pairs: int
    counted: bool
    standard_error: float
    share_of_all: float
    share_of_labelled: float
    few_negatives: bool
    contradictions: ConflictingLabels
    written: dict[int, int] | None
    given: ListedPairs | None


def positiveness_result(
    found: Outlook, rows: list[int] | None = None, given: ListedPairs | None = None
) -> PositivenessResult:
    """The result; `rows` are pairs written, by distance."""
    columns = [getattr(found.contradictions, name)[:MOST].tolist() for name in CONTRADICTION]
    nearest = tuple(ConflictingLabel(*row) for row in zip(*columns, strict=True))
    return PositivenessResult(
        beta=found.soft.beta,
        max_distance=found.soft.max_distance,
        sought_to=found.limit,
        nodes=found.graph.kind,
        split=found.split,
        images=found.images,
        labelled_images=found.labelled,
        positives=found.graph.positive.pairs,
        negatives=found.graph.negative.pairs,
        unusable=found.graph.unusable,
        pairs=found.pairs,
        counted=found.extent.is_counted,
        standard_error=found.extent.error,
        share_of_all=found.share,
        share_of_labelled=found.share_labelled,
        few_negatives=found.few_negatives,
        contradictions=ConflictingLabels(len(found.contradictions), nearest),
        written=None if rows is None else dict(enumerate(rows)),
        given=given,
    )
