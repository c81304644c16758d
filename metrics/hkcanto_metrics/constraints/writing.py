"""Verifiers of length, words and form: what an answer looks like, whatever language it is in.

Words are matched as they are written: 電車 does not match 电车. The width and case of letters do
not matter. A word that begins or ends in a Latin letter or a digit matches only as a whole word: AI
is not in RAIN. Chinese has no word boundaries: 的 is in 的士, unless `not_in` lists 的士.
"""

import csv
import re
import unicodedata
from itertools import accumulate, pairwise, takewhile
from typing import Annotated, Any, Literal
from xml.etree import ElementTree

import msgspec
import regex
from msgspec import Meta

from hkcanto_metrics.constraints import reading
from hkcanto_metrics.constraints.declaring import AnyTexts, Number, Text, Texts, verifier
from hkcanto_metrics.constraints.reading import BULLET, CODE, HAN, LATIN, LETTER, NUMBERED, narrow
from hkcanto_metrics.number import parse_number

Unit = Literal["lines", "items", "sentences", "words", "characters"]
End = Literal["first", "last"]
Counting = Literal["units", "han", "all"]
Lengths = Annotated[tuple[Number, ...], Meta(min_length=1, description="list of numbers from 1")]
Han = Annotated[
    str, Meta(pattern=f"^[{HAN}]{{2,}}$", description="text of two or more Chinese characters")
]
Place = Annotated[int, Meta(description="number from 1, or from -1 back")]
Level = Annotated[int, Meta(ge=1, le=6, description="number from 1 to 6")]

_FENCED = re.compile(r"\A```[^\n`]*\n(.*)\n\s*```\Z", re.DOTALL)
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_PIPE = re.compile(r"(?<!\\)\|")
# As a reader sees it: signs such as ☎ are emoji, unless a selector asks for text style (\ufe0e).
_EMOJI = regex.compile(
    r"(?V1)[\p{Emoji_Presentation}[\p{Emoji}&&\p{Extended_Pictographic}&&[\u2600-\U0001faff]]]"
    r"(?!\ufe0e)|\p{Emoji}\ufe0f|\u20e3"
)
_BOLD = re.compile(r"\*\*(?=[^\s*])[^*\n]+(?<!\s)\*\*|(?<!_)__(?=[^\s_])[^_\n]+(?<!\s)__(?!_)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+\S")
_PLACEHOLDERS: dict[str | None, str] = {
    "[]": r"\[(?![ xX]\])[^\[\]\n]+\](?!\()",
    "【】": r"【[^【】\n]+】",
}
_QUOTATIONS: dict[str | None, str] = {
    "「」": "「[^「」\n]+」",
    "『』": "(?<!「)『[^『』\n]+』",
    "“”": "“[^“”\n]+”",
}
_HASHTAG = re.compile(r"(?<![A-Za-z0-9_&/])[#＃](?=\w*[^\W\d_])\w+")
# Unicode's category P includes these, which represent words or are Markdown; it lacks ～ and ~.
_NO_PUNCTUATION = frozenset("@#%&*/\\_§¶†‡‰※＠＃％＆＊／＼＿")
_IN_WORD = re.compile(rf"(?<=[{LATIN}0-9])[.,:'’-](?=[{LATIN}0-9])")
_HALF_BY_CHINESE = re.compile(rf"(?<=[{HAN}])[,.!?:;()]|[(](?=[{HAN}])")


# Length


@verifier("Length", least=1)
def characters(answer: str, *, counting: Counting = "units") -> int:
    """The length in characters (字數).

    Args:
        answer: The answer.
        counting: `units`: each Chinese character, Latin word and number counts as one, as in word
            processors' 字數 without punctuation. `han`: only Chinese characters. `all`: everything
            except white space, including punctuation and Markdown.

    Returns:
        The number of characters.

    Examples:
        >>> characters("買 iPhone 喇！"), characters("買 iPhone 喇！", counting="all")
        (3, 9)
    """
    if counting == "all":
        return len(regex.findall(r"(?=\S)\X", answer))
    return len(reading.units_of(answer) if counting == "units" else reading.han_of(answer))


