"""The numbers of a normalised text, the words around them, and the sentences that they are in."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from hkcanto_metrics.number_questions import Asked
from hkcanto_metrics.numerals import SAYS, value_of

Span = tuple[int, int]

LINE = 60  # characters in which the left side of an equation is looked for
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
    is_word: bool = False  # such as 一 in 一個
    kind: str = "last result"
    cue: int = 0  # where the words that announce it begin


def values_of(numbers: Iterable[Result]) -> set[Fraction | None]:
    """The values of numbers."""
    return {number.value for number in numbers}


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
        self._numbers = [*self._results(self._start, end)]

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

    def _past(
        self,
        form: str,
        start: int,
        end: int,
    ) -> int:
        """Where a sentence, or words that may come before a number, end."""
        match = self._match(form, start, end)
        return match.end() if match else end

    def _follows(
        self,
        form: str,
        place: int,
        reach: int = LINE,
    ) -> bool:
        """Whether words of a form come before a place."""
        return bool(self._search(form, max(self._start, place - reach), place))

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
            is_word = len(match[0]) == 1 and not re.match("[0-9¼-¾⅐-⅞]", match[0])
            if match["english"]:
                is_word = not re.search("[ -]", match[0])
            yield Result(self._value(match), *match.span(), is_word)

    def _is_unused(
        self,
        match: re.Match[str],
        end: int,
    ) -> bool:
        """Whether a number is part of an expression or a name, or is said to be wrong.

        Examples:
            答案係第 3。 → none
            答案唔係 18。 → none
        """
        if self._follows("unused_before", match.start(), _BEFORE):
            return True
        if self._follows("ordinal", match.start(), _BEFORE):
            return not SAYS["ordinal"].search(self._asked.before)
        return bool(self._match("unused_after", match.end(), end))

    def _value(self, match: re.Match[str]) -> Fraction | None:
        """The value of a number in its context; none in another unit, or as another share."""
        value = value_of(match)
        if (
            value is None
            or self._is_other_share(match)
            or self._is_in_other_unit(match)
        ):
            return None
        scale = self._asked.scale
        if scale and match[0].lower().endswith(scale[0]):
            value /= scale[1]
        below = self._match("below_zero", match.end())
        if below and below["freezing"]:
            return None  # 5 °F below freezing is 27 °F
        return -abs(value) if below else value

    def _is_in_other_unit(self, match: re.Match[str]) -> bool:
        """Whether a number has another unit than the one asked for, or is one of two: 2 小時 5 分.

        Examples:
            (How many kilograms?) You need 1500 g. So 1.5 kg. → 1.5
            (How many minutes?) It takes 2 hours and 30 minutes. → none
        """
        if self._follows("compound_before", match.start(), _BEFORE):
            return True
        if self._match("compound_after", match.end()):
            return True
        others = self._asked.other_units
        return bool(others and others.match(self._text, match.end()))

    def _is_other_share(self, match: re.Match[str]) -> bool:
        """Whether a number is a percentage, and the question asks for something else.

        Examples:
            (女生有幾多人？) 女生佔 60%。 → none
            (女生佔百分之幾？) 女生佔六成半。 → 65
        """
        if match["tenths"]:  # 六成半 is 65 %, or 0.65
            return not self._asked.is_share
        if self._match("percent", match.end()):
            return self._asked.is_count or self._asked.is_fraction
        is_share = self._follows("share_before", match.start(), _BEFORE)
        return is_share and self._asked.is_count

    def _in_brackets(
        self,
        begin: int,
        place: int,
    ) -> bool:
        """Whether a bracket that opens after `begin` is open at a place."""
        opened = self._text.rfind("(", begin, place)
        return opened > self._text.rfind(")", begin, place)

    def _is_joined(
        self,
        numbers: list[Result],
        number: Result,
    ) -> bool:
        """Whether a number is one of two that are both meant, such as 18 或 20."""
        for first, second in pairwise(numbers):
            between = self._text[first.end : second.start]
            if number.value not in (first.value, second.value):
                continue
            if first.value != second.value and SAYS["joined"].fullmatch(between):
                return True
        return False

    def _is_aside(
        self,
        start: int,
        end: int,
    ) -> bool:
        """Whether a sentence is in brackets, a remark, a claim of others or another case.

        Examples:
            所以佢有 12 個。如果佢買多 5 個，就有 17 個。 → 12
        """
        sentence = self._text[start:end].strip()
        is_closed = ")" in (sentence[-1:], self._text[end : end + 1])
        if sentence[:1] == "(" and is_closed:
            return not self._search("conclusion", start, end)
        aside = self._match("aside", start, end)
        if not aside or self._search("conclusion", aside.end(), end):
            return False
        comma = self._text.find(",", aside.end(), end)
        supposed = values_of(self._between(aside.end(), comma))
        is_given = bool(supposed) and supposed <= self._asked.given
        return not (aside["supposing"] and is_given)

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

    def _recurs(
        self,
        number: Result,
        end: int,
    ) -> bool:
        """Whether a number is written again before a position."""
        written = re.escape(self._text[number.start : number.end])
        again = re.compile(rf"(?<![0-9.]){written}(?![0-9]|\.[0-9])")
        return bool(again.search(self._text, number.end, end))

    def _is_calculated(self, number: Result) -> bool:
        """Whether a number is a calculation's result, not the right side of an equation."""
        before = number.start
        return self._follows("equals", before) and not self._follows("unknown", before)

    def _breaks_off(self, sentences: list[Span]) -> bool:
        """Whether the text ends within the last sentence, unlike those before it.

        Examples:
            總數係 12 個，再減 3 個，就係 → none
        """
        start, end = sentences[-1] if sentences else (self._end, self._end)
        written = self._text[start:end].rstrip()
        last_sign = written[-1:]
        if not last_sign.isalnum() and last_sign not in _UNFINISHED:
            return False
        if self._text[end:].strip():
            return False
        if last_sign in "=+×÷/":
            return True
        numbers = [*self._results(start, end)]
        rest = self._text[numbers[-1].end : end].strip() if numbers else _UNFINISHED
        if numbers and ("," in rest or SAYS["dangling"].search(written)):
            return True
        is_line = self._text[start - 1 : start] in ("", "\n")
        is_whole = is_line or bool(SAYS["conclusion"].search(written))
        is_long = end - self._start > _SHORT
        return is_long and (len(rest) > _UNIT or not is_whole)

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
        return bool(is_question or self._search("refusal", start, end))
