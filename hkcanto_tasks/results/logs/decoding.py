"""Decoding of logs: strictly typed, fast, and robust to anything that a model may write."""

import json
import struct
import zlib
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from ...errors import HKCantoError

T = TypeVar("T")


UNREADABLE = (
    # Errors that the libraries below raise on a hostile file, or if a library is missing.
    *(OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(RuntimeError, EOFError, ImportError, struct.error, zlib.error, HKCantoError),
)
"""Errors of reading a file or a sample; each costs only that file or sample."""

_WHY = {
    msgspec.ValidationError: "not in a format that this version knows",
    json.JSONDecodeError: "cut off or damaged",
    RecursionError: "nested too deeply",
    OSError: "cannot be read",
    ImportError: "pip install 'hkcanto[report]'",
    Exception: "damaged",
}


def reason(error: BaseException) -> str:
    """Return in one line why something could not be read."""
    if isinstance(error, HKCantoError):
        return str(error)
    why = next(why for kind, why in _WHY.items() if isinstance(error, kind))
    return f"{why}: {str(error).partition(chr(10))[0]}"


def left_out(problems: Sequence[str], read: int, expected: int) -> str | None:
    """Return how many samples of a log are missing and why; None if it has all."""
    count = f"it has {read} of {expected} samples"
    if problems:
        return f"{problems[0]}; {count}"
    return f"{count}: it is cut off" if read < expected else None


def decode(data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    r"""Decode JSON in UTF-8.

    Both harnesses write NaN and lone surrogates like Python's `json`, and msgspec refuses them.
    `json` then reads the text: NaN becomes null, and lone surrogates become U+FFFD.

    Examples:
        >>> decode(b'["\\ud800", NaN]', msgspec.json.Decoder(list[str | None]))
        ['\ufffd', None]
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        loaded = json.loads(data.decode("utf-8", "replace"), parse_constant=lambda _: None)
        text = json.dumps(loaded, ensure_ascii=False).encode("utf-16", "surrogatepass")
        return decoder.decode(text.decode("utf-16", "replace"))