@verifier("Length", least=1)
def sentences(answer: str) -> int:
    """The number of sentences.

    A sentence ends in 。！？ or at the end of a line, an English one in a full stop (but not that
    of Mr. or P.S.). …… does not end a sentence. A quotation is part of the sentence around it.

    Args:
        answer: The answer.

    Returns:
        The number of sentences with a letter or a digit.

    Examples:
        >>> sentences("佢話：「係咩？真㗎？」我……我唔知！")
        1
    """
    return len(reading.sentences_of(answer))


@verifier("Length", least=1)
def lines(answer: str) -> int:
    """The number of lines; exactly 1 asks for the whole answer in one line.

    Args:
        answer: The answer.

    Returns:
        The number of lines with a letter or a digit; blank lines, rules and fences do not count.

    Examples:
        >>> lines("早晨\\n\\n---\\n再見")
        2
    """
    return len(reading.lines_of(answer))


@verifier("Length", least=1)
def paragraphs(answer: str, *, blank_lines: bool = False) -> int:
    """The number of paragraphs.

    Args:
        answer: The answer.
        blank_lines: Whether only blank lines separate paragraphs.

    Returns:
        The number of blocks between blank lines; without a blank line, the number of lines, or 1
        if only blank lines separate them.

    Examples:
        >>> paragraphs("一行\\n兩行\\n\\n三行"), paragraphs("一行\\n兩行")
        (2, 2)
        >>> paragraphs("一行\\n兩行", blank_lines=True)
        1
    """
    return len(reading.paragraphs_of(answer, blank_lines=blank_lines))


@verifier("Length", least=1)
def verses(answer: str) -> int:
    """The number of verses: stretches of Chinese between punctuation marks or line ends.

    Args:
        answer: The answer.

    Returns:
        The number of verses. Together with `characters_per_verse` it gives a poem's form: 4 verses
        of 7 characters are a 七言絕句.

    Examples:
        >>> verses("床前明月光，疑是地上霜。\\n舉頭望明月，低頭思故鄉。")
        4
    """
    return len(reading.verses_of(answer))


@verifier("Length", least=1)
def characters_per_line(answer: str) -> list[int]:
    """The number of Chinese characters in each line.

    Args:
        answer: The answer.

    Returns:
        The number for each line that has a letter or a digit. Every line has to fit.

    Examples:
        >>> characters_per_line("床前明月光，\\n疑是地上霜。")
        [5, 5]
    """
    return [len(reading.han_of(line)) for line in reading.lines_of(answer)]


@verifier("Length", least=1)
def characters_per_sentence(answer: str) -> list[int]:
    """The length of each sentence, in Chinese characters, Latin words and numbers.

    Args:
        answer: The answer.

    Returns:
        The length of each sentence. Every sentence has to fit.

    Examples:
        >>> characters_per_sentence("今日好熱。我要飲 lemon tea！")
        [4, 5]
    """
    return [len(reading.units_of(said)) for said in reading.sentences_of(answer)]


@verifier("Length", least=1)
def characters_per_verse(answer: str) -> list[int]:
    """The number of Chinese characters in each verse.

    Args:
        answer: The answer.

    Returns:
        The number for each verse, see `verses`. Every verse has to fit.

    Examples:
        >>> characters_per_verse("床前明月光，疑是地上霜。")
        [5, 5]
    """
    return [len(reading.han_of(verse)) for verse in reading.verses_of(answer)]


@verifier("Length")
def verse_lengths(answer: str, *, lengths: Lengths) -> bool:
    """The verses have these lengths, in this order.

    Args:
        answer: The answer.
        lengths: The number of Chinese characters in each verse, from 1. The answer must have as
            many verses.

    Returns:
        Whether the verses have these lengths.

    Examples:
        >>> verse_lengths("海風吹，浪花拍岸聲，好瞓呀。", lengths=(3, 5, 3))
        True
    """
    return characters_per_verse(answer) == [*lengths]


