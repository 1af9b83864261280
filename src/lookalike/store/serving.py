"""What `lookalike serve` says at its start."""

from sqlalchemy import Connection, func, select

from lookalike.store.votes_schema import question


def open_questions(connection: Connection) -> int:
    """How many questions are open."""
    found = select(func.count()).select_from(question).where(question.c.state == "open")
    return int(connection.execute(found).scalar_one())
