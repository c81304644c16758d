"""Normalise a model's response for matching phrases, and map matches back to the original text."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import regex

from hkcanto_metrics.reasoning import Parts, response_as_text, split_reasoning
from hkcanto_metrics.script import CharacterTable, fold_script

# The answer is near the beginning or the end; reading only these parts bounds the time.
_HEAD, _TAIL = 1_500, 3_500

_GONE = "\0"  # placeholder for a removed character
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_SAME = str.maketrans(*_DATA["same"])
_ACCENTS = regex.compile(r"\p{M}")
_EMOJI = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001ffff](?<![✓✗])")


def _plain(character: str) -> str:
    """The character that replaces another when a text is normalised."""
    plain = unicodedata.normalize("NFKD", character)
    if "\u0338" not in plain:  # the stroke of ≠
        plain = _ACCENTS.sub("", plain)
    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Cf") or character == "\0":
        plain = _GONE
    if len(plain) > 1 or "①" <= character <= "⑳":  # numbers of statements
        plain = character
    folded = fold_script(plain.translate(_SAME))
    return _EMOJI.sub(_GONE, folded.translate(_SAME))


_CHARACTERS = CharacterTable(_plain)
for _kept in "\nˊˇˋ˙ˉ":
    _CHARACTERS[ord(_kept)] = _kept
for _blank in b"\t\v\f\r":
    _CHARACTERS[_blank] = " "
# Each row: characters (every match has at least one of them), the pattern, the replacement.
_REWRITES = [
    (frozenset(needed), re.compile(pattern, re.MULTILINE), replacement)
    for needed, pattern, replacement in _DATA["rows"]
]
READING = _REWRITES[0][1]
_MARKS = [(mark, regex.compile(pattern)) for mark, pattern in _DATA["marks"]]


@dataclass(frozen=True, slots=True)
class Response:
    """A text, with the position of each of its characters in the original response."""

    text: str
    origins: Sequence[int]

    def __getitem__(
        self,
        part: slice,
    ) -> Response:
        return Response(self.text[part], self.origins[part])


def own_answer(response: str | Parts | None) -> Response | None:
    """Cut a response to its answer; of an answer over 5,000 characters, keep both ends.

    Returns `None` if the reasoning was cut off.

    Examples:
        >>> own_answer("<think>C?</think>B").text
        'B'
        >>> own_answer(None).text
        ''
    """
    text = response_as_text(response)
    reasoned = split_reasoning(text)
    if not reasoned.answer.strip() and text.strip():
        return None
    answer = reasoned.answer
    end = len(answer)
    if end <= _HEAD + _TAIL:
        places = _places(reasoned.spans, 0, end)
        return Response(with_chinese_marks(answer), places)
    head = _places(reasoned.spans, 0, _HEAD)
    tail = _places(reasoned.spans, end - _TAIL, end)
    kept = with_chinese_marks(f"{answer[:_HEAD]}\n{answer[-_TAIL:]}")
    return Response(kept, [*head, head[-1], *tail])


def with_chinese_marks(text: str) -> str:
    """Replace half-width marks in Chinese text that mean less than the full-width ones.

    The other half-width marks are read as the full-width ones without this.

    Examples:
        >>> with_chinese_marks("A,B,D都錯.答案:C.長洲")
        'A、B、D都錯。答案:C.長洲'
    """
    if text.isascii():
        return text
    for mark, pattern in _MARKS:
        text = pattern.sub(mark, text)
    return text


def _places(
    spans: Iterable[tuple[int, int]],
    start: int,
    end: int,
) -> list[int]:
    """The places in a response of a part of its answer."""
    places: list[int] = []
    for span in spans:
        inside = range(*span)
        places += inside[max(0, start) : max(0, end)]
        start -= len(inside)
        end -= len(inside)
    return places


def normalize_response(
    response: Response,
    keep_readings: bool = False,
) -> Response:
    """Normalise a response, so that different ways of writing it match the same patterns.

    Each character gets one script and form: plain width, no accents, round brackets, no quotes, 係
    as 是. Markdown, LaTeX wrappers and HTML are removed, and readings (pronunciations) unless kept.
    White space is collapsed, or removed next to Chinese. Line breaks stay; empty lines are removed.

    Examples:
        >>> normalize_response(Response("**答(ㄉㄚˊ)案(on3)**：【Ｂ】", range(20))).text
        '答案:(B)'
    """
    text = response.text.translate(_CHARACTERS)
    origins = response.origins
    present = {*text}
    for needed, pattern, new in _REWRITES[keep_readings:]:
        if present.isdisjoint(needed):
            continue
        texts: list[str] = []
        places: list[int] = []
        end = 0
        for match in pattern.finditer(text):
            start = match.start()
            texts.append(text[end:start])
            texts.append(new)
            places += origins[end : start + len(new)]
            end = match.end()
        if end:
            texts.append(text[end:])
            places += origins[end:]
            text = "".join(texts)
            origins = places
            present.update(new)
    return Response(text, origins)
