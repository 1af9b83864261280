"""What people can change: one function for each action, which also writes its line in the audit log.

Forms and the JSON interface call the same function with the same request model, in one write transaction.
"""

import secrets
from dataclasses import dataclass
from random import Random

from sqlalchemy import Connection

from lookalike.annotate.campaign import Campaign
from lookalike.annotate.protocol import LABELS
from lookalike.core.errors import AccessError, ArgumentError
from lookalike.core.text import plural
from lookalike.store.labelling import corrections, gold, guidelines
from lookalike.store.labelling.campaigns import Rules, write_campaign
from lookalike.store.labelling.discussion import thread
from lookalike.store.labelling.votes import Receipt
from lookalike.store.people import access, invites, people, sessions
from lookalike.store.people.people import Login, Person
from lookalike.web.schemas import (
    CorrectedAnswer,
    Decision,
    NewComment,
    NewExample,
    NewGold,
    NewGuidelines,
    NewToken,
    Proposal,
)


@dataclass(frozen=True)
class Actor:
    """The person who sends a request, and what the audit log keeps of it: the time and the network address."""

    person: Person
    now: int
    address: str

    def log(self, connection: Connection, action: str, subject: str = "") -> None:
        """Write a line in the audit log."""
        access.record(connection, self.now, self.person.id, action, subject, self.address)


def change_settings(connection: Connection, by: Actor, new: Campaign) -> None:
    """Change the settings of the labelling.

    Raises ArgumentError unless all are given: a setting that a program left out must not fall back to its default.
    """
    missing = Campaign.model_fields.keys() - new.model_fields_set
    if missing:
        names = sorted(Campaign.model_fields[name].alias or name for name in missing)
        raise ArgumentError(f"Settings are missing: {', '.join(names)}.", fix="Give all settings.")
    write_campaign(connection, new)
    by.log(connection, "changed settings")


def add_gold(connection: Connection, by: Actor, pair: NewGold) -> None:
    """Make a pair with a known answer a gold pair."""
    gold.make_gold(connection, pair.query, pair.candidate, pair.answer, pair.note, by.person.id, by.now)
    by.log(connection, "added gold pair", f"{pair.query} · {pair.candidate}: {pair.answer}")


def remove_gold(connection: Connection, by: Actor, question: int) -> None:
    """Stop using a pair as a gold pair."""
    gold.remove_gold(connection, question)
    by.log(connection, "removed gold pair", f"pair {question}")


def write_guidelines(connection: Connection, by: Actor, new: NewGuidelines) -> None:
    """Save a new version of the guidelines."""
    version = guidelines.write_guideline(connection, new.text, by.person.id, new.based_on, by.now)
    by.log(connection, "saved guidelines", f"version {version}")


def restore_guidelines(connection: Connection, by: Actor, version: int) -> None:
    """Save the text of an older version as the newest version."""
    text = guidelines.read_guideline(connection, version).text
    newest = guidelines.read_guideline(connection).version
    guidelines.write_guideline(connection, text, by.person.id, newest, by.now)
    by.log(connection, "restored guidelines", f"version {version}")


def add_example(connection: Connection, pair: NewExample) -> None:
    """Show a pair as an example beside the guidelines."""
    guidelines.add_example(connection, pair.query, pair.candidate, LABELS[pair.label], pair.note)


def comment(connection: Connection, by: Actor, question: int, new: NewComment) -> None:
    """Comment on a pair. The same comment sent twice is kept once."""
    key = f"{by.person.id}:{new.token or secrets.token_urlsafe(12)}"
    thread.add_comment(connection, question, by.person.id, new.text, key, by.now)


def propose(connection: Connection, by: Actor, question: int, new: Proposal) -> None:
    """Propose an answer for a pair in discussion, as one of those who voted on it."""
    thread.add_proposal(connection, question, by.person.id, new.verdict, by.now)


def decide(connection: Connection, by: Actor, question: int, new: Decision) -> None:
    """End the discussion of a pair, or begin it again."""
    thread.add_decision(connection, question, by.person.id, new.verdict, by.now)


