"""Measure how much of a text is the writer's own Cantonese prose, for rewards.

A model learns to write whatever earns reward. Single Cantonese words, repetitions of the question
and lists of words are cheap to write, so they do not count here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hkcanto_metrics.language import cantonese_prose
from hkcanto_metrics.repetition import is_degenerate
from hkcanto_metrics.script import fold_script, is_han

if TYPE_CHECKING:
    from collections.abc import Iterable

# This many characters in a row in common with the question are a quotation.
_QUOTED = 4
_PARTICLES = "嘅啦喇囉咯喎咩呀㗎𠺢啊吖嘞啫咋嗱咧噃啩呢吓嘛嗎吧呵哦嗯"
# In the reference translations, sentences of five or more characters have at least 2.3 per clause,
# and sentences of twelve or more have at most three quarters in words that only Cantonese uses.
_LEAST_IN_A_CLAUSE, _MOST_IN_FEATURES, _LONG = 2, 0.85, 12
# In these sentences, at least 58 % of 20 characters in a row are distinct; in loops such as
# 唔想諗唔想睇, which GRPO leads to, at most 50 %.
_WINDOW, _LEAST_DIFFERENT = 20, 0.55

_MARK = "\ue000"  # private-use character, put in place of an option
_OPTION = rf"(?:{_MARK}|(?<![A-Za-z])[A-J](?![A-Za-z]))"
_NAMED, _ANNOUNCED = re.compile(_OPTION), re.compile(rf"{_OPTION}[\s{_PARTICLES}]*$")
_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CLAUSE_END = re.compile(rf"[^\w\s{_MARK}]+|\n|(?<=[{_HAN}])\s+(?=[{_HAN}])")
_LATIN_WORD = re.compile("[A-Za-z]+")


def without_quotations(text: str, question: str = "", options: Iterable[str] = ()) -> str:
    """Remove the parts of a text that quote the question, in either script.

    Args:
        text: Any text.
        question: The question. Four or more of its characters in a row are a quotation.
        options: The texts of its options. Options of one character are ignored.

    Returns:
        The text without quotations; each quoted option is replaced by a private-use character.

    Examples:
        >>> without_quotations("電車嘅花名係叮叮，因為佢響。", "電車嘅花名係咩？", ["叮叮", "纜車"])
        '\\ue000，因為佢響。'
    """
    folded = fold_script(text)
    marks = bytearray(len(text))
    for quoted, mark in ((question, 1), *((option, 2) for option in options)):
        source = fold_script(quoted.strip())
        size = _QUOTED if mark == 1 else min(_QUOTED, len(source))
        grams = {source[i : i + size] for i in range(len(source) - size + 1)} if size > 1 else set()
        for gram in grams:
            start = folded.find(gram)
            while start >= 0:
                marks[start : start + size] = bytes([mark]) * size
                start = folded.find(gram, start + 1)
    if not any(marks):
        return text
    kept = zip(text, marks, b"\0" + marks, strict=False)
    return "".join(
        character if not mark else _MARK if mark == 2 and before != 2 else ""
        for character, mark, before in kept
    )


def cantonese_share(text: str, min_characters: int, *, answers: bool = False) -> float:
    """Measure how much of a text's Chinese is in Cantonese.

    Args:
        text: A text without its quotations, see `without_quotations`.
        min_characters: The number of different Chinese characters that its Cantonese needs.
            Particles do not count.
        answers: Whether the text answers a question with options. If so, clauses that end in an
            option's letter or text do not count; if none does, the shortest clause that names an
            option does not count.

    Returns:
        The share by `cantonese_prose`, from 0 to 1; 0 if the text is too short, caught in a loop, a
        list of words, or mostly in Latin letters.

    Examples:
        >>> cantonese_share("答案係A。", 4, answers=True), cantonese_share("佢哋返咗屋企。", 4)
        (0.0, 1.0)
    """
    prose = cantonese_prose(text)
    clauses = [each for each in _CLAUSE_END.split(prose.text) if each]
    if answers and (naming := [*filter(_NAMED.search, clauses)]):
        announcing = [*filter(_ANNOUNCED.search, naming)] or [min(naming, key=_length)]
        clauses = [each for each in clauses if each not in announcing]
    said = "".join(clauses)
    han = [*filter(is_han, said)]
    length, n_han = _length(said), len(han)
    windows = [{*han[start : start + _WINDOW]} for start in range(0, n_han, _WINDOW)]
    is_loop = n_han >= _LONG and sum(map(len, windows)) < _LEAST_DIFFERENT * n_han
    n_clauses = sum(any(map(is_han, each)) for each in clauses)
    is_list = n_han < _LEAST_IN_A_CLAUSE * n_clauses or (
        length >= _LONG and prose.features > _MOST_IN_FEATURES
    )
    if (
        length < max(1, min_characters)
        or is_list
        or is_loop
        or len(_LATIN_WORD.findall(text)) > n_han
    ):
        return 0.0
    return 0.0 if is_degenerate(text) else prose.share


def _length(text: str) -> int:
    return len({each for each in text if is_han(each)} - {*_PARTICLES})
