"""Text of leads as HTML: the small subset is marked up, anything else stays text."""

import re

from hypothesis import given
from hypothesis import strategies as st

from lookalike.web.markup import marked_up

ALLOWED = {"h2", "h3", "h4", "p", "ul", "ol", "li", "strong"}


@given(st.text(alphabet=st.sampled_from("#-*1. \nab<>&\"'/="), max_size=200))
def test_no_text_makes_any_other_element_or_an_attribute(text):
    tags = re.findall(r"<([^>]*)>", marked_up(text))
    assert {tag.removeprefix("/") for tag in tags} <= ALLOWED
    assert 2 * sum(tag.startswith("/") for tag in tags) == len(tags)


def test_headings_lists_and_bold_are_marked_up():
    html = marked_up("# A\ntext\nmore\n\n1. one\n2) two\n## B\n- **x** & y")
    assert html == (
        "<h2>A</h2>\n<p>text more</p>\n<ol><li>one</li><li>two</li></ol>\n<h3>B</h3>\n"
        "<ul><li><strong>x</strong> &amp; y</li></ul>"
    )