def invite(connection: Connection, by: Actor, role: str, secret: str) -> str:
    """Create a link that lets one person join; returns whom it is for."""
    invites.invite(connection, role, secret, by.now, by=by.person.id)
    by.log(connection, "created invitation", role)
    return f"a new {role}"


def reset_password(connection: Connection, by: Actor, number: int, secret: str) -> str:
    """Create a link with which a person sets a new password; returns their name."""
    invites.reset(connection, number, secret, by.now, by=by.person.id)
    name = people.person(connection, number).name
    by.log(connection, "created password link", name)
    return name


def correct_answer(
    connection: Connection, by: Actor, rules: Rules, new: CorrectedAnswer, draw: Random
) -> Receipt:
    """Answer a pair again that the person answered before. The audit log keeps the earlier answer, also to a check."""
    given = (new.token, new.answer, by.now, draw)
    done = corrections.correct(connection, rules, by.person.id, *given, reason=new.reason)
    if done.change:
        by.log(connection, "corrected answer", done.change)
    return done.receipt


def change_role(connection: Connection, by: Actor, number: int, role: str) -> None:
    """Change a person's role."""
    people.set_role(connection, number, role)
    by.log(connection, f"changed role to {role}", people.person(connection, number).name)


def remove_person(connection: Connection, by: Actor, number: int) -> None:
    """Remove a person from the team; their votes stay."""
    people.remove(connection, number, by.now)
    by.log(connection, "removed person", people.person(connection, number).name)


def log_in(connection: Connection, by: Actor, login: Login, rehashed: str, nonce: str) -> None:
    """Begin a session, and keep the password's hash of the present strength if there is a new one."""
    people.require_unchanged(connection, login)
    if rehashed:
        people.keep_rehashed(connection, login, rehashed)
    sessions.begin_session(connection, by.person.id, nonce, by.now)
    by.log(connection, "logged in")


def log_out(connection: Connection, by: Actor, nonce: str) -> None:
    """End one session."""
    sessions.end_session(connection, nonce)
    by.log(connection, "logged out")


def use_invite(
    connection: Connection, secret: str, name: str, hashed: str, now: int, address: str, nonce: str
) -> Person:
    """Join by an invitation, or set a new password by a link, and begin a session; returns the person."""
    is_new = invites.look(connection, secret, now).person is None
    found = invites.redeem(connection, secret, name, hashed, now)
    sessions.begin_session(connection, found.id, nonce, now)
    Actor(found, now, address).log(connection, "joined" if is_new else "set password by link")
    return found


def change_password(
    connection: Connection, by: Actor, hashed: str, nonce: str, *, revoke_tokens: bool
) -> None:
    """Set a new password, which ends all sessions, and begin a new one. The tokens end if the person wants it."""
    people.set_password(connection, by.person.id, hashed)
    sessions.begin_session(connection, by.person.id, nonce, by.now)
    by.log(connection, "changed password")
    if revoke_tokens:
        _revoke_tokens(connection, by)


def end_other_sessions(connection: Connection, by: Actor, nonce: str) -> None:
    """End all sessions of the person but one, and revoke their tokens."""
    sessions.end_other_sessions(connection, by.person.id, nonce)
    by.log(connection, "ended sessions")
    _revoke_tokens(connection, by)


def _revoke_tokens(connection: Connection, by: Actor) -> None:
    if count := access.revoke_tokens(connection, by.person.id, by.now):
        by.log(connection, "revoked tokens", str(count))


def create_token(connection: Connection, by: Actor, new: NewToken, token: str) -> None:
    """Create a token for a program. Raises AccessError if an annotator asks for a scope of leads."""
    if new.scope in access.OF_LEADS and not by.person.is_lead:
        raise AccessError(
            f'Only leads can create tokens with the scope "{new.scope}".', fix="Choose another scope."
        )
    access.create_token(connection, by.person.id, new.name, token, by.now, scope=new.scope, days=new.days)
    by.log(connection, "created token", f"{new.name} ({new.scope}, {plural(new.days, 'day')})")


def revoke_token(connection: Connection, by: Actor, number: int) -> None:
    """Revoke a token."""
    access.revoke_token(connection, by.person.id, number, by.now)
    by.log(connection, "revoked token", str(number))
