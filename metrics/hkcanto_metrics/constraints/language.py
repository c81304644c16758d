"""Verifiers of language, script and sound.

A character may have several readings. The reading that PyCantonese gives it in its word and line
counts. So does every reading that it has in at least a tenth of its words in rime-cantonese's list:
聽 can be teng1, ting1 or ting3, and 女 can be neoi5 or neoi2. A character fits if one of its
readings fits. A character without a reading fits nothing.
"""

import re
from collections import Counter, defaultdict
from functools import cache
from typing import Annotated, Literal

from msgspec import Meta

from hkcanto_metrics.constraints import reading
from hkcanto_metrics.constraints.declaring import Number, Text, Texts, verifier
from hkcanto_metrics.constraints.reading import CODE, WORD, han_of, narrow
from hkcanto_metrics.constraints.writing import each_sentence_ends_with
from hkcanto_metrics.jyutping import is_valid, parse_syllable
from hkcanto_metrics.language import identify_language
from hkcanto_metrics.script import count_scripts, to_simplified, to_traditional

Tones = Annotated[
    str, Meta(pattern=r"^[1-6平仄*]+$", description="text of tones: 1 to 6, 平, 仄, or * for any")
]
_SCHEME = "text like AABA, in which a letter is twice, with - for a free line"
Scheme = Annotated[str, Meta(pattern=r"^(?=.*([A-Z]).*\1)[A-Z-]+$", description=_SCHEME)]
# Forms that China's list of variants (第一批異體字整理表, 1955) or its fonts prefer. They are not
# simplifications, because Traditional print uses them, too. 涂 is a surname; 响 is written for 喺.
_ALSO_TRADITIONAL = (
    "凄昵栖棱炖熏瓮羡膻跖踊蝎蚝兖兹决况凉减凑凛删却厢厦厨厩厮叙叠咏咤届屉幂强携撑晋栀椁橱殁毁"
    "汹泪渊溆滚潜灾烟牦猪猫盖瑶疱眦碱禀秆窑笋糇糍耻脉脚腭莅蘖虬衅踪迹隽韵鼹够黄吴奥亘内刹横猬涂响"
)
_ALSO_TRADITIONAL_WORDS = re.compile("拮据|海淀|白洋淀")
# Characters restored to Simplified script (通用規範漢字表, 2013), or used in it for one meaning.
_ALSO_SIMPLIFIED = "拚捱摺夥徵薹榘袷醣麴吒"

PARTICLES = tuple("啦喇囉咯喎咩呀㗎架啊吖嘞啫咋嗱咧噃啩呢吓嘛嗎吧嘅啵哩哦喔添先㖭噶㖞嚹𠺢𠿪")
"""Sentence-final particles of Cantonese and Written Chinese."""

_DIGITS = "〇零一二兩两三四五六七八九十廿卅"
_NUMERALS = f"{_DIGITS}百千萬万億亿"
# Words with numerals that are not numbers. 千萬 and 萬一 are none unless a measure follows.
_IDIOMS = re.compile(
    "十分(?![鐘钟之])|一一|一五一十|三三[兩两][兩两]|三五成群|七七八八|亂七八糟|百度(?!以)|九層塔|千層[糕麵酥]"
    "|零零(?=[星碎散])|第[一二三四五六七八九十]+|三番[四五]次|一[萬千]個[唔不]"
)
_MEASURE = (
    "(?:分[鐘钟之]|小時|小时|公[里斤尺升]|星期|禮拜|[年月日號号时時點点秒週周天晚折元蚊毫倍成歲岁個个"
    "位名人次回件條条本隻只張张杯碗份間间層层樓楼座幢架輛部台把支枝包盒袋樽罐斤磅呎吋米度級级班科頁页"
    "頓顿餐句行段篇首項项種种款樣样對对雙双塊块片粒站鐘钟])"
)
_CHINESE_NUMBER = re.compile(
    f"[{_DIGITS}][{_NUMERALS}]+|[{_NUMERALS}](?<!一)[{_NUMERALS}]*(?={_MEASURE})|一(?=[月號号蚊元歲岁折成])"
)


