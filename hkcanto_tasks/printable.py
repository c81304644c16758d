"""Replace control characters in untrusted text, for terminals, pages and Markdown."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

# Control characters would act on a terminal or be refused by a parser; bidirectional marks,
# embeddings, overrides and isolates would reverse the text after them; surrogates have no encoding.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef"
    "\ufffe\uffff\ud800-\udfff]"
)
_PICTURES = {chr(code): chr(0x2400 + code) for code in range(0x20)} | {"\x7f": "␡"}


def printable(text: str) -> str:
    r"""Return a text with visible signs in place of control and other unprintable characters.

    Examples:
        >>> printable("a\x00b\x1b[31m\r\n\u202ec")
        'a␀b␛[31m\n�c'
    """
    if text.isascii() and text.isprintable():  # like most texts
        return text
    lines = re.sub(r"\r\n?", "\n", text)
    return _UNPRINTABLE.sub(lambda sign: _PICTURES.get(sign[0], "\ufffd"), lines)


def one_line(text: str) -> str:
    """Return a text made printable and on one line, with single spaces."""
    return " ".join(printable(text).split())


@cache
def warn_once(text: str) -> None:
    """Log a warning, however often it is given, once."""
    logging.getLogger("hkcanto").warning("%s", text)


@contextmanager
def quietly() -> Iterator[None]:
    """Log no warnings, where the caller reports what they would say."""
    log = logging.getLogger("hkcanto")
    was_disabled = log.disabled
    log.disabled = True
    try:
        yield
    finally:
        log.disabled = was_disabled


def readable_log(record: logging.LogRecord) -> bool:
    """Make a log record printable: a filter for a logger."""
    record.msg = printable(record.getMessage())
    record.args = ()
    return True


# Applies whether a harness or Python itself shows the package's log.
logging.getLogger("hkcanto").addFilter(readable_log)
