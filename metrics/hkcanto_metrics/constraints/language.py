"""Verifiers of language and script."""

import re
from collections.abc import Callable
from typing import Annotated, Literal

from msgspec import Meta

from hkcanto_metrics.constraints import reading
from hkcanto_metrics.constraints.declaring import Count, Text, Texts
from hkcanto_metrics.constraints.words import each_sentence_ends_with
from hkcanto_metrics.language import identify_language
from hkcanto_metrics.script import count_scripts, to_simplified

# Forms that China's list of variants (第一批異體字整理表, 1955) or its fonts prefer. They are not
# simplifications, because Traditional print uses them, too. 涂 is a surname; 响 is written for 喺.
_ALSO_TRADITIONAL = (
    "凄昵栖棱炖熏瓮羡膻跖踊蝎蚝兖兹决况凉减凑凛删却厢厦厨厩厮叙叠咏咤届屉幂强携撑晋栀椁橱殁毁"
    "汹泪渊溆滚潜灾烟牦猪猫盖瑶疱眦碱禀秆窑笋糇糍耻脉脚腭莅蘖虬衅踪迹隽韵鼹够黄吴奥亘内刹横猬涂响"
)
_ALSO_TRADITIONAL_WORDS = re.compile("拮据|海淀|白洋淀")
# Characters restored to Simplified script (通用規範漢字表, 2013), or used in it for one meaning.
_ALSO_SIMPLIFIED = "拚捱摺夥徵薹榘袷醣麴吒"

PARTICLES = tuple(
    "啦喇囉咯喎咩呀㗎架啊吖嘞啫咋嗱咧噃啩呢吓嘛嗎吧嘅啵哩哦喔添先㖭噶㖞嚹𠺢𠿪"
)
"""Sentence-final particles of Cantonese and Written Chinese."""

_DIGITS = "〇零一二兩两三四五六七八九十廿卅"
_NUMERALS = f"{_DIGITS}百千萬万億亿"
# Words with numerals that are not numbers. 千萬 and 萬一 are none unless a measure follows.
_WORDS_WITH_NUMERALS = re.compile(
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


OWN_LANGUAGES = ["cantonese", "written_chinese", "english"]
# The languages of IFEval besides English.
_CODES = "ar bg bn de es fa fi gu hi it kn ko mr ne pa pt ru sw ta te th ur vi"
Language = Annotated[
    str,
    Meta(
        pattern=f"^({'|'.join(OWN_LANGUAGES + _CODES.split())})$",
        description=f"{', '.join(OWN_LANGUAGES)} or a code: {_CODES}",
    ),
]


def language(answer: str, *, language: Language) -> bool:
    """The answer is in a language.

    Args:
        answer: The answer.
        language: Cantonese, Written Chinese or English; Chinese in either script. Another language,
            by its code, needs py3langid (`pip install 'hkcanto[languages]'`).

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
    if language not in OWN_LANGUAGES:
        identify_code = _identifier(language)
        return identify_code(reading.CODE.sub("", answer)) == language
    identified = identify_language(answer).language
    if identified == "simplified_mandarin":
        return language == "written_chinese"
    return identified == language


def _identifier(language: str) -> Callable[[str], str]:
    """Return what gives the code of a text's language.

    Raises:
        ValueError: The library that knows the language is missing.
    """
    try:
        import py3langid
    except ImportError as error:
        raise ValueError(
            f"the language {language!r} needs py3langid: pip install 'hkcanto[languages]'."
        ) from error
    return lambda text: str(py3langid.classify(text)[0])


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
    han = reading.han_of(reading.CODE.sub("", answer))
    if not han:
        return False
    if script == "traditional":
        text = _ALSO_TRADITIONAL_WORDS.sub("", han)
        others = [character for character in text if character not in _ALSO_TRADITIONAL]
        _, simplified = count_scripts("".join(others))
        return not simplified
    others = [character for character in han if not _is_also_simplified(character)]
    traditional, _ = count_scripts("".join(others))
    return not traditional


def _is_also_simplified(character: str) -> bool:
    """Whether Simplified print has a character, or no form of its own for it."""
    in_gb2312 = to_simplified(character).encode("gb2312", errors="ignore")
    return character in _ALSO_SIMPLIFIED or not in_gb2312


def latin_words(answer: str) -> Count:
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


def letters(answer: str, *, letter: Text) -> Count:
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
    return reading.narrow(answer).count(reading.narrow(letter))


def capital_words(answer: str) -> Count:
    """The number of words in capital letters.

    Args:
        answer: The answer.

    Returns:
        The number of words without a lower-case letter; a single capital is one.

    Examples:
        >>> capital_words("MTR 同 Star Ferry，A 出口")
        2
    """
    return sum(word.isupper() for word in reading.WORD.findall(answer))


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
    text = "".join(reading.WORD.findall(answer))
    return text.isupper() if case == "upper" else text.islower()


def latin_percent(answer: str) -> Count:
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
    latin_words = len(reading.latin_words_of(answer))
    units = len(reading.units_of(answer)) or 1
    return round(100 * latin_words / units)


def code_mixed_sentences(answer: str) -> Count:
    """The number of sentences with both Chinese characters and words in Latin letters.

    Args:
        answer: The answer.

    Returns:
        The number of sentences; a purely English sentence does not count.

    Examples:
        >>> code_mixed_sentences("我 book 咗位。See you. 好開心！")
        1
    """
    count = 0
    for sentence in reading.sentences_of(answer):
        if reading.han_of(sentence) and reading.latin_words_of(sentence):
            count += 1
    return count


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
    # Without the marks of list items.
    lines = "\n".join(reading.lines_of(answer))
    text = _WORDS_WITH_NUMERALS.sub(" ", reading.narrow(lines))
    has_digits = re.search("[0-9]", text) is not None
    has_chinese = _CHINESE_NUMBER.search(text) is not None
    if form == "arabic":
        return has_digits and not has_chinese
    if has_digits:
        return False
    return has_chinese or re.search(f"一{_MEASURE}", text) is not None


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
