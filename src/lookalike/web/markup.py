"""Text of leads as HTML: headings, paragraphs, lists and bold; everything else stays the text it is."""

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

HEADING = re.compile(r"(#{1,3})\s+(.*)")
ITEM = re.compile(r"[-*]\s+(.*)")
NUMBERED = re.compile(r"\d{1,3}[.)]\s+(.*)")
BOLD = re.compile(r"\*\*(.+?)\*\*")


def marked_up(text: str) -> Markup:
    """HTML of a text. Lines that begin with #, ## or ### are headings, with - or 1. lists; **so** is bold.

    >>> print(marked_up("# Look\\n\\nA **chair** <b>\\n- one\\n- two"))
    <h2>Look</h2>
    <p>A <strong>chair</strong> &lt;b&gt;</p>
    <ul><li>one</li><li>two</li></ul>
    """
    return Markup("\n").join(_blocks(text.splitlines()))


def _blocks(lines: list[str]) -> Iterator[Markup]:
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        heading = HEADING.fullmatch(line)
        if not line:
            at += 1
        elif heading:
            level = len(heading[1]) + 1  # the page's own title is the first heading
            yield Markup(f"<h{level}>{{}}</h{level}>").format(_words(heading[2]))
            at += 1
        elif _kind(line) == "p":
            end = _end(lines, at)
            yield Markup("<p>{}</p>").format(_words(" ".join(part.strip() for part in lines[at:end])))
            at = end
        else:
            kind, end = _kind(line), _end(lines, at)
            items = (Markup("<li>{}</li>").format(_words(_item(part))) for part in lines[at:end])
            yield Markup(f"<{kind}>{{}}</{kind}>").format(Markup("").join(items))
            at = end


def _kind(line: str) -> str:
    if ITEM.fullmatch(line):
        return "ul"
    return "ol" if NUMBERED.fullmatch(line) else "p"


def _end(lines: list[str], at: int) -> int:
    """The line after a block: one that is blank, a heading or of another kind."""
    kind, end = _kind(lines[at].strip()), at
    while end < len(lines):
        line = lines[end].strip()
        if not line or HEADING.fullmatch(line) or _kind(line) != kind:
            break
        end += 1
    return end


def _item(line: str) -> str:
    found = ITEM.fullmatch(line.strip()) or NUMBERED.fullmatch(line.strip())
    return found[1] if found else line


def _words(text: str) -> Markup:
    return Markup(BOLD.sub(r"<strong>\1</strong>", str(escape(text))))
