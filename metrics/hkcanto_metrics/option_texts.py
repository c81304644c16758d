"""The ways in which a response may write the text of an option."""

import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache, lru_cache

from hkcanto_metrics.decision_words import AROUND, DATA, SAYS
from hkcanto_metrics.number import parse_number
from hkcanto_metrics.script import fold_script

EDGE = AROUND.replace("?", "")  # characters around the text of an option


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
    if len(values) < len(texts) or len(units) != 1:
        return {}, ""
    return values, units.pop()


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
    others = [bare]
    if "," in lower:
        others.append(re.sub(r"(?<=\d),(?=-?\d)", ", ", lower))  # (4, 3)
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


@lru_cache(maxsize=1024)
def value_of(number: str) -> Fraction | str:
    """The value of a number, or the number as it is written."""
    value = parse_number(number)
    return number if value is None else value


def unit_of(quantity: re.Match[str]) -> str:
    """The unit of a number; "" without one."""
    return (quantity["unit"] or "").replace("度", "°").lower()


def are_alike(
    own: str,
    unit: str,
) -> bool:
    """Whether a unit can be another spelling of the options' unit, or none is written."""
    return not (unit and own) or own[0] == unit[0]
