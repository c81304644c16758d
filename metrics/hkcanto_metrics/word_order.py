"""Tell Cantonese from the same characters in another order, with a small class model.

A model in training may learn Cantonese words before it learns to order them. ``word_order.toml``
says how rarely a character of one class follows another.
"""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

from hkcanto_metrics.script import HAN, CharacterTable, to_traditional

_MODEL = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_BORDER = 0
_OTHERS = 1
_CLASSES = {
    character: number
    for number, characters in enumerate(_MODEL["classes"])
    for character in characters
}
# Class → its sign; a sign is one character, so a text has a pair of signs for each two characters.
_SIGNS = "".join(map(chr, range(ord("A"), ord("A") + len(_MODEL["classes"]))))
_RARITY = {
    (before, after): int(digit)
    for before, row in zip(_SIGNS, _MODEL["rarity"], strict=True)
    for after, digit in zip(_SIGNS, row, strict=True)
}


def _sign(character: str) -> str:
    number = _CLASSES.get(character)
    if number is None:
        number = _CLASSES.get(to_traditional(character), _OTHERS)
    return _SIGNS[number]


_TO_SIGNS = CharacterTable(_sign)
_NOT_CHINESE = re.compile(f"[^{HAN}]+")


def disorder(text: str) -> float:
    """Measure how rare the order of the characters in a text is.

    Args:
        text: Any text. Its Chinese characters are looked at, in each clause.

    Returns:
        The mean rarity of two characters in a row, from 0 to 3; 0 without Chinese characters.

    Examples:
        >>> disorder("我哋琴晚去咗食飯。") < 0.3 < disorder("飯晚我去琴食哋咗。")
        True
    """
    clauses = filter(None, _NOT_CHINESE.split(text))
    signs = "".join(
        f"{clause.translate(_TO_SIGNS)}{_SIGNS[_BORDER]}" for clause in clauses
    )
    if not signs:
        return 0.0
    pairs = pairwise(_SIGNS[_BORDER] + signs)
    return sum(map(_RARITY.__getitem__, pairs)) / len(signs)
