"""Rendering a report as one web page that needs no network: tables and their plots."""

import base64
import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from ....messages import spoken
from ....printable import one_line, printable
from ..blocks import Block, Note, Report, Section, TableBlock
from .formatting import (
    TIED,
    caption,
    doubt,
    heading,
    is_chinese,
    shown,
)
from .plots import plot, strips

LONG_TABLE = 40
"""A table with more rows than this gets a filter."""
WORDS: Mapping[str, str] = {
    "skip": "Skip to the content",
    "unfold": "Unfold all",
    "fold": "Fold all",
    "light": "Light theme",
    "dark": "Dark theme",
    "filter": "Filter rows",
    "all rows": "{all} rows",
    "some rows": "{some} of {all} rows",
    "warning": "1 warning",
    "warnings": "{} warnings",
    "meanings": "What the columns mean",
    "strip": "score and 95 % interval (further right is better)",
    "score": "score and 95 % interval",
    "gain": "difference and its interval",
    "tied": "best of the task, or not significantly different from the best",
    "doubtful": "doubtful: see the warnings",
    "chance": "the interval includes 0: could be chance",
    "best": "best published score",
}
"""The fixed texts of a page."""


def page(report: Report) -> str:
    """Return a report as one HTML page.

    Nothing in the report can run in the page or load anything: every text is escaped, and a
    Content-Security-Policy admits only the page's own script and style, by their hashes.

    Examples:
        >>> from datetime import datetime
        >>> "<h1>A &lt; B</h1>" in page(Report("A < B", datetime(2026, 1, 2), "0.1", ()))
        True
    """
    words = {name: spoken(text) for name, text in WORDS.items()}
    script = _resource("page.js").replace("WORDS", json.dumps(words))
    fields = code(style=marks_style() + _resource("page.css"), script=script)
    page_text = _template().render(
        report=report, words=words, language=spoken("en"), **fields
    )
    return page_text.lstrip()


def marks_style() -> str:
    """Return the colours and the style of marks, which a board shares."""
    return _resource("marks.css")


def code(style: str, script: str) -> dict[str, str]:
    """Return the style and script of a page, and a Content-Security-Policy for these alone."""
    policy = (
        f"default-src 'none'; script-src 'sha256-{_hash(script)}'; "
        f"style-src 'sha256-{_hash(style)}'; base-uri 'none'; form-action 'none'"
    )
    return {
        "policy": policy,
        "style": Markup(style),
        "script": Markup(script),
    }


def _hash(text: str) -> str:
    return base64.b64encode(sha256(text.encode()).digest()).decode()


def environment() -> Environment:
    """Return an environment of templates whose texts are all escaped and printable."""
    return Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(_resource),
        # Not Markup, which is a kind of text.
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _template() -> Template:
    templates = environment()
    templates.tests["chinese"] = is_chinese
    templates.tests["opened"] = _is_opened
    templates.tests["matrix"] = _is_matrix
    for function in (one_line, heading, caption, doubt, shown, plot, strips):
        templates.filters[function.__name__] = function
    templates.filters["words"] = _words
    templates.globals |= {"LONG_TABLE": LONG_TABLE, "TIED": TIED}
    return templates.get_template("page.html.j2")


def _is_opened(section: Section) -> bool:
    """Return whether a section after the first is unfolded: a summary without warnings."""
    notes = [block for block in section.blocks if isinstance(block, Note)]
    return section.is_summary and not any(note.level == "warning" for note in notes)


def _is_matrix(block: Block) -> bool:
    """Return whether a block is a table with a plot in each cell."""
    return isinstance(block, TableBlock) and any(
        column.strip for column in block.columns
    )


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


@lru_cache(maxsize=100_000)  # names and conditions occur many times on a page
def _words(text: str) -> Markup:
    """Return a text as HTML that may break after the separators of a path, name or signature."""
    lang = ' lang="zh-HK"' if is_chinese(text) else ""
    joined = re.sub(r"(?<=[|/_=])(?=\w)", "<wbr>", escape(printable(one_line(text))))
    return Markup(f"<bdi{lang}>{joined}</bdi>")
