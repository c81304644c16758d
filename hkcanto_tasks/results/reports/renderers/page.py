"""Rendering a report as one web page that needs no network: tables, their plots, and answers."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from ....printable import one_line, printable
from ..blocks import ITEMS_NOTICE, ItemView, Report, Section
from .formatting import caption, heading, is_chinese, shorten, shown
from .plots import curve, plot, shade
from .records import plain

LONG_TABLE = 40
"""A table with more rows than this gets a filter."""

BUDGET = 330_000
"""Bytes of a page's sections; above this the longest folded ones are compressed."""

_PACKED = 2_000  # bytes above which compressing a section pays off

TEXT_LIMIT = 20_000
"""Characters of a prompt or a response that the page shows."""


def page(report: Report) -> str:
    """Return a report as one HTML page.

    Nothing in the report can run in the page or load anything: every text is escaped, and a
    Content-Security-Policy admits only the page's own script and style, by their hashes.

    Examples:
        >>> from datetime import datetime
        >>> "<h1>A &lt; B</h1>" in page(Report("A < B", datetime(2026, 1, 2), "0.1", ()))
        True
    """
    style, script = _resource("page.css"), _resource("page.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    html = _template().render(
        report=report, policy=policy, style=Markup(style), script=Markup(script)
    )
    return html.lstrip()


@cache
def _template() -> Template:
    def finalize(value: object) -> object:
        return printable(value) if isinstance(value, str) and type(value) is not Markup else value

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"one_line": one_line, "heading": heading}
    environment.filters |= {"shown": shown, "items": _items, "json": _embedded}
    environment.tests |= {"chinese": is_chinese}
    environment.globals |= {"fitted": _fitted}
    environment.globals |= {"LONG_TABLE": LONG_TABLE, "ITEMS_NOTICE": ITEMS_NOTICE}
    environment.globals |= {"words": _words, "plot": plot, "curve": curve, "shade": shade}
    environment.globals |= {"caption": caption}
    return environment.from_string(_resource("page.html.j2"))


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _fitted(sections: Sequence[Section], bodies: Sequence[str]) -> list[str]:
    """Return the sections' HTML, with the longest folded ones compressed until all fit.

    The page's script unpacks these when they are unfolded; without JavaScript a line says so.
    """
    found, sizes = [*bodies], [len(body.encode()) for body in bodies]
    folded = [place for place, section in enumerate(sections) if not section.is_summary]
    for place in sorted(folded, key=lambda place: -sizes[place]):
        if sum(sizes) <= BUDGET or sizes[place] < _PACKED:
            break
        packed = base64.b64encode(zlib.compress(printable(bodies[place]).encode(), 9)).decode()
        found[place] = Markup(
            '<p class="packed"><noscript>This section needs JavaScript; hkcanto report --format md '
            'has it as text.</noscript></p><script type="text/plain">{}</script>'
        ).format(packed)
        sizes[place] = len(found[place])
    return found


def _embedded(value: object) -> Markup:
    """Return data as JSON that cannot end the script element around it."""
    text = json.dumps(plain(value, printable), ensure_ascii=False, separators=(",", ":"))
    return Markup(re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text))


@lru_cache(maxsize=100_000)  # names and conditions occur many times on a page
def _words(text: str) -> Markup:
    """Return a text as HTML that may break after the separators of a path, name or signature."""
    lang = ' lang="zh-HK"' if is_chinese(text) else ""
    joined = re.sub(r"(?<=[|/_=])(?=\w)", "<wbr>", escape(printable(one_line(text))))
    return Markup(f"<bdi{lang}>{joined}</bdi>")


def _items(view: ItemView) -> Mapping[str, Any]:
    """Return answers for the page's script, each text only once since models share prompts."""
    places: dict[str, int] = {}
    rows = []
    for row in view.rows:
        *texts, score = row.values()
        shortened = [shorten(text, TEXT_LIMIT) for text in texts]
        rows.append([*(places.setdefault(text, len(places)) for text in shortened), score])
    return {"texts": list(places), "rows": rows}
