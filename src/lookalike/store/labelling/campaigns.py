"""The settings of the labelling in the database, and the rules for giving and taking pairs that follow from them."""

import json
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select

from lookalike.annotate.campaign import Campaign
from lookalike.store.people.people import ROLES
from lookalike.store.sql.labelling_schema import annotator, campaign, progress

MOST_REPEATED = 0.05  # of an annotator's answers: a small campaign does not consist of repeats


@dataclass(frozen=True)
class Rules:
    """What giving and taking pairs depends on: the campaign, the share of votes that are repeated, the annotators."""

    campaign: Campaign
    repeat_share: float = 0.0
    people: int = 1


def rules_of(connection: Connection) -> Rules:
    """The rules as they are now; they change when a lead changes the settings."""
    found = read_campaign(connection)
    questions = connection.execute(select(func.sum(progress.c.questions))).scalar() or 0
    present = (annotator.c.removed.is_(None), annotator.c.role.in_(ROLES))
    people = max(connection.execute(select(func.count()).where(*present)).scalar_one(), 1)
    answers = questions * found.protocol.votes / people
    return Rules(found, min(MOST_REPEATED, found.repeats / answers) if answers else 0.0, people)


def read_campaign(connection: Connection) -> Campaign:
    """The settings of the labelling, with defaults for those that nobody has set."""
    names = list(Campaign().model_dump(by_alias=True))
    kept = connection.execute(select(campaign).where(campaign.c.name.in_(names)))
    return Campaign(**{name: json.loads(value) for name, value in kept})


def write_campaign(connection: Connection, new: Campaign) -> None:
    """Keep the settings of the labelling. Pairs already in the queue keep their number of votes."""
    values = new.model_dump(by_alias=True)
    connection.execute(delete(campaign).where(campaign.c.name.in_(list(values))))
    rows = [{"name": name, "value": json.dumps(value)} for name, value in values.items()]
    connection.execute(insert(campaign), rows)
