"""Find the number that a normalised text settles on, by rules that are tried in order.

An announced answer has priority: `####`, a box, "the answer is"; the last announcement wins.
Without an announcement, the answer is a first line that is only a number, or the one number that the
last sentence can mean: after a word of conclusion, as the result of the last calculation, or as the
only number that the question does not give. If several could be it, or the text breaks off, no
number is read.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from hkcanto_metrics.number_questions import Asked, alike_length, without_blanks
from hkcanto_metrics.numerals import NUMERATORS, SAYS, group_text, value_of

Span = tuple[int, int]

# Of many announcements, the last ones are read; of a long sentence, the beginning.
_CUES, _REACH = 40, 300
# Number of closing sentences that may follow the result; of characters in a unit.
_TALK, _UNIT, _LONG_UNIT = 3, 6, 12
_LINE = 60  # characters in which the left side of an equation is looked for
_NEAR = 20  # characters beside a number that the question may ask with
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


@dataclass(frozen=True, slots=True)
class _Closing:
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


def _values(numbers: Iterable[Result]) -> set[Fraction | None]:
    """The values of numbers."""
    return {number.value for number in numbers}


def _valued(numbers: Iterable[Result]) -> list[Result]:
    """The numbers that have a value."""
    return [number for number in numbers if number.value is not None]


def _subjects(text: str) -> set[str]:
    """The words and characters of a text that may name what it is about."""
    words = SAYS["subject"].findall(text.lower())
    return {word for word in words if not SAYS["common"].match(word)}


class Part:
    """The part of a normalised text that is about one question."""

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
        valued = _valued(self._numbers)
        self._valued = [number for number in valued if number.start not in beside]

    def result(self) -> Result | None:
        """Return the number that the first rule finds; without a value if several could be it."""
        return self._announcement() or self._conclusion()

    def is_cut_off(self) -> bool:
        """Return whether the text breaks off."""
        return self._breaks_off(self._sentences)

    def _search(
        self,
        form: str,
        start: int,
        end: int,
    ) -> re.Match[str] | None:
        """Words of a form between two places."""
        return SAYS[form].search(self._text, start, end)

    def _match(
        self,
        form: str,
        start: int,
        end: int | None = None,
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
        for sentence in SAYS["sentence"].finditer(
            self._text,
            start,
            end,
        ):
            if sentence[0].strip(" \t\n#"):
                spans.append(sentence.span())
        return spans

    def _without_remainders(self, numbers: list[Result]) -> list[Result]:
        """The numbers without the part of a division that the question does not ask for."""
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

    # Announced answers: a line of its own, a mark, a box, "the answer is".

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
        if self._is_replaced(last, is_step=is_step):
            return None
        for before in announced[-2:-1]:
            if self._stand_side_by_side(before, last):
                return Result(None, before.start, last.end)
        return last

    def _stand_side_by_side(
        self,
        first: Result,
        second: Result,
    ) -> bool:
        """Whether two different numbers are announced alike, with nothing between them."""
        between = self._text[first.end : second.cue]
        is_other = first.kind == second.kind and first.value != second.value
        return is_other and bool(re.fullmatch(r"\W{,30}\w{0,6}\W{,30}", between))

    def _is_replaced(
        self,
        announced: Result,
        *,
        is_step: bool,
    ) -> bool:
        """Whether a conclusion or refusal after an announced number takes its place."""
        for start, end in self._spans(announced.end, self._end):
            if self._match("none_after_all", start, end):
                return True
            concludes = self._search("conclusion", start, end)
            if is_step and (concludes or self._is_last_line(start, end)):
                return True
            is_step = is_step and not self._match("afterword", start)
        return False

    def _announced(self) -> Iterator[Result]:
        """The numbers that are a first line of their own, or announced as the answer."""
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
        """The number that is a first line of its own."""
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
        """The result of a paragraph whose first sentence is announced as the answer."""
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

    # Conclusions: what the last sentences settle on.

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
        """The sentences before a check, a note or an explanation."""
        for count, (start, _) in enumerate(sentences):
            if count and self._match("afterword", start):
                return sentences[:count]
        return sentences

    def _gives_up(
        self,
        start: int,
        end: int,
    ) -> bool:
        """Whether a sentence asks, or says that there is no answer."""
        is_question = self._search("question", start, end)
        refuses = self._search("refusal", start, end)
        return bool(is_question or refuses)

    def _is_aside(
        self,
        start: int,
        end: int,
    ) -> bool:
        """Whether a sentence is only a remark, or supposes what the question does not."""
        aside = self._search("aside", start, end)
        if not aside:
            return self._is_contrary(start, end)
        if self._match(
            "conclusion",
            self._past(
                "filler",
                start,
                end,
            ),
        ):
            return False
        if not aside["supposing"]:
            return True
        if self._between(start, aside.start()):
            return False
        comma = self._text.find(
            ",",
            aside.end(),
            end,
        )
        supposed = _values(self._between(aside.end(), comma))
        return not (supposed and supposed <= self._asked.given)

    def _is_contrary(self, start: int, end: int) -> bool:
        """Whether a sentence is about a case with numbers that nothing before it has."""
        contrary = self._search("contrary", start, end)
        is_asked = SAYS["contrary"].search(self._asked.ending)
        if not contrary or is_asked or self._text[start - 1 : start] == ";":
            return False
        values = _values(self._between(start, end))
        given = self._asked.given
        earlier = _values(self._between(self._start, start))
        if contrary["had"]:
            return bool(earlier) and not values <= given | earlier
        is_other = self._search("different", start, end)
        if is_other and is_other[0] in self._asked.text:
            return False
        if contrary["mild"] and not (
            is_other or self._search("conclusion", self._start, start)
        ):
            return False
        is_supposed = bool(is_other) or len(values) > 1
        return is_supposed and bool(earlier) and not values & (given | earlier)

    def _between(
        self,
        start: int,
        end: int,
    ) -> list[Result]:
        """The numbers that begin between two positions."""
        return [number for number in self._numbers if start <= number.start < end]

    def _settled(
        self,
        begin: int,
        stop: int,
        *,
        is_told: bool = False,
    ) -> Result | None:
        """The result of a sentence; no value if several could be it."""
        closing = self._closing(begin, stop, is_told)
        if spelled := self._search(
            "spelled",
            closing.start,
            closing.end,
        ):
            return Result(None, *spelled.span())
        main = self._main(closing)
        if not main:
            return None
        if number := self._asked_for(closing, main):
            return number
        last = main[-1]
        if last.is_word and not (closing.concludes or self._is_full(closing, last)):
            return None
        if self._is_only(closing, main) and self._is_told(closing, last):
            return last
        return replace(last, value=None)

    def _closing(
        self,
        begin: int,
        stop: int,
        is_told: bool,
    ) -> _Closing:
        """A sentence and the places in it that decide."""
        end = self._before_restatement(begin, stop)
        words = SAYS["conclusion"].finditer(
            self._text,
            begin,
            end,
        )
        concluded = [match.end() for match in words]
        equals = max(
            self._text.rfind(
                "=",
                begin,
                end,
            ),
            begin,
        )
        line = begin if self._in_brackets(begin, equals) else equals
        start = max([line, *concluded])
        numbers = self._between(start, end)
        # Words such as 一個 do not count beside digits.
        if not all(number.is_chinese for number in numbers):
            numbers = [number for number in numbers if not number.is_word]
        is_headed = self._search(
            "heading",
            max(0, begin - 12),
            begin,
        )
        is_last = self._is_last_line(begin, stop)
        return _Closing(
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

    def _is_last_line(
        self,
        begin: int,
        stop: int,
    ) -> bool:
        """Whether a sentence is a line with only a number and a unit, and the last one."""
        if "\n" not in self._text[max(0, begin - 1) : begin]:
            return False
        line = SAYS["last_line"].fullmatch(
            self._text,
            begin,
            stop,
        )
        return bool(line) and not self._text[stop:].strip()

    def _before_restatement(
        self,
        begin: int,
        stop: int,
    ) -> int:
        """Where a sentence ends before it says its number again, in another unit or as a share."""
        restatement = self._search("restatement", begin, stop)
        if not restatement:
            return stop
        end = restatement.start()
        for number in self._between(begin, end):
            is_last = not SAYS["number"].search(self._text, number.end, end)
            if is_last and self._has_asked_unit(number):
                return end
        return stop

    def _main(self, closing: _Closing) -> list[Result]:
        """The numbers outside of brackets and of clauses that only add something."""
        stop = self._main_end(closing)
        said = self._between(closing.begin, closing.stop)
        others = _values(filter(self._is_of_other, said))
        main = []
        for number in closing.numbers:
            is_beside = self._in_brackets(closing.begin, number.start)
            is_main = number.start < stop and not is_beside
            if is_main and number.value not in others:
                main.append(number)
        # A share of something, where a number of things is asked, is no rival.
        main = _valued(main) or main
        given = self._asked.given
        return [number for number in main if number.value not in given] or main

    def _main_end(self, closing: _Closing) -> int:
        """Where a clause begins that only adds something to the first number."""
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

    def _asked_for(
        self,
        closing: _Closing,
        main: list[Result],
    ) -> Result | None:
        """The one number that has the words around it that the question asks with."""
        is_told = closing.is_told or self._sums_up(closing)
        is_addend = self._asked.is_total and not (is_told or closing.calculated)
        if is_addend and len(self._new_values(closing, main[-1])) > 1:
            return None
        is_single = len(_values(main)) == 1
        least = 3 if is_told or is_single else 5
        named = [number for number in main if self._is_asked_by_name(number)]
        named = named or self._in_relation_asked(closing)
        named = named or [
            number
            for number in main
            if self._fills_gap(number, least) and not self._is_one(number)
        ]
        if len(_values(named)) != 1:
            return self._picked(closing)
        number = named[0]
        is_given = number.value in self._asked.given
        if is_given and not self._fills_gap(number, least=7):
            return None
        is_joined = self._is_joined(main, number)
        return None if is_joined and self._has_same_noun(main) else number

    def _in_relation_asked(self, closing: _Closing) -> list[Result]:
        """The numbers that a sentence says of what is left, or will be, as the question asks."""
        form = "left" if self._asked.is_left else "future"
        if not (self._asked.is_left or self._asked.is_future):
            return []
        named = []
        for number in self._between(closing.begin, closing.stop):
            if number.is_word and not self._has_asked_unit(number):
                continue
            if number.value is not None and self._search(form, *self._clause(number)):
                named.append(number)
        return named

    def _clause(self, number: Result) -> Span:
        """The words before a number in its clause."""
        near = max(self._start, number.start - _LINE)
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

    def _picked(self, closing: _Closing) -> Result | None:
        """The one of several numbers that a sentence says of what the question asks for."""
        numbers = [
            number
            for number in self._between(closing.begin, closing.stop)
            if not number.is_word
        ]
        clauses = self._clauses(closing, numbers)
        sentence = self._text[closing.begin : closing.stop]
        clause = self._asked.clause
        if not clauses or SAYS["compared"].search(clause + sentence):
            return None
        wanted = _subjects(clause)
        known = _subjects(self._asked.text) - wanted
        chosen = []
        for number, words in zip(numbers, clauses, strict=True):
            others = set().union(*(other for other in clauses if other is not words))
            if wanted & words - others:
                chosen.append(number)
            elif not known & words - wanted and self._has_same_noun(numbers):
                return None
        if len(chosen) != 1 or chosen[0].value in self._asked.given:
            return None
        return chosen[0]

    def _clauses(self, closing: _Closing, numbers: list[Result]) -> list[set[str]]:
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

    def _sums_up(self, closing: _Closing) -> bool:
        """Whether a sentence gives the sum that the question asks for."""
        if not self._search(
            "total",
            closing.begin,
            closing.stop,
        ):
            return False
        return self._asked.is_total

    def _fills_gap(
        self,
        number: Result,
        least: int,
    ) -> bool:
        """Whether a number has the words around it that 幾多 has in the question."""
        asked = self._asked
        near = max(0, number.start - _NEAR)
        before = without_blanks(self._text[near : number.start])
        after = without_blanks(self._text[number.end :][:_NEAR])
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
        closing: _Closing,
        main: list[Result],
    ) -> bool:
        """Whether the last number of a sentence is the only one in its clause."""
        first = closing.numbers[0]
        last = main[-1]
        if len(_values(main)) > 1:
            return False
        if self._is_joined(closing.numbers, last):
            return False
        if not closing.concludes or first.value == last.value:
            return True
        return not self._search("comma", first.end, last.start)

    def _is_told(
        self,
        closing: _Closing,
        last: Result,
    ) -> bool:
        """Whether a number is announced: by a word, as the last result, or as the only new number."""
        if self._is_last_paragraph(closing, last) or self._is_asked_by_name(last):
            return True
        given = self._asked.given
        line = self._text[closing.line : closing.end]
        is_alone = line.strip() == self._text[last.start : last.end]
        if closing.is_told or is_alone:
            matches = SAYS["number"].finditer(line)
            values = set(map(value_of, matches))
            is_only = closing.concludes and len(_values(closing.numbers)) == 1
            if last.value not in given or values <= given:
                return True
            return is_only and self._has_asked_unit(last)
        new = self._new_values(closing, last)
        if closing.calculated:
            *earlier, final = closing.calculated
            is_new = last.value in new or not new
            is_final = last.value == final.value
            return is_new and is_final and all(map(self._recurs, earlier))
        is_named = not last.is_word or self._follows("equates", last)
        is_named = is_named or self._is_full(closing, last)
        return is_named and new == {last.value}

    def _is_full(self, closing: _Closing, number: Result) -> bool:
        """Whether a short number in words ends its sentence, or has the unit asked for."""
        if number.value in (1, 2) or self._match("listed", closing.begin):
            return False
        is_end = self._match("word_end", number.end, closing.stop)
        return bool(is_end) or self._has_asked_unit(number)

    def _is_last_paragraph(
        self,
        closing: _Closing,
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
        near = max(self._start, number.start - _LINE)
        if converted := self._search("in_unit", near, number.start):
            form = rf"(?:to|in) {converted['unit']}(?![a-z])"
            return bool(re.search(form, self._asked.ending, re.IGNORECASE))
        named = self._search("superlative_is", near, number.start)
        wanted = set(SAYS["superlative"].findall(self._asked.text[-_LINE:]))
        if not named:
            return False
        return wanted == {*SAYS["superlative"].findall(named[0])}

    def _is_of_other(self, number: Result) -> bool:
        """Whether a number is said of something other than what the question asks for."""
        if not self._asked.after:  # nothing is known of it
            return False
        near = max(0, number.start - _LINE)
        before = self._search("clause_before", near, number.start)
        far = min(self._end, number.end + _LINE)
        after = self._match("clause_after", number.end, far)
        said_before = before[0] if before else ""
        said_after = after[0] if after else ""
        clause = said_before + said_after
        if self._asked.is_left and SAYS["gone"].search(clause):
            return not SAYS["left"].search(clause)
        return self._asked.names_other(said_before, said_after)

    def _new_values(
        self,
        closing: _Closing,
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

    def _in_brackets(
        self,
        begin: int,
        place: int,
    ) -> bool:
        """Whether a bracket that opens after `begin` is open at a place."""
        opened = self._text.rfind("(", begin, place)
        return opened > self._text.rfind(")", begin, place)

    def _is_calculated(self, number: Result) -> bool:
        """Whether a number is a calculation's result, not the right side of an equation."""
        return self._follows("equals", number) and not self._follows("unknown", number)

    def _follows(
        self,
        form: str,
        number: Result,
    ) -> bool:
        """Whether words of a form come before a number."""
        near = max(0, number.start - _LINE)
        return bool(self._search(form, near, number.start))

    def _recurs(self, number: Result) -> bool:
        """Whether a later calculation or sentence has a number again."""
        written = re.escape(self._text[number.start : number.end])
        again = re.compile(rf"(?<![0-9.]){written}(?![0-9]|\.[0-9])")
        return bool(
            again.search(
                self._text,
                number.end,
                self._end,
            )
        )

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

    def _past(
        self,
        form: str,
        start: int,
        end: int,
    ) -> int:
        """Where a sentence, or words that may come before a number, end."""
        match = self._match(form, start, end)
        return match.end() if match else end

    def _breaks_off(self, sentences: list[Span]) -> bool:
        """Whether the text ends within the last sentence, unlike those before it."""
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
        if end - self._start <= _SHORT or len(sentences) == 1:
            return False
        if len(rest) > _UNIT:
            return True
        is_line = self._text[start - 1 : start] in ("", "\n")
        return not (is_line or SAYS["conclusion"].search(written))

    def _results(
        self,
        start: int,
        end: int,
    ) -> Iterator[Result]:
        """The numbers that may be results; the context of others shows that they are not."""
        for match in SAYS["number"].finditer(
            self._text,
            start,
            end,
        ):
            near = max(0, match.start() - 24)
            value = value_of(match)
            if value is None:
                continue
            if self._search("unused_before", near, match.start()):
                continue
            if self._match("unused_after", match.end(), end):
                continue
            if below := self._match(
                "below_zero",
                match.end(),
                end,
            ):
                # 5 °F below freezing is 27 °F.
                value = None if below["freezing"] else -abs(value)
            is_chinese = not re.search("[0-9½⅓⅔¼¾]", match[0])
            is_word = is_chinese and len(match[0]) == 1
            if match["english"]:
                is_word = not re.search("[ -]", match[0])
            if self._is_other_share(match, near) or self._is_in_other_unit(match):
                value = None
            yield Result(value, *match.span(), is_chinese, is_word)

    def _is_in_other_unit(self, match: re.Match[str]) -> bool:
        """Whether a number has another unit than the one asked for, or is one of two: 2 小時 5 分."""
        near = max(0, match.start() - _NEAR)
        if self._search("compound_before", near, match.start()):
            return True
        if self._match("compound_after", match.end()):
            return True
        units = self._asked.other_units
        return bool(units and units.match(self._text, match.end()))

    def _is_other_share(
        self,
        match: re.Match[str],
        near: int,
    ) -> bool:
        """Whether a number is a percentage, and the question asks for something else."""
        if match["tenths"]:  # 六成半 is 65 %, or 0.65
            return not self._asked.is_share
        if not self._asked.is_count:
            return False
        is_fraction = group_text(match, NUMERATORS)
        form = "share_before" if is_fraction else "percent_before"
        before = self._search(form, near, match.start())
        return bool(before or self._match("percent", match.end()))
