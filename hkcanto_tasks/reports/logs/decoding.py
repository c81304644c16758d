"""Decoding of logs: strictly typed and fast, yet not stopped by what a model may have written."""

import json
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


class Unusable(Exception):  # noqa: N818
    """A log, or a part of one, cannot be used; the message says why, in one line."""


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
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise Unusable(f"not in a form that this version knows: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    except RecursionError as error:
        raise Unusable("nested too deeply") from error
    try:
        loaded = _without_surrogates(json.loads(data.decode("utf-8", "replace")))
        return msgspec.convert(loaded, decoder.type)
    except msgspec.ValidationError as error:
        raise Unusable(f"not in a form that this version knows: {error}") from error
    except json.JSONDecodeError as error:
        raise Unusable(f"cut off or damaged: {error}") from error
    except RecursionError as error:
        raise Unusable("nested too deeply") from error


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(each) for each in value]
    if isinstance(value, dict):
        return {key: _without_surrogates(each) for key, each in value.items()}
    return value