@verifier("Language and script")
def language(answer: str, *, language: Literal["cantonese", "written_chinese", "english"]) -> bool:
    """The answer is in a language.

    Args:
        answer: The answer.
        language: Cantonese, Written Chinese or English; Chinese in either script.

    Returns:
        Whether at least 85 % of the prose is in the language, by `identify_language`. Words of
        another language in a sentence do not matter; code and quotations do not count. Chinese
        without a distinctive word counts as Written Chinese.

    Examples:
        >>> language("佢哋返咗屋企。", language="cantonese")
        True
        >>> language("他們回家了。", language="cantonese")
        False
    """
    found = identify_language(answer).language
    return ("written_chinese" if found == "simplified_mandarin" else found) == language


@verifier("Language and script")
def script(answer: str, *, script: Literal["traditional", "simplified"]) -> bool:
    """The Chinese is in one script only.

    Args:
        answer: The answer. Quotations count, code does not.
        script: The script. A character of both scripts never counts against it: 里, 后, 面, 台 and
            干 are Traditional too, as are variants such as 却 and 够; 嗰 and 𨋢, whose Simplified
            forms are not in GB 2312, are Simplified too.

    Returns:
        Whether it has Chinese characters, and none that belongs only to the other script.

    Examples:
        >>> script("返到屋企里面", script="traditional"), script("他说", script="traditional")
        (True, False)
    """
    han = han_of(CODE.sub("", answer))
    if script == "traditional":
        text = _ALSO_TRADITIONAL_WORDS.sub("", han)
        doubtful = [each for each in text if each not in _ALSO_TRADITIONAL]
    else:
        simple = ((each, to_simplified(each).encode("gb2312", errors="ignore")) for each in han)
        doubtful = [each for each, code in simple if code and each not in _ALSO_SIMPLIFIED]
    return bool(han) and not count_scripts("".join(doubtful))[script == "traditional"]


@verifier("Language and script", least=0)
def latin_words(answer: str) -> int:
    """The number of words in Latin letters; exactly 0 asks for no code-mixing.

    Args:
        answer: The answer. Code, addresses and units count.

    Returns:
        The number of words; a single letter is a word, as in A餐.

    Examples:
        >>> latin_words("book 咗 A餐，ＯＫ？"), latin_words("訂咗位")
        (3, 0)
    """
    return len(reading.latin_words_of(answer))


@verifier("Language and script", least=0)
def letters(answer: str, *, letter: Text) -> int:
    """The number of times a letter or other sign is used.

    Args:
        answer: The answer.
        letter: The letter; width and case do not matter.

    Returns:
        The number of times, in words, too.

    Examples:
        >>> letters("Banana", letter="a")
        3
    """
    return narrow(answer).count(narrow(letter))


@verifier("Language and script", least=0)
def capital_words(answer: str) -> int:
    """The number of words in capital letters.

    Args:
        answer: The answer.

    Returns:
        The number of words without a lower-case letter; a single capital is one.

    Examples:
        >>> capital_words("MTR 同 Star Ferry，A 出口")
        2
    """
    return sum(each.isupper() for each in WORD.findall(answer))


@verifier("Language and script")
def letter_case(answer: str, *, case: Literal["upper", "lower"]) -> bool:
    """All Latin letters are capital or all are small ones.

    Args:
        answer: The answer.
        case: Which ones.

    Returns:
        Whether there are letters, all of this case.

    Examples:
        >>> letter_case("good morning", case="lower"), letter_case("Good", case="lower")
        (True, False)
    """
    text = "".join(WORD.findall(answer))
    return text.isupper() if case == "upper" else text.islower()


@verifier("Language and script", least=0)
def latin_percent(answer: str) -> int:
    """The percentage of words in Latin letters among all characters.

    Args:
        answer: The answer.

    Returns:
        The percentage, rounded, from 0 to 100; a Chinese character, a Latin word and a number
        count as one each.

    Examples:
        >>> latin_percent("我 book 咗位")
        25
    """
    return round(100 * len(reading.latin_words_of(answer)) / (len(reading.units_of(answer)) or 1))


