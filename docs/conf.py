"""How Sphinx builds the documentation site; `docs/_site/build.py` calls it."""

from typing import TYPE_CHECKING

from lookalike.core.version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Lookalike"
version = release = __version__
copyright = "the authors of Lookalike"
language = "en"
smartquotes = False  # quotes of commands are copied
highlight_language = "text"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
suppress_warnings = ["myst.strikethrough"]

default_role = "literal"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
# Only names of Lookalike itself are links: an index of other projects would need the network.
nitpick_ignore_regex = [("py:.*", r"(?!lookalike\.[A-Za-z_]+$).*")]

html_theme = "furo"
html_title = "Lookalike"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # a page opened as a file cannot read other files
html_theme_options = {"top_of_page_buttons": []}


def formulas(
    _app: "Sphinx", _what: str, _name: str, _thing: object, _options: object, lines: list[str]
) -> None:
    """Indented lines of a docstring, such as formulas, as a literal block."""
    for at in range(len(lines) - 1, 0, -1):
        begins = lines[at].startswith("    ") and not lines[at - 1].strip()
        if begins and not lines[at].lstrip().startswith(">>>"):
            lines[at:at] = ["::", ""]


def setup(app: "Sphinx") -> None:
    """Register what reads docstrings."""
    app.connect("autodoc-process-docstring", formulas)
