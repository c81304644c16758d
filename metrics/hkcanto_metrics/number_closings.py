"""Which number a sentence settles on; none if another one in the text could be it as well."""

import re
from collections.abc import Callable
from dataclasses import replace

from hkcanto_metrics.number_questions import alike_length, without_blanks
from hkcanto_metrics.number_text import NumberText, Result, values_of
from hkcanto_metrics.numerals import SAYS

_NEAR = 20  # characters beside a number that the question may ask with
# Characters beside a number that repeat the question; beside one that the question gives.
_ALIKE, _ALIKE_IF_GIVEN = 3, 7


def _subjects(text: str) -> set[str]:
    """The words and pairs of characters of a text that may name what it is about."""
    words = SAYS["subject"].finditer(text.lower())
    return {match["word"] or match["pair"] for match in words}


class Closings(NumberText):
    """The sentences that may settle the answer."""

    def _settled(
        self,
        begin: int,
        stop: int,
        *,
        is_told: bool = False,
    ) -> Result | None:
        """The result of a sentence; no value if several could be it.

        Examples:
            所以佢有 12 個。 → 12
            要俾 200 蚊，慳咗 50 蚊。 → none
        """
        words = SAYS["conclusion"].finditer(self._text, begin, stop)
        start = max([begin, *(match.end() for match in words)])
        numbers = self._candidates(start, stop)
        if start == begin:
            numbers = [n for n in numbers if self._counts(n, stop, is_told)]
        if not numbers:
            return None
        is_told = is_told or start > begin or self._is_set_apart(begin, stop)
        last = self._only(numbers, is_told)
        if last.value is None or self._is_rivalled_nearby(last, start, stop):
            return replace(last, value=None)
        if self._repeats_question(last, is_told=False):
            is_told |= not self._is_related(begin, stop)
        test = self._is_new if is_told else self._is_the_result
        return last if test(last, begin, stop) else replace(last, value=None)

    def _is_rivalled_nearby(
        self,
        number: Result,
        start: int,
        stop: int,
    ) -> bool:
        """Whether another number is joined to this one, or one like "half" is not read."""
        is_spelled = bool(self._search("spelled", start, stop))
        return is_spelled or self._is_joined(self._between(start, stop), number)

    def _only(
        self,
        numbers: list[Result],
        is_told: bool,
    ) -> Result:
        """The number that repeats the question, or else the only one; without a value if several."""
        named = [n for n in numbers if self._repeats_question(n, is_told)] or numbers
        is_only = len(values_of(named)) == 1
        return named[-1] if is_only else replace(named[-1], value=None)

    def _candidates(
        self,
        start: int,
        stop: int,
    ) -> list[Result]:
        """The numbers of a sentence that may be its result: outside of brackets and additions.

        Of an equation, this is the right side. What the question gives, and words such as 一個,
        give way to other numbers.

        Examples:
            所以有 60 頁，其中 12 頁係圖。 → 60
            (18 盒食 30 日，要幾多人？) 所以佢要 9 個人食 30 日。 → 9
        """
        numbers = [
            number
            for number in self._between(start, stop)
            if not self._in_brackets(start, number.start)
        ]
        weak: tuple[Callable[[Result], bool], ...] = (
            lambda number: number.value is None,
            lambda number: number.is_word,
            self._is_given,
        )
        for is_weak in weak:
            numbers = [n for n in numbers if not is_weak(n)] or numbers
        first = numbers[0].end if numbers else stop
        added = self._search("addition", first, stop)
        end = added.start() if added else stop
        left, equals = self._left_side(start, end)
        return [n for n in numbers if n.start < end and not left < n.start < equals]

    def _left_side(
        self,
        start: int,
        end: int,
    ) -> tuple[int, int]:
        """Where the last equation of a sentence begins, and its equals sign."""
        equals = start
        for sign in SAYS["equal_sign"].finditer(self._text, start, end):
            if not self._in_brackets(start, sign.start()):
                equals = sign.start()
        return max(self._text.rfind(mark, start, equals) for mark in ",;:"), equals

    def _counts(
        self,
        number: Result,
        stop: int,
        is_told: bool,
    ) -> bool:
        """Whether a number that no word concludes is more than a word such as 一個."""
        is_end = is_told or self._match("word_end", number.end, stop)
        return not number.is_word or bool(is_end and number.value not in (1, 2))

    def _is_given(self, number: Result) -> bool:
        """Whether the question mentions a number."""
        return number.value in self._asked.given

    def _is_set_apart(
        self,
        begin: int,
        stop: int,
    ) -> bool:
        """Whether a sentence has a heading such as "Conclusion", or is a last line of its own."""
        if self._follows("heading", begin, 12):
            return True
        return self._is_last_line(begin, stop)

    def _repeats_question(
        self,
        number: Result,
        is_told: bool = True,
    ) -> bool:
        """Whether a number has the words around it that 幾多 has in the question.

        Examples:
            (男生有幾多人？) 所以男生有 22 人，女生有 18 人。 → 22
        """
        asked = self._asked
        near = max(0, number.start - _NEAR)
        before = without_blanks(self._text[near : number.start])
        after = without_blanks(self._text[number.end :][:_NEAR])
        alike_before = alike_length(before[::-1], asked.before[::-1])
        if asked.after.startswith("钱"):
            after = re.sub("^[蚊元块]", "钱", after)
        alike_after = alike_length(after, asked.after)
        is_repetition = self._is_given(number) and not is_told
        is_noun = alike_after >= _ALIKE and not is_repetition  # as in "180 boys"
        is_open = not asked.after and alike_before > 0
        is_beside = is_noun or is_open or min(alike_before, alike_after) > 0
        least = _ALIKE_IF_GIVEN if is_repetition else _ALIKE
        return is_beside and alike_before + alike_after >= least

    def _is_new(
        self,
        number: Result,
        start: int,
        stop: int,
    ) -> bool:
        """Whether a concluded number is not only repeated from the question beside a new one."""
        if not self._is_given(number) or self._repeats_question(number):
            return True
        said = values_of(self._between(start, stop))
        before = self._between(self._start, start)
        return said <= self._asked.given and not any(map(self._is_calculated, before))

    def _is_the_result(
        self,
        number: Result,
        begin: int,
        stop: int,
    ) -> bool:
        """Whether a number that no word concludes is the last result, or the only new number.

        Examples:
            (佢有 3 盒，每盒 4 個。) 3 × 4 = 12 → 12
            (佢仲有幾多隻？) 36 − 6 = 30⏎即係少咗 6 隻。 → none
        """
        if self._lacks_unit(number):
            return False
        before = self._between(self._start, stop)
        counted = values_of(n for n in before if self._counts(n, stop, is_told=False))
        new = counted - self._asked.given
        said = _subjects(self._text[begin:stop])
        is_asked = bool(said & _subjects(self._asked.clause))
        if self._is_given(number) and (new or not is_asked):
            is_asked = self._repeats_question(number, is_told=False)
        elif self._is_of_another(said):
            return False
        calculated = [*filter(self._is_calculated, before)]
        if calculated:
            is_final = calculated[-1].value == number.value
            return is_final and (is_asked or self._are_used(calculated[:-1], stop))
        is_new = is_asked or new == {number.value}
        return is_new and not self._is_related(begin, stop)

    def _lacks_unit(self, number: Result) -> bool:
        """Whether a number lacks the unit asked for, and one before it has that.

        Examples:
            (有幾多個人？) 有 5 個人，最多坐 8。 → none
        """
        if self._has_unit(number) or self._is_calculated(number):
            return False
        return any(map(self._has_unit, self._between(self._start, number.start)))

    def _has_unit(self, number: Result) -> bool:
        """Whether a new number has the word after it that the question has after 幾多."""
        if not self._asked.unit or self._is_given(number):
            return False
        after = self._text[number.end :][:_NEAR].lower().lstrip()
        return after.startswith(self._asked.unit)

    def _are_used(
        self,
        numbers: list[Result],
        stop: int,
    ) -> bool:
        """Whether each of these numbers is written again, as in a later calculation."""
        return all(self._recurs(number, stop) for number in numbers)

    def _is_of_another(self, said: set[str]) -> bool:
        """Whether a sentence is about something else that the question names.

        Examples:
            (有 32 人，20 個係女仔。有幾多個男仔？) 女仔有 20 個。 → none
        """
        wanted = _subjects(self._asked.clause)
        is_other = bool(wanted) and said.isdisjoint(wanted)
        return is_other and not said.isdisjoint(_subjects(self._asked.text))

    def _is_related(
        self,
        begin: int,
        stop: int,
    ) -> bool:
        """Whether a sentence says what is spent, saved, owed or the difference, which is not asked.

        Examples:
            (男生有 9 人。女生有幾多人？) 男生比女生多 4 人。 → none
        """
        if SAYS["relation"].search(self._asked.clause):
            return False
        told = re.sub(r"\([^()]*\)", "", self._text[begin:stop])
        return SAYS["relation"].search(told) is not None
