"""Extract the number that a model gives as its final answer.

The text is normalised character by character, which keeps positions, and read one question at a
time, up to the first question that gets an answer. An announced answer has priority: `####`, a box,
"the answer is"; the last announcement wins. Without an announcement, the answer is a first line
that is only a number, or the one number that the last sentence can mean: after a word of
conclusion, as the result of the last calculation, or as the only number that the question does not
give. If several could be it, or the text breaks off, no number is read.
"""

import re
import unicodedata
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from hkcanto_metrics.patterns import read_patterns
from hkcanto_metrics.script import TO_HALF_WIDTH, fold_script

# Limits: of a long text, the beginning and the end are read; of many announcements, the last ones;
# of a long sentence, the beginning after an announcement, otherwise the end.
_HEAD, _TAIL, _CUES, _REACH = 2_000, 6_000, 40, 300
# Number of closing sentences that may follow the result; of characters in a unit, in a number.
_TALK, _UNIT, _LONGEST = 3, 6, 40
_LINE = 60  # characters in which the left side of an equation is looked for
_SHORT = 200  # characters: a shorter text without a last full stop is not cut off

# Full-width signs; Chinese characters are folded to Simplified script.
_SIGNS = TO_HALF_WIDTH | str.maketrans("−–≈〇", "--=零")
_DIGITS: dict[int, int | str] = {ord("廿"): "2十", ord("卅"): "3十"}
_DIGITS |= str.maketrans("零一二三四五六七八九两点", "01234567892.")
_UNITS = {"十": 10, "百": 100, "千": 1_000, "万": 10**4, "亿": 10**8}
_UNFINISHED = ",:、=+-×÷/("  # a finished sentence never ends with these