@verifier("Language and script", least=0)
def idioms(answer: str) -> int:
    """The number of different four-character idioms (四字詞).

    Args:
        answer: The answer.

    Returns:
        The number of different words of four characters in rime-cantonese's list, in either script.

    Examples:
        >>> idioms("佢一心一意，唔會半途而廢。")
        2
    """
    from pycantonese.data.rime_cantonese import CHARS_TO_JYUTPING

    text = to_traditional(narrow(answer))
    found = {text[i : i + 4] for i in range(len(text) - 3)}
    return sum(len(han_of(each)) == 4 and each in CHARS_TO_JYUTPING for each in found)


@verifier("Language and script", least=0)
def code_mixed_sentences(answer: str) -> int:
    """The number of sentences with both Chinese characters and words in Latin letters.

    Args:
        answer: The answer.

    Returns:
        The number of sentences; a purely English sentence does not count.

    Examples:
        >>> code_mixed_sentences("我 book 咗位。See you. 好開心！")
        1
    """
    sentences = reading.sentences_of(answer)
    return sum(bool(han_of(each) and reading.latin_words_of(each)) for each in sentences)


@verifier("Language and script")
def numerals(answer: str, *, form: Literal["arabic", "chinese"]) -> bool:
    """Numbers are written in one form only, and there is at least one number.

    Args:
        answer: The answer. The numbers of list items do not count.
        form: `arabic`: digits, in full or half width, and no Chinese number. `chinese`: a Chinese
            number, and no digits. A Chinese number is two numerals or more, as in 二十, or one
            before a measure, as in 三天, 九折 and 百元. 一個 is one only if Chinese numbers are
            asked for. 一齊, 統一, 第二 and idioms such as 千萬唔好, 變化萬千 and 十分 have none.

    Returns:
        Whether there is a number in this form and none in the other.

    Examples:
        >>> numerals("三月十號一齊去", form="chinese"), numerals("3月10號一齊去", form="arabic")
        (True, True)
    """
    text = _IDIOMS.sub(" ", narrow("\n".join(reading.lines_of(answer))))
    has_digits, has_chinese = re.search("[0-9]", text), _CHINESE_NUMBER.search(text)
    if form == "chinese":
        return not has_digits and bool(has_chinese or re.search(f"一{_MEASURE}", text))
    return bool(has_digits and not has_chinese)


@verifier("Language and script")
def final_particles(answer: str, *, particles: Texts = PARTICLES) -> bool:
    """Each sentence ends in a sentence-final particle (語氣助詞).

    Args:
        answer: The answer.
        particles: The particles that count; by default all usual ones, such as 啦, 喎 and 嗎.

    Returns:
        Whether each sentence does.

    Examples:
        >>> final_particles("食飯啦！好好味㗎。"), final_particles("食飯。")
        (True, False)
    """
    return each_sentence_ends_with(answer, words=particles)


# Sound

_LEAST_SHARE = 0.1
# The longest line that is read in context; PyCantonese is slow on long lines.
_CONTEXT = 40


@cache
def _known(least: float) -> dict[str, frozenset[str]]:
    from pycantonese.data.rime_cantonese import CHARS_TO_JYUTPING

    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word, jyutping in CHARS_TO_JYUTPING.items():
        if len(syllables := jyutping.split()) == len(word):
            for character, syllable in zip(word, syllables, strict=True):
                counts[character][syllable] += 1
    return {
        character: frozenset(s for s, n in each.items() if n >= least * each.total())
        for character, each in counts.items()
    }


def readings(text: str, least: float = _LEAST_SHARE) -> list[frozenset[str]]:
    """Return the readings of each Chinese character.

    Args:
        text: A line; of a long one, only the last 40 characters are read in context.
        least: The share of its words in which a character must have a reading.

    Returns:
        The syllables that count for each character, see the module; none for an unknown one.

    Examples:
        >>> [sorted(each) for each in readings("聽歌")]
        [['teng1', 'ting1', 'ting3'], ['go1']]
    """
    from pycantonese import characters_to_jyutping

    han = to_traditional(han_of(text))
    in_context: list[str | None] = [None] * max(0, len(han) - _CONTEXT)
    for word, jyutping in characters_to_jyutping(han[-_CONTEXT:]):
        syllables = (jyutping or "").split()
        in_context += syllables if len(syllables) == len(word) else [None] * len(word)
    return [
        _known(least).get(character, frozenset()) | ({said} if said else set())
        for character, said in zip(han, in_context, strict=True)
    ]


