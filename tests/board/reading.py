"""Read the tables of an HTML page, as a reader sees them."""

import re
from html import unescape


def rows(page: str, table: str) -> dict[str, list[str]]:
    """Return the rows of a table: name → the texts of its cells."""
    (found,) = re.findall(rf'id="table-{table}".*?<tbody>(.*?)</tbody>', page, re.S)
    listed = re.findall(r"<tr.*?</tr>", found, re.S)
    cells = [
        [_text(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)] for row in listed
    ]
    return {own[0]: own[1:] for own in cells}


def header(page: str, table: str) -> list[str]:
    """Return the headings of a table."""
    (found,) = re.findall(rf'id="table-{table}".*?<thead>(.*?)</thead>', page, re.S)
    return [_text(cell) for cell in re.findall(r"<th.*?</th>", found, re.S)]


def _text(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html.replace("<wbr>", ""))).split())
