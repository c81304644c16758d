"""The ways in which a response may write the text of an option."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache, lru_cache

from hkcanto_metrics.decision_words import AROUND, DATA, SAYS
from hkcanto_metrics.number import parse_number
from hkcanto_metrics.script import fold_script

EDGE = AROUND.replace("?", "")  # characters around the text of an option
# Parts of an option that a response may omit: an article, a remark in brackets, first names.
_NAME = re.compile(r"(?:[A-Z][\w.'-]* (?:of |the )*)+([A-Z][a-z]{3,})")
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5}
_HAN_DIGITS = "零一二三四五六七八九"


def distinct_forms(texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """The ways of writing each option's text that mean no other option, with its letter."""
    shared = _shared_start(texts)
    is_short = shared < 3 or "".join(texts.values()).isascii()
    rest = shared if is_short else 0
    forms: list[tuple[str, str]] = []
    for letter, text in texts.items():
        written = _forms(text) | _forms(text[rest:])
        forms += [(form, letter) for form in sorted(written)]
    counts = Counter(form for form, _ in forms)
    names = {*map(str.lower, texts), ""}
    return [form for form in forms if counts[form[0]] == 1 and form[0] not in names]


def values_of(texts: Mapping[str, str]) -> tuple[dict[Fraction | str, str], str]:
    """Number → letter if all options are numbers with one unit, and that unit."""
    shared = _shared_start(texts)
    values: dict[Fraction | str, str] = {}
    units: set[str] = set()
    for letter, text in texts.items():
        quantity = SAYS["quantity"].fullmatch(text[shared:].strip(EDGE))
        if quantity:
            values[value_of(quantity[1])] = letter
            units.add(unit_of(quantity))
    if len(values) < len(texts) or len(units) > 1:
        return {}, ""
    return values, units.pop() if units else ""


def statements_of(texts: Mapping[str, str]) -> dict[frozenset[int], str]:
    """Numbers of statements → letter, if options are sets of numbered statements."""
    sets: dict[frozenset[int], str] = {}
    n_sets = 0
    for letter, text in texts.items():
        numerals = SAYS["around_set"].sub("", text).strip(EDGE)
        if SAYS["statements"].fullmatch(numerals):
            sets[numbers_of(numerals)] = letter
            n_sets += 1
    # (1,2) and (2,1) are points, not the same set twice.
    if len(sets) < max(2, n_sets) or max(map(len, sets)) < 2:
        return {}
    return sets


def _shared_start(texts: Mapping[str, str]) -> int:
    """How many characters all options begin with, without a sign or a part of a word."""
    prefix = min(texts.values(), key=len, default="")
    while not all(text.startswith(prefix) for text in texts.values()):
        prefix = prefix[:-1]
    return len(SAYS["start"].findall(prefix)[0])


def _forms(text: str) -> set[str]:
    """The ways of writing an option's text, including the empty one."""
    text = text.strip(EDGE)
    lower = text.lower()
    bare = SAYS["remark"].sub("", lower).strip(EDGE)
    others = [bare, re.sub(r"\d+", _in_han, lower)]
    if "," in lower:
        others.append(re.sub(r"(?<=\d),(?=-?\d)", ", ", lower))  # (4, 3)
    name = _NAME.fullmatch(text)
    if name:
        others.append(name[1].lower())
    if bare[-4:].isalpha():
        others.append(bare.removesuffix("s"))
    forms = {lower, *(form for form in others if len(form) > 1)}
    for row in _synonyms():
        if lower in row:
            return forms | row
    return forms


@cache  # at first use, since the table of characters takes longer than all other imports
def _synonyms() -> list[set[str]]:
    """Sets of words, any of which names an option that is another one of its set."""
    return [{fold_script(word) for word in row} for row in DATA["same"]["rows"]]


def _in_han(number: re.Match[str]) -> str:
    """A number below 100 in Chinese numerals, as dates have them."""
    tens, ones = divmod(int(number[0][:9]), 10)
    if tens > 9:
        return number[0]
    written = _HAN_DIGITS[ones] if ones else ""
    if tens:
        written = f"十{written}"
    if tens > 1:
        written = f"{_HAN_DIGITS[tens]}{written}"
    return written


@lru_cache(maxsize=1024)
def value_of(number: str) -> Fraction | str:
    """The value of a number, or the number as it is written."""
    value = parse_number(number)
    return number if value is None else value


def unit_of(quantity: re.Match[str]) -> str:
    """The unit of a number, in one spelling."""
    return (quantity["unit"] or "").replace(" per ", "/").replace("度", "°").lower()


def are_alike(
    own: str,
    unit: str,
) -> bool:
    """Whether a unit can be another spelling of the options' unit, or none is written."""
    if not (unit and own) or _shape(own) == _shape(unit):
        return True
    is_ratio = not {*"/每"}.isdisjoint(own)
    return unit.isascii() != own.isascii() and ("/" in unit) == is_ratio


def _shape(unit: str) -> tuple[str, int, bool]:
    return unit[:1], unit.count("/"), unit[-1:].isdigit()


def numbers_of(statements: str) -> frozenset[int]:
    """The numbers of statements, written in any way: (1), ①, i, 一."""
    numerals = SAYS["numeral"].findall(statements.lower())
    return frozenset(
        _ROMAN.get(numeral) or int(unicodedata.numeric(numeral)) for numeral in numerals
    )
