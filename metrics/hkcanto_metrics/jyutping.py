"""Reading Jyutping: what a response says, which answers a gold string accepts, what a syllable is.

The gold strings of HKCanto-Eval (Appendix E.3) list alternatives in parentheses, as in
``jau5 liu5 (ze2|ze5) jung2 pou5``. Here they become a lattice: a sequence of segments, each with
the options that are acceptable in that place.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

# Only from the first letter of a run: else a long run without a tone takes quadratic time.
_TONED_SYLLABLE = re.compile(r"(?<![a-z])[a-z]+[1-6]")
_TOKEN = re.compile(r"[a-z]*[1-6]|[a-z]+")
_GOLD_PIECE = re.compile(r"\((?P<group>[^()]*)\)|(?P<literal>[^()|]+)|(?P<stray>.)", re.DOTALL)
_PUBLISHED_GROUP = re.compile(r"\(([^()]*\|[^()]*)\)")

# As long as "ngaang"; PyCantonese takes quadratic time to refuse long runs of letters.
_LONGEST_SYLLABLE = 6
_MOST_EXPANSIONS = 256
_LONGEST_ANSWER = 10_000


class MalformedAnswer(ValueError):  # noqa: N818 - part of the metric API
    """A gold string that does not follow the notation of alternatives."""


@dataclass(frozen=True)
class Answer:
    """The acceptable answers of one gold string, in the two readings that the metrics need.

    Attributes:
        published: The string as HKCanto-Eval's scorer reads it: each ``( | )`` group is a segment
            with its options, and all between the groups is a segment with one option, as written.
        syllables: The acceptable syllables: for each word between blanks, its readings.
    """

    published: tuple[tuple[str, ...], ...]
    syllables: tuple[tuple[tuple[str, ...], ...], ...]


class Syllable(NamedTuple):
    """A parsed syllable; None stands for a component that the text does not show."""

    onset: str | None
    nucleus: str | None
    coda: str | None
    tone: str | None


@lru_cache(maxsize=4096)
def parse_answer(answer: str) -> Answer:
    """Read a gold string.

    Parentheses with ``|`` list alternatives, each of one or more syllables; parentheses without it
    hold an optional part: ``(ng)aam1`` accepts ``ngaam1`` and ``aam1``. Both may touch letters.

    Args:
        answer: A gold string of HKCanto-Eval's G2P test.

    Returns:
        Its acceptable answers.

    Raises:
        MalformedAnswer: Parentheses or bars do not match or are nested, an alternative is empty,
            one word has more than 256 readings, there is no syllable at all, or there are more
            than 10,000 characters.

    Examples:
        >>> parse_answer("(ng)aam1 (ze2|ze5)").syllables
        ((('ngaam1',), ('aam1',)), (('ze2',), ('ze5',)))
    """
    if len(answer) > _LONGEST_ANSWER:
        expected = f"expected a sentence of at most {_LONGEST_ANSWER:,}"
        raise _malformed(answer[:40], 40, f"{len(answer):,} characters", expected)
    text = fold(answer)
    words = _split_words(text)
    syllables = tuple(_readings(text, start, choices) for start, choices in words)
    has_tone = any(_TONED_SYLLABLE.search(" ".join(o)) for options in syllables for o in options)
    if not has_tone or not any(all(options) for options in syllables):
        problem = "no syllable, or none that is not optional"
        raise _malformed(text, 0, problem, "expected Jyutping such as 'nei5 (hou2|hou3)'")
    pieces = _PUBLISHED_GROUP.split(answer)
    published = [tuple(p.split("|")) if i % 2 else (p,) for i, p in enumerate(pieces)]
    return Answer(tuple(published), syllables)


def extract_jyutping(response: str) -> str:
    """Take the Jyutping out of a response.

    On each line with a toned syllable, that is everything from the first such syllable to the end
    of the line, so that an introduction ("Sure! The Jyutping is: ...") is not counted as an error.
    What is not Jyutping after that stays, as wrong syllables.

    Args:
        response: A model's response, without reasoning.

    Returns:
        Lower-case tokens, split after tone digits and joined by single spaces; empty if there is no
        toned syllable. Full-width letters and superscript tones count as plain ones.

    Examples:
        >>> extract_jyutping("Sure! The Jyutping is: Nei5hou2.")
        'nei5 hou2'
    """
    tokens: list[str] = []
    for line in fold(response).splitlines():
        if first := _TONED_SYLLABLE.search(line):
            tokens += _TOKEN.findall(line, first.start())
    return " ".join(tokens)


def normalize_as_published(response: str) -> str:
    """Normalise a response as HKCanto-Eval's released scorer does, before it compares characters.

    Args:
        response: A model's response, without reasoning.

    Returns:
        The response in lower case, with everything but ``a-z``, ``1-6`` and blanks made a blank,
        and exactly one blank after each tone digit.

    Examples:
        >>> normalize_as_published("Gam1jat6, tin1 hei3!")
        'gam1 jat6 tin1 hei3'
    """
    letters = re.sub(r"[^a-z1-6\s]+", " ", response.lower())
    return re.sub(r"(?<=[1-6])\s*", " ", letters).strip()


@lru_cache(maxsize=1 << 16)
def parse_syllable(token: str) -> Syllable:
    """Parse one syllable with PyCantonese.

    Args:
        token: Letters and a tone digit, lower case; either may be missing or wrong.

    Returns:
        Its onset, nucleus, coda and tone. The tone of ``hao3`` is known though PyCantonese refuses
        its letters, and the letters of ``nei`` are known though it has no tone.

    Examples:
        >>> parse_syllable("gwong2"), parse_syllable("hao3").tone
        (Syllable(onset='gw', nucleus='o', coda='ng', tone='2'), '3')
    """
    from pycantonese import parse_jyutping

    letters = token.rstrip("123456")
    tone = token[len(letters) :] or None
    if not letters or len(letters) > _LONGEST_SYLLABLE:
        return Syllable(None, None, None, tone)
    try:
        (parsed,) = parse_jyutping(letters + "1")
    except ValueError:
        return Syllable(None, None, None, tone)
    return Syllable(parsed.onset, parsed.nucleus, parsed.coda, tone)


def is_valid(token: str) -> bool:
    """Tell whether PyCantonese accepts a token as a Jyutping syllable.

    Examples:
        >>> is_valid("hou2"), is_valid("hao3")
        (True, False)
    """
    return None not in parse_syllable(token)


def fold(text: str) -> str:
    """Fold full-width, superscript and other compatibility characters (NFKC), and lower-case.

    Each character is folded by itself, because NFKC over a whole text takes quadratic time on long
    runs of combining marks, which a model may well produce.

    Examples:
        >>> fold("Ｎｅｉ⁵")
        'nei5'
    """
    if not text.isascii():
        folded = {ord(char): unicodedata.normalize("NFKC", char) for char in set(text)}
        text = text.translate(folded)
    return text.lower()


def _split_words(text: str) -> list[tuple[int, list[tuple[str, ...]]]]:
    """Split a gold string at blanks outside of parentheses: (position, choices of each piece)."""
    words: list[tuple[int, list[tuple[str, ...]]]] = [(0, [])]
    for piece in _GOLD_PIECE.finditer(text):
        group, literal = piece["group"], piece["literal"]
        if group is not None:
            words[-1][1].append(_options(text, piece.start(), group))
        elif literal is None:
            raise _stray(text, piece.start())
        else:
            for match in re.finditer(r"(?P<gap>\s*)(?P<part>\S*)", literal):
                if match["gap"]:
                    words.append((piece.start() + match.start("part"), []))
                if match["part"]:
                    words[-1][1].append((match["part"],))
    return [(start, choices) for start, choices in words if choices]


def _options(text: str, position: int, group: str) -> tuple[str, ...]:
    options = group.split("|")
    if not all(_TOKEN.search(option) for option in options):
        expected = "expected syllables in each, as in '(ze2|ze5)'"
        raise _malformed(text, position, "an empty alternative", expected)
    return tuple(options) if len(options) > 1 else (group, "")


def _stray(text: str, position: int) -> MalformedAnswer:
    expected = "expected alternatives as in '(ze2|ze5)', not nested"
    if text[position] != "(":
        problem = f"{text[position]!r} outside of parentheses"
    elif "(" in text[position + 1 :].partition(")")[0]:
        problem = "a second '(' before the first is closed"
    else:
        problem = "'(' is never closed"
    return _malformed(text, position, problem, expected)


def _readings(
    text: str, position: int, choices: list[tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """All readings of one word, whose pieces have these choices, each as syllables."""
    if (count := math.prod(map(len, choices))) > _MOST_EXPANSIONS:
        expected = f"expected at most {_MOST_EXPANSIONS}; put blanks between the syllables"
        raise _malformed(text, position, f"a word with {count:,} readings", expected)
    readings = (tuple(_TOKEN.findall("".join(parts))) for parts in product(*choices))
    return tuple(dict.fromkeys(readings))


def _malformed(text: str, position: int, problem: str, expected: str) -> MalformedAnswer:
    return MalformedAnswer(
        f"malformed answer {text!r}, at character {position + 1}: {problem}; {expected}"
    )
