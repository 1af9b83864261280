"""docs/how-to/encoders.md cannot lie: its strings are encoder strings, and its options are all there are."""

import re
import shlex
from pathlib import Path

from lookalike.encode.sources.libraries import OWN
from lookalike.encode.spec import SOURCES, parse

TEXT = (Path(__file__).parents[2] / "docs/how-to/encoders.md").read_text(encoding="utf-8")
LINES = [shlex.split(line) for line in TEXT.splitlines() if line.startswith("    lookalike embed ")]


def test_every_string_of_the_page_names_a_source_that_can_be_computed():
    found = {parse(line[2]).source for line in LINES}
    assert found == set(SOURCES)


def test_every_option_is_in_the_table():
    rows = [line for line in TEXT.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == set(OWN)
