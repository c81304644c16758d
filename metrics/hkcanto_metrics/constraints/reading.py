"""Split an answer into lines, sentences, verses and characters, as a reader sees them.

Markdown marks around a line, for lists, headings, quotations and emphasis, are not part of it. A
character is what a reader sees as one, including its combining marks.
"""

import re
import unicodedata
from importlib import import_module
from itertools import zip_longest
from typing import Any

import regex

from hkcanto_metrics import script

HAN = f"\u3005\u3007{script.HAN}"
LATIN = "A-Za-z\u00c0-\u024f"

# Cyrillic and Greek letters that look like Latin ones.
_LATIN_LOOK_ALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧονυαι",
    "ABESIJKMHOPCTYXaesijopcyxdqwhABEZHIKMNOPTYXovuai",
)
# Greek and Cyrillic, with Latin. A word is Latin if all its letters may be.
_WORD_IN_AN_ALPHABET = re.compile(rf"[{LATIN}\u0370-\u052f\u1f00-\u1fff]+")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTE_AND_HEADING = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s+)?")
# Joins emoji to one, such as a family.
_EMOJI_JOINER = r"(?<=[\p{Extended_Pictographic}\ufe0f\U0001f3fb-\U0001f3ff])\u200d"
_INVISIBLE = regex.compile(
    rf"(?!{_EMOJI_JOINER})(?![\U000e0020-\U000e007f])[\p{{Cf}}\u034f\u115f\u1160\u3164\uffa0]"
)
# An item has a letter or a digit, so that a rule such as --- or * * * is not one.
BULLET = re.compile(r"(?P<indent>\s*)(?:[-*+–]\s+|[•●‧·・･▪]\s*)(?=.*[^\W_])")
NUMBERED = re.compile(
    r"(?P<indent>\s*)(?:#{1,6}\s+)?\**(?:[(（]?(?P<number>\d{1,3}|[一二三四五六七八九十]{1,3})[.．)）、:：](?!\d)"
    r"|(?P<circled>[①-⑳])|(?P<keycap>\d)\ufe0f?\u20e3)\**\s*(?=.*[^\W_])"
)
_EMPHASIS = " \t\r*_`~\u3000"

# Neither an initial (J. K.) nor a title (Mr.) ends a sentence.
_NOT_ABBREVIATED = (
    rf"(?<!(?<![{LATIN}])[{LATIN}])(?<!(?<![{LATIN}])(?:Mr|Ms|Dr|St|No))(?<!Mrs)"
)
_SENTENCE_END = re.compile(
    rf"((?:[。｡！？!]|\?(?![\w-]+=))+|(?<=[{LATIN}0-9)\]\"”」]){_NOT_ABBREVIATED}\.(?=\s|\Z))|\n+"
)
_SENTENCE_MARKS = "。｡！？!?."
# A pair nested in another is part of the outer one.
_QUOTATION = re.compile(
    r"(?:「[^「」\n]*」|『[^『』\n]*』|“[^“”\n]*”|\"[^\"\n]*\"|（[^（）\n]*）|\([^()\n]*\))"
    r"(?P<last>(?=\s*(?:[「『“\"]|$)))?",
    re.MULTILINE,
)
_VERSE_END = re.compile("[，。、！？；：,.!?;:…—\u3000\n]+")
WORD = re.compile(rf"[{LATIN}]+(?:['’-][{LATIN}]+)*")
_COUNTED_UNIT = re.compile(rf"[{HAN}]|[{LATIN}]+(?:['’-][{LATIN}]+)*|\d+(?:[.,:]\d+)*")
_HAN_CHARACTER = re.compile(f"[{HAN}]")
LETTER = re.compile(r"[^\W_]")


