"""A report as one web page that needs no network: tables, charts by Vega-Lite, and answers."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ...errors import OptionError
from ..blocks import Chart, Column, ItemView, Note, Report, Table
from .formatting import ITEMS_NOTICE, is_chinese, one_line, printable, shorten, shown
from .json_document import plain

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

LONG_TABLE = 40
"""A table of more rows than this can be filtered."""

TEXT_LIMIT = 20_000
"""Characters of a prompt or a response that the page shows."""

_INSTALL = 'a page needs the package {}: pip install "hkcanto[report]".'


def page(report: Report) -> str:
    """Return a report as one HTML page.

    Nothing in the report can run in the page or load anything: every text is escaped, and a
    Content-Security-Policy admits the page's own scripts and style by their hashes only.

    Args:
        report: What to show. The page has a chart library in it (0.9 MB) if there is a chart.

    Raises:
        OptionError: Jinja2, or vl-convert for the charts, is not installed.

    Example:
        >>> from datetime import datetime
        >>> "<h1>A &lt; B</h1>" in page(Report("A < B", datetime(2026, 1, 2), "0.1", ()))
        True
    """
    template = _template()
    from markupsafe import Markup

    has_charts = any(
        isinstance(block, Chart) for section in report.sections for block in section.blocks
    )
    style = _resource("page.css")
    scripts = [_inline(_resource("page.js"))]
    if has_charts:
        scripts.insert(0, _inline(_vega()))
    policy = {
        "default-src": "'none'",
        "script-src": " ".join(map(_hash, scripts)),
        "style-src": _hash(style),
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    html: str = template.render(
        report=report,
        policy="; ".join(f"{name} {value}" for name, value in policy.items()),
        style=Markup(style),
        scripts=[Markup(script) for script in scripts],
        # A comment: the licences ask for no more, and have no `--` in them.
        licences=Markup(_resource("vega_licences.txt")) if has_charts else "",
    )
    return html.lstrip()


@cache
def _template() -> "Template":
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise OptionError(_INSTALL.format("Jinja2")) from error

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
    environment.filters |= {"breakable": _breakable}
    environment.filters |= {"first_order": _first_order, "items": _items}
    environment.tests |= {"chinese": is_chinese}
    environment.tests |= {
        kind.__name__.lower(): lambda block, kind=kind: isinstance(block, kind)
        for kind in (Table, Chart, Note, ItemView)
    }
    environment.globals |= {"LONG_TABLE": LONG_TABLE, "ITEMS_NOTICE": ITEMS_NOTICE}
    return environment.from_string(_resource("page.html.j2"))


@cache
def _vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, from the installed vl-convert."""
    try:
        from vl_convert import javascript_bundle
    except ImportError as error:
        raise OptionError(_INSTALL.format("vl-convert-python")) from error
    bundle: str = javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _inline(script: str) -> str:
    """Return a script with nothing in it that an HTML parser would take for the script's end."""
    return re.sub(r"<(?=/?script)", r"<\\", script, flags=re.IGNORECASE)


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
    if column.unit in ("text", "rank") or column.lower_is_better:
        return "ascending"
    return "descending"


def _items(view: ItemView) -> Mapping[str, Any]:
    """Return answers for the page's script, each text only once: models share their prompts."""
    places: dict[str, int] = {}

    def place(text: str) -> int:
        return places.setdefault(shorten(text, TEXT_LIMIT), len(places))

    rows = [
        [
            *(place(row.model), place(row.task), place(row.item), place(row.subject)),
            *(place(row.prompt), place(row.response), place(row.answer), place(row.target)),
            int(row.correct),
        ]
        for row in view.rows
    ]
    return {"texts": list(places), "rows": rows}
