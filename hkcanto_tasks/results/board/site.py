"""The files of a board: its pages and its feed."""

from collections.abc import Mapping
from hashlib import sha256
from uuid import UUID
from xml.etree import ElementTree as ET

from ..reports.renderers.page import page
from .pages import FEED, changes, pages, told
from .records import EPOCH
from .standing import Board

_MOST = 50  # entries of the feed
_ATOM = "http://www.w3.org/2005/Atom"


def files(board: Board, title: str, url: str = "") -> Mapping[str, str]:
    """Return the files of a board: path → text. Equal results make equal files.

    Args:
        board: The results on it.
        title: The board's title.
        url: The address that the site will have, for the feed.
    """
    made = {path: page(report) for path, report in pages(board, title)}
    return made | {FEED: _feed(board, title, url)}


def _feed(board: Board, title: str, url: str) -> str:
    """Return the feed of changes, in Atom (RFC 4287)."""
    home = f"{url.rstrip('/')}/" if url else ""
    feed = ET.Element("feed", xmlns=_ATOM)
    # Dated by the newest result, not today, so that equal results make equal feeds.
    updated = board.date or EPOCH
    _add(feed, title=title, id=_id(title, url), updated=updated.isoformat())
    ET.SubElement(feed, "link", href=home or "index.html")
    if url:
        ET.SubElement(feed, "link", href=f"{home}{FEED}", rel="self")
    ET.SubElement(ET.SubElement(feed, "author"), "name").text = title
    for change in changes(board)[:_MOST]:
        entry = ET.SubElement(feed, "entry")
        made = {
            "id": _id(title, change.label, f"{change.when:%Y-%m-%d}"),
            "updated": change.when.isoformat(),
        }
        _add(entry, title=change.label, summary=told(change), **made)
        ET.SubElement(entry, "link", href=f"{home}{change.href}")
    ET.indent(feed)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(feed, encoding="unicode")}\n'


def _add(parent: ET.Element, **texts: str) -> None:
    for name, text in texts.items():
        ET.SubElement(parent, name).text = text


def _id(*parts: str) -> str:
    return UUID(bytes=sha256("\n".join(parts).encode()).digest()[:16], version=4).urn
