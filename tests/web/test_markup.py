"""Guidelines in Markdown: marked up, and safe for any text."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.web.pages.markup import rendered

ALLOWED = {
    *("h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote", "hr", "br"),
    "a",
}  # fmt: skip
ATTRIBUTES = {("a", "href"), ("a", "rel"), ("a", "title"), ("ol", "start"), ("code", "class")}


class Seen(HTMLParser):
    """The elements of a page, with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))


def check_safe(html: str) -> None:
    for tag, attributes in Seen(html).elements:
        assert tag in ALLOWED, html
        assert {(tag, name) for name in attributes} <= ATTRIBUTES, html
        if tag == "a":
            assert attributes["rel"] == "noopener", html
            assert re.match(r"(https?|mailto):", attributes["href"], re.IGNORECASE), html


@given(st.text(alphabet=st.sampled_from("#-*1.`![]()<>&\"'/=: \n\tabjhtp"), max_size=200))
def test_no_text_makes_any_other_element_or_attribute(text):
    check_safe(rendered(text))


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        '<img src=x onerror="alert(1)">',
        "<a href='javascript:alert(1)'>x</a>",
        "<!-- x --><style>*{display:none}</style>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java&#115;cript:alert(1))",
        "[x](&#x6A;avascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "[x](//evil.example)",
        "[x](/logout)",
        "[x](<javascript:alert(1)>)",
        "[x]: javascript:alert(1)\n\n[x]",
        "<javascript:alert(1)>",
        '[x](https://a.example "\\" onmouseover=alert(1) x=\\"")',
        '[x](https://a.example/"onmouseover="alert(1))',
        "![x](https://evil.example/pixel.png)",
        "![x](data:image/svg+xml;base64,PHN2Zz4=)",
        "[![x](https://evil.example/pixel.png)](https://a.example)",
        "```\n</code></pre><script>alert(1)</script>\n```",
        '``` "onclick=alert(1)\nx\n```',
        "`<b onclick=x>`",
    ],
)
def test_attacks_stay_text(attack):
    html = rendered(attack)
    check_safe(html)
    assert "<img" not in html


@pytest.mark.parametrize("address", ["https://a.example/b?c=d", "http://a.example", "mailto:lea@a.example"])
def test_links_to_pages_and_mail_are_links(address):
    (_, (tag, attributes)) = Seen(rendered(f"[x]({address})")).elements
    assert (tag, attributes) == ("a", {"href": address, "rel": "noopener"})


def test_headings_lists_and_emphasis_are_marked_up():
    html = rendered("# A\ntext\nmore\n\n1. one\n2. two\n\n###### F\n- **x** & *y*")
    assert [tag for tag, _ in Seen(html).elements] == [
        "h2", "p", "ol", "li", "li", "h6", "ul", "li", "strong", "em"
    ]  # fmt: skip
    assert "&amp;" in html