@verifier("Length")
def equal_lines(answer: str) -> bool:
    """All lines have the same number of Chinese characters, as in a couplet (對聯).

    Args:
        answer: The answer.

    Returns:
        Whether all lines are equally long and there are at least two.

    Examples:
        >>> equal_lines("上聯：天增歲月人增壽\\n下聯：春滿乾坤福滿門"), equal_lines("一\\n一二")
        (True, False)
    """
    counts = characters_per_line(answer)
    return len(counts) > 1 and len({*counts}) == 1 and counts[0] > 0


# Words


def _useless(not_in: AnyTexts, words: tuple[str, ...] = (), word: str = "", **_: object) -> str:
    asked = [*map(narrow, words or [word])]
    for text in map(narrow, not_in):
        if not any(each in text != each for each in asked):
            return f"the exception {text!r} does not contain the word asked for, or is not longer"
    return ""


def _more_than_given(words: Texts, exactly: int | None, at_least: int | None, **_: object) -> str:
    least, most = exactly or at_least or 0, len({*map(narrow, words)})
    return f"{least} different words of {most} are impossible" if least > most else ""


def _no_place(sentence: int = 1, place: int = 1, **_: object) -> str:
    return "" if sentence and place else "0 does not exist; 1 is the first and -1 the last"


def _pattern(word: str) -> str:
    word = narrow(word.strip())
    border = f"[{LATIN}0-9]"
    before, after = (bool(re.match(border, edge)) for edge in (word[0], word[-1]))
    return f"(?<!{border})" * before + re.escape(word) + f"(?!{border})" * after


@verifier("Words", least=0, impossible=_useless)
def occurrences(answer: str, *, word: Text, not_in: AnyTexts = ()) -> int:
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


@verifier("Words", impossible=_useless)
def uses_all(answer: str, *, words: Texts, not_in: AnyTexts = ()) -> bool:
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


@verifier("Words", least=0, impossible=_more_than_given)
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


@verifier("Words", impossible=_useless)
def avoids(answer: str, *, words: Texts, not_in: AnyTexts = ()) -> bool:
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


@verifier("Words")
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
    marks = r"[\W_]*" if LETTER.match(text.strip()) else ""
    return re.match(marks + _pattern(text), narrow(answer.lstrip())) is not None


@verifier("Words")
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
    marks = r"[\W_]*" if LETTER.match(text.strip()[-1]) else ""
    return re.search(_pattern(text) + marks + r"\Z", narrow(answer.rstrip())) is not None


@verifier("Words")
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
    pattern = "".join(f"(?>.*?{_pattern(word)})" for word in words)
    return re.match(pattern, narrow(answer), re.DOTALL) is not None


@verifier("Words")
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
        starts_with(answer, text=each)
        and ends_with(answer, text=each)
        and _bare(answer) == _bare(each)
        for each in phrases
    )


def _bare(text: str) -> str:
    return re.sub(r"\A[\W_]+|[\W_]+\Z", "", narrow(text))


@verifier("Words", impossible=_no_place)
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
    numbered = dict(enumerate(reading.sentences_of(answer), 1))
    place = sentence if sentence > 0 else len(numbered) + 1 + sentence
    return occurrences(numbered.get(place, ""), word=word) > 0


@verifier("Words")
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
    first_lines = [lines[0] for lines in reading.paragraphs_of(answer)]
    return any(starts_with(line, text=text) for line in first_lines[paragraph - 1 : paragraph])


@verifier("Words")
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
    lines = reading.lines_of(answer)
    return bool(lines) and all(starts_with(line, text=text) for line in lines)


@verifier("Words")
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
    lines = reading.lines_of(answer)
    return bool(lines) and all(ends_with(line, text=text) for line in lines)


@verifier("Words")
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
    sentences = reading.sentences_of(answer)
    return bool(sentences) and all(any(ends_with(s, text=w) for w in words) for s in sentences)


@verifier("Words")
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
    start = re.search(rf"^{_pattern(mark)}(?P<said>[\s\S]*)", narrow(rest), re.M)
    return bool(start and LETTER.search(start["said"]))


