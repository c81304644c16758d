"""Measure how much of a text is the writer's own Cantonese prose, for rewards.

A model learns to write whatever earns reward. Single Cantonese words, repetitions of the question
and lists of words are cheap to write, so they do not count here.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise

from hkcanto_metrics.language import cantonese_prose
from hkcanto_metrics.repetition import is_degenerate
from hkcanto_metrics.script import HAN, fold_script, is_han

# This many characters in a row in common with the question or an option are a quotation.
_QUOTED = 4
_PARTICLES = "嘅啦喇囉咯喎咩呀㗎𠺢啊吖嘞啫咋嗱咧噃啩呢吓嘛嗎吧呵哦嗯"
# Characters that say that an option is right or wrong, and not why.
_VERDICT = "答案正確啱錯揀選擇係唔因為所以都就嚟"
# Sentences of the reference translations with five or more characters have at least 2.3 per clause,
# and sentences of twelve or more have at most three quarters in words that only Cantonese uses.
# At most 23 % of their characters are particles.
_LEAST_IN_A_CLAUSE, _MOST_IN_FEATURES, _MOST_PARTICLES, _LONG = 2, 0.85, 0.25, 12
_LIST, _LEAST_IN_AN_ITEM = (
    6,
    3,
)  # this many clauses are a list if they are shorter on average
# In these sentences, at least 58 % of 20 characters in a row are distinct; in loops such as
# 唔想諗唔想睇, which GRPO leads to, at most 50 %.
_WINDOW, _LEAST_DIFFERENT = 20, 0.55
# A clause repeats an earlier one if they share this much of its pairs of characters. Some clauses
# in prose do so.
_ALIKE, _MOST_ALIKE = 0.65, 0.3
_LEAST_OWN = (
    3  # different characters that are not in the question, unless fewer are asked for
)

_MARK = "\ue000"  # private-use character, put in place of an option
_OPTION = rf"(?:{_MARK}|(?<![A-Za-z])[A-J](?![A-Za-z]))"
_NAMED, _ANNOUNCED = re.compile(_OPTION), re.compile(rf"{_OPTION}[\s{_PARTICLES}]*$")
_CLAUSE_END = re.compile(rf"[^\w\s{_MARK}]+|\n|(?<=[{HAN}])\s+(?=[{HAN}])")
_LATIN_WORD = re.compile("[A-Za-z]+")


def without_quotations(
    text: str, question: str = "", options: Iterable[str] = ()
) -> str:
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

    shown = [fold_script(each.strip()) for each in options]
    quoted = [(each, _QUOTED, 1) for each in (fold_script(question.strip()), *shown)]
    # Half of an option names it.
    quoted += [
        (each, max(min(_QUOTED, len(each)), (len(each) + 1) // 2), 2) for each in shown
    ]
    for source, size, mark in quoted:
        for gram in {
            source[i : i + size] for i in range(len(source) - size + 1) if size > 1
        }:
            start = folded.find(gram)
            while start >= 0:
                marks[start : start + size] = bytes([mark]) * size
                start = folded.find(gram, start + 1)
    if not any(marks):
        return text
    # A quoted option becomes one character; a quotation of the question leaves nothing.
    parts = zip(text, marks, b"\0" + marks, strict=False)
    marked = ((char, mark == 2 and before != 2, mark) for char, mark, before in parts)
    return "".join(
        _MARK if begins else "" if mark else char for char, begins, mark in marked
    )


def cantonese_share(
    text: str, min_characters: int, asked: str = "", *, answers: bool = False
) -> float:
    """Measure how much of a text is in Cantonese.

    Args:
        text: A text without its quotations, see `without_quotations`.
        min_characters: The number of different Chinese characters that it needs. Particles do not
            count.
        asked: The question and its options. Three different characters of the Cantonese must
            not occur in them.
        answers: Whether the text answers a question with options. If so, clauses that only name an
            option's letter or text, or call it right or wrong, do not count; if none does, the
            shortest clause that names an option does not count.

    Returns:
        The share by `cantonese_prose`, from 0 to 1, less what repeats earlier clauses, and less if
        its Cantonese is too short; 0 if the whole text is, or if it is caught in a loop, a list of
        words, or mostly in Latin letters.

    Examples:
        >>> cantonese_share("答案係A。", 4, answers=True), cantonese_share("佢哋返咗屋企。", 4)
        (0.0, 1.0)
    """
    share, prose, in_features = cantonese_prose(text)
    clauses = [clause for clause in _CLAUSE_END.split(prose) if clause]
    verdict = {*fold_script(_VERDICT)} if answers else set()
    if answers and (naming := [*filter(_NAMED.search, clauses)]):
        bare = [clause for clause in naming if len(_different(clause) - verdict) < 2]
        announcing = [*bare, *filter(_ANNOUNCED.search, naming)]
        announcing = announcing or [
            min(naming, key=lambda clause: len(_different(clause)))
        ]
        clauses = [clause for clause in clauses if clause not in announcing]
    said = "".join(clauses)
    han = [*filter(is_han, said)]
    different, n_han = _different(said), len(han)
    n_particles = sum(each in _PARTICLES for each in han)
    own = different - {*fold_script(asked)} - verdict
    n_clauses = sum(any(map(is_han, each)) for each in clauses)
    windows = [{*han[start : start + _WINDOW]} for start in range(0, n_han, _WINDOW)]
    is_loop = n_han >= _LONG and sum(map(len, windows)) < _LEAST_DIFFERENT * n_han
    least = _LEAST_IN_AN_ITEM if n_clauses >= _LIST else _LEAST_IN_A_CLAUSE
    is_telegram = (
        in_features > _MOST_IN_FEATURES or n_particles > _MOST_PARTICLES * n_han
    )
    is_list = n_han < least * n_clauses or (len(different) >= _LONG and is_telegram)
    is_short = len(_different(text)) < max(1, min_characters)
    is_asked = len(own) < max(1, min(min_characters, _LEAST_OWN))
    is_latin = len(_LATIN_WORD.findall(prose)) > n_han
    if is_short or is_asked or is_latin or is_list or is_loop or is_degenerate(text):
        return 0.0
    repeated = _repeated(clauses)
    new = 1 - repeated if repeated > _MOST_ALIKE else 1
    return share * new * min(1, len(different) / max(1, min_characters))


def _different(text: str) -> set[str]:
    """The different characters of a text, in one script, without particles."""
    return {*filter(is_han, fold_script(text))} - {*fold_script(_PARTICLES)}


def _repeated(clauses: list[str]) -> float:
    """The share of the characters in clauses that nearly repeat an earlier one."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    total = repeated = 0
    for n, clause in enumerate(clauses):
        han = [each for each in clause if is_han(each) and each not in _PARTICLES]
        pairs = {*map("".join, pairwise(han))}
        shared = Counter(place for pair in pairs for place in places[pair][:_WINDOW])
        total += len(han)
        if shared and max(shared.values()) >= _ALIKE * len(pairs):
            repeated += len(han)
        for pair in pairs:
            places[pair].append(n)
    return repeated / (total or 1)
