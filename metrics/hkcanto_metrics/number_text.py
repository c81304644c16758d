"""The numbers of a normalised text, the words around them, and the sentences that they are in."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from hkcanto_metrics.number_questions import Asked
from hkcanto_metrics.numerals import NUMERATORS, SAYS, group_text, value_of

Span = tuple[int, int]

LINE = 60  # characters in which the left side of an equation is looked for
NEAR = 20  # characters beside a number that the question may ask with
_BEFORE = 24  # characters before a number that may show that it is no result
_UNIT = 6  # characters of a unit
_SHORT = 200  # characters: a shorter text without a last full stop is not cut off
_UNFINISHED = ",:、=+-×÷/("  # a finished sentence never ends with these


@dataclass(frozen=True, slots=True)
class Result:
    """A number that may be the answer, and its place; no value if several could be it."""

    value: Fraction | None
    start: int
    end: int
    is_chinese: bool = False
    is_word: bool = False  # such as 一 in 一個
    kind: str = "last result"
    cue: int = 0  # where the words that announce it begin


def values_of(numbers: Iterable[Result]) -> set[Fraction | None]:
    """The values of numbers."""
    return {number.value for number in numbers}


def valued(numbers: Iterable[Result]) -> list[Result]:
    """The numbers that have a value."""
    return [number for number in numbers if number.value is not None]


class NumberText:
    """The part of a normalised text that is about one question.

    Args:
        text: The text.
        start: Where the part starts.
        end: Where it ends.
        asked: The question's demands on its answer, such as its unit.
    """

    def __init__(
        self,
        text: str,
        start: int,
        end: int,
        asked: Asked,
    ) -> None:
        self._text = text
        self._asked = asked
        self._end = end
        self._start = start
        self._sentences: list[Span] = []
        for span in self._spans(start, end):
            if self._match("retraction", *span):
                self._start = span[0]
                self._sentences.clear()
            self._sentences.append(span)
        self._numbers = self._without_remainders([*self._results(self._start, end)])
        beside = {
            number.start
            for start, stop in self._sentences[1:]
            if self._is_aside(start, stop)
            for number in self._between(start, stop)
        }
        self._valued = [
            number for number in valued(self._numbers) if number.start not in beside
        ]

    def _search(
        self,
        form: str,
        start: int,
        end: int,
    ) -> re.Match[str] | None:
        """Words of a form between two places."""
        return SAYS[form].search(self._text, start, end)

    def _match(
        self, form: str, start: int, end: int | None = None
    ) -> re.Match[str] | None:
        """Words of a form at a place."""
        stop = self._end if end is None else end
        return SAYS[form].match(self._text, start, stop)

    def _spans(
        self,
        start: int,
        end: int,
    ) -> list[Span]:
        """The places of the sentences between two positions."""
        spans = []
        for sentence in SAYS["sentence"].finditer(self._text, start, end):
            if sentence[0].strip(" \t\n#"):
                spans.append(sentence.span())
        return spans

    def _without_remainders(self, numbers: list[Result]) -> list[Result]:
        """The numbers without the part of a division that the question does not ask for.

        Examples:
            (17 粒糖分俾 5 個人，每人幾多粒？) 17 ÷ 5 = 3 餘 2，所以每人 3 粒。 → 3
        """
        divisions = SAYS["remainder"].finditer(self._text, self._start, self._end)
        for division in divisions:
            quotient = Fraction(division["quotient"])
            left = Fraction(division["left"])
            if SAYS["asks_remainder"].search(self._asked.ending):
                unasked = quotient
            elif SAYS["asks_quotient"].search(self._asked.ending):
                unasked = left
            else:
                unasked = left
                numbers = [
                    number for number in numbers if number.start != division.start()
                ]
            if quotient != left:
                numbers = [number for number in numbers if number.value != unasked]
        return numbers

    def _between(
        self,
        start: int,
        end: int,
    ) -> list[Result]:
        """The numbers that begin between two positions."""
        return [number for number in self._numbers if start <= number.start < end]

    def _results(
        self,
        start: int,
        end: int,
    ) -> Iterator[Result]:
        """The numbers that may be results; the context of others shows that they are not."""
        for match in SAYS["number"].finditer(self._text, start, end):
            if value_of(match) is None or self._is_unused(match, end):
                continue
            is_chinese = not re.search("[0-9¼-¾⅐-⅞]", match[0])
            is_word = is_chinese and len(match[0]) == 1
            if match["english"]:
                is_word = not re.search("[ -]", match[0])
            value = self._value(match, end)
            yield Result(
                value,
                *match.span(),
                is_chinese,
                is_word,
            )

    def _is_unused(
        self,
        match: re.Match[str],
        end: int,
    ) -> bool:
        """Whether a number is part of an expression or a name, or is said to be wrong."""
        near = max(0, match.start() - _BEFORE)
        if self._search("ordinal", near, match.start()):
            if not self._asked.is_ordinal:
                return True
        elif self._search("unused_before", near, match.start()):
            return True
        if self._match("unused_after", match.end(), end):
            return True
        return bool(self._match("assailed", match.end(), end))

    def _value(
        self,
        match: re.Match[str],
        end: int,
    ) -> Fraction | None:
        """The value of a number in its context; none in another unit, or as another share."""
        near = max(0, match.start() - _BEFORE)
        value = value_of(match)
        below = self._match("below_zero", match.end(), end)
        is_other = self._is_other_share(match, near) or self._is_in_other_unit(match)
        if value is None or is_other:
            return None
        if below and below["freezing"]:
            return None  # 5 °F below freezing is 27 °F
        return -abs(value) if below or self._is_owed(match) else value

    def _is_in_other_unit(self, match: re.Match[str]) -> bool:
        """Whether a number has another unit than the one asked for, or is one of two: 2 小時 5 分.

        Examples:
            (How many kilograms?) You need 1500 g. In kilograms, 1.5. → 1.5
            (How many minutes?) It takes 2 hours and 30 minutes. → none
        """
        near = max(0, match.start() - NEAR)
        if self._search("compound_before", near, match.start()):
            return True
        if self._match("compound_after", match.end()):
            return True
        units = self._asked.units
        return bool(units and units.others.match(self._text, match.end()))

    def _is_owed(self, match: re.Match[str]) -> bool:
        """Whether a number is of a case that the question calls negative, and has no sign.

        Examples:
            (What is the balance, negative if owed?) She owes $35. → -35
        """
        if not self._asked.is_signed:
            return False
        near = max(0, match.start() - LINE)
        return bool(self._search("owed", near, match.start()))

    def _is_other_share(
        self,
        match: re.Match[str],
        near: int,
    ) -> bool:
        """Whether a number is a percentage, and the question asks for something else.

        Examples:
            (女生有幾多人？) 女生佔 60%。 → none
            (女生佔百分之幾？) 女生佔六成半。 → 65
        """
        if match["tenths"]:  # 六成半 is 65 %, or 0.65
            return not self._asked.is_share
        if not self._asked.is_count:
            return False
        is_fraction = group_text(match, NUMERATORS)
        form = "share_before" if is_fraction else "percent_before"
        before = self._search(form, near, match.start())
        return bool(before or self._match("percent", match.end()))

    def _past(
        self,
        form: str,
        start: int,
        end: int,
    ) -> int:
        """Where a sentence, or words that may come before a number, end."""
        match = self._match(form, start, end)
        return match.end() if match else end

    def _in_brackets(
        self,
        begin: int,
        place: int,
    ) -> bool:
        """Whether a bracket that opens after `begin` is open at a place."""
        opened = self._text.rfind("(", begin, place)
        return opened > self._text.rfind(")", begin, place)

    def _follows(
        self,
        form: str,
        number: Result,
    ) -> bool:
        """Whether words of a form come before a number."""
        near = max(0, number.start - LINE)
        return bool(self._search(form, near, number.start))

    def _is_joined(
        self,
        numbers: list[Result],
        number: Result,
    ) -> bool:
        """Whether a number is one of two that are both meant, such as 18 或 20."""
        for first, second in pairwise(numbers):
            values = {first.value, second.value}
            if len(values) < 2 or number.value not in values:
                continue
            between = self._text[first.end : second.start]
            if SAYS["joined"].fullmatch(between):
                return True
        return False

    def _is_aside(
        self,
        start: int,
        end: int,
    ) -> bool:
        """Whether a sentence is only a remark, or supposes what the question does not.

        Examples:
            所以佢有 12 個。如果佢買多 5 個，就有 17 個。 → 12
        """
        if self._is_bracketed(start, end):
            return True
        aside = self._search("aside", start, end)
        if not aside:
            return self._is_contrary(start, end)
        if self._match("conclusion", self._past("filler", start, end)):
            return False
        if self._between(start, aside.start()):
            return False
        if not aside["supposing"]:
            return not self._search("conclusion", aside.end(), end)
        back = self._search("contrast", aside.end(), end)
        if back and self._search("conclusion", back.end(), end):
            return False  # 如果計埋星期日就 180 間，不過只問兩日，所以 140 間
        comma = self._text.find(",", aside.end(), end)
        supposed = values_of(self._between(aside.end(), comma))
        return not (supposed and supposed <= self._asked.given)

    def _is_bracketed(
        self,
        start: int,
        end: int,
    ) -> bool:
        """Whether a whole sentence after another one is in brackets, and concludes nothing."""
        sentence = self._text[start:end].strip()
        is_closed = ")" in (sentence[-1:], self._text[end : end + 1])
        if start <= self._start or sentence[:1] != "(" or not is_closed:
            return False
        return not self._search("conclusion", start, end)

    def _is_contrary(
        self,
        start: int,
        end: int,
    ) -> bool:
        """Whether a sentence is about a case with numbers that nothing before it has.

        Examples:
            (佢買 3 盒，每盒 4 個，共幾多個？) 佢有 12 個。要是買兩倍，就係 24 個同 48 個。 → 12
        """
        contrary = self._search("contrary", start, end)
        is_asked = SAYS["contrary"].search(self._asked.ending)
        if not contrary or is_asked or self._text[start - 1 : start] == ";":
            return False
        values = values_of(self._between(start, end))
        earlier = values_of(self._between(self._start, start))
        if not earlier:
            return False
        if contrary["had"]:
            return not values <= self._asked.given | earlier
        different = self._search("different", start, end)
        if different:
            is_supposed = different[0] not in self._asked.text
        else:
            is_concluded = bool(self._search("conclusion", self._start, start))
            is_mild = bool(contrary["mild"]) and not is_concluded
            is_supposed = len(values) > 1 and not is_mild
        return is_supposed and not values & (self._asked.given | earlier)

    def _is_last_line(
        self,
        begin: int,
        stop: int,
    ) -> bool:
        """Whether a sentence is a line with only a number and a unit, and the last one."""
        if "\n" not in self._text[max(0, begin - 1) : begin]:
            return False
        line = SAYS["last_line"].fullmatch(self._text, begin, stop)
        return bool(line) and not self._text[stop:].strip()

    def _recurs(self, number: Result) -> bool:
        """Whether a later calculation or sentence has a number again."""
        written = re.escape(self._text[number.start : number.end])
        again = re.compile(rf"(?<![0-9.]){written}(?![0-9]|\.[0-9])")
        return bool(again.search(self._text, number.end, self._end))

    def _is_calculated(self, number: Result) -> bool:
        """Whether a number is a calculation's result, not the right side of an equation."""
        return self._follows("equals", number) and not self._follows("unknown", number)

    def _breaks_off(self, sentences: list[Span]) -> bool:
        """Whether the text ends within the last sentence, unlike those before it.

        Examples:
            總數係 12 個，再減 3 個，就係 → none
        """
        start, end = (self._end, self._end)
        if sentences:
            start, end = sentences[-1]
        written = self._text[start:end].rstrip()
        if self._text[end:].strip():
            return False
        last_sign = written[-1:]
        if not last_sign.isalnum() and last_sign not in _UNFINISHED:
            return False
        rest = _UNFINISHED
        for number in self._results(start, end):
            rest = self._text[number.end : end].strip()
        if "," in rest or SAYS["dangling"].search(written):
            return True
        if end - self._start <= _SHORT:
            return False
        if len(sentences) == 1:
            return len(rest) > _SHORT
        if len(rest) > _UNIT:
            return True
        is_line = self._text[start - 1 : start] in ("", "\n")
        return not (is_line or SAYS["conclusion"].search(written))

    def _gives_up(
        self,
        start: int,
        end: int,
    ) -> bool:
        """Whether a sentence asks, or says that there is no answer.

        Examples:
            佢買咗 12 個。題目資料不足，計唔到。 → none
        """
        is_question = self._search("question", start, end)
        refuses = self._search("refusal", start, end)
        return bool(is_question or refuses)
