"""Verifiers of words: which an answer uses, and where.

Words are matched as they are written: 電車 does not match 电车. The width and case of letters do
not matter. A word that begins or ends in a Latin letter or a digit matches only as a whole word: AI
is not in RAIN. Chinese has no word boundaries: 的 is in 的士, unless `not_in` lists 的士.
"""

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from msgspec import Meta

from hkcanto_metrics.constraints import reading
from hkcanto_metrics.constraints.declaring import AnyTexts, Count, Number, Text, Texts
from hkcanto_metrics.constraints.reading import HAN, LATIN, LETTER, narrow

TextUnit = Literal["lines", "items", "sentences", "words", "characters"]
End = Literal["first", "last"]
Han = Annotated[
    str,
    Meta(
        pattern=f"^[{HAN}]{{2,}}$", description="text of two or more Chinese characters"
    ),
]
Place = Annotated[int, Meta(description="number from 1, or from -1 back")]

# Next to these, a Latin word or a number goes on.
_BORDER = f"[{LATIN}0-9]"


def _word_pattern(word: str) -> str:
    word = narrow(word.strip())
    pattern = re.escape(word)
    if re.match(_BORDER, word[0]):
        pattern = f"(?<!{_BORDER}){pattern}"
    if re.match(_BORDER, word[-1]):
        pattern = f"{pattern}(?!{_BORDER})"
    return pattern


def occurrences(
    answer: str,
    *,
    word: Text,
    not_in: AnyTexts = (),
) -> Count:
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
    # The first alternative that matches wins, so longer words come first.
    exceptions = sorted(map(_word_pattern, not_in), key=len, reverse=True)
    pattern = "|".join([*exceptions, f"(?P<word>{_word_pattern(word)})"])
    matches = re.finditer(pattern, narrow(answer))
    return sum(match["word"] is not None for match in matches)


def uses_all(
    answer: str,
    *,
    words: Texts,
    not_in: AnyTexts = (),
) -> bool:
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


def different_words(answer: str, *, words: Texts) -> Count:
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
    different = {narrow(word) for word in words}
    return sum(occurrences(answer, word=word) > 0 for word in different)


def avoids(
    answer: str,
    *,
    words: Texts,
    not_in: AnyTexts = (),
) -> bool:
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
    pattern = r"[\W_]*" + _word_pattern(text)
    return re.match(pattern, narrow(answer.lstrip())) is not None


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
    pattern = _word_pattern(text) + r"[\W_]*\Z"
    return re.search(pattern, narrow(answer.rstrip())) is not None


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
    # Atomic groups do not go back, so a long answer takes linear time.
    pattern = "".join(f"(?>.*?{_word_pattern(word)})" for word in words)
    return re.match(pattern, narrow(answer), re.DOTALL) is not None


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
    bare_answer = _bare(answer)
    for phrase in phrases:
        if _bare(phrase) != bare_answer:
            continue
        # The marks at the ends of the phrase itself must be there.
        if starts_with(answer, text=phrase) and ends_with(answer, text=phrase):
            return True
    return False


def _bare(text: str) -> str:
    return re.sub(r"\A[\W_]+|[\W_]+\Z", "", narrow(text))


def word_in_sentence(
    answer: str,
    *,
    word: Text,
    sentence: Place,
) -> bool:
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
    sentences = reading.sentences_of(answer)
    position = sentence - 1 if sentence > 0 else len(sentences) + sentence
    if not 0 <= position < len(sentences):
        return False
    return occurrences(sentences[position], word=word) > 0


def paragraph_starts_with(
    answer: str,
    *,
    paragraph: Number,
    text: Text,
) -> bool:
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
    paragraphs = reading.paragraphs_of(answer)
    if len(paragraphs) < paragraph:
        return False
    first_line = paragraphs[paragraph - 1][0]
    return starts_with(first_line, text=text)


def _all_fit(
    units: Sequence[str],
    fits: Callable[..., bool],
    texts: Sequence[str],
) -> bool:
    """Whether there are units, and each begins or ends with one of the texts."""
    for unit in units:
        if not any(fits(unit, text=text) for text in texts):
            return False
    return bool(units)


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
    return _all_fit(reading.lines_of(answer), starts_with, [text])


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
    return _all_fit(reading.lines_of(answer), ends_with, [text])


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
    sentences = [text + end for text, end in reading.sentences_with_ends(answer)]
    return _all_fit(sentences, ends_with, words)


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
    rest = "\n".join(reading.lines_of(answer)[1:])
    pattern = rf"^{_word_pattern(mark)}(?P<text>[\s\S]*)"
    match = re.search(pattern, narrow(rest), re.MULTILINE)
    return bool(match and LETTER.search(match["text"]))


def acrostic(
    answer: str,
    *,
    text: Han,
    place: End = "first",
    unit: Literal["lines", "verses"] = "lines",
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
    spelled = []
    for part in reading.UNITS[unit](answer):
        han = reading.han_of(part)
        spelled.append(han[:1] if place == "first" else han[-1:])
    return spelled == [*text]


def distinct(answer: str, *, unit: TextUnit = "lines") -> bool:
    """No line, list item, sentence, word or character is repeated.

    Args:
        answer: The answer.
        unit: What to compare. Words are those that PyCantonese finds; a Latin word or a number is
            one character.

    Returns:
        Whether all differ, apart from their marks.

    Examples:
        >>> distinct("今日好熱\\n聽日好凍"), distinct("- 好熱。\\n- 好熱！")
        (True, False)
        >>> distinct("今日好熱", unit="characters"), distinct("日日好熱", unit="characters")
        (True, False)
    """
    units = reading.UNITS[unit](answer)
    different = {_bare(text) for text in units}
    return len(different) == len(units)


def each_sentence_starts_with(answer: str, *, words: Texts) -> bool:
    """Each sentence begins with one of the words.

    Args:
        answer: The answer.
        words: The words. Marks before them are ignored.

    Returns:
        Whether each sentence does.

    Examples:
        >>> each_sentence_starts_with("我瞓。佢食。", words=("我", "佢"))
        True
    """
    return _all_fit(reading.sentences_of(answer), starts_with, words)


def ends_as_it_begins(answer: str, *, length: Number = 1) -> bool:
    """The first characters are also the last ones (首尾呼應).

    Args:
        answer: The answer.
        length: The number of characters; a Latin word or a number is one.

    Returns:
        Whether they are the same, and do not overlap.

    Examples:
        >>> ends_as_it_begins("雨落，落山。"), ends_as_it_begins("好天，話好天！", length=2)
        (False, True)
    """
    units = reading.units_of(answer)
    return len(units) >= 2 * length and units[:length] == units[-length:]


def word_at(
    answer: str,
    *,
    word: Text,
    place: Place,
) -> bool:
    """A word is at a given place, counted in characters.

    Args:
        answer: The answer.
        word: The word.
        place: Where it begins, from 1, or ends, from -1 back; a Latin word or a number is one.

    Returns:
        Whether it is there.

    Examples:
        >>> word_at("我今日好攰", word="今日", place=2), word_at("好攰呀！", word="呀", place=-1)
        (True, True)
    """
    units = reading.units_of(answer)
    word_units = reading.units_of(word)
    start = place - 1
    if place <= 0:
        start = len(units) + place + 1 - len(word_units)
    if start < 0 or not word_units:
        return False
    return units[start : start + len(word_units)] == word_units
