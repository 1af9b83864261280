"""What programs send and get, apart from labelling itself, whose bodies are written by hand for speed."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Number = Annotated[int, Field(ge=0, lt=1 << 63)]
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
Image = Annotated[str, StringConstraints(pattern=r"^[^\x00]+$", min_length=1)]
Label = Literal["similar", "dissimilar"]


class Sent(BaseModel):
    """A body; names it does not know are refused, so that a misspelled one is not passed over."""

    model_config = ConfigDict(extra="forbid")


class Done(BaseModel):
    """It is done and on the disk."""

    done: Literal[True] = True


class PairOut(BaseModel):
    """A pair in a list of discussions; `label`: 1 similar, 0 dissimilar, null: none."""

    question: int
    query: str
    candidate: str
    category: str
    state: str
    label: int | None
    changed: int


class Pairs(BaseModel):
    """A page of a list; `after` asks for the next one, null: this is the last."""

    pairs: list[PairOut]
    after: int | None


class SaidOut(BaseModel):
    """What one annotator has said: a vote, a comment, a proposal or a decision."""

    kind: str
    annotator: int
    name: str
    text: str
    at: int


class Discussion(BaseModel):
    """A pair that is no longer open, and all that was said of it: votes first."""

    pair: PairOut
    said: list[SaidOut]


class CommentIn(Sent):
    """A comment; one sent again under the same token is there once."""

    text: Text = Field(min_length=1, max_length=4000)
    token: Text = Field(min_length=1, max_length=100)


class ProposalIn(Sent):
    """What one who voted now thinks."""

    verdict: Literal["similar", "dissimilar", "exclude"]


class DecisionIn(Sent):
    """A lead's verdict; reopen brings a closed pair back to discussion."""

    verdict: Literal["similar", "dissimilar", "exclude", "reopen"]


class ExampleOut(BaseModel):
    """A pair shown with the guidelines."""

    id: int
    query: str
    candidate: str
    label: int
    note: str


class Guidelines(BaseModel):
    """The text (headings #, lists -, bold **) and the example pairs; version 0 comes with Lookalike."""

    version: int
    text: str
    who: str
    at: int | None
    examples: list[ExampleOut]


class GuidelinesIn(Sent):
    """A new text; `based_on` is the version it was made from."""

    text: Text = Field(min_length=1, max_length=40_000)
    based_on: Number


class ExampleIn(Sent):
    """A pair of the catalog to show with the guidelines."""

    query: Image
    candidate: Image
    label: Label
    note: Text = Field("", max_length=500)


class GoldOut(BaseModel):
    """A gold pair: its known answer, how often it was answered, and how often so."""

    question: int
    query: str
    candidate: str
    answer: str
    note: str
    asked: int
    right: int


class GoldIn(Sent):
    """A pair of two images of the catalog whose answer is known."""

    query: Image
    candidate: Image
    answer: Label
    note: Text = Field("", max_length=500)


class CampaignBody(Sent):
    """How the labelling is run; docs/labelling.md explains each."""

    protocol: Literal["consensus", "majority"]
    votes: int = Field(ge=1, le=50)
    lease_minutes: float = Field(ge=0.5, le=1440)
    undo_seconds: float = Field(ge=0, le=3600)
    ahead: int = Field(ge=1, le=50)
    repeats: int = Field(ge=0, le=10_000)
    gap_least: int = Field(ge=1, le=10_000)
    gap_most: int = Field(ge=1, le=10_000)
    gold_every: int = Field(ge=0, le=10_000)
    planned_hours: float = Field(ge=0, le=1e6)
    break_minutes: float = Field(ge=0, le=1440)
    seed: int = Field(ge=0, le=1 << 53)


class Queue(BaseModel):
    """How many pairs there are in each state, and how many that were discovered wait to join."""

    states: dict[str, int]
    waiting: int


class Joined(BaseModel):
    """How many pairs joined the queue, and how many left it because a photo has gone."""

    new: int
    withdrawn: int
