"""Pairs as tasks of Label Studio, and its exports (JSON and JSON-MIN) as votes.

A task shows both photos side by side and asks for one choice. A hash of the pair sets the side of the query.
"""

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lookalike.annotate.protocol import ANSWERS, OPEN
from lookalike.core.types import Catalog
from lookalike.store.disk import write_file
from lookalike.store.formats.tables import read_json
from lookalike.store.history.rows import QUESTION, SKIP, UNDO, VOTE, Row, milliseconds
from lookalike.store.history.votes_file import VoteFile

CHOICE = "similarity"
EDITED_MS = 1000
"""An annotation that changed at least so long after it was made is a later answer."""
CONFIG = f"""\
<View>
  <Header value="Are these two visually similar in style and design, so that one could be recommended for the other?"/>
  <View style="display: grid; grid-template-columns: 1fr 1fr; gap: 1em">
    <Image name="left" value="$left"/>
    <Image name="right" value="$right"/>
  </View>
  <Choices name="{CHOICE}" toName="left" choice="single" showInline="true" required="true">
    <Choice value="similar" hotkey="1"/>
    <Choice value="dissimilar" hotkey="2"/>
    <Choice value="unsure" hotkey="3"/>
  </Choices>
</View>
"""


def write_tasks(pairs: Iterable[tuple[str, str]], catalog: Catalog, path: Path, prefix: str) -> int:
    """Write (query, candidate) pairs as tasks, and the labelling configuration beside them. Returns their number.

    `prefix` comes before a photo's path: a web address, or `/data/local-files/?d=` and the folder of the photos.
    """
    tasks = [{"data": _data(query, candidate, catalog, prefix)} for query, candidate in pairs]
    write_file(path, (json.dumps(tasks, ensure_ascii=False, indent=1) + "\n").encode())
    write_file(config_of(path), CONFIG.encode())
    return len(tasks)


def config_of(path: Path) -> Path:
    """The path of the labelling configuration of a file of tasks."""
    return path.with_suffix(".config.xml")


def _data(query: str, candidate: str, catalog: Catalog, prefix: str) -> dict[str, Any]:
    side = blake2b(f"{query}\x00{candidate}".encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] % 2
    shown = [prefix + quote(str(catalog.path[catalog.row[image]])) for image in (query, candidate)]
    left, right = reversed(shown) if side else shown
    return {"query": query, "candidate": candidate, "side": side, "left": left, "right": right}


def read_results(path: Path, catalog: Catalog, votes: int) -> VoteFile:
    """The annotations of an export as votes of any number of annotators. Cancelled annotations are skips.

    A pair that is not in the queue becomes a question that needs `votes`, or as many votes as the file has for it.
    """
    found = VoteFile(borrowed=True)
    given: list[tuple[Row, str]] = []
    gone = {image.image for image in catalog.left_out}
    for at, entry in enumerate(read_json(path, "tasks")):
        for row, reason in _annotations(entry):
            where = f"task {at + 1:,} (query {row.query!r}, candidate {row.candidate!r})"
            if row.query in gone or row.candidate in gone:
                found.left_out.add(row.pair)
            elif reason or row.query not in catalog.row or row.candidate not in catalog.row:
                found.fault(row, reason or "the catalog has no such image", where)
            elif row.query == row.candidate:
                found.fault(row, "the pair is an image and itself", where)
            else:
                given.append((row, where))
    given.sort(key=lambda pair: (pair[0].at or 0, pair[0].token))
    _add(found, [row for row, _ in given], catalog, votes)
    return found


