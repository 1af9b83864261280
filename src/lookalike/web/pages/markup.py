"""Guidelines in Markdown as HTML that is safe to show: no HTML of the author's, no images, safe links only."""

from functools import cache
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markupsafe import Markup

SAFE_LINKS = ("http", "https", "mailto")
DEEPEST = 6


def rendered(text: str) -> Markup:
    """HTML of a text in Markdown. HTML in it stays text; headings begin at level 2, below the page's own.

    >>> print(rendered("# Look\\n\\nA **chair** <b>").strip())
    <h2>Look</h2>
    <p>A <strong>chair</strong> &lt;b&gt;</p>
    """
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + 1, DEEPEST)}"
        for part in token.children or ():
            if part.type == "link_open":
                part.attrSet("rel", "noopener")
    return Markup(parser.renderer.render(tokens, parser.options, {}))


@cache
def _parser() -> MarkdownIt:
    return _SafeMarkdown("commonmark", {"html": False}).disable("image")


class _SafeMarkdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's name
        try:
            return urlsplit(url).scheme.lower() in SAFE_LINKS
        except ValueError:
            return False
