"""Traditional and Simplified script, character by character.

OpenCC gets one character at a time, so only its character dictionaries can match. On whole
sentences, its phrase dictionaries would choose by context and might replace one region's word by
another's. A translation would then be credited with a word that it does not contain.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters of either script, for a class of characters in a pattern."""
CJK = "\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, radicals, kana and East Asian marks, for such a class, too."""
_HAN_CHARACTER = re.compile(f"[{HAN}]")

WORD_SEPARATOR = r"[\s_\\-]+"
"""Pattern of the characters between two words of a label."""
TO_HALF_WIDTH = {0xFF01 + code: 0x21 + code for code in range(94)}
Script = Literal["hant", "hans", "mixed", "none"]

# Current in Hong Kong, although OpenCC takes them for Simplified forms of 嚇, 釐 and 恆, and Big5's
# level 1 lacks them.
_ALSO_TRADITIONAL = "吓厘恒"


def to_traditional(text: str) -> str:
    """Replace each Simplified character by its Traditional one, in Hong Kong's form.

    If a Simplified character has several Traditional ones, OpenCC's first is taken: 面 stays 面,
    even if 麪 is meant. To compare two texts, convert both to Simplified script instead.

    Args:
        text: Any text.

    Returns:
        The converted text, with the same number of characters. Variants of Traditional characters
        become Hong Kong's standard forms.

    Examples:
        >>> to_traditional("这里没有软件")
        '這裏沒有軟件'
    """
    return text.translate(_TO_TRADITIONAL)


def to_simplified(text: str) -> str:
    """Replace each Traditional character by its Simplified one.

    Args:
        text: Any text.

    Returns:
        The converted text, with the same number of characters.

    Examples:
        >>> to_simplified("這裏沒有軟件")
        '这里没有软件'
    """
    return text.translate(_TO_SIMPLIFIED)


def fold_script(text: str) -> str:
    """Replace each character by one form that represents all its variants, for comparison only.

    The form is Simplified, and the same where Hong Kong and Taiwan differ: 着 and 著, 痹 and 痺.
    The result is not correct spelling (著名 becomes 着名).

    Args:
        text: Any text.

    Returns:
        The folded text, with the same number of characters. Texts that differ only in script become
        equal.

    Examples:
        >>> fold_script("看著這裡") == fold_script("看着這裏") == fold_script("看着这里")
        True
    """
    return text.translate(_TO_ONE_FORM)


def same_word(word: str) -> str:
    """Return the normalised form in which words of labels are compared.

    Examples:
        >>> same_word("Not-Entailment") == same_word("not entailment"), same_word("負面")
        (True, '负面')
    """
    plain = fold_script(word.translate(TO_HALF_WIDTH)).strip().lower()
    return re.sub(WORD_SEPARATOR, " ", plain)


def simplified_share(text: str) -> float:
    """Measure how much of a text is written in Simplified script.

    A character indicates its script if OpenCC converts it to the other one, unless it is frequent
    in that other script, too: 后, 里, 只 and 台 are Traditional characters as well (Big5, level 1),
    乾 is a Simplified one as well (GB 2312, level 1).

    Args:
        text: Any text.

    Returns:
        The share of Simplified characters among those that indicate a script, from 0 to 1; 0 if no
        character does.

    Examples:
        >>> [simplified_share(text) for text in ("佢話返到屋企里面", "他说回到家里", "OK")]
        [0.0, 1.0, 0.0]
    """
    traditional, simplified = count_scripts(text)
    total = traditional + simplified
    return simplified / (total or 1)


def script_of(text: str) -> Script:
    """Identify the script that a text is written in.

    Args:
        text: Any text.

    Returns:
        ``hant`` (Traditional) or ``hans`` (Simplified) if all characters that indicate a script
        agree (see `simplified_share`), ``mixed`` if they disagree, ``none`` if no character tells.

    Examples:
        >>> [script_of(text) for text in ("你說", "你说", "你说說", "你好")]
        ['hant', 'hans', 'mixed', 'none']
    """
    traditional, simplified = count_scripts(text)
    if traditional and simplified:
        return "mixed"
    if traditional:
        return "hant"
    return "hans" if simplified else "none"


def is_han(character: str) -> bool:
    """Return whether a character is a Chinese character, of either script.

    Examples:
        >>> [is_han(character) for character in "嘅𨋢。k"]
        [True, True, False, False]
    """
    return _HAN_CHARACTER.match(character) is not None


class CharacterTable(dict[int, str]):
    """A table for `str.translate` that converts each character on first use."""

    def __init__(self, convert: Callable[[str], str]) -> None:
        self._convert = convert

    def __missing__(self, code: int) -> str:
        self[code] = self._convert(chr(code))
        return self[code]


@cache
def _opencc(conversion: str) -> Any:
    import opencc

    return opencc.OpenCC(conversion)


def _unified(character: str) -> str:
    """The character of a radical: texts out of PDFs have Kangxi radicals in place of characters."""
    is_radical = "\u2e80" <= character <= "\u2fdf"
    return unicodedata.normalize("NFKC", character) if is_radical else character


def _converted(character: str, *conversions: str) -> str:
    if not is_han(character):
        return character
    for conversion in conversions:
        converted = _opencc(conversion).convert(character)
        # A text keeps its length, so that positions in it stay valid.
        if len(converted) == 1:
            character = converted
    return character


# hk2s and s2hk know Hong Kong's variants, such as 衞 and 枱, which t2s and s2t leave alone.
_TO_TRADITIONAL = CharacterTable(lambda character: _converted(character, "s2hk"))
_TO_SIMPLIFIED = CharacterTable(lambda character: _converted(character, "hk2s"))
# Converts through Traditional script, for Simplified variants such as 馀 and 余. The second hk2s is
# for 薴, which becomes 苧, which becomes 苎.
_TO_ONE_FORM = CharacterTable(
    lambda character: _converted(
        _unified(character),
        "s2hk",
        "hk2s",
        "tw2s",
        "hk2s",
    )
)


def count_scripts(text: str) -> tuple[int, int]:
    """Count the characters that are Traditional only, and those that are Simplified only.

    Examples:
        >>> count_scripts("你說说話")
        (2, 1)
    """
    marks = text.translate(_SCRIPT_MARKS)
    return marks.count("T"), marks.count("S")


def _script_mark(character: str) -> str:
    """T for a character that is Traditional only, S for Simplified only; otherwise empty.

    Big5 and GB 2312 have two levels of characters; level 1 has the frequent ones. The first byte of
    the code shows the level.
    """
    if to_simplified(character) != character:
        code = character.encode("gb2312", errors="ignore")
        is_frequent = b"\xb0" <= code[:1] <= b"\xd7"
        return "" if is_frequent else "T"
    if to_traditional(character) != character and character not in _ALSO_TRADITIONAL:
        code = character.encode("big5", errors="ignore")
        is_frequent = b"\xa4" <= code[:1] <= b"\xc6"
        return "" if is_frequent else "S"
    return ""


_SCRIPT_MARKS = CharacterTable(_script_mark)
