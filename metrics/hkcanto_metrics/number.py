"""The number that a model gives as its final answer, read from what it wrote.

The text is tidied character by character, so that positions stay, and read one question at a time,
up to the first that gets an answer. What announces an answer counts most: `####`, a box, "the
answer is"; the last of these wins. Without one, it is a first line that is nothing but a number,
else what the last sentence comes to. No number is guessed from a text that breaks off.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

# Of a long text, the beginning and the end are read; of what follows an announcement, this much.
_HEAD, _TAIL, _REACH = 2_000, 6_000, 300
# Sentences of mere talk that may follow the result, characters of a unit, characters of a number.
_TALK, _UNIT, _LONGEST = 3, 6, 40

# Full-width signs, and the characters of our phrases, so that each is written down once.
_SAME = {0xFF00 + code: 0x20 + code for code in range(1, 0x5F)} | str.maketrans(
    "−–≈〇兩萬億點為係個負應該約問題樣幾錯對驗檢計與還時鐘總無齊驟釋後號說內禮週頭來買給沒請",
    "--=零两万亿点为系个负应该约问题样几错对验检计与还时钟总无齐骤释后号说内礼周头来买给没请",
)
_DECORATION = re.compile(
    r"(?P<kept>\\[dt]?frac\s?\{[0-9]+\}\s?\{[0-9]+\}|\\f?box(?:ed)?(?![a-z]))"
    r"|(?P<times>\\(?:times|div|cdot)(?![a-z])|(?<=[0-9])\\?\*(?=[0-9])|(?<=[^\n] )\\?\*(?= ))"
    r"|(?P<equal>\\approx)|(?P<list>(?m:^)[ #*]*)\(?[0-9]{1,2}[.)、](?=[ *]*[^\s0-9*])"
    r"|\\(?:[A-Za-z]+|[^\w\n,]|,(?![0-9]{3}))|[{}$¥£€*_`~\"'“”「」『』【】]"
)

_HAN = "零一二三四五六七八九"
_DIGITS = str.maketrans(f"{_HAN}两点", "01234567892.") | {ord("廿"): "2十", ord("卅"): "3十"}
_UNITS = {"十": 10, "百": 100, "千": 1_000, "万": 10**4, "亿": 10**8}
_PLAIN = (
    r"(?>(?:[0-9]{1,3}(?:(?:,|\\,|\t,\t|[ \xa0\u202f])[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?"
    r"(?:[十百千万亿]++[0-9]{0,4}+)*+|(?<![0-9])\.[0-9]+"
    rf"|[{_HAN}两十廿卅][{_HAN}两十百千万亿]*+(?:点[{_HAN}]+)?)"
)
_NUMBER = re.compile(
    r"(?i)(?P<sign>(?<![^\W系是为氏])(?<![0-9)] )(?<!\))-\t?|负|(?<![a-z])(?:minus|negative)\s)?(?:"
    r"\\[dt]?frac\s?\{(?P<top>[0-9]+)\}\s?\{(?P<bottom>[0-9]+)\}"
    r"|(?:(?P<whole>[0-9]+) +)?(?P<over>[0-9]+) ?/ ?(?P<under>[0-9]++)(?![/.][0-9])"
    rf"|(?:(?P<and>{_PLAIN})又)?(?P<parts>{_PLAIN})分之?(?P<of>{_PLAIN})(?!秒)"
    rf"|(?:(?P<ones>{_PLAIN})(?:[个年日天元蚊](?=半)|(?!半))|一)?(?P<part>[半½⅓⅔¼¾])"
    rf"|(?P<plain>{_PLAIN})(?P<million>\smillion)?)"
)

# What makes a number no result: an expression, an ordinal, a time, a negation, an idiom.
_UNUSED_BEFORE = re.compile(
    r"(?i)[0-9)%][ \t]*[^\W0-9]{0,6}[ \t]*[-+×÷/^x][ \t]*\(?[ \t]*$|[0-9]:$|(?<![a-z])[a-z]$"
    r"|[a-z]-$|(?:第|步骤|(?<![a-z])step|[不唔][是系]|(?<![a-z])not) ?$"
)
_UNUSED_AFTER = re.compile(
    r"%?[ \t]*+[^\W0-9]{0,6}(?:[ \t]*+\([^()\n0-9]{,12}\))?[ \t]*+[-+×÷/^x][ \t(-]*+[0-9]|:[0-9]"
    r"|[ \t]*+个?(?:[年月日天周]|礼拜|星期|小时|钟头?|分钟)[之以]?[后前内](?![ \t]*(?:[。.!#(]|$))"
    r"|(?:st|nd|rd|th)\s|号|(?<=一)[齐共定样起直种些步]"
)
# What a result is for, or comes close to: no number in it is the result.
_ASIDE = re.compile(r"才[能可]|先[能可至得]|[来嚟][为买整做支喂餵]|\((?:大?约|即)")
# Between two numbers: both are meant, or they make up one quantity.
_JOINED = re.compile(
    r"\s*[^\W0-9]{0,8}?\s*(?:或者?|还是|定系|同埋?|和|与|、|至|or|and|to)\s*"
    r"|到|\s*(?:个?钟头?|小时|分|hours?)[,\s]*"
)

_CUE = re.compile(
    r"(?i)(?P<marked>#{4,})\s*|(?P<boxed>\\f?box(?:ed)?)"
    r"|答案|(?<![^\s。])答(?=:)|(?<![a-z])answer(?![a-z])"
)
_FILLER = re.compile(r"(?i)(?:[ \t:=>→(]|-+[> ]|[就即应该系是为有]|大?约|百分之|is|about)*+")
# What may stand between a number and an end.
_CLAUSE = re.compile(r"[^,。;!?=(]*(?:[,。;!?(]|$)")
_UNIT_ONLY = re.compile(r"[^:?0-9]{0,12}(?:$|[\n。.,!(])")
_LINE_END = re.compile(r"(?i)%?[ \t]*+(?:[a-z]*|[^\W0-9]{0,3})[ \t.。!)]*(?:\n|$)")
_CONCLUSION = re.compile(r"(?i)所以|因此|总共|一共|(?<![a-z])(?:so|thus|hence|therefore)(?![a-z])")
_HOW_MANY = "几[多个粒只隻支枝张条本]|多少|请计算|how (?:many|much)"
_QUESTION = re.compile(rf"(?i)\?\s*(?:\n|$)|(?:{_HOW_MANY})(?![^\n]*=)")
_UNSURE = re.compile(rf"(?i)(?:如果|假如|(?<![a-z])if(?![a-z])|{_HOW_MANY})[^\n。!?;,]*$")
_REFUSAL = re.compile(r"(?i)无法|未知|没有给|唔到|[唔不][知清]|cannot|can.t|unable")
_RETRACTION = re.compile(
    r"(?i)\s*(?:等等|唔好意思|更正|[计算]错|[唔不]对|唔啱|wait|actually|sorry|correction)"
)
_AFTERWORD = re.compile(
    r"(?i)\s*(?:验算|检查|解[释法说]|解:|请?注意|note|(?:to )?(?:check|verify)|explanation)"
)
# What no finished sentence ends with.
_OPEN = ",:、=+-×÷/("
_NEXT_QUESTION = re.compile(
    r"(?im)^[# ]*(?:(?P<sample>样例:\s*)?(?:问题|题目|question|q|problem|user|human) ?[0-9]{0,3}:"
    r"|样例:|请逐步思考)|<\|[a-z\s]+\|>|</s>"
)
_SENTENCE = re.compile(r"[^\n。!?;.]*+(?:\.(?!\s|$)[^\n。!?;.]*+)*+(?:[\n。!?;.]|$)")
_PARAGRAPH_END = re.compile(rf"{_CUE.pattern}|\n\s*\n")


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
    tidied = _DECORATION.sub(_tidy, _unlooped(text).translate(_SAME))
    reading = NumberReading(None, "none: no number")
    for label, after in pairwise([None, *_NEXT_QUESTION.finditer(tidied), None]):
        start, end = label.end() if label else 0, after.start() if after else len(tidied)
        # What is asked in one line has no answer there, and that of a sample is another's.
        if not label or (not label["sample"] and "\n" in tidied[start:end].strip()):
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
    """A number that may be the answer; without a value, several. What announced it, and where."""

    value: Fraction | None
    start: int
    end: int
    is_chinese: bool = False
    kind: str = "last result"
    cue: int = 0

    def reading(self) -> NumberReading:
        reason = "none: several" if self.value is None else self.kind
        return NumberReading(self.value, reason, (self.start, self.end))


class _Question:
    """What was written about one question: a part of a tidied text."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self._start, self._end = text, start, end
        for sentence, _ in self._spans(start, end):
            self._start = sentence if _RETRACTION.match(text, sentence) else self._start

    def reading(self) -> NumberReading:
        """Settle what is announced, stands alone in the first line, or comes last."""
        announced = list(self._announced())
        for before, last in pairwise(announced[-2:]):
            between = self._text[before.end : last.cue]
            is_other = before.kind == last.kind and before.value != last.value
            if is_other and len(between) < 40 and re.fullmatch(r"\W*\w{0,6}\W*", between):
                return _Result(None, before.start, last.end).reading()
        if announced:
            return announced[-1].reading()
        for start, end in self._spans(self._start, self._end)[:1]:
            bare = self._pick(start, end, begins=True)
            is_line = bare and _LINE_END.match(self._text, bare.end)
            if bare and is_line and "=" not in self._text[start : bare.start]:
                return replace(bare, kind="bare").reading()
        return self._concluded(self._start, self._end)

    def _spans(self, start: int, end: int) -> list[tuple[int, int]]:
        """Where the sentences between two positions stand."""
        spans = [match.span() for match in _SENTENCE.finditer(self._text, start, end)]
        return [span for span in spans if self._text[slice(*span)].replace("#", "").strip()]

    def _announced(self) -> Iterator[_Result]:
        """The numbers that are announced as the answer."""
        cues = list(_CUE.finditer(self._text, self._start, self._end))
        ends = [*(cue.start() for cue in cues[1:]), self._end]
        since = self._end
        for cue, end in zip(cues, ends, strict=False):
            sentence = _SENTENCE.match(self._text, cue.end(), min(end, cue.end() + _REACH))
            stop = sentence.end() if sentence else end
            if _QUESTION.search(self._text[cue.end() : stop]):
                continue
            found = self._behind(cue, stop) if cue.lastgroup else self._stated(cue, stop)
            # What is asked after a marked answer is another question.
            if found and cue["marked"] and re.search(r"\?\s*\n", self._text[since : cue.start()]):
                return
            since = cue.end() if found and cue["marked"] else since
            if found:
                yield replace(found, kind=cue.lastgroup or "stated", cue=cue.start())

    def _behind(self, cue: re.Match[str], stop: int) -> _Result | None:
        """What stands in a box, or behind a mark that is no heading: a number or the last line."""
        found = self._pick(cue.end(), stop, begins=True)
        is_number = found and _UNIT_ONLY.match(self._text, found.end, self._end)
        if cue["boxed"] or is_number or (found and found.value is None):
            return found
        is_last = not re.search(r"\w", self._text[stop : self._end])
        return self._pick(cue.end(), stop) if is_last else None

    def _stated(self, cue: re.Match[str], stop: int) -> _Result | None:
        """What is said to be the answer: in its sentence, or in the paragraph below."""
        if _UNSURE.search(self._text[max(0, cue.start() - 40) : cue.start()]):
            return None
        found = self._pick(cue.end(), stop)
        if not found and not _FILLER.sub("", self._text[cue.end() : stop]).strip():
            below = _PARAGRAPH_END.search(self._text, stop + 1, self._end)
            last = self._concluded(stop, below.start() if below else self._end)
            found = _Result(last.value, *last.evidence) if last.evidence else None
        return found

    def _concluded(self, start: int, end: int) -> NumberReading:
        """What sentences come to before an afterword, or else with it."""
        spans = self._spans(start, end)
        counts = [n for n, (at, _) in enumerate(spans) if n and _AFTERWORD.match(self._text, at)]
        found = self._last_result(spans[: counts[0]] if counts else spans)
        return self._last_result(spans) if counts and not found.evidence else found

    def _last_result(self, sentences: list[tuple[int, int]]) -> NumberReading:
        """What the last sentence comes to, or one shortly before it."""
        if sentences and self._breaks_off(*sentences[-1], len(sentences) == 1):
            return NumberReading(None, "none: cut off")
        for start, end in sentences[: -_TALK - 1 : -1]:
            if _QUESTION.search(self._text, start, end) or _REFUSAL.search(self._text, start, end):
                break
            conclusions = [match.end() for match in _CONCLUSION.finditer(self._text, start, end)]
            for since in (*conclusions[-1:], start):
                found = self._pick(since, end)
                if found and (conclusions or not found.is_chinese):
                    return found.reading()
        return NumberReading(None, "none: no number")

    def _breaks_off(self, start: int, end: int, is_only: bool) -> bool:
        """Whether the text ends within this sentence, unlike those before it."""
        written = self._text[start:end].rstrip()
        if self._text[end:].strip() or not (written[-1].isalnum() or written[-1] in _OPEN):
            return False
        found = self._pick(start, end)
        rest = self._text[found.end : end].strip() if found else _OPEN
        is_open = "," in rest or written[-1] in _OPEN
        ends = self._text[start - 1 : start] in ("", "\n") or _CONCLUSION.search(written)
        return is_open or (not is_only and (len(rest) > _UNIT or not ends))

    def _pick(self, start: int, end: int, *, begins: bool = False) -> _Result | None:
        """The number that a sentence comes to; with `begins`, one that it begins with."""
        filler = _FILLER.match(self._text, start, end)
        at = filler.end() if filler else start
        aside = _ASIDE.search(self._text, start, end)
        numbers = list(self._results(start, aside.start())) if aside else []
        numbers = numbers or list(self._results(start, end))
        is_first = bool(numbers) and numbers[0].start == at
        is_sum = "=" in self._text[at:end] and _NUMBER.match(self._text, at, end)
        if begins and not (is_first or is_sum):
            return None
        western = [number for number in numbers if not number.is_chinese]
        chosen = (western or numbers)[-1:]
        equal = _FILLER.match(self._text, max(0, self._text.rfind("=", self._start, start)), start)
        last = _NUMBER.match(self._text, equal.end(), start) if equal else None
        computed = _value(last) if last else None
        for number in western:
            is_equal = self._text[max(0, number.start - 4) : number.start].rstrip().endswith("=")
            chosen = [number] if is_equal or number.value == computed else chosen
        clear = _LINE_END if numbers and numbers[0].is_chinese else _CLAUSE
        if is_first and clear.match(self._text, numbers[0].end, end):
            chosen = numbers[:1]
        for one, other in pairwise(numbers):
            is_near = other.start - one.end < 24
            is_joined = is_near and _JOINED.fullmatch(self._text, one.end, other.start)
            if is_joined and chosen[0] in (one, other) and one.value != other.value:
                return _Result(None, one.start, other.end)
        return chosen[0] if chosen else None

    def _results(self, start: int, end: int) -> Iterator[_Result]:
        """The numbers in a sentence that can be results."""
        for match in _NUMBER.finditer(self._text, start, end):
            before = _UNUSED_BEFORE.search(self._text, max(0, match.start() - 24), match.start())
            after = _UNUSED_AFTER.match(self._text, match.end(), end)
            value = None if before or after else _value(match)
            if value is not None:
                yield _Result(value, *match.span(), not re.search("[0-9½⅓⅔¼¾]", match[0]))


