"""Find the number that a normalised text settles on, by rules that are tried in order.

An announced answer decides: `####`, a box, "the answer is"; the last announcement wins. Without one,
the last sentence with a number decides, if it gives one number that can be the answer: after a word
of conclusion, as the result of the last calculation, or as the only number that the question does not
give. If another number could be it, or the text breaks off, no number is read.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from hkcanto_metrics.number_closings import Closings
from hkcanto_metrics.number_text import Result, Span, values_of
from hkcanto_metrics.numerals import SAYS

# Of many announcements, the last ones are read; of a long sentence, the beginning.
_CUES, _REACH = 40, 300
_TALK = 3  # closing sentences that may follow the result


class Part(Closings):
    """The part of a normalised text that is about one question, and the number it settles on."""

    def result(self) -> Result | None:
        """Return the number that the first rule finds; without a value if several could be it."""
        return self._announcement() or self._concluded(self._sentences)

    def is_cut_off(self) -> bool:
        """Return whether the text breaks off."""
        return self._breaks_off(self._sentences)

    def _announcement(self) -> Result | None:
        """The last announced answer, if no conclusion after it takes its place.

        Examples:
            答案係 17。等等，答案係 18。 → 18
            答案：18⏎答案：20 → none
        """
        announced = [*self._announced()]
        if not announced:
            return None
        last = announced[-1]
        # An equation, and marks with different numbers, are steps to a conclusion.
        marks = {number.value for number in announced if number.kind == "marked"}
        is_equation = "=" in self._text[last.cue : last.start]
        is_step = is_equation or (last.kind == "marked" and len(marks) > 1)
        if self._is_replaced(last, is_step=is_step):
            return None
        for before in announced[-2:-1]:
            between = self._text[before.end : last.cue]
            is_beside = re.fullmatch(r"\W{,30}\w{0,6}\W{,30}", between)
            if is_beside and before.kind == last.kind and before.value != last.value:
                return Result(None, before.start, last.end)
        return last

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
            if self._search("none_after_all", start, end):
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
            if self._is_supposed(cue):
                continue
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

    def _is_supposed(self, cue: re.Match[str]) -> bool:
        """Whether an answer is announced for another case.

        Examples:
            答案係 18。如果改做 7 人，答案就會變成 20。 → 18
        """
        if cue["marked"] or cue["boxed"]:
            return False
        return any(
            start <= cue.start() < end and self._is_aside(start, end)
            for start, end in self._sentences
        )

    def _first_line(self) -> Result | None:
        """The number that is a first line of its own.

        Examples:
            18⏎解釋：9 × 2。 → 18
        """
        if not self._sentences:
            return None
        start, end = self._sentences[0]
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
        refers = self._follows("reference", cue.start(), 6)
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
        is_heading = self._text[stop - 1 : stop] == "\n"
        below = self._search("paragraph_end", stop + is_heading, self._end)
        end = below.start() if below else self._end
        if self._search("question", stop, end):
            return None
        if number and self._repeats_question(number):
            return number
        below_it = self._spans(start, end)
        return self._concluded(below_it, is_told=True) or number

    def _begun(
        self,
        start: int,
        end: int,
    ) -> Result | None:
        """The number that a text begins with, if a clause ends after it."""
        start = self._past("filler", start, end)
        numbers = [*self._results(start, end)]
        if not numbers or self._search("conclusion", start, end):
            return None
        first = numbers[0]
        has_equals = "=" in self._text[start : first.start]
        is_sum = has_equals and bool(self._match("number", start))
        form = "line_end" if first.is_word else "clause"
        clause = self._match(form, first.end, end)
        if not clause or not (first.start == start or is_sum):
            return None
        beside = [n for n in numbers if n.start < clause.end()]
        return None if self._is_rivalled(first, beside) else first

    def _is_rivalled(
        self,
        first: Result,
        beside: list[Result],
    ) -> bool:
        """Whether other numbers could be meant; those that the question gives give way to a new one."""
        rivals = values_of(n for n in beside if not n.is_word) - {first.value}
        if not self._is_given(first):
            rivals -= self._asked.given
        return bool(rivals) or self._is_joined(beside, first)

    def _concluded(
        self,
        sentences: list[Span],
        *,
        is_told: bool = False,
    ) -> Result | None:
        """The result of the last sentence with a number, apart from a remark or another case."""
        body = self._before_remarks(sentences)
        if self._breaks_off(body):
            return None
        for start, end in sentences[len(body) :]:
            if self._search("mistake", start, end):
                return None
        for start, end in body[: -_TALK - 1 : -1]:
            if self._is_aside(start, end):
                continue
            if self._gives_up(start, end):
                return None
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
    Part._is_unused,
    Part._is_in_other_unit,
    Part._is_other_share,
    Part._first_line,
    Part._announced,
    Part._is_supposed,
    Part._announcement,
    Part._under_heading,
    Part._is_replaced,
    Part._before_remarks,
    Part._breaks_off,
    Part._gives_up,
    Part._is_aside,
    Part._settled,
    Part._candidates,
    Part._repeats_question,
    Part._is_the_result,
    Part._lacks_unit,
    Part._is_of_another,
    Part._is_related,
)
