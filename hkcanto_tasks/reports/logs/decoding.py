"""Decoding of logs: strictly typed and fast, yet not stopped by what a model may have written."""

import json
import struct
import zlib
from collections.abc import Sequence
from typing import TypeVar

import msgspec

T = TypeVar("T")


class Unusable(Exception):  # noqa: N818
    """A log, or a part of one, cannot be used; the message says why, in one line."""


UNREADABLE = (
    Unusable,
    OSError,
    # What a hostile file may make the libraries below raise.
    *(ValueError, TypeError, RuntimeError, EOFError, OverflowError, struct.error, zlib.error),
)
"""What reading a file or one of its samples may raise, which costs nothing but these."""


def reason(error: BaseException) -> str:
    """Say in a line why something could not be read."""
    if isinstance(error, Unusable):
        return str(error)
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or error}"
    return f"damaged: {str(error).partition(chr(10))[0]}"


def left_out(problems: Sequence[str], read: int, expected: int) -> str | None:
    """Say which samples of a log are missing, None if none; Unusable if none at all is read."""
    if problems and not read:
        raise Unusable(problems[0])
    if problems:
        return f"{problems[0]}; it has {read} of {expected} samples"
    return f"it has {read} of {expected} samples: it is cut off" if read < expected else None


def decode(data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    r"""Decode JSON in UTF-8.

    Both harnesses write NaN and lone surrogates as Python's own `json` does, which msgspec refuses;
    such a text is read by `json`, and its lone surrogates become U+FFFD.

    Raises:
        Unusable: It is not whole, or not of the type.

    Example:
        >>> decode(b'["\\ud800", NaN]', msgspec.json.Decoder(list[str | float]))
        ['\ufffd', nan]
    """
    try:
        try:
            return decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if isinstance(error, msgspec.ValidationError):
                raise
            loaded = json.loads(data.decode("utf-8", "replace"))
            text = json.dumps(loaded, ensure_ascii=False).encode("utf-16", "surrogatepass")
            return msgspec.convert(json.loads(text.decode("utf-16", "replace")), decoder.type)
    except msgspec.ValidationError as error:
        raise Unusable(f"not in a form that this version knows: {error}") from error
    except json.JSONDecodeError as error:
        raise Unusable(f"cut off or damaged: {error}") from error
    except RecursionError as error:
        raise Unusable("nested too deeply") from error
