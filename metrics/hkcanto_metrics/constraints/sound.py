"""Verifiers of sound: rhyme and tones, in Jyutping.

A character may have several readings. The reading that PyCantonese gives it in its word and line
counts. So does every reading that it has in at least a tenth of its words in rime-cantonese's list:
聽 can be teng1, ting1 or ting3, and 女 can be neoi5 or neoi2. A character fits if one of its
readings fits. A character without a reading fits nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache
from typing import Annotated, Literal

from msgspec import Meta

from hkcanto_metrics.constraints.declaring import Number, condition
from hkcanto_metrics.constraints.reading import han_of, lines_of, narrow, verses_of
from hkcanto_metrics.jyutping import is_valid, parse_syllable
from hkcanto_metrics.script import to_traditional

Tones = Annotated[
    str, Meta(pattern=r"^[1-6平仄*]+$", description="text of tones: 1 to 6, 平, 仄, or * for any")
]
Scheme = Annotated[
    str,
    Meta(pattern=r"^[A-Z-]{2,}$", description="text like AABA, with - for a free line"),
]
_LEAST_SHARE = 0.1
# The longest line that is read in context; PyCantonese is slow on long lines.
_CONTEXT = 40


@cache
def _known() -> dict[str, frozenset[str]]:
    from pycantonese.data.rime_cantonese import CHARS_TO_JYUTPING

    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word, jyutping in CHARS_TO_JYUTPING.items():
        syllables = jyutping.split()
        if len(syllables) == len(word):
            for character, syllable in zip(word, syllables, strict=True):
                counts[character][syllable] += 1
    return {
        character: frozenset(
            syllable for syllable, n in each.items() if n >= _LEAST_SHARE * each.total()
        )
        for character, each in counts.items()
    }


def readings(text: str) -> list[frozenset[str]]:
    """Return the readings of each Chinese character.

    Args:
        text: A line; of a long one, only the last 40 characters are read in context.

    Returns:
        The syllables that count for each character, see the module; none for an unknown one.

    Examples:
        >>> [sorted(each) for each in readings("聽歌")]
        [['teng1', 'ting1', 'ting3'], ['go1']]
    """
    from pycantonese import characters_to_jyutping

    han = to_traditional(han_of(text))
    in_context: list[str | None] = [None] * max(0, len(han) - _CONTEXT)
    for word, jyutping in characters_to_jyutping(han[-_CONTEXT:]):
        syllables = (jyutping or "").split()
        in_context += syllables if len(syllables) == len(word) else [None] * len(word)
    return [
        _known().get(character, frozenset()) | ({said} if said else set())
        for character, said in zip(han, in_context, strict=True)
    ]


def _fits(syllables: frozenset[str], symbol: str) -> bool:
    """Whether a reading has a tone. 平 (level) is 1 or 4 without a stop; 仄 is any other."""
    if symbol in "平仄":
        return any((s[-1] in "14" and s[-2] not in "ptk") == (symbol == "平") for s in syllables)
    return symbol == "*" or any(each[-1] == symbol for each in syllables)


def _follow(found: list[frozenset[str]], pattern: str) -> bool:
    return len(found) == len(pattern) and all(map(_fits, found, pattern))


def _nothing_rhymes(scheme: str | None, **_: object) -> str:
    return f"no letter is twice in scheme {scheme}" if scheme and not _groups(scheme) else ""


def _groups(scheme: str) -> list[list[int]]:
    """The positions of the lines that rhyme with one another."""
    places = [
        [i for i, each in enumerate(scheme) if each == letter] for letter in {*scheme} - {"-"}
    ]
    return [group for group in places if len(group) > 1]


@condition(impossible=_nothing_rhymes)
def rhyme(
    answer: str, *, scheme: Scheme | None = None, unit: Literal["lines", "verses"] = "lines"
) -> bool:
    """The last characters of the lines rhyme in Cantonese (押韻).

    Args:
        answer: The answer, without a title.
        scheme: A letter for each line. Lines with the same letter rhyme; a letter that occurs once,
            and -, leave a line free. By default all lines rhyme.
        unit: Whether to compare lines or verses (see `verses`).

    Returns:
        Whether they have the same nucleus and coda, in any tone; see the module for characters with
        several readings. Lines that all end in the same character do not rhyme.

    Examples:
        >>> rhyme("天色青青\\n風好輕\\n月光明"), rhyme("天光\\n天光"), rhyme("去街\\n飲茶")
        (True, False, False)
    """
    units = [han_of(each) for each in (lines_of if unit == "lines" else verses_of)(answer)]
    scheme = scheme or "A" * len(units)
    if len(units) < 2 or len(units) != len(scheme) or not all(units):
        return False
    return all(
        len({units[i][-1] for i in group}) > 1
        and frozenset.intersection(*(_rimes(units[i]) for i in group))
        for group in _groups(scheme)
    )


def _rimes(line: str) -> frozenset[tuple[str | None, str | None]]:
    parsed = map(parse_syllable, readings(line[-_CONTEXT:])[-1])
    return frozenset((each.nucleus, each.coda) for each in parsed if each.nucleus)


@condition()
def tones(answer: str, *, pattern: Tones, line: Number | None = None) -> bool:
    """The Chinese characters have these tones, in this order.

    Args:
        answer: The answer.
        pattern: A sign for each character: a tone of Jyutping from 1 to 6; 平 (tones 1 and 4, not
            before -p, -t, -k) or 仄 (the others); * for any.
        line: The number of the line to check, from 1; by default the whole answer.

    Returns:
        Whether the answer has as many characters, with these tones; see the module for characters
        with several readings.

    Examples:
        >>> tones("香港人", pattern="124"), tones("花開\\n月落", pattern="仄仄", line=2)
        (True, True)
    """
    lines = lines_of(answer)
    text = "".join(lines) if line is None else "".join(lines[line - 1 : line])
    return len(han_of(text)) == len(pattern) and _follow(readings(text), pattern)


@condition()
def line_end_tones(answer: str, *, pattern: Tones) -> bool:
    """The last characters of the lines have these tones, as 仄平 in a couplet (對聯).

    Args:
        answer: The answer.
        pattern: A sign for each line, as in `tones`.

    Returns:
        Whether the answer has as many lines, with these tones.

    Examples:
        >>> line_end_tones("天增歲月人增壽\\n春滿乾坤福滿門", pattern="仄平")
        True
    """
    lines = [han_of(line)[-_CONTEXT:] for line in lines_of(answer)]
    if len(lines) != len(pattern) or not all(lines):
        return False
    return _follow([readings(line)[-1] for line in lines], pattern)


@condition()
def only_jyutping(answer: str) -> bool:
    """The answer is only Jyutping.

    Args:
        answer: The answer. Punctuation is ignored.

    Returns:
        Whether every word consists of valid syllables, each with its tone.

    Examples:
        >>> only_jyutping("Nei5 hou2!"), only_jyutping("nei hao"), only_jyutping("你好 nei5 hou2")
        (True, False, False)
    """
    words = re.findall(r"[^\W_]+", narrow(answer))
    tokens = [each for word in words for each in re.findall(r"[^\W\d_]+\d?|\d", word)]
    return bool(tokens) and all(map(is_valid, tokens))