def normalise(text: str) -> str:
    """Write letters and digits in one way, and remove characters that nobody sees.

    Full-width, mathematical and superscript forms become plain letters and digits, and radicals
    become characters. Punctuation, emoji and numbers in circles stay as they are. Characters of
    Unicode's category Cf, such as a zero-width space, are removed, except in emoji.

    Examples:
        >>> normalise("ＯＫ 𝐡𝐞𝐥𝐥𝐨 ⾬ nei⁵ 投\u200b訴")
        'OK hello 雨 nei5 投訴'
    """
    if text.isascii():
        return text
    visible: str = _INVISIBLE.sub("", text)
    return unicodedata.normalize("NFC", visible).translate(_USUAL_FORMS)


def narrow(text: str) -> str:
    """Convert a text to half width, lower case and Latin look-alikes, for comparison.

    Examples:
        >>> narrow("ＯＫ！你好"), narrow("\u0410I")  # with a Cyrillic А
        ('ok!你好', 'ai')
        >>> narrow("Привет")  # with a Cyrillic е, as it is a Cyrillic word
        'привет'
    """
    half_width = normalise(text).translate(script.TO_HALF_WIDTH)
    return _WORD_IN_AN_ALPHABET.sub(_in_latin, half_width).lower()


def _in_latin(word: re.Match[str]) -> str:
    """Return a word in Latin letters if all its letters look like them."""
    latin = word[0].translate(_LATIN_LOOK_ALIKES)
    return latin if WORD.fullmatch(latin) else word[0]


def lines_of(text: str) -> list[str]:
    """Return the lines that have letters or digits, without marks of Markdown.

    Examples:
        >>> lines_of("## 買餸\\n\\n1. 菜心\\n- **魚**\\n---")
        ['買餸', '菜心', '魚']
    """
    lines = []
    for line in text.split("\n"):
        bare = _without_marks(line)
        if not _FENCE.match(line) and LETTER.search(bare):
            lines.append(bare)
    return lines


def items_of(text: str) -> list[str]:
    """Return the items of lists, nested ones too, without marks of Markdown.

    Examples:
        >>> items_of("要買：\\n- 魚\\n  - 蝦")
        ['魚', '蝦']
    """
    items = []
    for line in text.split("\n"):
        if BULLET.match(line) or NUMBERED.match(line):
            items.append(_without_marks(line))
    return items


def paragraphs_of(
    text: str,
    *,
    blank_lines: bool = False,
) -> list[list[str]]:
    """Return the paragraphs, each as its lines.

    Blank lines separate paragraphs; in a text without a blank line, each line is a paragraph,
    unless ``blank_lines`` are necessary.

    Examples:
        >>> paragraphs_of("一行\\n兩行\\n\\n三行")
        [['一行', '兩行'], ['三行']]
        >>> paragraphs_of("一行\\n兩行")
        [['一行'], ['兩行']]
    """
    blocks = []
    for block in re.split(r"\n[^\S\n]*\n", text.strip()):
        lines = lines_of(block)
        if lines:
            blocks.append(lines)
    if blank_lines or len(blocks) > 1:
        return blocks
    return [[line] for line in lines_of(text)]


def _usual_form(character: str) -> str:
    """Return a letter or digit in its usual form; numbers in circles, fractions and emoji stay."""
    form = unicodedata.normalize("NFKC", character)
    if not form.isalnum() or regex.match(r"\p{Emoji}", character):
        return character
    decomposition = unicodedata.decomposition(character)
    if decomposition.startswith(("<circle>", "<fraction>")) and form.isnumeric():
        return character
    return form


_USUAL_FORMS = script.CharacterTable(_usual_form)