def _fits(syllables: frozenset[str], symbol: str) -> bool:
    """Whether a reading has a tone. 平 (level) is 1 or 4 without a stop; 仄 is any other."""
    if symbol in "平仄":
        return any((s[-1] in "14" and s[-2] not in "ptk") == (symbol == "平") for s in syllables)
    return symbol == "*" or any(each[-1] == symbol for each in syllables)


@verifier("Sound")
def rhyme(
    answer: str, *, scheme: Scheme | None = None, unit: Literal["lines", "verses"] = "lines"
) -> bool:
    """The last characters of the lines rhyme in Cantonese (押韻).

    Args:
        answer: The answer, without a title.
        scheme: A letter for each line. Lines with the same letter rhyme; a letter that occurs once,
            and -, leave a line free. By default all lines rhyme.
        unit: Whether to compare lines or verses (see `verses`).

    Returns:
        Whether they have the same nucleus and coda, in any tone; of a character with several
        readings, any that rime-cantonese's list has counts. Lines that all end in the same
        character do not rhyme.

    Examples:
        >>> rhyme("天色青青\\n風好輕\\n月光明"), rhyme("天光\\n天光"), rhyme("去街\\n飲茶")
        (True, False, False)
    """
    units = [han_of(each) for each in reading.UNITS[unit](answer)]
    scheme = scheme or "A" * len(units)
    if len(units) < 2 or len(units) != len(scheme) or not all(units):
        return False
    for letter in {*scheme} - {"-"}:
        lines = [line for line, own in zip(units, scheme, strict=True) if own == letter]
        ends = [map(parse_syllable, readings(line, least=0)[-1]) for line in lines]
        rimes = [{(end.nucleus, end.coda) for end in each if end.nucleus} for each in ends]
        is_same = len({line[-1] for line in lines}) == 1
        if len(lines) > 1 and (is_same or not set.intersection(*rimes)):
            return False
    return True


@verifier("Sound")
def tones(answer: str, *, pattern: Tones, line: Number | None = None) -> bool:
    """The Chinese characters have these tones, in this order.

    Args:
        answer: The answer.
        pattern: A sign for each character: a tone of Jyutping from 1 to 6; 平 (tones 1 and 4, not
            before -p, -t, -k) or 仄 (the others); * for any.
        line: The number of the line to check, from 1; by default the whole answer.

    Returns:
        Whether the answer has as many characters, with these tones; see the module for characters
        with several readings.

    Examples:
        >>> tones("香港人", pattern="124"), tones("花開\\n月落", pattern="仄仄", line=2)
        (True, True)
    """
    lines = reading.lines_of(answer)
    text = "".join(lines if line is None else lines[line - 1 : line])
    return len(han_of(text)) == len(pattern) and all(map(_fits, readings(text), pattern))


@verifier("Sound")
def line_end_tones(answer: str, *, pattern: Tones) -> bool:
    """The last characters of the lines have these tones, as 仄平 in a couplet (對聯).

    Args:
        answer: The answer.
        pattern: A sign for each line, as in `tones`.

    Returns:
        Whether the answer has as many lines, with these tones.

    Examples:
        >>> line_end_tones("天增歲月人增壽\\n春滿乾坤福滿門", pattern="仄平")
        True
    """
    lines = reading.lines_of(answer)
    return len(lines) == len(pattern) and all(
        any(_fits(last, tone) for last in readings(line)[-1:])
        for line, tone in zip(lines, pattern, strict=True)
    )


@verifier("Sound")
def only_jyutping(answer: str) -> bool:
    """The answer is only Jyutping.

    Args:
        answer: The answer. Punctuation is ignored.

    Returns:
        Whether every word consists of valid syllables, each with its tone.

    Examples:
        >>> only_jyutping("Nei5 hou2!"), only_jyutping("nei hao"), only_jyutping("你好 nei5 hou2")
        (True, False, False)
    """
    words = re.findall(r"[^\W_]+", narrow(answer))
    tokens = [each for word in words for each in re.findall(r"[^\W\d_]+\d?|\d", word)]
    return bool(tokens) and all(map(is_valid, tokens))
