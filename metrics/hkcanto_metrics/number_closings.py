"""Which number a sentence settles on, by what the question asks for and by how it is said."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise

from hkcanto_metrics.number_questions import alike_length, without_blanks
from hkcanto_metrics.number_text import (
    LINE,
    NEAR,
    NumberText,
    Result,
    Span,
    valued,
    values_of,
)
from hkcanto_metrics.numerals import SAYS, value_of

_LONG_UNIT = 12  # characters of a unit with what belongs to it


@dataclass(frozen=True, slots=True)
class Closing:
    """A sentence that may settle the answer.

    Attributes:
        begin: where it begins.
        line: where it begins after its last equals sign.
        start: where it begins after its last word of conclusion or equals sign.
        end: where it ends, before words that only say the number again in another unit.
        stop: where it ends.
        concludes: whether it has a word of conclusion.
        is_told: whether it concludes, or something before it announces the answer.
        numbers: the numbers between `start` and `end`.
        calculated: the results of calculations before `stop`.
    """

    begin: int
    line: int
    start: int
    end: int
    stop: int
    concludes: bool
    is_told: bool
    numbers: list[Result]
    calculated: list[Result]


def _subjects(text: str) -> set[str]:
    """The words and characters of a text that may name what it is about."""
    words = SAYS["subject"].findall(text.lower())
    return {word for word in words if not SAYS["common"].match(word)}


class Closings(NumberText):
    """The sentences that may settle the answer."""

    def _settled(
        self, begin: int, stop: int, *, is_told: bool = False
    ) -> Result | None:
        """The result of a sentence; no value if several could be it."""
        closing = self._closing(begin, stop, is_told)
        if spelled := self._search("spelled", closing.start, closing.end):
            return Result(None, *spelled.span())
        main = self._main(closing)
        if not main:
            return None
        for rule in CLOSING_RULES:
            if number := rule(self, closing, main):
                return number
        last = main[-1]
        is_word = last.is_word and not closing.concludes
        if is_word and not self._is_full(closing, last):
            return None
        return replace(last, value=None)

    def _closing(
        self,
        begin: int,
        stop: int,
        is_told: bool,
    ) -> Closing:
        """A sentence and the places in it that decide."""
        end = self._before_restatement(begin, stop)
        words = SAYS["conclusion"].finditer(self._text, begin, end)
        concluded = [match.end() for match in words]
        signs = SAYS["equal_sign"].finditer(self._text, begin, end)
        equals = max([begin, *(sign.start() for sign in signs)])
        line = begin if self._in_brackets(begin, equals) else equals
        start = max([line, *concluded])
        numbers = self._between(start, end)
        if numbers and not valued(numbers):  # 80 minutes, i.e. 1 hour 20 minutes
            start = line
            numbers = self._between(start, end)
        # Words such as 一個 do not count beside digits.
        if not all(number.is_chinese for number in numbers):
            numbers = [number for number in numbers if not number.is_word]
        is_headed = self._search("heading", max(0, begin - 12), begin)
        is_last = self._is_last_line(begin, stop)
        return Closing(
            begin=begin,
            line=line,
            start=start,
            end=end,
            stop=stop,
            concludes=bool(concluded),
            is_told=is_told or bool(concluded or is_headed or is_last),
            numbers=numbers,
            calculated=self._calculated(stop),
        )

    def _calculated(self, end: int) -> list[Result]:
        """The results of calculations before a position."""
        return [
            number
            for number in self._valued
            if number.end <= end and self._is_calculated(number)
        ]

    def _before_restatement(
        self,
        begin: int,
        stop: int,
    ) -> int:
        """Where a sentence ends before it says its number again, in another unit or as a share.

        Examples:
            (有幾多毫升？) 所以有 3600 毫升，即 3.6 公升。 → 3600
        """
        restatement = self._search("restatement", begin, stop)
        if not restatement:
            return stop
        end = restatement.start()
        for number in self._between(begin, end):
            is_last = not SAYS["number"].search(self._text, number.end, end)
            if is_last and self._has_asked_unit(number):
                return end
        return stop

    def _main(self, closing: Closing) -> list[Result]:
        """The numbers outside of brackets and of clauses that only add something."""
        stop = self._main_end(closing)
        others = self._of_others(closing)
        main = []
        for number in closing.numbers:
            is_beside = self._in_brackets(closing.begin, number.start)
            is_other = self._is_said_of_other(number, others)
            if number.start < stop and not is_beside and not is_other:
                main.append(number)
        # A share of something, where a number of things is asked, is no rival.
        if main and not valued(main):
            main = self._in_asked_unit(closing) or main
        main = valued(main) or main
        given = self._asked.given
        return [number for number in main if number.value not in given] or main

    def _of_others(self, closing: Closing) -> list[Result]:
        """The numbers of a sentence said of something other than what is asked for."""
        said = self._between(closing.begin, closing.stop)
        return [*filter(self._is_of_other, said)]

    def _is_said_of_other(
        self,
        number: Result,
        others: list[Result],
    ) -> bool:
        """Whether a value is said of something else; a result only if it is so after it."""
        if self._is_calculated(number):  # 食咗 15 個，所以仲有 30 - 15 = 15 個
            others = [other for other in others if other.end > number.start]
        return number.value in values_of(others)

    def _in_asked_unit(self, closing: Closing) -> list[Result]:
        """The numbers with the unit asked for, where others are in another: 24 L (24,000 cm³)."""
        units = self._asked.units
        if not units:
            return []
        numbers = valued(closing.numbers)
        return [n for n in numbers if units.asked.match(self._text, n.end)]

    def _main_end(self, closing: Closing) -> int:
        """Where a clause begins that only adds something to the first number.

        Examples:
            所以有 60 頁，其中 12 頁係圖。 → 60
        """
        if not (closing.is_told and closing.numbers):
            return closing.end
        first = closing.numbers[0]
        form = "addition"
        if closing.concludes and closing.calculated:
            last = closing.calculated[-1]
            if first is last:
                return first.end
            if first.value == last.value:
                is_opposed = self._search("contrast", first.end, closing.end)
                form = "addition" if is_opposed else "comma"
        added = self._search(form, first.end, closing.end)
        return added.start() if added else closing.end

    def by_name(
        self,
        closing: Closing,
        main: list[Result],
    ) -> Result | None:
        """The number said of what the question names: the largest, the total, "in grams".

        Examples:
            (What is the total bill in dollars?) Total: $88⏎Breakdown:⏎Food: $80⏎Service: $8 → 88
            (最大嗰個係幾多？) 細嗰個係 8，最大係 12。 → 12
            (How many grams in a cup?) In pounds it is 0.5, and in grams, that is 227. → 227
        """
        named = [number for number in main if self._is_asked_by_name(number)]
        return self._one_of(closing, main, named)

    def _without_other_labels(self, sentences: list[Span]) -> list[Span]:
        """The sentences without results at their end that are labelled as something not asked for.

        Examples:
            (有幾多隻兔？) 兔 = 8⏎雞 = 12 → 8
            (What is the larger number?) Larger: 18. Smaller: 12. → 18
        """
        wanted = _subjects(self._asked.clause)
        labels = [self._line_label(span) for span in sentences]
        if not any(label and label <= wanted for label in labels):
            return sentences
        end = len(sentences)
        while labels[end - 1] - wanted:
            end -= 1
        return sentences[:end]

    def _line_label(self, span: Span) -> set[str]:
        """The words of the label before the last number of a sentence."""
        numbers = valued(self._between(*span))
        return self._label(span[0], numbers[-1]) if numbers else set()

    def in_relation(
        self,
        closing: Closing,
        main: list[Result],
    ) -> Result | None:
        """The number said of what is left, or will be, where the question asks for that.

        Examples:
            (24 粒糖，派走 15 粒，佢仲有幾多粒？) 24 粒減走 15 粒，手上仲有 9 粒。 → 9
            (How many eggs are left of 36?) Four of 36 are broken, which leaves Tom with 32. → 32
        """
        return self._one_of(closing, main, self._in_relation_asked(closing))

    def in_gap(
        self,
        closing: Closing,
        main: list[Result],
    ) -> Result | None:
        """The number with the words around it that the question has around "how many".

        Examples:
            (男生有幾多人？) 所以男生有 22 人，女生有 18 人。 → 22
        """
        is_told = closing.is_told or self._sums_up(closing)
        least = 3 if is_told or len(values_of(main)) == 1 else 5
        named = []
        for number in main:
            if self._fills_gap(number, least) and not self._is_one(number):
                named.append(number)
        return self._one_of(closing, main, named)

    def of_subject(
        self,
        closing: Closing,
        main: list[Result],
    ) -> Result | None:
        """The one of several numbers that its clause says of what the question asks for.

        Examples:
            (How many apples did Tom buy?) Anna bought 12 pears, and Tom bought 15 apples. → 15
        """
        if self._is_unfinished_sum(closing, main):
            return None
        numbers = [
            number
            for number in self._between(closing.begin, closing.stop)
            if not number.is_word
        ]
        clauses = self._clauses(closing, numbers)
        sentence = self._text[closing.begin : closing.stop]
        if not clauses or SAYS["compared"].search(self._asked.clause + sentence):
            return None
        chosen = self._on_subject(numbers, clauses)
        if len(chosen) != 1 or chosen[0].value in self._asked.given:
            return None
        return chosen[0]

    def summed(
        self,
        closing: Closing,
        main: list[Result],
    ) -> Result | None:
        """The sum of the numbers before it, said to be their total at the end of a sentence.

        Examples:
            (要俾幾多錢？) 書 60 蚊，袋 44 蚊，合共 $104。 → 104
            (How much is the bill?) Shirts: 3 × $12 = $36⏎Hats: 2 × $34 = $68⏎Total: $104 → 104
        """
        said = valued(self._between(closing.begin, closing.stop))
        *parts, last = [number for number in said if not number.is_word] or main
        near = max(closing.begin, last.start - LINE)
        if not self._search("total_is", near, last.start):
            return None
        parts = parts or self._ends_of_sentences(closing.begin)
        sums = [*accumulate(part.value or 0 for part in reversed(parts))]
        is_sum = last.value in sums[1:]
        is_wanted = is_sum and not SAYS["no_sum"].search(self._asked.ending)
        return last if is_wanted else None

    def _ends_of_sentences(self, end: int) -> list[Result]:
        """The last number of each sentence before a position."""
        said = [self._between(*span) for span in self._sentences if span[1] <= end]
        return [numbers[-1] for numbers in said if numbers]

    def told(
        self,
        closing: Closing,
        main: list[Result],
    ) -> Result | None:
        """The only number of the last clause, if it is concluded, calculated or the only new one.

        Examples:
            所以佢有 12 個。 → 12
            (佢有 3 盒，每盒 4 個。) 3 × 4 = 12 → 12
            要俾 200 蚊，慳咗 50 蚊。 → none
        """
        last = main[-1]
        is_word = last.is_word and not closing.concludes
        if is_word and not self._is_full(closing, last):
            return None
        if self._is_unfinished_sum(closing, main):
            return None
        is_answer = self._is_only(closing, main) and self._is_told(closing, last)
        return last if is_answer else None

    def _one_of(
        self, closing: Closing, main: list[Result], named: list[Result]
    ) -> Result | None:
        """The one value among numbers that a rule names, unless another one rivals it."""
        if len(values_of(named)) != 1 or self._is_unfinished_sum(closing, main):
            return None
        number = named[0]
        is_given = number.value in self._asked.given
        if is_given and not self._fills_gap(number, least=7):
            return None
        is_joined = self._is_joined(main, number)
        return None if is_joined and self._has_same_noun(main) else number

    def _is_unfinished_sum(
        self,
        closing: Closing,
        main: list[Result],
    ) -> bool:
        """Whether the question asks for a sum and the sentence gives only what is to be added."""
        is_told = closing.is_told or self._sums_up(closing)
        if not self._asked.is_total or is_told or closing.calculated:
            return False
        said = [n for n in closing.numbers if not n.is_word]
        new = self._new_values(closing, main[-1])
        return max(len(new), len(values_of(said))) > 1

    def _in_relation_asked(self, closing: Closing) -> list[Result]:
        """The numbers that a sentence says of what is left, or will be, as the question asks."""
        form = "left" if self._asked.is_left else "future"
        if not (self._asked.is_left or self._asked.is_future):
            return []
        named = []
        for number in valued(self._between(closing.begin, closing.stop)):
            is_counted = not number.is_word or self._has_asked_unit(number)
            if is_counted and self._search(form, *self._clause(number)):
                named.append(number)
        return named

    def _clause(self, number: Result) -> Span:
        """The words before a number in its clause."""
        near = max(self._start, number.start - LINE)
        before = self._search("clause_before", near, number.start)
        return (before.start() if before else number.start), number.start

    def _is_one(self, number: Result) -> bool:
        """Whether a number is the word "one"."""
        is_latin = self._text[number.start].isascii()
        return number.is_word and is_latin and number.value == 1

    def _has_same_noun(self, numbers: list[Result]) -> bool:
        """Whether two of these numbers have the same noun, or one has none."""
        nouns = []
        for other in numbers:
            noun = self._match("noun", other.end)
            if not noun or noun["noun"] == "and":
                return True
            nouns.append(noun["noun"])
        between = self._text[numbers[0].start : numbers[-1].end]
        is_open = re.search("(?<![a-z])or(?![a-z])", between)
        return bool(is_open) or len(set(nouns)) < len(nouns)

    def _on_subject(
        self, numbers: list[Result], clauses: list[set[str]]
    ) -> list[Result]:
        """The numbers whose clauses alone name what is asked for; empty if one names nothing."""
        wanted = _subjects(self._asked.clause)
        known = _subjects(self._asked.text) - wanted
        chosen = []
        for number, words in zip(numbers, clauses, strict=True):
            others = set().union(*(other for other in clauses if other is not words))
            if wanted & words - others:
                chosen.append(number)
            elif not known & words - wanted and self._has_same_noun(numbers):
                return []
        return chosen

    def _clauses(
        self,
        closing: Closing,
        numbers: list[Result],
    ) -> list[set[str]]:
        """The words said of each number of a sentence; none if its parts are unclear."""
        cuts = [closing.begin]
        for first, second in pairwise(numbers):
            parting = self._search("parting", first.end, second.start)
            if not parting:
                return []
            cuts.append(parting.end())
        cuts.append(closing.stop)
        if len(numbers) not in (2, 3):
            return []
        return [_subjects(self._text[start:end]) for start, end in pairwise(cuts)]

    def _sums_up(self, closing: Closing) -> bool:
        """Whether a sentence gives the sum that the question asks for."""
        if not self._search("total", closing.begin, closing.stop):
            return False
        return self._asked.is_total

    def _fills_gap(
        self,
        number: Result,
        least: int,
    ) -> bool:
        """Whether a number has the words around it that 幾多 has in the question."""
        asked = self._asked
        near = max(0, number.start - NEAR)
        before = without_blanks(self._text[near : number.start])
        after = without_blanks(self._text[number.end :][:NEAR])
        alike_before = alike_length(before[::-1], asked.before[::-1])
        alike_after = alike_length(after, asked.after)
        if not alike_after and SAYS["money"].match(asked.after):
            alike_after = int(bool(SAYS["money"].match(after)))
        if not alike_after and alike_before > 2:  # 24升汁中有15升水
            after_unit = alike_length(after[1:], asked.after)
            alike_after = after_unit or alike_length(after[2:], asked.after)
        is_noun = alike_after > 2 and least < 5  # as in "180 boys"
        is_near = is_noun or min(alike_before, alike_after) > 0
        return is_near and alike_before + alike_after >= least

    def _has_asked_unit(self, number: Result) -> bool:
        """Whether a number has the unit that the question asks for."""
        unit = self._asked.after[:1]
        after = self._text[number.end :][:3]
        return bool(unit) and after.lstrip().startswith(unit)

    def _is_only(
        self,
        closing: Closing,
        main: list[Result],
    ) -> bool:
        """Whether the last number of a sentence is the only one in its clause."""
        first = closing.numbers[0]
        last = main[-1]
        if len(values_of(main)) > 1:
            return False
        if self._is_joined(closing.numbers, last):
            return False
        if not closing.concludes or first.value == last.value:
            return True
        if first.value in self._asked.given and last.value not in self._asked.given:
            return True  # 所以行 12 公里，要 3 個鐘
        return not self._search("comma", first.end, last.start)

    def _is_told(
        self,
        closing: Closing,
        last: Result,
    ) -> bool:
        """Whether a number is announced: by a word, as the last result, or as the only new number."""
        if self._is_last_paragraph(closing, last) or self._is_asked_by_name(last):
            return True
        line = self._text[closing.line : closing.end]
        is_alone = line.strip() == self._text[last.start : last.end]
        if closing.is_told or is_alone:
            return self._is_new_in(line, closing, last)
        if self._is_all_that_is_said(closing, last):
            return True
        new = self._new_values(closing, last)
        if closing.calculated:
            return self._is_final_result(closing, last, new)
        is_named = not last.is_word or self._follows("equates", last)
        is_named = is_named or self._is_full(closing, last)
        return is_named and new == {last.value}

    def _is_all_that_is_said(
        self,
        closing: Closing,
        last: Result,
    ) -> bool:
        """Whether the response is one sentence, "the slope is 3", on what the question asks for."""
        is_all = len(self._sentences) == 1 and not self._text[self._end :].strip()
        if not is_all or not self._follows("is", last):
            return False
        if values_of(self._valued) != {last.value}:
            return False
        subject = _subjects(self._text[closing.begin : last.start])
        return bool(subject & _subjects(self._asked.clause))

    def _is_new_in(
        self,
        line: str,
        closing: Closing,
        last: Result,
    ) -> bool:
        """Whether a number is new, or nothing is, or a word concludes it with the unit asked for."""
        given = self._asked.given
        if last.value not in given:
            return True
        if set(map(value_of, SAYS["number"].finditer(line))) <= given:
            return True
        is_only = len(values_of(closing.numbers)) == 1
        return closing.concludes and is_only and self._has_asked_unit(last)

    def _is_final_result(
        self, closing: Closing, last: Result, new: set[Fraction | None]
    ) -> bool:
        """Whether a number is the last calculation's result, and each earlier one is used again."""
        *earlier, final = closing.calculated
        is_new = last.value in new or not new
        is_final = last.value == final.value
        return is_new and is_final and all(map(self._recurs, earlier))

    def _is_full(
        self,
        closing: Closing,
        number: Result,
    ) -> bool:
        """Whether a short number in words ends its sentence, or has the unit asked for."""
        if number.value in (1, 2) or self._match("listed", closing.begin):
            return False
        is_end = self._match("word_end", number.end, closing.stop)
        return bool(is_end) or self._has_asked_unit(number)

    def _is_last_paragraph(
        self,
        closing: Closing,
        number: Result,
    ) -> bool:
        """Whether the last paragraph gives only this number, and nothing before concludes."""
        text = self._text
        above = text[self._start : closing.begin]
        if not above.rstrip(" \t").endswith("\n\n"):
            return False
        is_given = number.value in self._asked.given
        if is_given or self._between(closing.stop, self._end):
            return False
        if self._match("listed", closing.begin):
            return False
        rest = text[number.end : closing.stop].strip()
        if len(rest) > _LONG_UNIT and rest[-1] not in ".。!)":  # cut off
            return False
        if self._search("conclusion", self._start, closing.begin):
            return False
        earlier = self._between(self._start, closing.begin)
        if self._fills_gap(number, least=3):
            return True
        return not any(self._fills_gap(other, least=3) for other in earlier)

    def _is_asked_by_name(self, number: Result) -> bool:
        """Whether the sentence says "the largest is", or "in grams that is", as the question."""
        near = max(self._start, number.start - LINE)
        if converted := self._search("in_unit", near, number.start):
            form = rf"(?:to|in) {converted['unit']}(?![a-z])"
            return bool(re.search(form, self._asked.ending, re.IGNORECASE))
        label = self._label(near, number)
        if label:
            return label <= _subjects(self._asked.clause)
        named = self._search("superlative_is", near, number.start)
        wanted = set(SAYS["superlative"].findall(self._asked.text[-LINE:]))
        if not named:
            return False
        return wanted == {*SAYS["superlative"].findall(named[0])}

    def _label(
        self,
        near: int,
        number: Result,
    ) -> set[str]:
        """The words of the label before a number in its line or clause: "Total: 88"."""
        if self._text[near : number.start].rstrip("$ \t")[-1:] not in (":", "="):
            return set()
        line = self._search("label_of_line", near, number.start)
        return _subjects(line["label"]) if line else set()

    def _is_of_other(self, number: Result) -> bool:
        """Whether a number is said of something other than what the question asks for."""
        asks_more = SAYS["asks_more"].search(self._asked.text)
        if not asks_more and self._match("more", number.end):
            return True
        if not self._asked.after:  # nothing is known of it
            return False
        near = max(0, number.start - LINE)
        before = self._search("clause_before", near, number.start)
        far = min(self._end, number.end + LINE)
        after = self._match("clause_after", number.end, far)
        said_before = before[0] if before else ""
        said_after = after[0] if after else ""
        clause = said_before + said_after
        if self._asked.is_left and SAYS["gone"].search(clause):
            return not SAYS["left"].search(clause)
        for kind in ("shared", "difference", "saving"):
            is_asked = SAYS[f"asks_{kind}"].search(self._asked.clause)
            if SAYS[kind].search(said_before) and not is_asked:
                return True
        return self._asked.names_other(said_before, said_after)

    def _new_values(
        self,
        closing: Closing,
        last: Result,
    ) -> set[Fraction | None]:
        """The values that the question does not give, without those added to the last number."""
        values = set()
        for number in self._valued:
            is_latin = self._text[number.start].isascii()
            if number.is_word and number.value in ((1,) if is_latin else (1, 2)):
                continue
            is_restated = number.start >= closing.end
            is_beside = is_restated or self._in_brackets(closing.begin, number.start)
            if last.end <= number.start < closing.stop and is_beside:
                continue
            values.add(number.value)
        return values - self._asked.given


ClosingRule = Callable[[Closings, Closing, list[Result]], Result | None]
CLOSING_RULES: tuple[ClosingRule, ...] = (
    Closings.by_name,
    Closings.in_relation,
    Closings.in_gap,
    Closings.of_subject,
    Closings.summed,
    Closings.told,
)