def _unlooped(text: str) -> str:
    """Leave out a last line that breaks off where it stood in full before."""
    last = text.rpartition("\n")[2]
    after = f"\n{text}".find(f"\n{last}") + len(last)
    is_loop = len(last) > 3 and text[after : after + 1].strip("\n")
    return text[: -len(last)] + "," if is_loop else text


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
    part = unicodedata.numeric((match["part"] or "0").replace("半", "½"))
    value = whole + over / under + Fraction(part).limit_denominator(9)
    value *= 10**6 if match["million"] else 1
    return -value if match["sign"] else value


@lru_cache(1_000)
def _plain(text: str) -> Fraction | None:
    """The value of digits and Chinese units; `None` for too many, and for 三四, 3 or 4."""
    if len(text) > _LONGEST or re.fullmatch("[一二三四五六七八九]{2}", text):
        return None
    total, section, unit = Fraction(0), Fraction(0), 1
    digits = re.sub(r"[\s,\\]", "", text).translate(_DIGITS)
    for number, sign in re.findall("([0-9.]*)([十百千万亿]?)", digits):
        if sign and (unit := _UNITS[sign]) >= 10_000:
            section += Fraction(number or 0)
            total = (total + section) * unit if total < unit else total + section * unit
            section = Fraction(0)
        elif sign:
            section += Fraction(number or 1) * unit
        else:
            # 一百五 is 150, but 一百零五 is 105.
            section += Fraction(number or 0) * (max(1, unit // 10) if len(number) == 1 else 1)
    return total + section