def sentences_with_ends(text: str) -> list[tuple[str, str]]:
    """Return the sentences, each with the marks that end it.

    The end of a line ends a sentence, too; …… alone does not. Quotations and parentheses are part
    of the sentence around them. A quotation ends a sentence if another quotation or the end of the
    line follows.

    Examples:
        >>> sentences_with_ends("我……我唔知。佢話：「係咩？」然後走咗！")
        [('我……我唔知', '。'), ('佢話：「係咩」然後走咗', '！')]
    """
    lines = "\n".join(lines_of(text))
    parts = _SENTENCE_END.split(_QUOTATION.sub(_without_inner_ends, lines))
    sentences = []
    # The last part has no end.
    for part, end in zip_longest(parts[::2], parts[1::2]):
        if LETTER.search(part):
            sentences.append((part.strip(), end or ""))
    return sentences


def sentences_of(text: str) -> list[str]:
    """Return the sentences without the marks that end them, see `sentences_with_ends`.

    Examples:
        >>> sentences_of("好呀！去邊？")
        ['好呀', '去邊']
    """
    return [sentence for sentence, _ in sentences_with_ends(text)]


def verses_of(text: str) -> list[str]:
    """Return the stretches with Chinese characters between punctuation marks or line ends.

    Examples:
        >>> verses_of("床前明月光，疑是地上霜。")
        ['床前明月光', '疑是地上霜']
    """
    verses = []
    for part in _VERSE_END.split("\n".join(lines_of(text))):
        if _HAN_CHARACTER.search(part):
            verses.append(part.strip())
    return verses


def han_of(text: str) -> str:
    """Return only the Chinese characters, including 々 and 〇.

    Examples:
        >>> han_of("𨋢入面有 3 個人。")
        '𨋢入面有個人'
    """
    return "".join(_HAN_CHARACTER.findall(text))


def units_of(text: str) -> list[str]:
    """Return the units of a text: each Chinese character, word or number is one.

    Examples:
        >>> units_of("買 iPhone 用咗 $8,999。")
        ['買', 'iphone', '用', '咗', '8,999']
    """
    return _COUNTED_UNIT.findall(narrow(text))


def words_of(text: str) -> list[str]:
    """Return the words of a text as PyCantonese finds them, with numbers and Latin words.

    Examples:
        >>> words_of("我哋去旺角 shopping。")
        ['我哋', '去', '旺角', 'shopping']
    """
    words = pycantonese().segment(narrow(text))
    return [word for word in words if LETTER.search(word)]


def pycantonese(module: str = "") -> Any:
    """Return PyCantonese, which has words and their readings, or a module of it.

    Raises:
        ImportError: It is not installed.

    Examples:
        >>> len(pycantonese("data.rime_cantonese").CHARS_TO_JYUTPING) > 100_000
        True
    """
    try:
        return import_module(f"pycantonese.{module}".rstrip("."))
    except ImportError as error:
        needs = "words and their readings are PyCantonese's: pip install 'hkcanto[g2p]'"
        raise ImportError(needs) from error


def latin_words_of(text: str) -> list[str]:
    """Return the words in Latin letters.

    Examples:
        >>> latin_words_of("A餐 don't ｆｒｅｅ")
        ['a', "don't", 'free']
    """
    return WORD.findall(narrow(text))


UNITS = {
    "lines": lines_of,
    "items": items_of,
    "sentences": sentences_of,
    "verses": verses_of,
    "words": words_of,
    "characters": units_of,
}
"""Unit → the function that splits a text into such units."""


def _without_marks(line: str) -> str:
    for mark in (_QUOTE_AND_HEADING, BULLET, NUMBERED):
        match = mark.match(line)
        if match:
            line = line[match.end() :]
    return line.strip(_EMPHASIS)


def _without_inner_ends(match: re.Match[str]) -> str:
    """Return a quotation without the marks that end sentences inside it."""
    quotation: str = match[0]
    text = quotation.translate(dict.fromkeys(map(ord, _SENTENCE_MARKS)))
    last_mark = quotation[-2]
    # 「好呀！」「唔好！」 are two sentences: the mark in the first one ends it.
    is_speech = quotation[0] not in "（("
    if match["last"] is not None and last_mark in _SENTENCE_MARKS and is_speech:
        text += last_mark
    return text
