"""Verifiers of length: how many characters, sentences, lines or verses an answer has."""

from typing import Annotated, Literal

import regex
from msgspec import Meta

from hkcanto_metrics.constraints import reading
from hkcanto_metrics.constraints.declaring import CountFrom1, Counts, Number

Lengths = Annotated[
    tuple[Number, ...], Meta(min_length=1, description="list of numbers from 1")
]


def characters(
    answer: str, *, counting: Literal["units", "han", "all"] = "units"
) -> CountFrom1:
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
    if counting == "han":
        return len(reading.han_of(answer))
    return len(reading.units_of(answer))


def sentences(answer: str) -> CountFrom1:
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


def lines(answer: str) -> CountFrom1:
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


def paragraphs(answer: str, *, blank_lines: bool = False) -> CountFrom1:
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


def verses(answer: str) -> CountFrom1:
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


def characters_per_line(answer: str) -> Counts:
    """The number of Chinese characters in each line.

    Args:
        answer: The answer.

    Returns:
        The number for each line that has a letter or a digit. Every line has to fit.

    Examples:
        >>> characters_per_line("床前明月光，\\n疑是地上霜。")
        [5, 5]
    """
    lines = reading.lines_of(answer)
    return [len(reading.han_of(line)) for line in lines]


def characters_per_sentence(answer: str) -> Counts:
    """The length of each sentence, in Chinese characters, Latin words and numbers.

    Args:
        answer: The answer.

    Returns:
        The length of each sentence. Every sentence has to fit.

    Examples:
        >>> characters_per_sentence("今日好熱。我要飲 lemon tea！")
        [4, 5]
    """
    sentences = reading.sentences_of(answer)
    return [len(reading.units_of(sentence)) for sentence in sentences]


def characters_per_verse(answer: str) -> Counts:
    """The number of Chinese characters in each verse.

    Args:
        answer: The answer.

    Returns:
        The number for each verse, see `verses`. Every verse has to fit.

    Examples:
        >>> characters_per_verse("床前明月光，疑是地上霜。")
        [5, 5]
    """
    verses = reading.verses_of(answer)
    return [len(reading.han_of(verse)) for verse in verses]


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
    if len(counts) < 2 or counts[0] == 0:
        return False
    return len({*counts}) == 1
