"""Measure how much of a text is the writer's own Cantonese prose, for rewards.

A model learns to write whatever earns reward. Single Cantonese words, repetitions of the question
and lists of words are cheap to write, so they do not count here.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, pairwise

from hkcanto_metrics.language import (
    FEATURE_CHARACTERS,
    PARTICLES,
    CantoneseProse,
    cantonese_prose,
)
from hkcanto_metrics.repetition import is_degenerate
from hkcanto_metrics.script import HAN, fold_script
from hkcanto_metrics.word_order import disorder

# This many characters in a row in common with the question or an option are a quotation; of letters
# it takes a few words.
_QUOTED = 4
_QUOTED_LETTERS = 16
_FOLDED_PARTICLES = {*fold_script(PARTICLES)}
# Characters that say that an option is right or wrong, and not why.
_VERDICT = {*fold_script("答案正確啱錯揀選擇係唔因為所以都就嚟")}
# Sentences of the reference translations with five or more characters have at least 2.3 per clause,
# and sentences of twelve or more have at most three quarters in words that only Cantonese uses.
# At most 23 % of their characters are particles; in HKCanCor, 4 of 1,527 utterances have over 40 %.
_LEAST_IN_A_CLAUSE = 2
_MOST_IN_FEATURES = 0.85
_MOST_PARTICLES = 0.4
# Of six or more of these words, one is at most 71 %; in names joined by one word, such as 陳大文嘅、
# 李小明嘅, it is nearly all.
_SEVERAL = 6
_MOST_OF_ONE_WORD = 0.75
# Eight or more are at least three different words.
_MANY = 8
# At most 27 % of the characters of utterances in HKCanCor, and 13 % of other texts, are not in
# frequent use.
_MOST_RARE = 0.3
_LONG = 12
_LEAST_BY_A_WORD = 1.5  # characters for each Latin word
_LIST = 6  # this many clauses are a list if they are shorter on average
_LEAST_IN_AN_ITEM = 3
# In these sentences, at least 58 % of 20 characters in a row are distinct; in loops such as
# 唔想諗唔想睇, which GRPO leads to, at most 50 %.
_WINDOW = 20
_LEAST_DIFFERENT = 0.55
# The most disorder in a text, by its length. Of texts with 14 or more Chinese characters, none of
# 1,200 reviews, 1,377 translations and 401 sentences of Universal Dependencies (HK) have more, 1 % of
# stretches of HKCanCor have, 68 % of those with their words in random order, and 99 % with their
# characters.
_MOST_DISORDER = 0.42
_DISORDER_OF_A_CHARACTER = 6
_LEAST_IN_ORDER = 14
# Different characters, besides the most frequent ones, for each of up to 200. Of texts with 30 or more
# Chinese characters, 5 % of utterances in HKCanCor have fewer, and none of 1,200 reviews, 1,600
# translations and 150 other texts.
_LEAST_CONTENT = 0.16
_LONG_FOR_CONTENT = 30
_MOST_FOR_CONTENT = 200
# The most in texts without punctuation; 18 of 2,802 sentences have more, and none of 36 or more
# characters.
_MOST_CONTENT = 0.85
_LONG_CLAUSE = 36
_LONG_FOR_CONTENT = 25
# A clause repeats an earlier one if they share this much of its pairs of characters. Some clauses
# in prose do so.
_ALIKE = 0.65
_MOST_ALIKE = 0.3
# Different characters that are not in the question, unless fewer are asked for.
_LEAST_OWN = 3
# A text with more of the question and little else is an echo.
_MOST_QUOTED = 2 / 3
_MOST_QUOTED_TWICE = 1 / 2
# In prose, at most 18 % of the clauses break off where a word must follow; and at most half of the
# lines of an answer with headings only introduce others.
_SEVERAL_BROKEN = 4
_MOST_BROKEN = 1 / 3
_MOST_EMPTY_LINES = 2 / 3
# A list of ten names, with hardly more than a word after it.
_MOST_IN_A_LIST = 0.8
# How a quotation is marked.
_AS_QUOTATION = 1
_AS_OPTION = 2

# The names in a dialogue: 阿媽：
_SPEAKER = re.compile(rf"^[ \t]*[{HAN}A-Za-z]{{1,4}}[：:]", re.MULTILINE)
_MARK = "\ue000"  # private-use character, put in place of an option
_OPTION = rf"(?:{_MARK}|(?<![A-Za-z])[A-J](?![A-Za-z]))"
_NAMED = re.compile(_OPTION)
_ANNOUNCED = re.compile(rf"{_OPTION}[\s{PARTICLES}]*$")
_CLAUSE_END = re.compile(rf"[^\w\s{_MARK}]+|\n|(?<=[{HAN}])\s+(?=[{HAN}])")
# Not quotation marks, colons and hyphens: what follows these completes a clause.
_PHRASE_END = re.compile(rf"[^\w\s{_MARK}「」『』“”\"：:()（）*-]+|\n")
_CONJUNCTIONS = "所以|如果|雖然|但係|於是|唔通|而且"
# Ends in a conjunction, which may be another word behind others; has only conjunctions and a subject
# or adverb (因為你 is complete); or ends in a preposition or adverb, or in a measure word without a
# number and noun (買咗個).
_BROKEN = re.compile(
    f"(?:因為|{_CONJUNCTIONS}"
    f"|(?<![{HAN}])(?:{_CONJUNCTIONS}|不過|就算|之後|跟住|結果|點知)+(?:[你我佢]哋?|[就又咪話唔])?"
    f"|話[你我佢]哋?|[喺將俾畀又就]|先至|[咗過緊嗰][個碗杯套首條件架封份間隻張把支本枝])\\s*$"
)
# A heading, a box to tick with hardly a word, a label, or an empty item.
_EMPTY_LINE = re.compile(
    r"(?:#{1,6} .*|[-*] \[[ xX]\]\W*\w{,3}|.*[：:][*_\s]*|[-*+•●‧·・]|\d+[.)])"
)
_RULE = re.compile("[-*_=]{3,}|")
_LIST_OF_NAMES = re.compile(f"(?:[{HAN}]{{1,5}}、){{9,}}[{HAN}]{{1,5}}")
_CHINESE = re.compile(f"[{HAN}]")
_NOT_CHINESE = re.compile(f"[^{HAN}]+")
# The most frequent characters of HKCanCor.
_FREQUENT = re.compile(
    "[係啊唔噉我呢你好啲佢個都嗰即就嘅有一𡃉喇得囖嘢話人樣冇去到來哩又幾哋喎會但咗誒乜點要同多覺"
    "以做講過時如知喀真嚹嗎住吖可睇喺度其家實日𠻺返而為邊下咁大俾畀埋哦成咪嘞囉㗎嚟]"
)
_PARTICLE = re.compile(f"[{PARTICLES}]+")
_IN_PARENTHESES = re.compile(r"[(（][^()（）\n]*[)）]")
_POINTS = re.compile(
    rf"(?:滿|高|一百|100|10)分(?![鐘之])|十分(?![{HAN}])|評分|[畀俾加打攞]分|獎勵|[：:]\s*100[%％]|(?i:reward|score)"
)
_ANSWER = re.compile("回答|答案|回覆|回應|廣東話|粵語|口語|書面語")
_NOT_OWN = re.compile(rf"(?:[^{HAN}]|[{PARTICLES}])+")
_NOT_PARTICLE = re.compile(f"(?![{''.join(_FOLDED_PARTICLES)}{PARTICLES}])[{HAN}]")
# Each letter of a text that was decoded wrongly (ä½¢) is a word.
_LATIN_WORD = re.compile("[A-Za-z]+|[\u00a1-\u024f]")


def without_quotations(
    text: str, question: str = "", options: Iterable[str] = ()
) -> str:
    """Remove the parts of a text that quote the question, in either script.

    Args:
        text: Any text.
        question: The question. Four or more of its characters in a row are a quotation; in a
            question without Chinese, 16.
        options: The texts of its options. Options of one character are ignored.

    Returns:
        The text without quotations; each quoted option is replaced by a private-use character.
        Nothing if over two thirds quote the question, and fewer than 12 Chinese characters do not
        (half and 24 if it is quoted twice).

    Examples:
        >>> without_quotations("電車嘅花名係叮叮，因為佢響。", "電車嘅花名係咩？", ["叮叮", "纜車"])
        '\\ue000，因為佢響。'
    """
    shown = [fold_script(option.strip()) for option in options]
    if not question and not shown:
        return text
    folded = fold_script(text)
    marks = bytearray(len(text))
    for source in (fold_script(question.strip()), *shown):
        _mark(
            marks,
            folded,
            source,
            _quoted_size(source),
            _AS_QUOTATION,
        )
    for option in shown:
        half = (len(option) + 1) // 2  # half of an option names it
        size = max(min(_quoted_size(option), len(option)), half)
        _mark(
            marks,
            folded,
            option,
            size,
            _AS_OPTION,
        )
    if not any(marks):
        return text
    own = _unquoted(text, marks)
    n_quoted = marks.count(_AS_QUOTATION)
    least, most_quoted = _LONG, _MOST_QUOTED
    # Who quotes the question twice says less about it.
    if n_quoted > len(question):
        least, most_quoted = 2 * _LONG, _MOST_QUOTED_TWICE
    if n_quoted <= most_quoted * len(text):
        return own
    return own if len(_han(own)) >= least else ""


def _quoted_size(source: str) -> int:
    """The number of characters in a row that quote a question or an option."""
    return _QUOTED if _CHINESE.search(source) else _QUOTED_LETTERS


def _mark(
    marks: bytearray,
    text: str,
    source: str,
    size: int,
    mark: int,
) -> None:
    """Mark where a text shares this many characters in a row with a source."""
    if size < 2:
        return
    starts = range(len(source) - size + 1)
    for gram in {source[start : start + size] for start in starts}:
        place = text.find(gram)
        while place >= 0:
            marks[place : place + size] = bytes([mark]) * size
            place = text.find(gram, place + 1)


def _unquoted(
    text: str,
    marks: bytearray,
) -> str:
    """Replace each quoted option by one character, and remove the other quotations."""
    kept: list[str] = []
    before = 0
    for character, mark in zip(text, marks, strict=True):
        if not mark:
            kept.append(character)
        elif mark == _AS_OPTION and before != _AS_OPTION:
            kept.append(_MARK)
        before = mark
    return "".join(kept)


def cantonese_share(
    text: str,
    min_characters: int,
    asked: str = "",
    *,
    answers: bool = False,
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
    if len(_SPEAKER.findall(text)) > 1:
        text = _SPEAKER.sub("", text)
    prose = _prose(text)
    clauses = [clause for clause in _CLAUSE_END.split(prose.text) if clause]
    copied = {*fold_script(asked)}
    if answers:
        clauses = _without_announcement(clauses)
        copied |= _VERDICT
    different = _different("".join(clauses))
    least = max(1, min_characters)
    if len(different) < least and len(_different(text)) < least:
        return 0.0
    if len(different - copied) < min(least, _LEAST_OWN):
        return 0.0
    if is_degenerate(text) or _is_outline(text) or not _is_prose(prose, clauses):
        return 0.0
    in_use = 1 - _excess(_rare(_han(text)), _MOST_RARE)
    new = 1 - _excess(_repeated(clauses), _MOST_ALIKE)
    return prose.share * in_use * new * min(1, len(different) / least)


def _excess(share: float, allowed: float) -> float:
    """A share of a text that does not count, unless so much is allowed."""
    return share if share > allowed else 0.0


def _prose(text: str) -> CantoneseProse:
    """Find the Cantonese in a text. In parentheses, it can only reduce the share."""
    prose = cantonese_prose(text)
    rest = _IN_PARENTHESES.sub("", text)
    if rest == text or not _CHINESE.search(rest):
        return prose
    outside = cantonese_prose(rest)
    return outside if outside.share < prose.share else prose


def _rare(han: str) -> float:
    """The share of rare characters."""
    rare = filter(_is_rare, {*han})
    return sum(map(han.count, rare)) / len(han)


@cache
def _is_rare(character: str) -> bool:
    """Whether a character is neither in words of Cantonese nor in level 1 of Big5 or GB 2312."""
    if character in FEATURE_CHARACTERS:
        return False
    big5 = character.encode("big5", errors="ignore")
    gb2312 = character.encode("gb2312", errors="ignore")
    return not (b"\xa4" <= big5 < b"\xc9" or b"\xb0" <= gb2312 < b"\xd8")


def _is_outline(text: str) -> bool:
    """Whether a text has hardly more than headings, names or beginnings of clauses."""
    lines = [*map(str.strip, text.split("\n"))]
    lines = [line for line in lines if not _RULE.fullmatch(line)]
    empty_lines = [*filter(_EMPTY_LINE.fullmatch, lines)]
    if len(lines) >= _SEVERAL_BROKEN and len(empty_lines) > _MOST_EMPTY_LINES * len(
        lines
    ):
        return True
    listed = sum(map(len, _LIST_OF_NAMES.findall(text)))
    if listed > _MOST_IN_A_LIST * len(text):
        return True
    phrases = [*filter(_CHINESE.search, _PHRASE_END.split(text))]
    broken = [*filter(_BROKEN.search, phrases)]
    return len(broken) >= max(_SEVERAL_BROKEN, _MOST_BROKEN * len(phrases))


def _is_prose(
    prose: CantoneseProse,
    clauses: list[str],
) -> bool:
    """Whether clauses are Cantonese prose that says something."""
    han = _han("".join(clauses))
    if _LEAST_BY_A_WORD * len(_LATIN_WORD.findall(prose.text)) > len(han):
        return False
    return not (
        _is_scrambled(prose.text)
        or _is_list(clauses, han)
        or _is_loop(han)
        or _is_without_grammar(han, len(clauses))
        or _is_telegram(han, prose.features)
        or _joins_names(prose.features)
        or _is_appeal(prose.text)
    )


def _is_scrambled(text: str) -> bool:
    """Whether the characters of a text are in an order that hardly occurs."""
    length = len(_han(text))
    most = _MOST_DISORDER + _DISORDER_OF_A_CHARACTER / (length or 1)
    return length >= _LEAST_IN_ORDER and disorder(text) > most


def _is_without_grammar(
    han: str,
    n_clauses: int,
) -> bool:
    """Whether a long text has few characters but frequent ones, or one clause without those."""
    if len(han) < _LONG_FOR_CONTENT:
        return False
    content = _FREQUENT.sub("", han)
    if (
        n_clauses == 1
        and len(han) >= _LONG_CLAUSE
        and len(content) > _MOST_CONTENT * len(han)
    ):
        return True
    return len({*content}) < _LEAST_CONTENT * min(len(han), _MOST_FOR_CONTENT)


def _is_appeal(text: str) -> bool:
    """Whether a text asks for points for itself."""
    return len(_POINTS.findall(text)) > 1 and _ANSWER.search(text) is not None


def _without_announcement(clauses: list[str]) -> list[str]:
    """Leave out the clauses that only announce an option as the answer."""
    naming = [*filter(_NAMED.search, clauses)]
    if not naming:
        return clauses
    announcing = [*filter(_ANNOUNCED.search, naming)]
    for clause in naming:
        if len(_different(clause) - _VERDICT) < 2:
            announcing.append(clause)
    if not announcing:
        announcing = [min(naming, key=lambda clause: len(_different(clause)))]
    return [clause for clause in clauses if clause not in announcing]


def _is_list(
    clauses: list[str],
    han: str,
) -> bool:
    """Whether clauses are too short for prose."""
    n_clauses = sum(_NOT_PARTICLE.search(clause) is not None for clause in clauses)
    least = _LEAST_IN_AN_ITEM if n_clauses >= _LIST else _LEAST_IN_A_CLAUSE
    return len(han) < least * n_clauses


def _is_loop(han: str) -> bool:
    """Whether a long text repeats the same characters."""
    windows = [{*han[start : start + _WINDOW]} for start in range(0, len(han), _WINDOW)]
    n_different = sum(map(len, windows))
    return len(han) >= _LONG and n_different < _LEAST_DIFFERENT * len(han)


def _is_telegram(
    han: str,
    features: Sequence[str],
) -> bool:
    """Whether a long text has hardly more than particles and words that only Cantonese uses."""
    if len(han) < _LONG:
        return False
    n_particles = len(han) - len(_PARTICLE.sub("", han))
    if n_particles > _MOST_PARTICLES * len(han):
        return True
    return sum(map(len, features)) > _MOST_IN_FEATURES * len(han)


def _joins_names(features: Sequence[str]) -> bool:
    """Whether the words that only Cantonese uses are nearly all the same, or only two words."""
    counts = Counter(features)
    if len(features) >= _MANY and len(counts) < 3:
        return True
    most = max(counts.values(), default=0)
    return len(features) >= _SEVERAL and most > _MOST_OF_ONE_WORD * len(features)


def _different(text: str) -> set[str]:
    """The different characters of a text, in one script, without particles."""
    different = "".join({*text})
    return {*_han(fold_script(different))} - _FOLDED_PARTICLES


def _han(text: str) -> str:
    """The Chinese characters of a text."""
    return _NOT_CHINESE.sub("", text)


def _repeated(clauses: list[str]) -> float:
    """The share of the characters in clauses that nearly repeat an earlier one."""
    places: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    total = repeated = 0
    for number, clause in enumerate(clauses):
        han = _NOT_OWN.sub("", clause)
        pairs = {*pairwise(han)}
        known = [places[pair][:_WINDOW] for pair in pairs if pair in places]
        total += len(han)
        # Most clauses have few known pairs.
        if known and len(known) >= _ALIKE * len(pairs):
            shared = Counter(chain.from_iterable(known))
            if max(shared.values()) >= _ALIKE * len(pairs):
                repeated += len(han)
        for pair in pairs:
            places[pair].append(number)
    return repeated / (total or 1)