def _add(found: VoteFile, rows: list[Row], catalog: Catalog, votes: int) -> None:
    """Add the answers in their order. Of several votes of one annotator on a pair the last one counts."""
    answered: dict[str, int] = {}
    voted: dict[tuple[str, str], dict[str, str]] = {}  # the token of each annotator's vote on a pair
    for row in rows:
        place, mine = answered.get(row.who, 0), voted.setdefault(row.pair, {})
        earlier = mine.get(row.who.casefold())
        if row.event == SKIP and earlier is not None:
            continue  # they voted on this pair before
        if earlier is not None:
            undone = row._replace(event=UNDO, answer="", took=0, token=f"{UNDO}:{earlier}")
            found.events.append(undone._replace(place=0))
        found.events.append(row._replace(place=place))
        if row.event == VOTE:
            answered[row.who] = place + 1
            mine[row.who.casefold()] = row.token
    for row in rows:
        at = catalog.row[row.candidate]
        asked = Row(
            QUESTION, None, "", row.query, row.candidate, kind="chosen", both=0, place=0, state=OPEN,
            needed=max(votes, len(voted[row.pair])), item=str(catalog.item[at]),
            category=str(catalog.category[catalog.row[row.query]]),
        )  # fmt: skip
        found.questions.setdefault(row.pair, asked)


def _annotations(entry: object) -> list[tuple[Row, str]]:
    """The votes and skips of one entry, each with the reason why it cannot be used."""
    if not isinstance(entry, Mapping):
        return [(Row(VOTE, None, "", "", ""), "it is not a task")]
    if "annotation_id" in entry:
        return [_vote(entry, entry, entry.get("annotator"), entry.get("id"), entry.get("annotation_id"))]
    data, made = entry.get("data"), entry.get("annotations", entry.get("completions", []))
    if not isinstance(data, Mapping) or not isinstance(made, list):
        return [(Row(VOTE, None, "", "", ""), "it is not a task")]
    return [
        _vote(data, one, one.get("completed_by"), entry.get("id"), one.get("id"))
        for one in made
        if isinstance(one, Mapping)
    ]


def _vote(
    data: Mapping[str, Any], made: Mapping[str, Any], by: object, task: object, number: object
) -> tuple[Row, str]:
    cancelled = bool(made.get("was_cancelled"))
    answer = "" if cancelled else _choice(made)
    reason = "" if cancelled or answer in ANSWERS else f"the choice is not one of {', '.join(ANSWERS)}"
    lead = made.get("lead_time")
    at, edited = _time(made.get("created_at")), _time(made.get("updated_at"))
    token = f"label-studio:{task}:{number}"
    if at is not None and edited is not None and edited - at >= EDITED_MS:
        at, token = edited, f"{token}:{edited}"
    row = Row(
        SKIP if cancelled else VOTE,
        at,
        _who(by),
        str(data.get("query", "")),
        str(data.get("candidate", "")),
        answer=answer,
        side=int(data.get("side") in (1, "1", True)),
        took=round(1000 * lead) if isinstance(lead, int | float) and 0 <= lead < 1e6 else 0,
        token=token,
    )
    if not row.query or not row.candidate:
        reason = "the task has no query and candidate, so Lookalike did not write it"
    elif number is None or not row.who:
        reason = "the annotation has no id or no annotator"
    elif row.at is None:
        reason = "the annotation has no time (created_at)"
    return row, reason


def _choice(made: Mapping[str, Any]) -> str:
    """The choice of an annotation: among its results in JSON, under the name of the control in JSON-MIN."""
    plain = made.get(CHOICE)
    if isinstance(plain, str):
        return plain
    found = plain.get("choices", []) if isinstance(plain, Mapping) else []
    for result in made.get("result") or []:
        if isinstance(result, Mapping) and result.get("from_name") == CHOICE:
            value = result.get("value")
            found = value.get("choices", []) if isinstance(value, Mapping) else []
    return str(found[0]) if isinstance(found, list) and len(found) == 1 else ""


def _time(given: object) -> int | None:
    try:
        return milliseconds(str(given).replace("Z", "+00:00"))
    except (ValueError, OverflowError):
        return None


def _who(given: object) -> str:
    """The name of an annotator. Only the part of an address before the @ is used, with four digits."""
    if isinstance(given, Mapping):
        given = given.get("email") or given.get("id")
    if given is None or isinstance(given, bool) or given == "":
        return ""
    if isinstance(given, str) and "@" in given:
        digits = blake2b(given.casefold().encode(), digest_size=2).hexdigest()
        return f"{given.partition('@')[0]} ({digits})"
    return f"Label Studio {given}"
