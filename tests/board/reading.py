"""Read the tables of a board's page, as a reader sees them."""

import re
from html import unescape


def rows(page: str, kind: str = "") -> dict[str, list[str]]:
    """Return the rows of the current results: name → the texts of its cells.

    A name that occurs twice has its first row. With a kind, only the rows below its heading count.
    """
    named: dict[str, list[str]] = {}
    for body in re.findall(r"<tbody>(.*?)</tbody>", page, re.S):
        if kind in body:
            for row in re.findall(r"<tr(?! class).*?</tr>", body, re.S):
                cells = [
                    _text(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)
                ]
                named.setdefault(cells[0], cells[1:])
    return named


def header(page: str) -> list[str]:
    """Return the headings of the first table."""
    (found, *_) = re.findall(r"<thead>(.*?)</thead>", page, re.S)
    return [_text(cell) for cell in re.findall(r"<th.*?</th>", found, re.S)]


def _text(html: str) -> str:
    return " ".join(
        unescape(re.sub(r"<[^>]+>", " ", html.replace("<wbr>", ""))).split()
    )
