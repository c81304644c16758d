"""Verifiers of language and script, code-mixing, numerals and particles."""

from __future__ import annotations

import re
from typing import Literal

from hkcanto_metrics.constraints.declaring import Texts, condition, measure
from hkcanto_metrics.constraints.reading import (
    han_of,
    latin_words_of,
    lines_of,
    narrow,
    sentences_of,
    without_code,
)
from hkcanto_metrics.constraints.words import each_sentence_ends_with
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

PARTICLES = tuple("啦喇囉咯喎咩呀㗎架啊吖嘞啫咋嗱咧噃啩呢吓嘛嗎吧嘅啵哩哦喔")
"""Sentence-final particles of Cantonese and Written Chinese."""

_CHINESE_DIGITS = "〇零一二兩两三四五六七八九十百千萬万億亿廿卅"
_IDIOMS = re.compile(
    "千[萬万](?=[要唔別别不咪記记])|[萬万]一|十分(?![鐘钟之])|一一|一五一十|三三[兩两][兩两]|七七八八|亂七八糟"
    "|零零(?=[星碎散])|第[一二三四五六七八九十]|三番[四五]次"
)
_COUNTED = "年月日號号時时點点蚊元歲岁個个位次件條条本隻只張张杯碗份間间層层樓楼"
_CHINESE_NUMBER = re.compile(
    f"[{_CHINESE_DIGITS}]{{2,}}|[二兩两三四五六七八九十](?=[{_COUNTED}])|一(?=[月號号蚊元歲岁])"
)


@condition()
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
    from hkcanto_metrics.language import identify_language

    found = identify_language(answer).language
    return ("written_chinese" if found == "simplified_mandarin" else found) == language


@condition()
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
    text = han_of(without_code(answer))
    if script == "traditional":
        text = _ALSO_TRADITIONAL_WORDS.sub("", text)
        wrong = count_scripts("".join(each for each in text if each not in _ALSO_TRADITIONAL))[1]
    else:
        wrong = count_scripts("".join(each for each in text if not _is_also_simplified(each)))[0]
    return not wrong and bool(han_of(without_code(answer)))


def _is_also_simplified(character: str) -> bool:
    is_typed = to_simplified(character).encode("gb2312", errors="ignore")
    return character in _ALSO_SIMPLIFIED or not is_typed


@measure(least=0)
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
    return len(latin_words_of(answer))


@measure(least=0)
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
    said = [each for each, _ in sentences_of(answer)]
    return sum(bool(han_of(each) and latin_words_of(each)) for each in said)


@condition()
def numerals(answer: str, *, form: Literal["arabic", "chinese"]) -> bool:
    """Numbers are written in one form only, and there is at least one number.

    Args:
        answer: The answer. The numbers of list items do not count.
        form: `arabic`: digits, in full or half width, and no Chinese number: two numerals or more
            in a row, or one before a measure such as 月, 號, 蚊 or 個. 一個, 一齊, 第二 and idioms
            such as 千萬唔好, 萬一 and 十分 are allowed. `chinese`: 一, 廿 or 〇, and no digits.

    Returns:
        Whether there is a number in this form and none in the other.

    Examples:
        >>> numerals("三月十號一齊去", form="chinese"), numerals("3月10號一齊去", form="arabic")
        (True, True)
    """
    text = _IDIOMS.sub(" ", narrow("\n".join(lines_of(answer))))
    has_digits = re.search("[0-9]", text) is not None
    if form == "chinese":
        return not has_digits and re.search(f"[{_CHINESE_DIGITS}]", text) is not None
    return has_digits and not _CHINESE_NUMBER.search(text)


@condition()
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