SAYS = read_patterns(Path(__file__).with_suffix(".toml"), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NumberReading:
    """The number read from a response, and why.

    Attributes:
        value: the number, or `None`.
        reason: how it was found: "marked" (`####`), "boxed", "stated" (as the answer), "bare" (a
            first line that is only a number), "last result"; or "none: " followed by "empty",
            "several", "cut off" or "no number".
        evidence: the start and end in the text of the number, or of the several numbers.
    """

    value: Fraction | None
    reason: str
    evidence: tuple[int, int] | None = None


def read_number(text: str, question: str = "") -> NumberReading:
    """Read the number that a response settles on, with the reason and the place.

    Understands English, Cantonese and Written Chinese in both scripts; Arabic and Chinese numerals,
    fractions, separators. A percent sign is a unit, as in the answers of GSM8K: 40% is 40.

    Args:
        text: what the model wrote, without its reasoning block. If it has more than 8,000
            characters, the middle is not read.
        question: the question asked. Repetitions of it are not an answer, and a number that it
            mentions is no result beside one that it does not mention.

    Returns:
        The reading. It has no value if the text breaks off before a conclusion, gives none, or has
        several numbers that could be the answer.

    Source: Yue-GSM8K asks for the answer after `####`. All other rules are our own.

    Examples:
        >>> read_number("16 − 3 − 4 = 9，所以佢賺 9 × $2 = $18。#### 18 蚊")
        NumberReading(value=Fraction(18, 1), reason='marked', evidence=(38, 40))
    """
    if len(text) > _HEAD + _TAIL:
        reading = read_number(text[: _HEAD - 1] + "\n" + text[-_TAIL:], question)
        start, end = reading.evidence or (0, 0)
        shift = len(text) - _TAIL - _HEAD
        return (
            replace(reading, evidence=(start + shift, end + shift))
            if end > _HEAD
            else reading
        )
    if not text.strip():
        return NumberReading(None, "none: empty")
    said = [fold_script(part.translate(_SIGNS)) for part in (question[:_HEAD], text)]
    asked, tidied = (SAYS["decoration"].sub(_tidy, part) for part in said)
    asked = SAYS["next_question"].sub("\n", asked)
    given = {_value(match) for match in SAYS["number"].finditer(asked)}
    tidied = _without_repeat(tidied, asked)
    if unit := SAYS["asked_unit"].search(
        asked
    ):  # how many million? "7.5 million" is 7.5
        name = rf"(?<=[0-9零一二三四五六七八九两十百千 ]){unit['latin'] or unit['chinese']}s?"
        tidied = re.sub(
            name, lambda match: "\t" * len(match[0]), tidied, flags=re.IGNORECASE
        )
    reading = NumberReading(None, "none: no number")
    for label, after in pairwise([None, *SAYS["next_question"].finditer(tidied), None]):
        start, end = (
            label.end() if label else 0,
            after.start() if after else len(tidied),
        )
        # Skip lines that ask a question, and answers to examples.
        if not label or (not label["sample"] and "\n" in tidied[start:end].strip()):
            reading = _Question(tidied, start, end, given).reading()
        if reading.evidence:
            break
    return reading


def extract_number(text: str, question: str = "") -> Fraction | None:
    """Return the number that a response settles on, or `None`; see `read_number`.

    Examples:
        >>> extract_number("所以總共要三個半鐘。")
        Fraction(7, 2)
    """
    return read_number(text, question).value


def parse_number(text: str) -> Fraction | None:
    """Parse an answer cell: a number alone, or any text followed by `####` and a number.

    Args:
        text: the cell.

    Returns:
        The number; `None` if the cell has any other form.

    Examples:
        >>> parse_number("佢賺 $9*2=18。####1,200"), parse_number("18 個")
        (Fraction(1200, 1), None)
    """
    cell = fold_script(text.rpartition("####")[2].translate(_SIGNS)).strip()
    match = SAYS["number"].fullmatch(cell.removeprefix("$").removesuffix("%"))
    return _value(match) if match else None


def equal_numbers(response_value: Fraction | None, answer: Fraction) -> bool:
    """Return whether a response's number equals the answer.

    The values must be equal, in any notation. A rounded value is right only if the answer is a
    non-terminating decimal, such as 1/3, and the response gives two or more decimal places. 0.4 is
    not 40%: the question says in which unit to answer.

    Args:
        response_value: the number read from the response, or `None`.
        answer: the right number.

    Returns:
        Whether they are equal; `False` for `None`.

    Examples:
        >>> equal_numbers(Fraction("0.33"), Fraction(1, 3))
        True
        >>> equal_numbers(Fraction("6.7"), Fraction(7))
        False
    """
    if response_value is None or response_value == answer:
        return response_value is not None
    ends = pow(10, answer.denominator.bit_length(), answer.denominator) == 0
    places = (10**n for n in range(2, 16) if 10**n % response_value.denominator == 0)
    return not ends and abs(response_value - answer) * 2 * next(places, 10**40) <= 1


@dataclass(frozen=True, slots=True)
class _Result:
    """A number that may be the answer, and its place; no value if several could be it."""

    value: Fraction | None
    start: int
    end: int
    is_chinese: bool = False
    is_word: bool = False  # such as 一 in 一個
    kind: str = "last result"
    cue: int = 0  # where the words that announce it begin


class _Question:
    """The part of a normalised text that is about one question."""

    def __init__(
        self, text: str, start: int, end: int, given: Set[Fraction | None]
    ) -> None:
        self._text, self._given, self._end = text, given, end
        sentences = self._spans(start, end)
        retractions = [at for at, _ in sentences if SAYS["retraction"].match(text, at)]
        self._start = max([start, *retractions])
        self._sentences = [span for span in sentences if span[0] >= self._start]
        self._every = [*self._results(self._start, end)]

    def reading(self) -> NumberReading:
        """Read the announced number, the one alone in the first line, or the last result."""
        found = self._announcement() or self._concluded(self._sentences)
        if not found:
            is_cut = self._breaks_off(self._sentences)
            return NumberReading(None, "none: cut off" if is_cut else "none: no number")
        reason = "none: several" if found.value is None else found.kind
        return NumberReading(found.value, reason, (found.start, found.end))

    def _spans(self, start: int, end: int) -> list[tuple[int, int]]:
        """The places of the sentences between two positions."""
        spans = [
            match.span() for match in SAYS["sentence"].finditer(self._text, start, end)
        ]
        return [
            span for span in spans if self._text[slice(*span)].replace("#", "").strip()
        ]

    def _announcement(self) -> _Result | None:
        """The last announced answer, if no conclusion after it takes its place."""
        announced = [*self._announced()]
        for before, last in pairwise(announced[-2:]):
            between = self._text[before.end : last.cue]
            is_other = before.kind == last.kind and before.value != last.value
            if is_other and re.fullmatch(r"\W{,30}\w{0,6}\W{,30}", between):
                return _Result(None, before.start, last.end)
        if not announced:
            return None
        found = announced[-1]
        is_equation = "=" in self._text[found.cue : found.start]
        for start, end in self._spans(found.end, self._end):
            concludes = is_equation and SAYS["conclusion"].search(
                self._text, start, end
            )
            if concludes or SAYS["none_after_all"].match(self._text, start, end):
                return None
            is_equation = is_equation and not SAYS["afterword"].match(self._text, start)
        return found

    def _announced(self) -> Iterator[_Result]:
        """The numbers that are a first line of their own, or announced as the answer."""
        start, end = self._sentences[0] if self._sentences else (self._end, self._end)
        bare = self._begun(start, end)
        is_line = bare and SAYS["line_end"].match(self._text, bare.end)
        if bare and is_line and "=" not in self._text[start : bare.start]:
            yield replace(bare, kind="bare", cue=start)
        cues = [*SAYS["cue"].finditer(self._text, self._start, self._end)][-_CUES:]
        since = self._end
        ends = [*(cue.start() for cue in cues[1:]), self._end]
        for cue, end in zip(cues, ends, strict=False):
            stop = self._past("sentence", cue.end(), min(end, cue.end() + _REACH))
            is_question = SAYS["question"].search(self._text, cue.end(), stop)
            found = None if is_question else self._introduced(cue, stop)
            # A question after a marked answer is a new question.
            if found and re.search(r"\?\s*\n", self._text[since : cue.start()]):
                return
            if found:
                since = cue.end() if cue["marked"] else since
                yield replace(found, kind=cue.lastgroup or "stated", cue=cue.start())

    def _introduced(self, cue: re.Match[str], stop: int) -> _Result | None:
        """The announced number: right after the cue, or the result of the line or paragraph."""
        text, begun = self._text, self._begun(cue.end(), stop)
        filler = text[cue.end() : self._past("filler", cue.end(), stop)].strip()
        told = bool(cue.lastgroup) or ":" in filler
        found = begun or self._settled(cue.end(), stop, told=told)
        is_number = begun and SAYS["unit_only"].match(text, begun.end, self._end)
        if cue["marked"] and not is_number:  # a mark followed by text is a heading
            return None if re.search(r"\w", text[stop : self._end]) else found
        if cue.lastgroup or begun:
            return found
        if told or not text[cue.end() : stop].replace(filler, "", 1).strip():
            below = SAYS["paragraph_end"].search(text, stop + 1, self._end)
            end = below.start() if below else self._end
            found = self._concluded(self._spans(cue.end(), end), told=True) or found
            return None if SAYS["question"].search(text, stop, end) else found
        return found

    def _past(self, form: str, start: int, end: int) -> int:
        """Where a sentence, or words that may come before a number, end."""
        match = SAYS[form].match(self._text, start, end)
        return match.end() if match else end

    def _concluded(
        self, sentences: list[tuple[int, int]], *, told: bool = False
    ) -> _Result | None:
        """The result of the last sentences, apart from a remark or another case."""
        places = range(1, len(sentences))
        remark = SAYS["afterword"].match
        stop = next((n for n in places if remark(self._text, sentences[n][0])), None)
        if self._breaks_off(sentences[:stop]):
            return None
        checked = sentences[stop][0] if stop else self._end
        if SAYS["mistake"].search(self._text, checked, self._end):
            return None
        for start, end in sentences[:stop][: -_TALK - 1 : -1]:
            is_over = SAYS["question"].search(self._text, start, end)
            if is_over or SAYS["refusal"].search(self._text, start, end):
                return None
            if not self._is_aside(start, end) and (
                found := self._settled(start, end, told=told)
            ):
                return found
        return None

    def _is_aside(self, start: int, end: int) -> bool:
        """Whether a sentence is only a remark, or supposes what the question does not."""
        aside = SAYS["aside"].search(self._text, start, end)
        if not aside or SAYS["conclusion"].match(
            self._text, self._past("filler", start, end)
        ):
            return False
        if not aside["supposing"]:
            return True
        comma = self._text.find(",", aside.end(), end)
        supposed = {
            one.value for one in self._every if aside.end() <= one.start < comma
        }
        is_first = not any(start <= one.start < aside.start() for one in self._every)
        return is_first and not (supposed and supposed <= self._given)

    def _settled(self, start: int, end: int, *, told: bool = False) -> _Result | None:
        """The result of a sentence; no value if several could be it.

        It must be told, and be the only number of its clause that the question does not give: after
        the last word of conclusion or equals sign, outside of brackets, and before a clause that
        only adds something.
        """
        text, given, begin = self._text, self._given, start
        words = [match.end() for match in SAYS["conclusion"].finditer(text, start, end)]
        told = told or bool(words)
        equals = text.rfind("=", start, end)
        equals = (
            -1 if SAYS["open_bracket"].search(text, begin, max(equals, 0)) else equals
        )
        start, line = max([start, equals, *words]), max(start, equals)
        numbers = [one for one in self._every if start <= one.start < end]
        if any(not one.is_chinese for one in numbers):
            numbers = [one for one in numbers if not one.is_word]
        if spelled := SAYS["spelled"].search(text, start, end):
            return _Result(None, *spelled.span())
        if not numbers:
            return None
        results = [
            one for one in self._every if one.end <= end and self._is_result(one)
        ]
        first = numbers[0]
        is_result = words and results and first.value == results[-1].value
        is_result = is_result and not SAYS["contrast"].search(text, first.end, end)
        added = SAYS["comma" if is_result else "addition"].search(text, first.end, end)
        stop = added.start() if added and told else end
        main = [
            one
            for one in numbers
            if one.start < stop
            and not SAYS["open_bracket"].search(text, begin, one.start)
        ]
        main = [one for one in main if one.value not in given] or main
        if not main or (main[-1].is_word and not words):
            return None
        found = main[-1]
        is_only = len({one.value for one in main}) == 1 and not self._is_joined(
            numbers, found
        )
        if words and first.value != found.value:
            is_only = is_only and not SAYS["comma"].search(text, first.end, found.start)
        told = told or text[line:end].strip() == text[found.start : found.end]
        is_told = self._is_told(found, line, end, results, told=told)
        return found if is_told and is_only else replace(found, value=None)

    def _is_told(
        self, found: _Result, line: int, end: int, results: list[_Result], *, told: bool
    ) -> bool:
        """Whether a number is told: by a word, as the last result, or as the only new number."""
        if told:
            numbers = SAYS["number"].finditer(self._text, line, end)
            return (
                found.value not in self._given or {*map(_value, numbers)} <= self._given
            )
        new = {
            one.value for one in self._every if not one.is_word or (one.value or 0) > 2
        }
        new -= self._given
        if results:
            is_new = found.value in new or not new
            is_last = found.value == results[-1].value
            return is_new and is_last and all(map(self._recurs, results[:-1]))
        is_named = not found.is_chinese or self._follows("equates", found)
        return is_named and new == {found.value}

    def _is_result(self, number: _Result) -> bool:
        """Whether a number is a calculation's result, not the right side of an equation."""
        return self._follows("equals", number) and not self._follows("unknown", number)

    def _follows(self, form: str, number: _Result) -> bool:
        """Whether words of a form stand before a number."""
        return bool(
            SAYS[form].search(self._text, max(0, number.start - _LINE), number.start)
        )

    def _recurs(self, number: _Result) -> bool:
        """Whether a later calculation or sentence has a number again."""
        written = re.escape(self._text[number.start : number.end])
        again = re.compile(rf"(?<![0-9.]){written}(?![0-9]|\.[0-9])")
        return bool(again.search(self._text, number.end, self._end))

    def _begun(self, start: int, end: int) -> _Result | None:
        """The number that a text begins with, if a clause ends after it."""
        text, start = self._text, self._past("filler", start, end)
        numbers = [*self._results(start, end)]
        if not numbers or SAYS["conclusion"].search(text, start, end):
            return None
        first = numbers[0]
        is_sum = "=" in text[start : first.start] and SAYS["number"].match(text, start)
        form = "line_end" if first.is_chinese else "clause"
        clause = SAYS[form].match(text, first.end, end)
        if not clause or not (first.start == start or is_sum):
            return None
        known = set() if first.value in self._given else self._given
        rivals = [
            one for one in numbers[1:] if not one.is_chinese and one.value not in known
        ]
        if rivals and rivals[0].start < clause.end():
            return None
        return (
            replace(first, value=None) if self._is_joined(numbers[:2], first) else first
        )

    def _is_joined(self, numbers: list[_Result], number: _Result) -> bool:
        """Whether a number is one of two that are both meant, such as 18 或 20."""
        return any(
            number.value in (one.value, other.value)
            and one.value != other.value
            and SAYS["joined"].fullmatch(self._text, one.end, other.start)
            for one, other in pairwise(numbers)
        )

    def _breaks_off(self, sentences: list[tuple[int, int]]) -> bool:
        """Whether the text ends within the last sentence, unlike those before it."""
        start, end = sentences[-1] if sentences else (self._end, self._end)
        written = self._text[start:end].rstrip()
        if self._text[end:].strip() or not (
            written[-1:].isalnum() or written[-1:] in _UNFINISHED
        ):
            return False
        numbers = [*self._results(start, end)]
        rest = self._text[numbers[-1].end : end].strip() if numbers else _UNFINISHED
        ends = self._text[start - 1 : start] in ("", "\n") or SAYS["conclusion"].search(
            written
        )
        is_long = end - self._start > _SHORT and len(sentences) > 1
        is_open = "," in rest or SAYS["dangling"].search(written)
        return bool(is_open or (is_long and (len(rest) > _UNIT or not ends)))

    def _results(self, start: int, end: int) -> Iterator[_Result]:
        """The numbers that may be results; the context of others shows that they are not."""
        for match in SAYS["number"].finditer(self._text, start, end):
            near = max(0, match.start() - 24)
            before = SAYS["unused_before"].search(self._text, near, match.start())
            after = SAYS["unused_after"].match(self._text, match.end(), end)
            if not before and not after and (value := _value(match)) is not None:
                is_chinese = not re.search("[0-9½⅓⅔¼¾]", match[0])
                is_word = is_chinese and len(match[0]) == 1
                yield _Result(value, *match.span(), is_chinese, is_word)


def _without_repeat(text: str, asked: str) -> str:
    """Blank out a last line that repeats an earlier one, or the question."""
    written, last = f"\n{asked}\n{text}", text.rpartition("\n")[2]
    after = written.find(f"\n{last}") + 1 + len(last)
    if len(last) > 3 and written[after : after + 1].strip("\n"):
        text = text[: -len(last)] + ",".ljust(len(last), "\t")
    return text


def _tidy(match: re.Match[str]) -> str:
    """Replace a decoration with blanks or with a sign, keeping its length."""
    if match["kept"]:
        return match[0]
    sign = "×" if match["times"] else "=" if match["equal"] else ""
    return ((match["list"] or "").replace("*", "\t") + sign).ljust(len(match[0]), "\t")


def _value(match: re.Match[str]) -> Fraction | None:
    """The value of a match of `_NUMBER`; `None` if it has none."""
    whole = _plain(
        match["whole"] or match["and"] or match["ones"] or match["plain"] or "0"
    )
    over = _plain(match["top"] or match["over"] or match["of"] or "0")
    under = _plain(match["bottom"] or match["under"] or match["parts"] or "1")
    if whole is None or over is None or not under:
        return None
    part = unicodedata.numeric((match["part"] or "0").replace("半", "½"))
    value = whole + over / under + Fraction(part).limit_denominator(9)
    value *= 10**6 if match["million"] else Fraction(10) ** int(match["power"] or 0)
    return -value if match["sign"] else value


@lru_cache(1_000)
def _plain(text: str) -> Fraction | None:
    """The value of digits and Chinese units; `None` for too many, and for 三四 ("3 or 4")."""
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
            section += Fraction(number or 0) * (
                max(1, unit // 10) if len(number) == 1 else 1
            )
    return total + section
