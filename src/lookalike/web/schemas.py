"""Bodies of requests and answers of the JSON interface. Forms use the same requests."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints
from typing_extensions import TypedDict

from lookalike.annotate.protocol import LONGEST_REASON
from lookalike.core.settings import CheckedSettings, Declared
from lookalike.store.labelling.discussion.lists import Discussed
from lookalike.store.labelling.discussion.thread import DiscussionEntry
from lookalike.store.labelling.guidelines import Example
from lookalike.store.labelling.progress import AnnotatorProgress
from lookalike.store.labelling.votes import Receipt
from lookalike.store.people.access import DAYS, MOST_DAYS

Number = Annotated[int, Field(ge=0, lt=1 << 63)]
Stripped = Annotated[str, StringConstraints(strip_whitespace=True)]
ImageId = Annotated[str, Field(min_length=1)]
Label = Literal["similar", "dissimilar"]
Note = Annotated[Stripped, Field(max_length=500)]


class Done(BaseModel):
    """The change is saved."""

    done: Literal[True] = True


class Pairs(BaseModel):
    """A page of a list. Send `after` to get the next page; null on the last page."""

    pairs: list[Discussed]
    after: int | None


class Discussion(BaseModel):
    """A pair that is resolved, excluded or in discussion, with its votes, comments, proposals and decisions."""

    pair: Discussed
    entries: list[DiscussionEntry]


class NewComment(Declared):
    """A comment. A comment sent again with the same token is kept once."""

    text: Stripped = Field(min_length=1, max_length=4000)
    token: str = Field(default="", max_length=100)


class Proposal(Declared):
    """The answer that one of those who voted proposes now."""

    verdict: Literal["similar", "dissimilar", "exclude"]


class Decision(Declared):
    """A lead's decision. `reopen` starts the discussion of a pair again."""

    verdict: Literal["similar", "dissimilar", "exclude", "reopen"]


class Guidelines(BaseModel):
    """The text (Markdown) and the example pairs. Version 0 comes with Lookalike."""

    version: int
    text: str
    who: str
    at: int | None
    examples: list[Example]


class NewGuidelines(Declared):
    """A new text. `based_on` is the version that you edited."""

    text: Stripped = Field(min_length=1, max_length=40_000)
    based_on: Number


class NewExample(Declared):
    """A pair of the catalog to show beside the guidelines."""

    query: ImageId
    candidate: ImageId
    label: Label
    note: Note = ""


class NewGold(Declared):
    """A pair of two catalog images with a known answer."""

    query: ImageId
    candidate: ImageId
    answer: Label
    note: Note = ""


class ImageShown(BaseModel):
    """An image of the catalog, its item and category, and the address of a small photo."""

    image: str
    item: str
    category: str
    small_url: str


class NewToken(Declared):
    """A token for a program: what it may do, and for how many days."""

    name: Stripped = Field(min_length=1, max_length=60, title="Name of the program")
    scope: Literal["search", "read", "label", "catalog", "lead"] = Field(
        default="search", title="What it may do"
    )
    days: int = Field(default=DAYS, ge=1, le=MOST_DAYS, title="Days until it ends")


class Queue(BaseModel):
    """The number of pairs in each state, and the number of discovered pairs that are not in the queue yet."""

    states: dict[str, int]
    waiting: int


class Joined(BaseModel):
    """The number of pairs added to the queue, and of pairs withdrawn because a photo was removed."""

    new: int
    withdrawn: int


Token = Annotated[str, Field(min_length=1, max_length=200)]
Reason = Annotated[str, Field(max_length=LONGEST_REASON)]
Milliseconds = Annotated[int, Field(ge=0, le=1 << 53)]


class Answer(CheckedSettings):
    """An answer to a pair. `took`: milliseconds from showing the pair to the answer.

    `reason`: colour, shape, material, ornament, or a line of your own.
    """

    token: Token
    answer: Literal["similar", "dissimilar", "unsure", "skip"]
    took: Milliseconds = 0
    reason: Reason = ""


class Undo(CheckedSettings):
    """The token of the answer to undo."""

    token: Token


class CorrectedAnswer(Declared):
    """Another answer to a pair that you answered. `token` is that of the answer in the list of your answers."""

    token: Token
    answer: Literal["similar", "dissimilar", "unsure"]
    reason: Reason = ""


class NewGoal(Declared):
    """How many answers you want to give in a day. 0: no goal."""

    goal: int = Field(ge=0, le=10_000, title="Goal for a day")


class MissingPhoto(CheckedSettings):
    """The image whose photo cannot be shown."""

    image: Annotated[str, Field(min_length=1)]


class Day(Declared):
    """The day of which answers are counted."""

    midnight: Milliseconds = Field(
        description="Start of the day in your time zone, in milliseconds since 1970. Default: midnight UTC."
    )


class Photo(TypedDict):
    """An image, and the addresses of its photo."""

    image: str
    url: str
    zoom_url: str


class ListedPhoto(Photo):
    """A photo of a list, with the address of a small version."""

    small_url: str


class GivenPair(TypedDict):
    """A pair reserved for you until a time, and the token to answer it with."""

    token: str
    until: int
    left: Photo
    right: Photo


class GivenPairs(TypedDict):
    """The pairs reserved for you."""

    given: list[GivenPair]


class GivenAndProgress(GivenPairs):
    """The pairs reserved for you, and your progress."""

    progress: AnnotatorProgress


class GivenAndReceipt(GivenPairs):
    """What was saved, and the next pairs."""

    receipt: Receipt


class Reported(TypedDict):
    """Whether the photo was not reported before."""

    new: bool


class ShownAnswer(TypedDict):
    """An answer of yours. While it is `correctable`, you can correct it with its token; later, ask a lead."""

    token: str
    left: ListedPhoto
    right: ListedPhoto
    answer: str
    reason: str
    at: int
    correctable: bool


class OwnAnswers(BaseModel):
    """Your progress, and your last 100 answers, the newest first."""

    progress: AnnotatorProgress
    answers: list[ShownAnswer]
