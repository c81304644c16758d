"""The number that a model gives as its final answer, read from what it wrote.

The text is tidied character by character, so that positions stay, and read one question at a time,
up to the first that gets an answer. What announces an answer counts most: `####`, a box, "the
answer is"; the last of these wins. Without one, it is a first line that is nothing but a number,
else what the last sentence comes to. No number is guessed from a text that breaks off.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

# A text in a loop says nothing new: of a long one, the beginning and the end are read.
_HEAD, _TAIL = 2_000, 6_000
# An answer stands no further than this behind the words that announce it.
_REACH = 300
# Sentences of mere talk that may follow the result, characters of a unit, characters of a number.
_TALK, _UNIT, _LONGEST = 3, 6, 40

# Full-width signs, and the characters of our phrases, so that each is written down once.
_SAME = {0xFF00 + code: 0x20 + code for code in range(1, 0x5F)} | str.maketrans(
    "−–≈〇兩萬億點為係個負應該約問題樣幾錯對驗檢計與還時鐘總無齊驟釋",
    "--=零两万亿点为系个负应该约问题样几错对验检计与还时钟总无齐骤释",
)
_DECORATION = re.compile(
    r"(?P<kept>\\[dt]?frac\s?\{[0-9]+\}\s?\{[0-9]+\}|\\f?box(?:ed)?(?![a-z]))"
    r"|(?P<times>\\(?:times|div|cdot)(?![a-z])|(?<=[0-9])\\?\*(?=[0-9])|(?<=[^\n] )\\?\*(?= ))"
    r"|(?P<equal>\\approx)|(?P<list>(?m:^)[ #*]*)\(?[0-9]{1,2}[.)、](?=[ *]*[^\s0-9*])"
    r"|\\(?:[A-Za-z]+|[^\w\n,]|,(?![0-9]{3}))|[{}$¥£€*_`~\"'“”「」『』【】]"
)

_HAN = "零一二三四五六七八九"
_DIGITS = str.maketrans(
    {sign: str(value) for value, sign in enumerate(_HAN)}
    | {"两": "2", "廿": "2十", "卅": "3十", "点": "."}
)
_UNITS = {"十": 10, "百": 100, "千": 1_000, "万": 10**4, "亿": 10**8}
_PLAIN = (
    r"(?>(?:[0-9]{1,3}(?:(?:,|\\,|\t,\t|[ \xa0\u202f])[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?"
    r"(?:[十百千万亿]++[0-9]{0,4}+)*+|(?<![0-9])\.[0-9]+"
    rf"|[{_HAN}两十廿卅][{_HAN}两十百千万亿]*+(?:点[{_HAN}]+)?)"
)
_NUMBER = re.compile(
    r"(?P<sign>-\t?|负|(?<![a-z])(?:minus|negative)\s)?(?:"
    r"\\[dt]?frac\s?\{(?P<top>[0-9]+)\}\s?\{(?P<bottom>[0-9]+)\}"
    r"|(?:(?P<whole>[0-9]+) +)?(?P<over>[0-9]+) ?/ ?(?P<under>[0-9]++)(?![/.][0-9])"
    rf"|(?:(?P<and>{_PLAIN})又)?(?P<parts>{_PLAIN})分之?(?P<of>{_PLAIN})(?!秒)"
    rf"|(?:(?P<ones>{_PLAIN})(?:[个年日天元蚊](?=半)|(?!半))|一)?(?P<part>[半½⅓⅔¼¾])"
    rf"|(?P<plain>{_PLAIN})(?P<million>\smillion)?)",
    re.IGNORECASE,
)

# What makes a number no result: an expression, an ordinal, a variable's name, a negation, an idiom.
_OPERAND_BEFORE = re.compile(r"[0-9)%][ \t]*[^\W0-9]{0,6}[ \t]*[-+×÷/^x][ \t]*\(?[ \t]*$|[0-9]:$")
_MINUS_BEFORE = re.compile(r"[0-9)]\s*$|[^\W系是为]$")
_UNUSED_BEFORE = re.compile(
    r"(?:第|步骤|(?<![a-z])step|[不唔][是系]|(?<![a-z])not) ?$|(?<![a-z])[a-z]$", re.IGNORECASE
)
_UNUSED_AFTER = re.compile(
    r"%?[ \t]*+[^\W0-9]{0,6}[ \t]*+(?:[-+×÷/^x][ \t(-]*+[0-9]|:[0-9])|(?:st|nd|rd|th)\s"
)
_IDIOM = re.compile("一[齐共定样起直]")
# Between two numbers: both are meant, or they make up one quantity.
_JOINED = re.compile(
    r"\s*[^\W0-9]{0,8}?\s*(?:或者?|还是|定系|同埋?|和|与|、|至|or|and|to)\s*"
    r"|到|\s*(?:个?钟头?|小时|分|hours?)[,\s]*"
)

_CUE = re.compile(
    r"(?P<marked>#{4,})\s*|(?P<boxed>\\f?box(?:ed)?)"
    r"|答案|(?<![^\s。])答(?=:)|(?<![a-z])answer(?![a-z])",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"(?:[ \t:=>→(]|-+[> ]|[就即应该系是为]|大?约|百分之|is|about)*+", re.IGNORECASE
)
_UNIT_ONLY = re.compile(r"[^:?0-9]{0,12}(?:$|[\n。.,!(])")
_LINE_END = re.compile(r"%?[ \t]*+(?:[a-z]*|[^\W0-9]{0,3})[ \t.。!)]*(?:\n|$)", re.IGNORECASE)
_CONCLUSION = re.compile(
    r"所以|因此|总共|一共|(?<![a-z])(?:so|thus|hence|therefore)(?![a-z])", re.IGNORECASE
)
_CONDITION = re.compile(r"如果|假如|(?<![a-z])if(?![a-z])", re.IGNORECASE)
_QUESTION = re.compile(r"\?\s*$|几多|多少|how (?:many|much)", re.IGNORECASE)
_REFUSAL = re.compile(r"无法|唔到|唔知|不知|cannot|can.t|unable", re.IGNORECASE)
_RETRACTION = re.compile(
    r"\s*(?:等等|唔好意思|更正|[计算]错|[唔不]对|唔啱|wait|actually|sorry|correction)",
    re.IGNORECASE,
)
_AFTERWORD = re.compile(
    r"\s*(?:验算|检查|解释|解:|(?:to )?(?:check|verify)|explanation)", re.IGNORECASE
)
# What no finished sentence ends with.
_OPEN = ",:、=+-×÷/("
_NEXT_QUESTION = re.compile(
    r"^[# ]*(?:问题|题目|样例|question|q|problem|user|human) ?[0-9]{0,3}:"
    r"|<\|[a-z\s]+\|>|</s>",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE = re.compile(r"[^\n。!?;.]*+(?:\.(?!\s|$)[^\n。!?;.]*+)*+(?:[\n。!?;.]|$)")
_PARAGRAPH_END = re.compile(rf"\n\s*\n|{_CUE.pattern}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NumberReading:
    """What a response was read as.

    Attributes:
        value: the number, or `None`.
        reason: what it was taken from: "marked" (`####`), "boxed", "stated" (as the answer), "bare"
            (nothing else stands there), "last result"; else "none: " and "empty", "several",
            "cut off" or "no number".
        evidence: where the number, or the several, stand in the text, as a slice.
    """

    value: Fraction | None
    reason: str
    evidence: tuple[int, int] | None = None


def read_number(text: str) -> NumberReading:
    """Read the number that a response settles on, and tell where it was found.

    Understands English, Cantonese and Written Chinese in both scripts; Arabic and Chinese numerals,
    fractions, separators. A percent sign is a unit, as in the answers of GSM8K: 40% is 40.

    Args:
        text: what the model wrote, without its reasoning block. Of more than 8,000 characters,
            the middle is not read.

    Returns:
        The reading. It has no value where the text breaks off before a conclusion, gives two
        answers, or none.

    Source: Yue-GSM8K asks for the answer behind `####`. How else it is found is our own rule.

    >>> read_number("16 − 3 − 4 = 9，所以佢賺 9 × $2 = $18。#### 18 蚊")
    NumberReading(value=Fraction(18, 1), reason='marked', evidence=(38, 40))
    """
    if len(text) > _HEAD + _TAIL:
        reading = read_number(text[: _HEAD - 1] + "\n" + text[-_TAIL:])
        start, end = reading.evidence or (0, 0)
        shift = len(text) - _TAIL - _HEAD
        return replace(reading, evidence=(start + shift, end + shift)) if end > _HEAD else reading
    if not text.strip():
        return NumberReading(None, "none: empty")
    tidied = _DECORATION.sub(_tidy, text.translate(_SAME))
    bounds = [0, *(label.start() for label in _NEXT_QUESTION.finditer(tidied)), len(tidied)]
    reading = NumberReading(None, "none: no number")
    for start, end in pairwise(bounds):
        reading = _Question(tidied, start, end).reading()
        if reading.evidence:
            break
    return reading


def extract_number(text: str) -> Fraction | None:
    """Return the number that a response settles on, as `read_number` finds it.

    Args:
        text: what the model wrote, without its reasoning block.

    Returns:
        The number, or `None` where the text settles on none.

    >>> extract_number("所以總共要三個半鐘。")
    Fraction(7, 2)
    """
    return read_number(text).value


def parse_number(text: str) -> Fraction | None:
    """Read an answer cell: a number and nothing else, or anything before `####` and a number.

    Args:
        text: the cell.

    Returns:
        The number, exactly; `None` if the cell is anything else.

    >>> parse_number("佢賺 $9*2=18。####1,200"), parse_number("18 個")
    (Fraction(1200, 1), None)
    """
    cell = text.rpartition("####")[2].translate(_SAME).strip().removeprefix("$").removesuffix("%")
    match = _NUMBER.fullmatch(cell)
    return _value(match) if match else None


def equal_numbers(response_value: Fraction | None, answer: Fraction) -> bool:
    """Tell whether a response's number is the answer.

    Numbers must be equal, in whatever notation. Only where the answer has no end as a decimal, like
    1/3, one that is rounded to two or more places is also right. 0.4 is not 40%: the question tells
    in what the answer is to be given.

    Args:
        response_value: the number read from the response.
        answer: the right number.

    Returns:
        Whether they agree; `False` without a number.

    >>> equal_numbers(Fraction("0.33"), Fraction(1, 3)), equal_numbers(Fraction("6.7"), Fraction(7))
    (True, False)
    """
    if response_value is None or response_value == answer:
        return response_value is not None
    ends = pow(10, answer.denominator.bit_length(), answer.denominator) == 0
    places = (10**n for n in range(2, 16) if 10**n % response_value.denominator == 0)
    return not ends and abs(response_value - answer) * 2 * next(places, 10**40) <= 1


@dataclass(frozen=True, slots=True)
class _Result:
    """A number that may be the answer; without a value, several. `cue` is what announced it."""

    value: Fraction | None
    start: int
    end: int
    is_chinese: bool = False
    cue: re.Match[str] | None = None

    def reading(self, reason: str) -> NumberReading:
        reason = "none: several" if self.value is None else reason
        return NumberReading(self.value, reason, (self.start, self.end))


class _Question:
    """What was written about one question: a part of a tidied text."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self._end = text, end
        spans = [match.span() for match in _SENTENCE.finditer(text, start, end)]
        self._sentences = [span for span in spans if text[slice(*span)].replace("#", "").strip()]
        taken_back = [span[0] for span in self._sentences if _RETRACTION.match(text, span[0])]
        self._start = taken_back[-1] if taken_back else start
        self._sentences = [span for span in self._sentences if span[0] >= self._start]

    def reading(self) -> NumberReading:
        """Settle what is announced, stands alone in the first line, or comes last."""
        announced = list(self._announced())
        if announced and (last := announced[-1]).cue:
            for before in announced[-2:-1]:
                if before.value != last.value and self._is_beside(before, last):
                    return _Result(None, before.start, last.end).reading("")
            return last.reading(last.cue.lastgroup or "stated")
        for start, end in self._sentences[:1]:
            bare = self._pick(start, end, begins=True)
            is_all = bare and _LINE_END.match(self._text, bare.end)
            if bare and is_all and "=" not in self._text[start : bare.start]:
                return bare.reading("bare")
        return self._concluded(self._sentences)

    def _announced(self) -> Iterator[_Result]:
        """The numbers that are announced as the answer."""
        cues = list(_CUE.finditer(self._text, self._start, self._end))
        ends = [*(cue.start() for cue in cues[1:]), self._end]
        for cue, end in zip(cues, ends, strict=False):
            sentence = _SENTENCE.match(self._text, cue.end(), min(end, cue.end() + _REACH))
            stop = sentence.end() if sentence else end
            found = self._pick(cue.end(), stop, begins=cue.lastgroup is not None)
            if cue.lastgroup is None:
                ahead = re.split(r"[\n。!?;,]", self._text[max(0, cue.start() - 40) : cue.start()])
                rest = self._text[cue.end() : stop]
                if _CONDITION.search(ahead[-1]) or _QUESTION.search(ahead[-1] + rest):
                    continue
                if not found and not _FILLER.sub("", rest).strip():
                    found = self._below(stop)
            elif cue["marked"] and found and found.value is not None:
                found = found if _UNIT_ONLY.match(self._text, found.end, self._end) else None
            if found:
                yield replace(found, cue=cue)

    def _is_beside(self, before: _Result, last: _Result) -> bool:
        """Whether two results are announced in the same way and in one breath."""
        if not (before.cue and last.cue and before.cue.lastgroup == last.cue.lastgroup):
            return False
        between = self._text[before.end : last.cue.start()]
        return len(between) < 40 and re.fullmatch(r"\W*\w{0,6}\W*", between) is not None

    def _below(self, start: int) -> _Result | None:
        """What the paragraph under an announcement comes to."""
        end = _PARAGRAPH_END.search(self._text, start + 1, self._end)
        first = bisect_left(self._sentences, (start, 0))
        last = bisect_left(self._sentences, (end.start() if end else self._end, 0))
        found = self._concluded(self._sentences[first:last])
        return _Result(found.value, *found.evidence) if found.evidence else None

    def _concluded(self, sentences: list[tuple[int, int]]) -> NumberReading:
        """What sentences come to before an afterword, or else with it."""
        for index, (start, _) in enumerate(sentences):
            if index and _AFTERWORD.match(self._text, start):
                found = self._last_result(sentences[:index])
                return found if found.evidence else self._last_result(sentences)
        return self._last_result(sentences)

    def _last_result(self, sentences: list[tuple[int, int]]) -> NumberReading:
        """What the last sentence comes to, or one shortly before it."""
        if sentences and self._breaks_off(*sentences[-1]):
            return NumberReading(None, "none: cut off")
        for start, end in sentences[: -_TALK - 1 : -1]:
            sentence = self._text[start:end]
            if _QUESTION.search(sentence) or _REFUSAL.search(sentence):
                break
            conclusions = [start + match.end() for match in _CONCLUSION.finditer(sentence)]
            for since in (*conclusions[-1:], start):
                found = self._pick(since, end)
                if found and (conclusions or not found.is_chinese):
                    return found.reading("last result")
        return NumberReading(None, "none: no number")

    def _breaks_off(self, start: int, end: int) -> bool:
        """Whether the text ends within this sentence, unlike those before it."""
        written = self._text[start:end].rstrip()
        if self._text[end:].strip() or not (written[-1].isalnum() or written[-1] in _OPEN):
            return False
        found = self._pick(start, end)
        rest = self._text[found.end : end] if found else _OPEN
        if "," in rest or written[-1] in _OPEN:
            return True
        is_line = self._text[start - 1 : start] in ("", "\n")
        concludes = is_line or _CONCLUSION.search(written) is not None
        return len(self._sentences) > 1 and (len(rest.strip()) > _UNIT or not concludes)

    def _pick(self, start: int, end: int, *, begins: bool = False) -> _Result | None:
        """The number that a sentence comes to; with `begins`, one that it begins with."""
        filler = _FILLER.match(self._text, start, end)
        at = filler.end() if filler else start
        if begins and not _NUMBER.match(self._text, at, end):
            return None
        numbers = list(self._results(start, end))
        western = [number for number in numbers if not number.is_chinese]
        chosen = (western or numbers)[-1:]
        for number in western:
            if self._text[max(0, number.start - 4) : number.start].rstrip().endswith("="):
                chosen = [number]
        for number in numbers[:1]:
            is_clear = not number.is_chinese or _UNIT_ONLY.match(self._text, number.end)
            if number.start == at and (is_clear or not western):
                chosen = [number]
        for one, other in pairwise(numbers):
            between = self._text[one.end : other.start]
            is_joined = len(between) < 24 and _JOINED.fullmatch(between)
            if is_joined and chosen[0] in (one, other) and one.value != other.value:
                return _Result(None, one.start, other.end)
        return chosen[0] if chosen else None

    def _results(self, start: int, end: int) -> Iterator[_Result]:
        """The numbers in a sentence that can be results."""
        for match in _NUMBER.finditer(self._text, start, end):
            before = self._text[max(0, match.start() - 24) : match.start()]
            unused = [_OPERAND_BEFORE.search(before), _UNUSED_BEFORE.search(before)]
            unused += [
                _UNUSED_AFTER.match(self._text, match.end(), end),
                _IDIOM.match(self._text, match.start()),
            ]
            if match["sign"] and match["sign"][0] == "-":
                unused.append(_MINUS_BEFORE.search(before))
            value = _value(match)
            if value is not None and not any(unused):
                is_chinese = not re.search("[0-9½⅓⅔¼¾]", match[0])
                yield _Result(value, *match.span(), is_chinese)


