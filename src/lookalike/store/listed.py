"""Statements on many rows at once: the rows are one parameter, a list as JSON, which both databases read as a table.

One statement for a batch costs a little more than one for a row; a driver's own loop over the rows costs each of them.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import (
    JSON,
    BindParameter,
    Column,
    ColumnElement,
    Select,
    Subquery,
    Text,
    any_,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    select,
    true,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.expression import ClauseElement

from lookalike.store.prepared import Prepared

ROWS = "rows"
Dialect = Any  # one of the two modules of SQLAlchemy, with its own `insert`


def for_both(make: Callable[[Dialect], ClauseElement]) -> Prepared:
    """A statement that each database spells in its own way."""
    return Prepared({"sqlite": make(sqlite), "postgresql": make(postgresql)})


def listed(dialect: Dialect, *columns: Column[Any], name: str = "listed") -> Subquery:
    """The rows of the parameter `rows` as a table with the names and types of these columns."""
    given: BindParameter[str] = bindparam(ROWS)
    if dialect is sqlite:
        value = func.json_each(given).table_valued("value").c.value
        fields: list[Any] = [
            func.json_extract(value, literal_column(f"'$[{n}]'")) for n in range(len(columns))
        ]
    else:
        value = func.json_array_elements(cast(given, JSON)).table_valued(column("value", JSON)).c.value
        fields = [cast(value.op("->>")(literal_column(str(n))), one.type) for n, one in enumerate(columns)]
    return select(*(field.label(one.name) for field, one in zip(fields, columns, strict=True))).subquery(name)


def is_listed(dialect: Dialect, one: Column[Any]) -> ColumnElement[bool]:
    """Whether a column's value is in the parameter `rows`, a plain list of numbers or of texts."""
    given: BindParameter[str] = bindparam(ROWS)
    if dialect is sqlite:
        return one.in_(select(func.json_each(given).table_valued("value").c.value))
    values = func.json_array_elements_text(cast(given, JSON)).table_valued(column("value", Text)).c.value
    return one == any_(func.array(select(cast(values, one.type)).scalar_subquery()))


def all_of(dialect: Dialect, given: Subquery) -> Select[Any]:
    """All listed rows, as an insertion takes them: SQLite wants a condition before ON CONFLICT."""
    return select(given).where(true()) if dialect is sqlite else select(given)


def as_list(values: Iterable[object]) -> str:
    """Numbers or texts as the parameter that `is_listed` asks for.

    >>> as_list([3, 1])
    '[3,1]'
    """
    return json.dumps(list(values), separators=(",", ":"))


def as_rows(rows: Iterable[Sequence[object]]) -> str:
    """Rows of numbers and texts as the parameter.

    >>> as_rows([(1, "a"), (2, None)])
    '[[1,"a"],[2,null]]'
    """
    return json.dumps(list(rows), separators=(",", ":"))
