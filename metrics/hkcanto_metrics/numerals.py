"""Find numerals in a text and return their values: digits, Chinese numerals, fractions."""

import re
import unicodedata
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from hkcanto_metrics.patterns import read_patterns
from hkcanto_metrics.script import TO_HALF_WIDTH, fold_script

_LONGEST = 40  # characters in a number
# Full-width signs; Chinese characters are folded to Simplified script.
_SIGNS = TO_HALF_WIDTH | str.maketrans("−–〇", "--零")
_DIGITS: dict[int, int | str] = {ord("廿"): "2十", ord("卅"): "3十"}
_DIGITS |= str.maketrans("零一二三四五六七八九两点", "01234567892.")
_UNITS = {
    "十": 10,
    "百": 100,
    "千": 1_000,
    "万": 10**4,
    "亿": 10**8,
}
# Groups of a numeral that may have its whole number, or an end of its fraction.
_WHOLE = ("before", "whole", "and", "ones", "plain")
NUMERATORS = ("top", "digit", "over", "of")
_DENOMINATORS = ("bottom", "below", "under", "parts")
_OPERATORS = {
    "plus": "+",
    "minus": "-",
    "times": "×",
    "multiplied": "×",
    "divided": "÷",
}
_POWERS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}

_ENGLISH_WORDS = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
"""
_ENGLISH_VALUES = [*range(1, 21), *range(30, 100, 10)]
_ENGLISH = dict(zip(_ENGLISH_WORDS.split(), _ENGLISH_VALUES, strict=True))

SAYS = read_patterns(Path(__file__).with_name("number.toml"), re.IGNORECASE)


def plain_signs(text: str) -> str:
    """Normalise signs and script, keeping the length."""
    return fold_script(text.translate(_SIGNS))


def without_decoration(text: str) -> str:
    """Replace Markdown, LaTeX and list numbers with blanks, keeping the length."""
    return SAYS["decoration"].sub(_tidy, text)


def _tidy(match: re.Match[str]) -> str:
    """Replace a decoration with blanks or with a sign, keeping its length."""
    if match["kept"]:
        return match[0]
    kept = ""
    if match["operator"]:
        kept = _OPERATORS[match["operator"].split()[0]]
    elif match["times"]:
        kept = "×"
    elif match["equal"]:
        kept = "≈"
    elif match["list"]:
        kept = match["list"].replace("*", "\t")
    return kept.ljust(len(match[0]), "\t")


def value_of(match: re.Match[str]) -> Fraction | None:
    """Return the value of a match of `number`; `None` if it has none."""
    if match["plain"] == match[0]:  # like most
        return _plain(match[0])
    if match["tenths"]:
        tenths = _plain(match["tenths"])
        half = 5 if match["and_half"] else 0
        return tenths and tenths * 10 + half
    value = _english(match) if match["english"] else _mixed(match)
    return -value if match["sign"] and value is not None else value


def _mixed(match: re.Match[str]) -> Fraction | None:
    """The value of digits or Chinese numerals, with a fraction and a power."""
    whole = _plain(group_text(match, _WHOLE) or "0")
    over = _plain(group_text(match, NUMERATORS) or "0")
    under = _plain(group_text(match, _DENOMINATORS) or "1")
    if whole is None or over is None or not under:
        return None
    return (whole + over / under + _part(match)) * _power(match)


def _english(match: re.Match[str]) -> Fraction:
    """The value of a number in English words."""
    total = 0
    section = 0
    words = re.findall("[a-z]+", match["english"].lower())
    for word in words:
        if word == "thousand":
            total = (section or 1) * 1_000
            section = 0
        elif word == "hundred":
            section = (section or 1) * 100
        else:
            section += _ENGLISH.get(word, 0)  # none for zero
    if not match["and_part"]:
        return Fraction(total + section)
    if words[-2] == "one":  # of "and one half"
        section -= 1
    return total + section + Fraction(1, 2 if words[-1] == "half" else 4)


def _part(match: re.Match[str]) -> Fraction:
    """The fraction that one character means, such as 半."""
    character = match["part"] or "0"
    part = unicodedata.numeric(character.replace("半", "½"))
    return Fraction(part).limit_denominator(10)


def _power(match: re.Match[str]) -> Fraction:
    """The factor of a number: "million", or a power of ten."""
    power = int(match["power"] or match["exponent"] or 0)
    for name, exponent in _POWERS.items():
        if match[name]:
            power = exponent
    return Fraction(10) ** power


def group_text(
    match: re.Match[str],
    names: Iterable[str],
) -> str | None:
    """Return the text of the first of these groups that matched."""
    for name in names:
        if text := match[name]:
            return text
    return None


@lru_cache(1_000)
def _plain(text: str) -> Fraction | None:
    """The value of digits and Chinese units; `None` for too many, and for 三四 ("3 or 4")."""
    if len(text) > _LONGEST or re.fullmatch("[一二三四五六七八九]{2}", text):
        return None
    total = Fraction(0)
    section = Fraction(0)
    unit = 1
    digits = re.sub(
        r"[\s,\\]",
        "",
        text,
    ).translate(_DIGITS)
    for number, sign in re.findall("([0-9.]*)([十百千万亿]?)", digits):
        if not sign:
            # 一百五 is 150, but 一百零五 is 105.
            place = max(1, unit // 10) if len(number) == 1 else 1
            section += Fraction(number or 0) * place
            continue
        unit = _UNITS[sign]
        if unit < 10_000:
            section += Fraction(number or 1) * unit
            continue
        section += Fraction(number or 0)
        total = (total + section) * unit if total < unit else total + section * unit
        section = Fraction(0)
    return total + section