def _tidy(match: re.Match[str]) -> str:
    """Blank out a decoration, or put a sign for it, at the same length."""
    if match["kept"]:
        return match[0]
    sign = "×" if match["times"] else "=" if match["equal"] else ""
    return ((match["list"] or "").replace("*", "\t") + sign).ljust(len(match[0]), "\t")


def _value(match: re.Match[str]) -> Fraction | None:
    """The value of a match of `_NUMBER`; `None` if it has none."""
    whole = _plain(match["whole"] or match["and"] or match["ones"] or match["plain"] or "0")
    over = _plain(match["top"] or match["over"] or match["of"] or "0")
    under = _plain(match["bottom"] or match["under"] or match["parts"] or "1")
    if whole is None or over is None or not under:
        return None
    value = whole + over / under
    if part := match["part"]:
        value += Fraction(unicodedata.numeric(part.replace("半", "½"))).limit_denominator(9)
    if match["million"]:
        value *= 10**6
    return -value if match["sign"] else value


def _plain(text: str) -> Fraction | None:
    """The value of digits and Chinese units; `None` for too many, and for 三四, 3 or 4."""
    if len(text) > _LONGEST or re.fullmatch("[一二三四五六七八九]{2}", text):
        return None
    total = section = number = Fraction(0)
    unit, is_short = 1, False
    for token in re.findall(
        "[0-9.]+|[十百千万亿]", re.sub(r"[\s,\\]", "", text).translate(_DIGITS)
    ):
        if token not in _UNITS:
            number, is_short = Fraction(token), len(token) == 1
            continue
        unit = _UNITS[token]
        if unit < 10_000:
            section += (number or 1) * unit
        else:
            section += number
            total = (total + section) * unit if total < unit else total + section * unit
            section = Fraction(0)
        number = Fraction(0)
    # 一百五 is 150, but 一百零五 is 105.
    return total + section + number * (unit // 10 if is_short and unit > 10 else 1)
