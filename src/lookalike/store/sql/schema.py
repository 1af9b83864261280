"""The tables of a workspace's database in their newest version."""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

tables = MetaData()
MAIN_POOL = "main"  # the name of the pool that commands use if none is named


def _of_pool(*, key: bool = False) -> Column[str]:
    return Column("pool", Text, nullable=False, primary_key=key, server_default=MAIN_POOL)


image = Table(
    "image",
    tables,
    Column("row", Integer, primary_key=True),
    Column("image", Text, nullable=False, unique=True),
    Column("path", Text, nullable=False),
    Column("item", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("split", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("columns", Text, nullable=False),  # the table's other columns, a JSON object
    Column("duplicate", Integer, nullable=False, server_default="-1"),  # group of duplicate photos; -1: none
    Column(
        "box", Text, nullable=False, server_default=""
    ),  # x0,y0,x1,y1 or with a mask BOX HASH PATH; "": the whole photo
)

signature = Table(
    "signature",
    tables,
    Column("digest", Text, primary_key=True),  # of the photo's content
    Column("signature", LargeBinary, nullable=False),  # identifies near duplicates
)

left_out = Table(
    "left_out",
    tables,
    Column("position", Integer, primary_key=True),
    Column("image", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("reason", Text, nullable=False),
)

label = Table(
    "label",
    tables,
    Column("id", Integer, primary_key=True),
    Column("query", Text, nullable=False),
    Column("candidate", Text, nullable=False),
    Column("label", Integer, nullable=False),
    Column("source", Text, nullable=False),  # the file or the stage that added it
    UniqueConstraint("query", "candidate", "label"),  # a pair can have both labels, which is a conflict
)

pool = Table(
    "pool",
    tables,
    Column("id", Integer, primary_key=True),
    Column("top", Integer, nullable=False),
    Column("generators", Text, nullable=False),  # a JSON list, in order
    Column("name", Text, nullable=False, server_default=MAIN_POOL),
)

Index("pool_name", pool.c.name, unique=True)

pool_query = Table(
    "pool_query",
    tables,
    _of_pool(key=True),
    Column("place", Integer, primary_key=True),
    Column("query", Text, nullable=False),
)

pool_pair = Table(
    "pool_pair",
    tables,
    Column("pair", Integer, primary_key=True),
    _of_pool(),
    Column("query", Text, nullable=False),
    Column("item", Text, nullable=False),
    Column("candidate", Text, nullable=False),
    UniqueConstraint("pool", "query", "item"),
)

pool_source = Table(
    "pool_source",
    tables,
    Column("id", Integer, primary_key=True),
    Column("pair", Integer, ForeignKey("pool_pair.pair"), nullable=False),
    Column("generator", Text, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("score", Float, nullable=False),
)

Index("pool_source_pair", pool_source.c.pair)

random_pair = Table(
    "random_pair",
    tables,
    _of_pool(key=True),
    Column("place", Integer, primary_key=True),  # in the order they were drawn
    Column("query", Text, nullable=False),
    Column("item", Text, nullable=False),
    Column("candidate", Text, nullable=False),
    UniqueConstraint("pool", "query", "item"),
)

# Samples: questions drawn at random for one value. They are frozen at the draw, and nothing changes them later.
sample = Table(
    "sample",
    tables,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("question", Text, nullable=False),  # what is estimated, a JSON object; {}: imported, see frame
    Column("seed", BigInteger, nullable=False),
    Column("looks", Text, nullable=False),  # numbers of labels at which the estimate is read, a JSON list
    Column("catalog", Text, nullable=False),  # the fingerprint at the draw
    Column("made", BigInteger, nullable=False),  # milliseconds since 1970
    Column("frame", LargeBinary),  # what was drawn from; null: the pairs were imported, without it
)

sample_pair = Table(
    "sample_pair",
    tables,
    Column("sample", Integer, ForeignKey("sample.id"), primary_key=True),
    Column("place", Integer, primary_key=True),  # in the order of labelling
    Column("query", Text, nullable=False),
    Column("candidate", Text, nullable=False),
    Column("low", Text, nullable=False),  # the two images in alphabetical order
    Column("high", Text, nullable=False),
    Column("item", Text, nullable=False),  # of the candidate
    Column("stratum", Integer, nullable=False),
    Column("probability", Float, nullable=False),  # of being drawn
    UniqueConstraint("sample", "low", "high"),
)
Index("sample_pair_ends", sample_pair.c.low, sample_pair.c.high)

# Which encoder is served, as a history: the newest row is served. Rows are added, never changed.
promotion = Table(
    "promotion",
    tables,
    Column("id", Integer, primary_key=True),
    Column("encoder", Text, nullable=False),
    Column("origin", Text, nullable=False),  # what made its vectors, a JSON object
    Column("search_index", Text, nullable=False),  # the index that is served; "": exact search
    Column("action", Text, nullable=False),  # first, promote or rollback
    Column("returns", Integer),  # the promotion that a rollback returns to; null: there is none
    Column("gate", Text, nullable=False),  # what the gate found, a JSON object
    Column("made", BigInteger, nullable=False),  # milliseconds since 1970
)
