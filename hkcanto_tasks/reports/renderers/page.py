"""A report as one web page that needs no network: tables, their plots, and answers."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ...errors import OptionError
from ..blocks import Column, ItemView, Note, Report, Table
from .formatting import ITEMS_NOTICE, is_chinese, one_line, printable, shorten, shown
from .plots import plot
from .records import plain

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

LONG_TABLE = 40
"""A table of more rows than this can be filtered."""

TEXT_LIMIT = 20_000
"""Characters of a prompt or a response that the page shows."""


def page(report: Report) -> str:
    """Return a report as one HTML page.

    Nothing in the report can run in the page or load anything: every text is escaped, and a
    Content-Security-Policy admits the page's own script and style by their hashes only.

    Raises:
        OptionError: Jinja2 is not installed.

    Example:
        >>> from datetime import datetime
        >>> "<h1>A &lt; B</h1>" in page(Report("A < B", datetime(2026, 1, 2), "0.1", ()))
        True
    """
    template = _template()
    from markupsafe import Markup

    style, script = _resource("page.css"), _resource("page.js")
    policy = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    html: str = template.render(
        report=report,
        policy="; ".join(f"{name} {value}" for name, value in policy.items()),
        style=Markup(style),
        script=Markup(script),
    )
    return html.lstrip()


@cache
def _template() -> "Template":
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise OptionError(
            'a page needs the package Jinja2: pip install "hkcanto[report]".'
        ) from error

    def finalize(value: object) -> object:
        return printable(value) if isinstance(value, str) and type(value) is not Markup else value

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"shown": shown, "one_line": one_line, "json": _embedded}
    environment.filters |= {"breakable": _breakable, "first_order": _first_order}
    environment.filters |= {"items": _items, "beneath": _beneath}
    environment.tests |= {"chinese": is_chinese}
    environment.tests |= {
        kind.__name__.lower(): lambda block, kind=kind: isinstance(block, kind)
        for kind in (Table, Note, ItemView)
    }
    environment.globals |= {"LONG_TABLE": LONG_TABLE, "ITEMS_NOTICE": ITEMS_NOTICE, "plot": plot}
    return environment.from_string(_resource("page.html.j2"))


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _embedded(value: object) -> "Markup":
    """Return data as JSON that cannot end the script element it stands in."""
    from markupsafe import Markup

    text = json.dumps(plain(value, printable), ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _breakable(text: str) -> "Markup":
    """Return a text as HTML that may break where a path, a name or a signature has a joint."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"(?<=[|/_=])(?=\w)", "<wbr>", escape(text)))


def _first_order(column: Column) -> str:
    """Return the order that a reader wants first: the best, or the alphabet."""
    return "ascending" if column.unit == "text" or column.lower_is_better else "descending"


def _beneath(columns: Sequence[Column]) -> list[int]:
    return [place for place, column in enumerate(columns) if column.beneath]


def _items(view: ItemView) -> Mapping[str, Any]:
    """Return answers for the page's script, each text only once: models share their prompts."""
    places: dict[str, int] = {}

    def place(text: str) -> int:
        return places.setdefault(shorten(text, TEXT_LIMIT), len(places))

    rows = [
        [
            *(place(row.model), place(row.task), place(row.item), place(row.subject)),
            *(place(row.prompt), place(row.response), place(row.answer), place(row.target)),
            *(place(row.reason), row.score),
        ]
        for row in view.rows
    ]
    return {"texts": list(places), "rows": rows}
