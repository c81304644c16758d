"""Verifiers of sound.

A character may have several readings. The reading that PyCantonese gives it in its word and line
counts. So does every reading that it has in at least a tenth of its words in rime-cantonese's list:
聽 can be teng1, ting1 or ting3, and 女 can be neoi5 or neoi2. A character fits if one of its
readings fits. A character without a reading fits nothing.
"""

import re
from collections import Counter, defaultdict
from functools import cache
from typing import Annotated, Literal

from msgspec import Meta

from hkcanto_metrics.constraints import reading
from hkcanto_metrics.constraints.declaring import Number
from hkcanto_metrics.jyutping import is_valid, parse_syllable
from hkcanto_metrics.script import to_traditional

Tones = Annotated[
    str,
    Meta(
        pattern=r"^[1-6平仄*]+$",
        description="text of tones: 1 to 6, 平, 仄, or * for any",
    ),
]
_SCHEME = "text like AABA, in which a letter is twice, with - for a free line"
Scheme = Annotated[
    str, Meta(pattern=r"^(?=.*([A-Z]).*\1)[A-Z-]+$", description=_SCHEME)
]

# The longest line that is read in context; PyCantonese is slow on long lines.
_LONGEST_CONTEXT = 40
_LONGEST_WORD = 5  # enough context for the last character


@cache
def _listed_readings() -> dict[str, frozenset[str]]:
    """Return the readings that each character has in at least a tenth of its words."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    listed = reading.pycantonese("data.rime_cantonese").CHARS_TO_JYUTPING
    for word, jyutping in listed.items():
        syllables = jyutping.split()
        if len(syllables) == len(word):
            for character, syllable in zip(word, syllables, strict=True):
                counts[character][syllable] += 1
    readings = {}
    for character, words in counts.items():
        fewest = 0.1 * words.total()
        readings[character] = frozenset(
            syllable for syllable, count in words.items() if count >= fewest
        )
    return readings


def _readings(text: str) -> list[frozenset[str]]:
    """Return the readings of each Chinese character.

    Args:
        text: A line; of a long one, only the last 40 characters are read in context.

    Returns:
        The syllables that count for each character, see the module; none for an unknown one.

    Examples:
        >>> [sorted(syllables) for syllables in _readings("聽歌")]
        [['teng1', 'ting1', 'ting3'], ['go1']]
    """
    han = to_traditional(reading.han_of(text))
    in_context: list[str | None] = [None] * (len(han) - _LONGEST_CONTEXT)
    convert = reading.pycantonese().characters_to_jyutping
    for word, jyutping in convert(han[-_LONGEST_CONTEXT:]):
        syllables = (jyutping or "").split()
        is_aligned = len(syllables) == len(word)
        in_context += syllables if is_aligned else [None] * len(word)
    listed = _listed_readings()
    readings = []
    for character, syllable in zip(han, in_context, strict=True):
        reading_in_context = {syllable} if syllable else set()
        readings.append(listed.get(character, frozenset()) | reading_in_context)
    return readings


def _fits(syllables: frozenset[str], symbol: str) -> bool:
    """Whether a reading has a tone. 平 (level) is 1 or 4 without a stop; 仄 is any other."""
    if symbol == "*":
        return True
    if symbol in "平仄":
        return any(_is_level(syllable) == (symbol == "平") for syllable in syllables)
    return any(syllable[-1] == symbol for syllable in syllables)


def _is_level(syllable: str) -> bool:
    return syllable[-1] in "14" and syllable[-2] not in "ptk"


def rhyme(
    answer: str,
    *,
    scheme: Scheme | None = None,
    unit: Literal["lines", "verses"] = "lines",
) -> bool:
    """The last characters of the lines rhyme in Cantonese (押韻).

    Args:
        answer: The answer, without a title.
        scheme: A letter for each line. Lines with the same letter rhyme; a letter that occurs once,
            and -, leave a line free. By default all lines rhyme.
        unit: Whether to compare lines or verses (see `verses`).

    Returns:
        Whether they have the same nucleus and coda, in any tone; see the module for
        characters with several readings. Lines that all end in the same
        character do not rhyme.

    Examples:
        >>> rhyme("天色青青\\n風好輕\\n月光明"), rhyme("天光\\n天光"), rhyme("去街\\n飲茶")
        (True, False, False)
    """
    lines = [reading.han_of(text) for text in reading.UNITS[unit](answer)]
    scheme = scheme or "A" * len(lines)
    if len(lines) < 2 or len(lines) != len(scheme) or not all(lines):
        return False
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for letter, line in zip(scheme, lines, strict=True):
        if letter != "-":
            groups[letter].append(line)
    not_free = [group for group in groups.values() if len(group) > 1]
    return all(map(_all_rhyme, not_free))


def _all_rhyme(lines: list[str]) -> bool:
    last_characters = {line[-1] for line in lines}
    if len(last_characters) == 1:
        return False
    shared = _last_rimes(lines[0])
    for line in lines[1:]:
        shared &= _last_rimes(line)
        if not shared:
            return False
    return bool(shared)


def _last_rimes(line: str) -> set[tuple[str, str | None]]:
    """Return the nucleus and coda of each reading of a line's last character."""
    rimes = set()
    for jyutping in _readings(line[-_LONGEST_WORD:])[-1]:
        syllable = parse_syllable(jyutping)
        if syllable.nucleus:
            rimes.add((syllable.nucleus, syllable.coda))
    return rimes


def tones(
    answer: str,
    *,
    pattern: Tones,
    line: Number | None = None,
) -> bool:
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
    lines = reading.lines_of(answer)
    if line is not None:
        lines = lines[line - 1 : line]
    text = "".join(lines)
    if len(reading.han_of(text)) != len(pattern):
        return False
    return all(map(_fits, _readings(text), pattern))


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
    lines = reading.lines_of(answer)
    if len(lines) != len(pattern):
        return False
    for line, tone in zip(lines, pattern, strict=True):
        readings = _readings(line)
        if not readings or not _fits(readings[-1], tone):
            return False
    return True


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
    tokens: list[str] = []
    for word in re.findall(r"[^\W_]+", reading.narrow(answer)):
        tokens += re.findall(r"[^\W\d_]+\d?|\d", word)
    return bool(tokens) and all(map(is_valid, tokens))
