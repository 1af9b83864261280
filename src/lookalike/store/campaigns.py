"""How the labelling is run, as a database keeps it: a value for each name."""

import json

from sqlalchemy import Connection, delete, insert, select

from lookalike.annotate.campaign import Campaign
from lookalike.annotate.protocol import Protocol
from lookalike.store.votes_schema import campaign


def read_campaign(connection: Connection) -> Campaign:
    """How the labelling is run; what nobody has set is as usual."""
    found = {name: json.loads(value) for name, value in connection.execute(select(campaign))}
    protocol = Protocol(found.get("protocol", "consensus"), found.get("votes", 2))
    known = {name for name in Campaign.__dataclass_fields__ if name not in ("protocol", "gap")}
    gap = tuple(found.get("gap", Campaign.gap))
    return Campaign(protocol=protocol, gap=gap, **{name: found[name] for name in known & found.keys()})


def write_campaign(connection: Connection, new: Campaign) -> None:
    """Keep how the labelling is run. Pairs that are in the queue keep the number of votes they came with."""
    values = {name: getattr(new, name) for name in Campaign.__dataclass_fields__ if name != "protocol"}
    values |= {"protocol": new.protocol.name, "votes": new.protocol.votes}
    connection.execute(delete(campaign).where(campaign.c.name.in_(values)))
    connection.execute(
        insert(campaign), [{"name": name, "value": json.dumps(value)} for name, value in values.items()]
    )
