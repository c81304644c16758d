"""Rendering a report as one web page that needs no network: tables and their plots."""

import base64
import re
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from ....printable import one_line, printable
from ..blocks import Report
from .formatting import (
    caption,
    heading,
    is_chinese,
    shown,
)
from .plots import plot

LONG_TABLE = 40
"""A table with more rows than this gets a filter."""


def page(report: Report) -> str:
    """Return a report as one HTML page.

    Nothing in the report can run in the page or load anything: every text is escaped, and a
    Content-Security-Policy admits only the page's own script and style, by their hashes.

    Examples:
        >>> from datetime import datetime
        >>> "<h1>A &lt; B</h1>" in page(Report("A < B", datetime(2026, 1, 2), "0.1", ()))
        True
    """
    fields = code(style=_resource("page.css"), script=_resource("page.js"))
    return _template().render(report=report, **fields).lstrip()


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
        # Not Markup, which is a kind of text.
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _template() -> Template:
    templates = environment()
    templates.tests["chinese"] = is_chinese
    for function in (one_line, heading, caption, shown, plot):
        templates.filters[function.__name__] = function
    templates.filters["words"] = _words
    return templates.from_string(_resource("page.html.j2"), {"LONG_TABLE": LONG_TABLE})


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


@lru_cache(maxsize=100_000)  # names and conditions occur many times on a page
def _words(text: str) -> Markup:
    """Return a text as HTML that may break after the separators of a path, name or signature."""
    lang = ' lang="zh-HK"' if is_chinese(text) else ""
    joined = re.sub(r"(?<=[|/_=])(?=\w)", "<wbr>", escape(printable(one_line(text))))
    return Markup(f"<bdi{lang}>{joined}</bdi>")
