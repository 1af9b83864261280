"""What a report says, as frozen values. The caller fills them; `page.render` turns them into a page.

Any part of a `Report` may be missing (`None` or an empty tuple). The page then says what is not there yet
and which command makes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lookalike.audit.audits import Audits
from lookalike.audit.exposure import Exposure
from lookalike.audit.sampling.values import SampledValue
from lookalike.audit.training_verdict import TrainedChoice, TrainingWord
from lookalike.audit.verdict import Judgement
from lookalike.discover.prevalence import PositiveRate
from lookalike.discover.statistics import PoolFigures
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.results import GroupsResult, ScoreResult, ScoresResult
from lookalike.evaluate.significance.summary import Settings


@dataclass(frozen=True)
class ReportPhoto:
    """One image as a page shows it. `thumbnail` is a JPEG file; empty bytes mean that there is no picture."""

    image: str
    item: str
    category: str
    thumbnail: bytes


@dataclass(frozen=True)
class Hit:
    """One result: its photo, its score, and its label: 1 similar, 0 dissimilar, `None` unjudged.

    `rank` is 0 where the results of a strip are in order, from the first.
    """

    photo: ReportPhoto
    score: float
    label: int | None
    rank: int = 0


@dataclass(frozen=True)
class Strip:
    """One query and what one encoder finds for it, best first. `note` is short, such as "EHR@5 = 0.200"."""

    query: ReportPhoto
    encoder: str
    hits: tuple[Hit, ...]
    note: str = ""


@dataclass(frozen=True)
class StripGroup:
    """Strips that belong together: "best", "worst", "random".

    Neighbouring rows with the same query image are shown under one query, one encoder below another.
    """

    title: str
    explanation: str
    rows: tuple[Strip, ...]


@dataclass(frozen=True)
class PhotoPair:
    """Two photos side by side: their cosine, and their label, if they have one."""

    first: ReportPhoto
    second: ReportPhoto
    score: float
    label: int | None = None


@dataclass(frozen=True)
class PairGroup:
    """Pairs that belong together, such as photos of one item that look different."""

    title: str
    explanation: str
    pairs: tuple[PhotoPair, ...]


@dataclass(frozen=True)
class ExposurePart:
    """Which items are shown, by encoder; of the first one, items never shown, and the most shown with how often."""

    found: tuple[Exposure, ...]
    never: tuple[ReportPhoto, ...]
    most: tuple[tuple[ReportPhoto, int], ...]


@dataclass(frozen=True, eq=False)
class PoolPart:
    """The pool in figures, what labelling it costs in hours, and how much of it is labelled.

    `labelled` counts labelled pairs, `positives` those labelled similar (`None`: not counted). `rate` is the positive
    rate by random pairs (`None`, or without any: the page says nothing of it).
    """

    figures: PoolFigures
    hours_low: float
    hours_high: float
    labelled: int
    positives: int | None
    rate: PositiveRate | None = None


@dataclass(frozen=True)
class EncoderLine:
    """One encoder: its name, its string (files without their folders), and what else made its vectors."""

    name: str
    spec: str
    preprocessing: str
    weights: str
    precision: str
    dimension: int


@dataclass(frozen=True)
class MeasureTable:
    """Encoders in rows, measures in columns. `truth` is the same on the complete truth, if known.

    `generators` are those of the encoders that fed the pool. `settings` say how intervals and findings were made; None:
    no query was drawn. `findings` are, by measure, what the labels prove of the best encoder against the others, in
    sentences without a full stop. `groups` have one measure, largest group first. `remarks` say which encoders are not
    in the table, and why. `distrusted` are the measures that are not to be trusted on these labels, each with why: they
    have no findings and come last. `comparisons` are those that the findings tell.
    """

    values: ScoresResult
    generators: tuple[str, ...]
    truth: "MeasureTable | None" = None
    settings: Settings | None = None
    findings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    groups: GroupsResult | None = None
    remarks: tuple[str, ...] = ()
    distrusted: Mapping[str, str] = field(default_factory=dict)
    comparisons: Mapping[str, Sequence[Comparison]] = field(default_factory=dict)

    @property
    def measures(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(next(iter(self.values.values()), ()))


@dataclass(frozen=True)
class MeasureChange:
    """One measure of an encoder before and after learning, and the difference with its interval (NaN: none).

    `words` say what that proves, as a sentence without a full stop ("": the measure is no quality, or not to be trusted
    on these labels).
    """

    measure: str
    before: ScoreResult
    after: ScoreResult
    difference: float
    low: float
    high: float
    words: str


@dataclass(frozen=True)
class Lesson:
    """One trained encoder: the encoder it was trained on ("" without vectors here), how, and what changed.

    `changes` are by the labels of the test split, `truth` by its complete truth where that is known. `counted` says
    on how many queries the results got better or worse, `strips` show some of each. `verdict` is the one by drawn
    labels, and `word` its word, "" where it has no value. A blend is compared with the encoder in it that is named as
    its base.
    """

    encoder: str
    base: str
    how: tuple[str, ...] = ()
    changes: tuple[MeasureChange, ...] = ()
    truth: tuple[MeasureChange, ...] = ()
    counted: str = ""
    strips: tuple[StripGroup, ...] = ()
    verdict: str = ""
    word: TrainingWord | Literal[""] = ""
    is_blend: bool = False


@dataclass(frozen=True)
class LearningPart:
    """Before and after learning, on the test split: its labels, their queries, and every trained encoder."""

    labels: int
    queries: int
    lessons: tuple[Lesson, ...]
    settings: Settings | None = None


@dataclass(frozen=True)
class Report:
    """Everything one page says.

    `generated` is true for the studio catalog. `facts` are (label, value), `left_out` are (reason, how many
    images, examples). `drawn` is what samples tell. `decisive` are queries on which the best two encoders differ most.
    `trained` was trained on the best one, and is better or not worse. In `notes`, `conflicts` and `next_steps` a part
    between two backticks is shown as a command, and so is a whole next step that begins with "lookalike ".
    """

    title: str
    subtitle: str
    created: str
    generated: bool = False
    facts: tuple[tuple[str, str], ...] = ()
    encoders: tuple[EncoderLine, ...] = ()
    samples: tuple[ReportPhoto, ...] = ()
    left_out: tuple[tuple[str, int, tuple[str, ...]], ...] = ()
    pool: PoolPart | None = None
    measures: MeasureTable | None = None
    verdict: Judgement | None = None
    audit: Audits | None = None
    decisive: StripGroup | None = None
    strips: tuple[StripGroup, ...] = ()
    pairs: tuple[PairGroup, ...] = ()
    exposure: ExposurePart | None = None
    drawn: tuple[SampledValue, ...] = ()
    learning: LearningPart | None = None
    conflicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    trained: TrainedChoice | None = None
    next_steps: tuple[str, ...] = ()
