"""Find the number that a normalised text settles on, by rules that are tried in order.

An announced answer has priority: `####`, a box, "the answer is"; the last announcement wins.
Without an announcement, the answer is a first line that is only a number, or the one number that the
last sentence can mean: after a word of conclusion, as the result of the last calculation, or as the
only number that the question does not give. If several could be it, or the text breaks off, no
number is read.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from hkcanto_metrics.number_closings import CLOSING_RULES, Closings
from hkcanto_metrics.number_text import Result, Span, values_of
from hkcanto_metrics.numerals import SAYS

# Of many announcements, the last ones are read; of a long sentence, the beginning.
_CUES, _REACH = 40, 300
_TALK = 3  # closing sentences that may follow the result


class Part(Closings):
    """The part of a normalised text that is about one question, and the number it settles on."""

    def result(self) -> Result | None:
        """Return the number that the first rule finds; without a value if several could be it."""
        return self._announcement() or self._conclusion()

    def is_cut_off(self) -> bool:
        """Return whether the text breaks off."""
        return self._breaks_off(self._sentences)

    def _announcement(self) -> Result | None:
        """The last announced answer, if no conclusion after it takes its place."""
        announced = [*self._announced()]
        if not announced:
            return None
        last = announced[-1]
        # An equation, and marks with different numbers, are steps to a conclusion.
        marks = {number.value for number in announced if number.kind == "marked"}
        is_equation = "=" in self._text[last.cue : last.start]
        is_step = is_equation or (last.kind == "marked" and len(marks) > 1)
        is_step = is_step or self._is_given_and_goes_on(last)
        if self._is_replaced(last, is_step=is_step):
            return None
        for before in announced[-2:-1]:
            if self._stand_side_by_side(before, last):
                return Result(None, before.start, last.end)
        return last

    def _is_given_and_goes_on(self, announced: Result) -> bool:
        """Whether a number of the question is announced, and its line goes on to others.

        Examples:
            (每組 200 人，3 組共幾多人？) #### 3 組，每組 200 人，所以共 600 人。 → 600
        """
        if announced.value not in self._asked.given:
            return False
        line = self._text.find("\n", announced.end)
        end = line if line > 0 else self._end
        later = values_of(self._between(announced.end, end))
        return bool(later - {announced.value})

    def _stand_side_by_side(
        self,
        first: Result,
        second: Result,
    ) -> bool:
        """Whether two different numbers are announced alike, with nothing between them.

        Examples:
            答案：18⏎答案：20 → none
        """
        between = self._text[first.end : second.cue]
        is_other = first.kind == second.kind and first.value != second.value
        return is_other and bool(re.fullmatch(r"\W{,30}\w{0,6}\W{,30}", between))

    def _is_replaced(
        self,
        announced: Result,
        *,
        is_step: bool,
    ) -> bool:
        """Whether a conclusion or refusal after an announced number takes its place.

        Examples:
            #### 4 個人⏎#### 56 片⏎所以 14 片 → 14
        """
        for start, end in self._spans(announced.end, self._end):
            if self._match("none_after_all", start, end):
                return True
            concludes = self._search("conclusion", start, end)
            if is_step and (concludes or self._is_last_line(start, end)):
                return True
            is_step = is_step and not self._match("afterword", start)
        return False

    def _announced(self) -> Iterator[Result]:
        """The numbers that are a first line of their own, or announced as the answer.

        Examples:
            #### 18 蚊 → 18
            答案係 18。 → 18
            The answer is 17. Sorry, the answer is 18. → 18
        """
        if line := self._first_line():
            yield line
        cues = SAYS["cue"].finditer(
            self._text,
            self._start,
            self._end,
        )
        last_cues = deque(cues, _CUES)
        since_mark = self._end
        for cue, following in pairwise([*last_cues, None]):
            if not cue:
                break
            end = following.start() if following else self._end
            reach = min(end, cue.end() + _REACH)
            stop = self._past("sentence", cue.end(), reach)
            number = self._introduced(cue, stop)
            if not number:
                continue
            # A question after a marked answer is a new question.
            since = self._text[since_mark : cue.start()]
            if re.search(r"\?\s*\n", since):
                return
            if cue["marked"]:
                since_mark = cue.end()
            kind = cue.lastgroup or "stated"
            yield replace(
                number,
                kind=kind,
                cue=cue.start(),
            )

    def _first_line(self) -> Result | None:
        """The number that is a first line of its own.

        Examples:
            18⏎解釋：9 × 2。 → 18
            (How many eggs are left?) None. He ate them all. → 0
        """
        if not self._sentences:
            return None
        start, end = self._sentences[0]
        if self._asked.is_count and self._match("none_at_all", start, end):
            return Result(
                Fraction(0),
                start,
                end,
                kind="bare",
                cue=start,
            )
        number = self._begun(start, end)
        if not number or not self._match("line_end", number.end):
            return None
        if "=" in self._text[start : number.start]:
            return None
        return replace(number, kind="bare", cue=start)

    def _introduced(
        self,
        cue: re.Match[str],
        stop: int,
    ) -> Result | None:
        """The announced number: right after the cue, or the result of the line or paragraph."""
        text = self._text
        if self._search("question", cue.end(), stop):
            return None
        filled = self._past("filler", cue.end(), stop)
        filler = text[cue.end() : filled].strip()
        begun = self._begun(cue.end(), stop)
        near = max(0, cue.start() - 6)
        refers = self._search("reference", near, cue.start())
        is_told = bool(cue.lastgroup or (filler and not refers))
        number = begun or self._settled(
            cue.end(),
            stop,
            is_told=is_told,
        )
        if cue["marked"] and self._is_heading(begun, stop):
            return None
        if cue.lastgroup or begun:
            return number
        if ":" in filler or not text[filled:stop].strip():
            return self._under_heading(cue.end(), stop, number)
        return number

    def _is_heading(
        self,
        begun: Result | None,
        stop: int,
    ) -> bool:
        """Whether a marked line is only a heading of the text that follows."""
        if begun and self._match(
            "unit_only",
            begun.end,
            self._end,
        ):
            return False
        rest = self._text[stop : self._end]
        return bool(re.search(r"\w", rest))

    def _under_heading(
        self,
        start: int,
        stop: int,
        number: Result | None,
    ) -> Result | None:
        """The result of a paragraph whose first sentence is announced as the answer.

        Examples:
            答案：⏎9 × 2 = 18，所以佢賺 18 蚊。 → 18
        """
        below = self._search("paragraph_end", stop + 1, self._end)
        end = below.start() if below else self._end
        if self._search("question", stop, end):
            return None
        if number and self._fills_gap(number, least=3):
            return number
        below_it = self._spans(start, end)
        return self._concluded(below_it, is_told=True) or number

    def _begun(
        self,
        start: int,
        end: int,
    ) -> Result | None:
        """The number that a text begins with, if a clause ends after it."""
        text = self._text
        start = self._past("filler", start, end)
        numbers = [*self._results(start, end)]
        if not numbers or self._search("conclusion", start, end):
            return None
        first = numbers[0]
        has_equals = "=" in text[start : first.start]
        is_sum = has_equals and self._match("number", start)
        form = "line_end" if first.is_chinese else "clause"
        clause = self._match(form, first.end, end)
        if not clause or not (first.start == start or is_sum):
            return None
        if self._has_rival(numbers, clause.end()):
            return None
        if self._match("operand", first.end, end):
            return None
        is_joined = self._is_joined(numbers[:2], first)
        return replace(first, value=None) if is_joined else first

    def _has_rival(
        self,
        numbers: list[Result],
        end: int,
    ) -> bool:
        """Whether the first of these numbers has another one beside it in its clause."""
        is_given = numbers[0].value in self._asked.given
        known = set() if is_given else self._asked.given
        for number in numbers[1:]:
            if not number.is_chinese and number.value not in known:
                return number.start < end
        return False

    def _conclusion(self) -> Result | None:
        """The result of the last sentences of the text."""
        return self._concluded(self._sentences)

    def _concluded(
        self,
        sentences: list[Span],
        *,
        is_told: bool = False,
    ) -> Result | None:
        """The result of the last sentences, apart from a remark or another case."""
        body = self._before_remarks(sentences)
        body = self._without_other_labels(body)
        if self._breaks_off(body):
            return None
        for start, end in sentences[len(body) :]:
            if self._search("mistake", start, end):
                return None
        for start, end in body[: -_TALK - 1 : -1]:
            if self._gives_up(start, end):
                return None
            if self._is_aside(start, end):
                continue
            if number := self._settled(start, end, is_told=is_told):
                return number
            if self._match("work_ahead", start, end):
                return None
        return None

    def _before_remarks(self, sentences: list[Span]) -> list[Span]:
        """The sentences before a check, a note or an explanation.

        Examples:
            所以佢有 12 個。⏎驗算：12 − 3 = 9。 → 12
        """
        for count, (start, _) in enumerate(sentences):
            if count and self._match("afterword", start):
                return sentences[:count]
        return sentences


# All rules, in the order in which a response meets them.
NUMBER_RULES: tuple[Callable[..., object], ...] = (
    Part._is_in_other_unit,
    Part._is_owed,
    Part._is_other_share,
    Part._without_remainders,
    Part._first_line,
    Part._announced,
    Part._under_heading,
    Part._is_replaced,
    Part._is_given_and_goes_on,
    Part._stand_side_by_side,
    Part._before_remarks,
    Part._without_other_labels,
    Part._breaks_off,
    Part._gives_up,
    Part._is_aside,
    Part._is_contrary,
    Part._before_restatement,
    Part._main_end,
    *CLOSING_RULES,
)