@verifier("Words")
def acrostic(
    answer: str, *, text: Han, place: End = "first", unit: Literal["lines", "verses"] = "lines"
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
    units = reading.UNITS[unit](answer)
    index = 0 if place == "first" else -1
    spelled = [reading.han_of(each)[index:][:1] for each in units]
    return spelled == [*text]


@verifier("Words")
def distinct(answer: str, *, unit: Unit = "lines") -> bool:
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
    return len({_bare(each) for each in units}) == len(units)


@verifier("Words")
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
    sentences = reading.sentences_of(answer)
    return bool(sentences) and all(any(starts_with(s, text=w) for w in words) for s in sentences)


@verifier("Words")
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


@verifier("Words", impossible=_no_place)
def word_at(answer: str, *, word: Text, place: Place) -> bool:
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
    units, wanted = reading.units_of(answer), reading.units_of(word)
    start = place - 1 if place > 0 else len(units) + place + 1 - len(wanted)
    return start >= 0 and bool(wanted) and units[start : start + len(wanted)] == wanted


# Form


def _json(answer: str) -> Any:
    """Parse an answer as JSON, with or without a code fence; None if it is not JSON."""
    try:
        return msgspec.json.decode(_FENCED.sub(r"\1", answer.strip()))
    except (ValueError, RecursionError):
        return None


@verifier("Form")
def json_object(answer: str, *, keys: AnyTexts = (), only: bool = False) -> bool:
    """The answer is a JSON object.

    Args:
        answer: The answer. A code fence around all of it is ignored; any other text is not.
        keys: Keys that the object must have, spelled exactly like this.
        only: Whether other keys are forbidden.

    Returns:
        Whether the answer is such an object.

    Examples:
        >>> json_object('```json\\n{"菜": "魚", "價": 58}\\n```', keys=("菜", "價"), only=True)
        True
    """
    data = _json(answer)
    is_it = isinstance(data, dict) and {*keys} <= data.keys()
    return is_it and not (only and data.keys() - keys)


@verifier("Form", least=1)
def json_items(answer: str) -> int:
    """The number of items, if the answer is a JSON list.

    Args:
        answer: The answer. A code fence around all of it is ignored; any other text is not.

    Returns:
        The number of items; 0 if the answer is not a JSON list.

    Examples:
        >>> json_items('["旺角", "中環"]'), json_items('地方：["旺角", "中環"]')
        (2, 0)
    """
    found = _json(answer)
    return len(found) if isinstance(found, list) else 0


@verifier("Form", least=1)
def json_depth(answer: str) -> int:
    """The depth of nesting, if the answer is a JSON object or list.

    Args:
        answer: The answer. A code fence around all of it is ignored; any other text is not.

    Returns:
        The number of objects and lists inside one another; 0 if the answer is neither.

    Examples:
        >>> json_depth('{"菜": ["魚"]}'), json_depth("[1, 2]"), json_depth("1")
        (2, 1, 0)
    """
    level, depth = [_json(answer)], 0
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [x for each in level for x in (each.values() if isinstance(each, dict) else each)]
    return depth


@verifier("Form")
def data_format(answer: str, *, form: Literal["xml", "yaml", "csv"]) -> bool:
    """The answer is XML, YAML or CSV, and nothing else.

    Args:
        answer: The answer. A code fence around all of it is ignored; any other text is not.
        form: The format. XML has no DTD, YAML is a list or has keys, CSV has rows of the same
            number of fields, at least two.

    Returns:
        Whether it can be read in this format.

    Examples:
        >>> data_format("菜,價\\n魚,58", form="csv"), data_format("菜: 魚\\n價: 58", form="yaml")
        (True, True)
        >>> data_format("<菜>魚</菜>", form="xml"), data_format("<菜>魚", form="xml")
        (True, False)
    """
    import yaml

    text = _FENCED.sub(r"\1", answer.strip())
    try:
        if form == "xml":
            return "<!DOCTYPE" not in text and ElementTree.fromstring(text) is not None
        if form == "yaml":
            return isinstance(yaml.safe_load(text), dict | list)
        widths = {len(row) for row in csv.reader(text.split("\n"), strict=True)}
        return len(widths) == 1 and widths.pop() > 1 and "\n" in text
    except (ValueError, RecursionError, ElementTree.ParseError, yaml.YAMLError, csv.Error):
        return False


def _outer(found: list[re.Match[str] | None]) -> list[re.Match[str]]:
    """The items that are not indented deeper than the first one."""
    items = [each for each in found if each]
    return [each for each in items if len(each["indent"]) <= len(items[0]["indent"])]


@verifier("Form", least=1)
def bullet_items(answer: str, *, mark: Literal["-", "*", "+", "•"] | None = None) -> int:
    """The number of items of a bullet list.

    Args:
        answer: The answer.
        mark: Count only items with this mark; all by default.

    Returns:
        The number of lines that begin with - * + – or •, except nested items and rules such as ---;
        0 without a list.

    Examples:
        >>> bullet_items("要買：\\n- 魚\\n  - 要新鮮\\n- 菜")
        2
    """
    found = _outer([BULLET.match(line) for line in answer.split("\n")])
    return sum(mark in (None, each[0].strip()) for each in found)


@verifier("Form", least=1)
def numbered_items(answer: str) -> int:
    """The number of items of a numbered list.

    Args:
        answer: The answer.

    Returns:
        The number of lines that begin with 1. 1) 1、 (1) ① or 一、 and go on with the next number.
        A number out of order does not count; 0 without a list.

    Examples:
        >>> numbered_items("1. 魚\\n2. 菜\\n4. 肉"), numbered_items("一、魚\\n二、菜")
        (2, 2)
    """
    count = 0
    for item in _outer([NUMBERED.match(line) for line in answer.split("\n")]):
        circled = item["circled"]
        number = unicodedata.numeric(circled) if circled else parse_number(item["number"])
        count += number == count + 1
    return count


@verifier("Form", least=0)
def sub_items(answer: str) -> int:
    """The number of nested list items.

    Args:
        answer: The answer.

    Returns:
        The number of items that are indented deeper than the first one.

    Examples:
        >>> sub_items("- 魚\\n  - 蝦\\n  1. 蟹\\n- 菜")
        2
    """
    found = [BULLET.match(line) or NUMBERED.match(line) for line in answer.split("\n")]
    return sum(each is not None for each in found) - len(_outer(found))


@verifier("Form")
def only_list(answer: str) -> bool:
    """The answer is a list, with nothing before, between or after its items.

    Args:
        answer: The answer.

    Returns:
        Whether each line is an item of a bullet or numbered list.

    Examples:
        >>> only_list("- 魚\\n- 菜"), only_list("要買：\\n- 魚\\n- 菜")
        (True, False)
    """
    return 0 < len(reading.items_of(answer)) == len(reading.lines_of(answer))


@verifier("Form", least=1)
def table_rows(answer: str, *, columns: Number | None = None) -> int:
    """The number of rows of the first Markdown table, not counting its header.

    Args:
        answer: The answer.
        columns: The number of columns it must have, from 1; any number by default.

    Returns:
        The number of rows; 0 without a table, or if a row has a different number of columns.

    Examples:
        >>> table_rows("| 菜 | 價 |\\n|---|---|\\n| 魚 | 58 |\\n| 肉 | 48 |", columns=2)
        2
    """
    rows = [line.strip() for line in answer.split("\n")]
    for place, (header, rule) in enumerate(pairwise(rows)):
        if "|" in header and "|" in rule and _RULE.fullmatch(rule):
            table = [*takewhile(lambda row: "|" in row, rows[place:])]
            widths = {len(_PIPE.split(row.removeprefix("|").removesuffix("|"))) for row in table}
            return len(table) - 2 if len(widths) == 1 and columns in (None, *widths) else 0
    return 0


@verifier("Form")
def quoted(answer: str, *, marks: Literal["「」", "『』", "“”", '""', "《》"] = "「」") -> bool:
    """The whole answer is between one pair of quotation marks.

    Args:
        answer: The answer.
        marks: The pair of quotation marks.

    Returns:
        Whether the first character opens and the last one closes the same pair.

    Examples:
        >>> quoted("「你好！」"), quoted("「你好」同「再見」")
        (True, False)
    """
    text, (opening, closing) = answer.strip(), marks
    steps = (-1 if each == closing else int(each == opening) for each in text[1:-1])
    depths = [*accumulate(steps, initial=1)]
    return len(text) > 2 and text[0] + text[-1] == marks and all(depths) and depths[-1] == 1


@verifier("Form")
def title(answer: str, *, marks: Literal["《》", "〈〉", "【】", "「」", "<<>>"] = "《》") -> bool:
    """The first line is a title between marks, with text below it.

    Args:
        answer: The answer.
        marks: The marks. Markdown around them is ignored.

    Returns:
        Whether the answer has such a title.

    Examples:
        >>> title("# 《夜船》\\n風好大。"), title("《夜船》講一個水手。")
        (True, False)
    """
    first, *rest = reading.lines_of(answer) or [""]
    half = len(marks) // 2
    return bool(rest and re.fullmatch(f"{marks[:half]}[^{marks}]+{marks[half:]}", first))


@verifier("Form", least=0)
def headings(answer: str, *, level: Level | None = None) -> int:
    """The number of headings in Markdown.

    Args:
        answer: The answer.
        level: Count only headings of this level (number of #), from 1 to 6.

    Returns:
        The number of lines that begin with # and a blank; those in code do not count.

    Examples:
        >>> headings("# 材料\\n## 魚\\n#香港"), headings("# 材料\\n## 魚", level=2)
        (2, 1)
    """
    found = [_HEADING.match(line) for line in CODE.sub("", answer).split("\n")]
    return sum(level in (None, len(each[1])) for each in found if each)


@verifier("Form", least=0)
def bold(answer: str) -> int:
    """The number of passages in bold type, in Markdown.

    Args:
        answer: The answer.

    Returns:
        The number of passages on one line between ** or __, with no blank inside the marks; those
        in code do not count.

    Examples:
        >>> bold("**小心**地滑，*慢慢*行"), bold("姓名：____ 電話：____")
        (1, 0)
    """
    return len(_BOLD.findall(CODE.sub("", answer)))


@verifier("Form", least=0)
def placeholders(answer: str, *, marks: Literal["[]", "【】"] | None = None) -> int:
    """The number of places to fill in, such as [姓名] or 【日期】.

    Args:
        answer: The answer.
        marks: Count only those between these marks; both by default.

    Returns:
        The number of texts in [] or 【】, except links and check boxes.

    Examples:
        >>> placeholders("[姓名]你好，【日期】見；睇[呢度](https://example.org)")
        2
    """
    return len(re.findall(_PLACEHOLDERS.get(marks, "|".join(_PLACEHOLDERS.values())), answer))


@verifier("Form", least=0)
def quotations(answer: str, *, marks: Literal["「」", "『』", "“”"] | None = None) -> int:
    """The number of quotations.

    Args:
        answer: The answer.
        marks: Count only those between these marks; all by default.

    Returns:
        The number of passages between 「」, 『』 or “” on one line; nested ones do not count.

    Examples:
        >>> quotations("佢話：「我聽過『早晨』。」")
        1
    """
    return len(re.findall(_QUOTATIONS.get(marks, "|".join(_QUOTATIONS.values())), answer))


@verifier("Form", least=0)
def hashtags(answer: str) -> int:
    """The number of hashtags.

    Args:
        answer: The answer.

    Returns:
        The number of words directly after # or ＃, with a letter; headings and code do not count.

    Examples:
        >>> hashtags("# 今日\\n排名 #1，好好食！#香港#foodie")
        2
    """
    return len(_HASHTAG.findall(CODE.sub("", answer)))


@verifier("Form", least=1)
def parts(answer: str, *, mark: Text, own_line: bool = False) -> int:
    """The number of different parts that a mark separates, such as two versions.

    Args:
        answer: The answer.
        mark: The separator between two parts.
        own_line: Whether the mark must be alone on its line.

    Returns:
        The number of parts; 0 if two are the same or a part between marks is empty. A mark at the
        beginning or the end is ignored. If a line has only the mark, marks in other lines are text.

    Examples:
        >>> parts("早晨！\\n***\\n你好！", mark="***"), parts("早晨***早晨", mark="***")
        (2, 0)
        >>> parts("***早晨***\\n***\\n你好", mark="***")
        2
    """
    alone = re.compile(rf"^[^\S\n]*{re.escape(mark.strip())}[^\S\n]*$", re.MULTILINE)
    is_alone = own_line or alone.search(answer)
    split = alone.split(answer) if is_alone else answer.split(mark.strip())
    found = ["".join(part.split()) for part in split]
    found = found[not found[0] :]
    found = found[:-1] if found and not found[-1] else found
    return len(found) if all(found) and len({*found}) == len(found) else 0


@verifier("Form", least=0)
def punctuation(answer: str, *, marks: Text | None = None) -> int:
    """The number of punctuation marks, any or given ones.

    Args:
        answer: The answer.
        marks: The marks that count, in full or half width; by default all.

    Returns:
        The number of marks. Marks in numbers, times and words (3.5, 9:30, don't) do not count, nor
        do signs such as % & @ # and *.

    Examples:
        >>> punctuation("好，買！3.5 個"), punctuation("好,買！", marks="，")
        (2, 1)
    """
    text, wanted = narrow(_IN_WORD.sub("", answer)), narrow(marks or "")
    return sum(each in wanted if marks else _is_punctuation(each) for each in text)


def _is_punctuation(character: str) -> bool:
    is_mark = unicodedata.category(character)[0] == "P" and character not in _NO_PUNCTUATION
    return is_mark or character == "~"


@verifier("Form")
def punctuation_width(answer: str, *, width: Literal["full", "half"]) -> bool:
    """All punctuation in Chinese text has the given width, full or half.

    Args:
        answer: The answer.
        width: `full`: none of , . ! ? : ; ( ) is next to a Chinese character. `half`: there is no
            full-width mark at all.

    Returns:
        Whether all of it has this width.

    Examples:
        >>> punctuation_width("好，OK!", width="full"), punctuation_width("好,買", width="full")
        (True, False)
    """
    if width == "full":
        return not _HALF_BY_CHINESE.search(answer)
    return not any(each > "\u2fff" and _is_punctuation(narrow(each)) for each in answer)


@verifier("Form", least=0)
def emoji(answer: str) -> int:
    """The number of emoji; exactly 0 asks for none.

    Args:
        answer: The answer.

    Returns:
        The number of emoji as a reader sees them: a family or a flag is one, ‼️ and ☎ are, too. :)
        and ★ do not count.

    Examples:
        >>> emoji("好嘢👍🏽 👨‍👩‍👧 ❤️ 1️⃣ ‼️ :)")
        5
    """
    return sum(bool(_EMOJI.search(each)) for each in regex.findall(r"\X", answer))


@verifier("Form", least=0)
def questions(answer: str) -> int:
    """The number of sentences that end in a question mark.

    Args:
        answer: The answer.

    Returns:
        The number of questions. See `sentences` for what a sentence is.

    Examples:
        >>> questions("食咗飯未？未呀。一齊食?")
        2
    """
    return sum("?" in narrow(end) for _, end in reading.sentences_with_ends(answer))


@verifier("Form")
def ends_with_question(answer: str) -> bool:
    """The answer ends with a question.

    Args:
        answer: The answer.

    Returns:
        Whether a question mark follows its last word; closing quotes and emoji may follow, too.

    Examples:
        >>> ends_with_question("你話係咪呀？😀"), ends_with_question("係咪？係。")
        (True, False)
    """
    return bool(reading.sentences_of(answer)) and "?" in narrow(LETTER.split(answer)[-1])
