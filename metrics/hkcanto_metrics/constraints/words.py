"""Verifiers of words: which words are used, how often, and where.

Words are matched as they are written: 電車 does not match 电车. The width and case of letters do
not matter. A word that begins or ends in a Latin letter or a digit matches only as a whole word: AI
is not in RAIN. Chinese has no word boundaries: 的 is in 的士, unless `not_in` lists 的士.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Literal

from msgspec import Meta

from hkcanto_metrics.constraints.declaring import Number, Text, Texts, condition, measure
from hkcanto_metrics.constraints.reading import (
    HAN,
    LATIN,
    after_letters,
    from_letters,
    han_of,
    lines_of,
    narrow,
    paragraphs_of,
    sentences_of,
    verses_of,
)

Exceptions = tuple[Text, ...]
Unit = Literal["lines", "verses"]
Han = Annotated[
    str, Meta(pattern=f"^[{HAN}]{{2,}}$", description="text of two or more Chinese characters")
]
Place = Annotated[int, Meta(description="number from 1, or from -1 back")]


def _useless(words: Iterable[str], exceptions: Iterable[str]) -> str:
    for exception in exceptions:
        if not any(narrow(word) in narrow(exception) != narrow(word) for word in words):
            return (
                f"the exception {exception!r} does not contain the word asked for, or is not longer"
            )
    return ""


def _useless_of_one(word: str, not_in: Exceptions, **_: object) -> str:
    return _useless([word], not_in)


def _useless_of_all(words: Texts, not_in: Exceptions, **_: object) -> str:
    return _useless(words, not_in)


def _more_than_given(words: Texts, **bounds: int | None) -> str:
    least = max(bounds["exactly"] or 0, bounds["at_least"] or 0)
    most = len({*map(narrow, words)})
    return f"{least} different words of {most} are impossible" if least > most else ""


def _no_place(sentence: int, **_: object) -> str:
    return "" if sentence else "sentence 0 does not exist; 1 is the first and -1 the last"


def _pattern(word: str) -> str:
    word = narrow(word.strip())
    border = f"[{LATIN}0-9]"
    before, after = (bool(re.match(border, edge)) for edge in (word[0], word[-1]))
    return f"(?<!{border})" * before + re.escape(word) + f"(?!{border})" * after


def _starts(text: str, start: str) -> bool:
    pattern, text = re.compile(_pattern(start)), narrow(text.lstrip())
    return bool(pattern.match(text) or pattern.match(from_letters(text)))


def _ends(text: str, end: str) -> bool:
    text, end = narrow(text.rstrip()), narrow(end.strip())
    bare = text[: len(text) - len(after_letters(text))]
    whole = re.compile(rf"(?:{_pattern(end)})\Z")
    return any(whole.search(each, max(0, len(each) - len(end))) for each in (text, bare))


@measure(least=0, impossible=_useless_of_one)
def occurrences(answer: str, *, word: Text, not_in: Exceptions = ()) -> int:
    """The number of times a word is used.

    Args:
        answer: The answer.
        word: The word or phrase.
        not_in: Longer words in which it does not count.

    Returns:
        The number of times, from left to right and without overlap: 哈哈 occurs once in 哈哈哈.

    Examples:
        >>> occurrences("搭的士嘅目的", word="的"), occurrences("哈哈哈", word="哈哈")
        (2, 1)
        >>> occurrences("搭的士嘅目的", word="的", not_in=("的士",))
        1
    """
    exceptions = sorted(map(_pattern, not_in), key=len, reverse=True)
    found = re.finditer("|".join([*exceptions, f"(?P<word>{_pattern(word)})"]), narrow(answer))
    return sum(match["word"] is not None for match in found)


@condition(impossible=_useless_of_all)
def uses_all(answer: str, *, words: Texts, not_in: Exceptions = ()) -> bool:
    """Each of the words is used at least once.

    Args:
        answer: The answer.
        words: The words.
        not_in: Longer words in which they do not count.

    Returns:
        Whether all are used.

    Examples:
        >>> uses_all("去旺角買魚蛋", words=("旺角", "魚蛋")), uses_all("去旺角", words=("魚蛋",))
        (True, False)
    """
    return all(occurrences(answer, word=word, not_in=not_in) for word in words)


@measure(least=0, impossible=_more_than_given)
def different_words(answer: str, *, words: Texts) -> int:
    """The number of the listed words that are used; exactly 1 asks for one of them.

    Args:
        answer: The answer.
        words: The words.

    Returns:
        The number of different words that are used.

    Examples:
        >>> different_words("飲茶，飲奶茶", words=("飲", "奶茶", "咖啡"))
        2
    """
    return sum(occurrences(answer, word=word) > 0 for word in {*map(narrow, words)})


@condition(impossible=_useless_of_all)
def avoids(answer: str, *, words: Texts, not_in: Exceptions = ()) -> bool:
    """None of the words is used.

    Args:
        answer: The answer.
        words: The words.
        not_in: Longer words in which they do not count, such as 的士 and 目的 for 的.

    Returns:
        Whether none is used.

    Examples:
        >>> avoids("搭的士", words=("的",)), avoids("搭的士", words=("的",), not_in=("的士",))
        (False, True)
    """
    return not any(occurrences(answer, word=word, not_in=not_in) for word in words)


@condition()
def starts_with(answer: str, *, text: Text) -> bool:
    """The answer begins with a text.

    Args:
        answer: The answer.
        text: Its first words. Marks before them, such as 「 and **, are ignored.

    Returns:
        Whether the answer begins with it.

    Examples:
        >>> starts_with("「各位好」，我係阿明。", text="各位好")
        True
    """
    return _starts(answer, text)


@condition()
def ends_with(answer: str, *, text: Text) -> bool:
    """The answer ends with a text.

    Args:
        answer: The answer.
        text: Its last words. Marks and emoji after them are ignored.

    Returns:
        Whether the answer ends with it.

    Examples:
        >>> ends_with("下次再傾，拜拜！😀", text="拜拜"), ends_with("拜拜，走先", text="拜拜")
        (True, False)
    """
    return _ends(answer, text)


@condition()
def word_order(answer: str, *, words: Texts) -> bool:
    """The words are used in this order.

    Args:
        answer: The answer.
        words: The words. Each must occur after the one before it; further uses do not matter.

    Returns:
        Whether all are found in this order.

    Examples:
        >>> word_order("首先洗米，最後落鹽", words=("首先", "最後"))
        True
    """
    text, place = narrow(answer), 0
    for word in words:
        found = re.compile(_pattern(word)).search(text, place)
        if not found:
            return False
        place = found.end()
    return True


@condition()
def one_of(answer: str, *, phrases: Texts) -> bool:
    """The answer is one of the phrases, with nothing around it.

    Args:
        answer: The answer.
        phrases: The phrases. Marks around the answer are ignored.

    Returns:
        Whether the answer is one of them.

    Examples:
        >>> one_of("**贊成**。", phrases=("贊成", "反對")), one_of("我贊成", phrases=("贊成",))
        (True, False)
    """
    return any(
        _starts(answer, phrase) and _ends(answer, phrase) and _bare(answer) == _bare(phrase)
        for phrase in phrases
    )


def _bare(text: str) -> str:
    text = from_letters(narrow(text))
    return text[: len(text) - len(after_letters(text))]


@condition(impossible=_no_place)
def word_in_sentence(answer: str, *, word: Text, sentence: Place) -> bool:
    """A word is used in a given sentence.

    Args:
        answer: The answer.
        word: The word.
        sentence: The sentence's number from 1; -1 is the last one.

    Returns:
        Whether the word is used in that sentence; False if there are fewer sentences. See
        `sentences` for what a sentence is.

    Examples:
        >>> word_in_sentence("落雨。帶遮！", word="遮", sentence=-1)
        True
    """
    said = [each for each, _ in sentences_of(answer)]
    place = sentence - (sentence > 0)
    return -len(said) <= place < len(said) and occurrences(said[place], word=word) > 0


@condition()
def paragraph_starts_with(answer: str, *, paragraph: Number, text: Text) -> bool:
    """A given paragraph begins with a text.

    Args:
        answer: The answer.
        paragraph: The paragraph's number, from 1.
        text: Its first words.

    Returns:
        Whether that paragraph begins with it; False if there are fewer paragraphs.

    Examples:
        >>> paragraph_starts_with("早晨。\\n\\n另外，記得食飯。", paragraph=2, text="另外")
        True
    """
    found = paragraphs_of(answer)
    return paragraph <= len(found) and _starts(found[paragraph - 1][0], text)


@condition()
def each_line_starts_with(answer: str, *, text: Text) -> bool:
    """Each line begins with a text.

    Args:
        answer: The answer.
        text: Its first words. List markers are ignored.

    Returns:
        Whether each line does.

    Examples:
        >>> each_line_starts_with("- 我要瞓\\n- 我要食", text="我要")
        True
    """
    found = lines_of(answer)
    return bool(found) and all(_starts(line, text) for line in found)


@condition()
def each_line_ends_with(answer: str, *, text: Text) -> bool:
    """Each line ends with a text.

    Args:
        answer: The answer.
        text: Its last words. Marks after them are ignored.

    Returns:
        Whether each line does.

    Examples:
        >>> each_line_ends_with("瞓啦！\\n食啦。", text="啦")
        True
    """
    found = lines_of(answer)
    return bool(found) and all(_ends(line, text) for line in found)


@condition()
def each_sentence_ends_with(answer: str, *, words: Texts) -> bool:
    """Each sentence ends with one of the words.

    Args:
        answer: The answer.
        words: The words. Marks after them are ignored.

    Returns:
        Whether each sentence does.

    Examples:
        >>> each_sentence_ends_with("瞓啦！食囉。", words=("啦", "囉"))
        True
    """
    said = [each for each, _ in sentences_of(answer)]
    return bool(said) and all(any(_ends(each, word) for word in words) for each in said)


@condition()
def postscript(answer: str, *, mark: Text = "P.S.") -> bool:
    """The answer has a postscript.

    Args:
        answer: The answer.
        mark: The words it begins with, such as P.S. or 又及.

    Returns:
        Whether a line after the first one begins with the mark, followed by some text.

    Examples:
        >>> postscript("多謝！\\n\\nP.S. 記得帶遮"), postscript("P.S. 記得帶遮")
        (True, False)
    """
    rest = "\n".join(lines_of(answer)[1:])
    start = re.search(rf"^{re.escape(narrow(mark.strip()))}(?P<said>[\s\S]*)", narrow(rest), re.M)
    return bool(start and from_letters(start["said"]))


@condition()
def acrostic(
    answer: str, *, text: Han, place: Literal["first", "last"] = "first", unit: Unit = "lines"
) -> bool:
    """The first (藏頭) or the last (藏尾) characters of the lines spell a text.

    Args:
        answer: The answer, without a title.
        text: The text that they spell, from two characters. The answer must have as many lines.
        place: Whether to take the first or the last character of each.
        unit: Whether to take lines or verses (see `verses`).

    Returns:
        Whether they spell it. Only Chinese characters count.

    Examples:
        >>> acrostic("香江夜色好\\n港灣燈火明", text="香港"), acrostic("香江好", text="香港")
        (True, False)
    """
    units = lines_of(answer) if unit == "lines" else verses_of(answer)
    index = 0 if place == "first" else -1
    return "".join(han_of(each)[index:][:1] for each in units) == text and len(units) == len(text)


@condition()
def distinct(answer: str, *, unit: Literal["lines", "sentences"] = "lines") -> bool:
    """No line (or no sentence) is repeated.

    Args:
        answer: The answer.
        unit: Whether to compare lines or sentences.

    Returns:
        Whether all differ, apart from their marks.

    Examples:
        >>> distinct("今日好熱\\n聽日好凍"), distinct("- 好熱。\\n- 好熱！")
        (True, False)
    """
    units = lines_of(answer) if unit == "lines" else [each for each, _ in sentences_of(answer)]
    return len({_bare(each) for each in units}) == len(units)
