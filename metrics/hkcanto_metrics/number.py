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
from hkcanto_metrics.reasoning import Parts
from hkcanto_metrics.response_text import own_answer
from hkcanto_metrics.script import TO_HALF_WIDTH, fold_script

# Limits: of a long question, the beginning is read; of many announcements, the last ones;
# of a long sentence, the beginning after an announcement, otherwise the end.
_HEAD, _CUES, _REACH = 2_000, 40, 300
# Number of closing sentences that may follow the result; of characters in a unit, in a number.
_TALK, _UNIT, _LONG_UNIT, _LONGEST = 3, 6, 12, 40
_LINE = 60  # characters in which the left side of an equation is looked for
_SHORT = 200  # characters: a shorter text without a last full stop is not cut off

# Full-width signs; Chinese characters are folded to Simplified script.
_SIGNS = TO_HALF_WIDTH | str.maketrans("−–≈〇", "--=零")
_DIGITS: dict[int, int | str] = {ord("廿"): "2十", ord("卅"): "3十"}
_DIGITS |= str.maketrans("零一二三四五六七八九两点", "01234567892.")
_UNITS = {"十": 10, "百": 100, "千": 1_000, "万": 10**4, "亿": 10**8}
_NOUN = re.compile(
    "[\u4e00-\u9fff](?![的嘅咗了有系是为个到能会得去来过用着紧多少需要])[\u4e00-\u9fff]"
)
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


def read_number(text: str | Parts | None, question: str = "") -> NumberReading:
    """Read the number that a response settles on, with the reason and the place.

    Understands English, Cantonese and Written Chinese in both scripts; Arabic and Chinese numerals,
    fractions, separators. A percent sign is a unit, as in the answers of GSM8K: 40% is 40.

    Args:
        text: what the model wrote. If its answer has more than 5,000 characters, the middle is
            not read.
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
    own = own_answer(text)
    if own is None:
        return NumberReading(None, "none: cut off")
    if not own.text.strip():
        return NumberReading(None, "none: empty")
    question = SAYS["next_question"].sub("\n", _folded(question[:_HEAD]))
    asked = _asked(question)
    answer = _without_repeat(_folded(own.text), question)
    answer = _without_unit(answer, question)
    reading = NumberReading(None, "none: no number")
    for start, end in _parts(answer):
        reading = _Part(answer, start, end, asked).reading()
        if reading.evidence:
            break
    if not reading.evidence:
        return reading
    start, end = reading.evidence
    return replace(reading, evidence=(own.origins[start], own.origins[end - 1] + 1))


def extract_number(text: str | Parts | None, question: str = "") -> Fraction | None:
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


def _folded(text: str) -> str:
    """Normalise signs, script and decoration, keeping the length."""
    return SAYS["decoration"].sub(_tidy, fold_script(text.translate(_SIGNS)))


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """The places of what is said about each question of a text."""
    labels = [*SAYS["next_question"].finditer(text)]
    yield 0, labels[0].start() if labels else len(text)
    for label, following in pairwise([*labels, None]):
        start = label.end() if label else 0
        end = following.start() if following else len(text)
        # Skip lines that ask a question, and answers to examples.
        if (
            label
            and not label["sample"]
            and re.search("[\n#]", text[start:end].strip())
        ):
            yield start, end


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question says of its answer.

    Attributes:
        given: the numbers that it mentions.
        text: the question.
        before: what it says before 幾多 or "how many", such as 女生有.
        after: what it says after it, such as a unit.
        is_count: whether it asks for a number of things, and not for a share.
        is_share: whether it asks for a share.
        things: the English words after "how many".
        is_total: whether it asks for a sum.
        is_left: whether it asks for what is left.
    """

    given: Set[Fraction]
    text: str
    before: str = ""
    after: str = ""
    is_count: bool = False
    is_share: bool = False
    is_total: bool = False
    is_left: bool = False
    things: str = ""

    def names_other(self, before: str, after: str) -> bool:
        """Whether a number is said of 女生 where the question asks for 男生."""
        words = _without_blanks(before)
        for wanted in (self.before[-2:], self.after[1:3]):
            if not (_NOUN.fullmatch(words[-2:]) and _NOUN.fullmatch(wanted)):
                continue
            is_like = wanted[1] == words[-1] and wanted not in words
            if is_like and words[-2:] in self.text:
                return True
        noun = SAYS["noun"].match(after)
        if not (noun and self.things) or noun["noun"] in self.things:
            return False
        return f" {noun['noun']}" in self.text


def _asked(question: str) -> _Asked:
    """What a normalised question says of its answer."""
    values = map(_value, SAYS["number"].finditer(question))
    given = {value for value in values if value is not None}
    gaps = [*SAYS["gap"].finditer(question)]
    if not gaps:
        return _Asked(given, question)
    gap = gaps[-1]
    is_share = bool(SAYS["share"].search(gap[0]))
    return _Asked(
        given,
        question,
        before=_without_blanks(gap["before"]),
        after=_without_blanks(gap["after"]),
        is_count=not is_share and bool(SAYS["count"].search(gap[0])),
        is_share=is_share,
        is_total=bool(SAYS["total"].search(question[-60:])),
        is_left=bool(SAYS["left"].search(question, gap.start(), gap.start() + _LINE)),
        things=question[gap.start("after") :][:_LINE] if "many" in gap[0] else "",
    )


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
    """

    begin: int
    line: int
    start: int
    end: int
    stop: int
    concludes: bool
    is_told: bool


class _Part:
    """The part of a normalised text that is about one question."""

    def __init__(self, text: str, start: int, end: int, asked: _Asked) -> None:
        self._text = text
        self._asked = asked
        self._end = end
        sentences = self._spans(start, end)
        retractions = [span[0] for span in sentences if self._retracts(*span)]
        self._start = max([start, *retractions])
        self._sentences = [span for span in sentences if span[0] >= self._start]
        self._numbers = [*self._results(self._start, end)]
        self._valued = [number for number in self._numbers if number.value is not None]

    def reading(self) -> NumberReading:
        """Read by the first rule that finds a number, or several that could be it."""
        for rule in (self._announcement, self._conclusion):
            if number := rule():
                reason = "none: several" if number.value is None else number.kind
                return NumberReading(number.value, reason, (number.start, number.end))
        is_cut = self._breaks_off(self._sentences)
        return NumberReading(None, "none: cut off" if is_cut else "none: no number")

    def _retracts(self, start: int, end: int) -> bool:
        """Whether a sentence takes back what stands before it."""
        return bool(SAYS["retraction"].match(self._text, start, end))

    def _spans(self, start: int, end: int) -> list[tuple[int, int]]:
        """The places of the sentences between two positions."""
        sentences = SAYS["sentence"].finditer(self._text, start, end)
        return [
            match.span() for match in sentences if match[0].replace("#", "").strip()
        ]

    # Announced answers: a line of its own, a mark, a box, "the answer is".

    def _announcement(self) -> _Result | None:
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
                return _Result(None, before.start, last.end)
        return last

    def _stand_side_by_side(self, first: _Result, second: _Result) -> bool:
        """Whether two different numbers are announced alike, with nothing between them."""
        between = self._text[first.end : second.cue]
        is_other = first.kind == second.kind and first.value != second.value
        return is_other and bool(re.fullmatch(r"\W{,30}\w{0,6}\W{,30}", between))

    def _is_replaced(self, announced: _Result, *, is_step: bool) -> bool:
        """Whether a conclusion or refusal after an announced number takes its place."""
        for start, end in self._spans(announced.end, self._end):
            if SAYS["none_after_all"].match(self._text, start, end):
                return True
            concludes = SAYS["conclusion"].search(self._text, start, end)
            if is_step and (concludes or self._is_last_line(start, end)):
                return True
            is_step = is_step and not SAYS["afterword"].match(self._text, start)
        return False

    def _announced(self) -> Iterator[_Result]:
        """The numbers that are a first line of their own, or announced as the answer."""
        if line := self._first_line():
            yield line
        cues = [*SAYS["cue"].finditer(self._text, self._start, self._end)][-_CUES:]
        since_mark = self._end
        ends = [*(cue.start() for cue in cues[1:]), self._end]
        for cue, end in zip(cues, ends, strict=False):
            stop = self._past("sentence", cue.end(), min(end, cue.end() + _REACH))
            number = self._introduced(cue, stop)
            if not number:
                continue
            # A question after a marked answer is a new question.
            if re.search(r"\?\s*\n", self._text[since_mark : cue.start()]):
                return
            if cue["marked"]:
                since_mark = cue.end()
            yield replace(number, kind=cue.lastgroup or "stated", cue=cue.start())

    def _first_line(self) -> _Result | None:
        """The number that is a first line of its own."""
        if not self._sentences:
            return None
        start, end = self._sentences[0]
        number = self._begun(start, end)
        if not number or not SAYS["line_end"].match(self._text, number.end):
            return None
        if "=" in self._text[start : number.start]:
            return None
        return replace(number, kind="bare", cue=start)

    def _introduced(self, cue: re.Match[str], stop: int) -> _Result | None:
        """The announced number: right after the cue, or the result of the line or paragraph."""
        text = self._text
        if SAYS["question"].search(text, cue.end(), stop):
            return None
        filled = self._past("filler", cue.end(), stop)
        filler = text[cue.end() : filled].strip()
        begun = self._begun(cue.end(), stop)
        near = max(0, cue.start() - 6)
        refers = SAYS["reference"].search(text, near, cue.start())
        is_told = bool(cue.lastgroup or (filler and not refers))
        number = begun or self._settled(cue.end(), stop, is_told=is_told)
        if cue["marked"] and self._is_heading(begun, stop):
            return None
        if cue.lastgroup or begun:
            return number
        if ":" in filler or not text[filled:stop].strip():
            return self._under_heading(cue.end(), stop, number)
        return number

    def _is_heading(self, begun: _Result | None, stop: int) -> bool:
        """Whether a marked line is only a heading of the text that follows."""
        if begun and SAYS["unit_only"].match(self._text, begun.end, self._end):
            return False
        return bool(re.search(r"\w", self._text[stop : self._end]))

    def _under_heading(
        self, start: int, stop: int, number: _Result | None
    ) -> _Result | None:
        """The result of a paragraph whose first sentence is announced as the answer."""
        below = SAYS["paragraph_end"].search(self._text, stop + 1, self._end)
        end = below.start() if below else self._end
        if SAYS["question"].search(self._text, stop, end):
            return None
        if number and self._fills_gap(number, least=3):
            return number
        return self._concluded(self._spans(start, end), is_told=True) or number

    def _begun(self, start: int, end: int) -> _Result | None:
        """The number that a text begins with, if a clause ends after it."""
        text = self._text
        start = self._past("filler", start, end)
        numbers = [*self._results(start, end)]
        if not numbers or SAYS["conclusion"].search(text, start, end):
            return None
        first = numbers[0]
        is_sum = "=" in text[start : first.start] and SAYS["number"].match(text, start)
        form = "line_end" if first.is_chinese else "clause"
        clause = SAYS[form].match(text, first.end, end)
        if not clause or not (first.start == start or is_sum):
            return None
        if self._has_rival(numbers, clause.end()):
            return None
        is_joined = self._is_joined(numbers[:2], first)
        return replace(first, value=None) if is_joined else first

    def _has_rival(self, numbers: list[_Result], end: int) -> bool:
        """Whether the first of these numbers has another one beside it in its clause."""
        is_given = numbers[0].value in self._asked.given
        known = set() if is_given else self._asked.given
        for number in numbers[1:]:
            if not number.is_chinese and number.value not in known:
                return number.start < end
        return False

    # Conclusions: what the last sentences settle on.

    def _conclusion(self) -> _Result | None:
        """The result of the last sentences of the text."""
        return self._concluded(self._sentences)

    def _concluded(
        self, sentences: list[tuple[int, int]], *, is_told: bool = False
    ) -> _Result | None:
        """The result of the last sentences, apart from a remark or another case."""
        body = self._before_remarks(sentences)
        if self._breaks_off(body):
            return None
        checked = sentences[len(body)][0] if len(body) < len(sentences) else self._end
        if SAYS["mistake"].search(self._text, checked, self._end):
            return None
        for start, end in body[: -_TALK - 1 : -1]:
            if self._gives_up(start, end):
                return None
            if self._is_aside(start, end):
                continue
            if number := self._settled(start, end, is_told=is_told):
                return number
            if SAYS["work_ahead"].match(self._text, start, end):
                return None
        return None

    def _before_remarks(
        self, sentences: list[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """The sentences before a check, a note or an explanation."""
        for count, (start, _) in enumerate(sentences):
            if count and SAYS["afterword"].match(self._text, start):
                return sentences[:count]
        return sentences

    def _gives_up(self, start: int, end: int) -> bool:
        """Whether a sentence asks, or says that there is no answer."""
        is_question = SAYS["question"].search(self._text, start, end)
        return bool(is_question or SAYS["refusal"].search(self._text, start, end))

    def _is_aside(self, start: int, end: int) -> bool:
        """Whether a sentence is only a remark, or supposes what the question does not."""
        aside = SAYS["aside"].search(self._text, start, end)
        if not aside:
            return False
        if SAYS["conclusion"].match(self._text, self._past("filler", start, end)):
            return False
        if not aside["supposing"]:
            return True
        if self._between(start, aside.start()):
            return False
        comma = self._text.find(",", aside.end(), end)
        supposed = {number.value for number in self._between(aside.end(), comma)}
        return not (supposed and supposed <= self._asked.given)

    def _between(self, start: int, end: int) -> list[_Result]:
        """The numbers that begin between two positions."""
        return [number for number in self._numbers if start <= number.start < end]

    def _settled(
        self, start: int, end: int, *, is_told: bool = False
    ) -> _Result | None:
        """The result of a sentence; no value if several could be it."""
        closing = self._closing(start, end, is_told)
        if spelled := SAYS["spelled"].search(self._text, closing.start, closing.end):
            return _Result(None, *spelled.span())
        numbers = self._digits_or_words(closing)
        calculated = self._calculated(end)
        main = self._main(closing, numbers, calculated)
        if not main:
            return None
        if number := self._asked_for(closing, main):
            return number
        last = main[-1]
        if last.is_word and not closing.concludes:
            return None
        is_only = self._is_only(closing, numbers, main)
        is_told = self._is_told(closing, last, calculated)
        return last if is_only and is_told else replace(last, value=None)

    def _digits_or_words(self, closing: _Closing) -> list[_Result]:
        """The numbers that decide, without words such as 一個 beside digits."""
        numbers = self._between(closing.start, closing.end)
        if all(number.is_chinese for number in numbers):
            return numbers
        return [number for number in numbers if not number.is_word]

    def _calculated(self, end: int) -> list[_Result]:
        """The results of calculations before a position."""
        return [
            number
            for number in self._valued
            if number.end <= end and self._is_calculated(number)
        ]

    def _closing(self, begin: int, stop: int, is_told: bool) -> _Closing:
        """A sentence and the places in it that decide."""
        end = self._before_restatement(begin, stop)
        words = [
            match.end() for match in SAYS["conclusion"].finditer(self._text, begin, end)
        ]
        equals = max(self._text.rfind("=", begin, end), begin)
        line = begin if self._in_brackets(begin, equals) else equals
        return _Closing(
            begin=begin,
            line=line,
            start=max([line, *words]),
            end=end,
            stop=stop,
            concludes=bool(words),
            is_told=is_told
            or bool(words)
            or self._is_last_line(begin, stop)
            or bool(SAYS["heading"].search(self._text, max(0, begin - 12), begin)),
        )

    def _is_last_line(self, begin: int, stop: int) -> bool:
        """Whether a sentence is a line with only a number and a unit, and the last one."""
        if "\n" not in self._text[max(0, begin - 1) : begin]:
            return False
        line = SAYS["last_line"].fullmatch(self._text, begin, stop)
        return bool(line) and not self._text[stop:].strip()

    def _before_restatement(self, begin: int, stop: int) -> int:
        """Where a sentence ends before it says its number again, in another unit or as a share."""
        restatement = SAYS["restatement"].search(self._text, begin, stop)
        if not restatement:
            return stop
        end = restatement.start()
        has_asked = any(map(self._has_asked_unit, self._between(begin, end)))
        return end if has_asked else stop

    def _main(
        self, closing: _Closing, numbers: list[_Result], calculated: list[_Result]
    ) -> list[_Result]:
        """The numbers outside of brackets and of clauses that only add something."""
        if not numbers:
            return []
        stop = self._main_end(closing, numbers[0], calculated)
        said = self._between(closing.begin, closing.stop)
        others = {number.value for number in said if self._is_of_other(number)}
        main = [
            number
            for number in numbers
            if number.start < stop
            and not self._in_brackets(closing.begin, number.start)
            and number.value not in others
        ]
        # A share of something, where a number of things is asked, is no rival.
        main = [number for number in main if number.value is not None] or main
        given = self._asked.given
        return [number for number in main if number.value not in given] or main

    def _main_end(
        self, closing: _Closing, first: _Result, calculated: list[_Result]
    ) -> int:
        """Where a clause begins that only adds something to the first number."""
        if not closing.is_told:
            return closing.end
        rest = (first.end, closing.end)
        if closing.concludes and calculated and first is calculated[-1]:
            return first.end
        form = "addition"
        if closing.concludes and calculated and first.value == calculated[-1].value:
            is_opposed = SAYS["contrast"].search(self._text, *rest)
            form = "addition" if is_opposed else "comma"
        added = SAYS[form].search(self._text, *rest)
        return added.start() if added else closing.end

    def _asked_for(self, closing: _Closing, main: list[_Result]) -> _Result | None:
        """The one number that has the words around it that the question asks with."""
        is_told = closing.is_told or self._sums_up(closing)
        is_single = len({number.value for number in main}) == 1
        least = 3 if is_told or is_single else 5
        named = [number for number in main if self._fills_gap(number, least)]
        if len({number.value for number in named}) != 1:
            return None
        number = named[0]
        is_given = number.value in self._asked.given
        if is_given and not self._fills_gap(number, least=7):
            return None
        return None if self._is_joined(main, number) else number

    def _sums_up(self, closing: _Closing) -> bool:
        """Whether a sentence gives the sum that the question asks for."""
        if not SAYS["total"].search(self._text, closing.begin, closing.stop):
            return False
        return self._asked.is_total

    def _fills_gap(self, number: _Result, least: int) -> bool:
        """Whether a number has the words around it that 幾多 has in the question."""
        asked = self._asked
        before = _without_blanks(self._text[max(0, number.start - 20) : number.start])
        after = _without_blanks(self._text[number.end : number.end + 20])
        alike_before = _alike(before[::-1], asked.before[::-1])
        alike_after = _alike(after, asked.after)
        if not alike_after and SAYS["money"].match(asked.after):
            alike_after = 1 if SAYS["money"].match(after) else 0
        if not alike_after and alike_before > 2:  # 24升汁中有15升水
            alike_after = max(
                _alike(after[1:], asked.after), _alike(after[2:], asked.after)
            )
        is_noun = alike_after > 2 and least < 5  # as in "180 boys"
        is_near = is_noun or min(alike_before, alike_after) > 0
        return is_near and alike_before + alike_after >= least

    def _has_asked_unit(self, number: _Result) -> bool:
        """Whether a number has the unit that the question asks for."""
        unit = self._asked.after[:1]
        after = self._text[number.end : number.end + 3].lstrip()
        return bool(unit) and after.startswith(unit)

    def _is_only(
        self, closing: _Closing, numbers: list[_Result], main: list[_Result]
    ) -> bool:
        """Whether the last number of a sentence is the only one in its clause."""
        first = numbers[0]
        last = main[-1]
        if len({number.value for number in main}) > 1:
            return False
        if self._is_joined(numbers, last):
            return False
        if not closing.concludes or first.value == last.value:
            return True
        return not SAYS["comma"].search(self._text, first.end, last.start)

    def _is_told(
        self, closing: _Closing, last: _Result, calculated: list[_Result]
    ) -> bool:
        """Whether a number is told: by a word, as the last result, or as the only new number."""
        given = self._asked.given
        line = self._text[closing.line : closing.end]
        if self._is_last_paragraph(closing, last):
            return True
        if closing.is_told or line.strip() == self._text[last.start : last.end]:
            values = {_value(match) for match in SAYS["number"].finditer(line)}
            return last.value not in given or values <= given
        new = self._new_values(closing, last)
        if calculated:
            is_last = last.value == calculated[-1].value
            is_new = last.value in new or not new
            return is_new and is_last and all(map(self._recurs, calculated[:-1]))
        is_named = not last.is_word or self._follows("equates", last)
        return is_named and new == {last.value}

    def _is_last_paragraph(self, closing: _Closing, number: _Result) -> bool:
        """Whether the last paragraph gives only this number, and nothing before concludes."""
        text = self._text
        if not text[self._start : closing.begin].rstrip(" \t").endswith("\n\n"):
            return False
        if number.value in self._asked.given or self._between(closing.stop, self._end):
            return False
        if SAYS["listed"].match(text, closing.begin):
            return False
        rest = text[number.end : closing.stop].strip()
        if len(rest) > _LONG_UNIT and rest[-1] not in ".。!)":  # cut off
            return False
        if SAYS["conclusion"].search(text, self._start, closing.begin):
            return False
        earlier = self._between(self._start, closing.begin)
        is_asked = any(self._fills_gap(other, least=3) for other in earlier)
        return not is_asked or self._fills_gap(number, least=3)

    def _is_of_other(self, number: _Result) -> bool:
        """Whether a number is said of something other than what the question asks for."""
        near = max(0, number.start - _LINE)
        before = SAYS["clause_before"].search(self._text, near, number.start)
        after = SAYS["clause_after"].match(self._text, number.end, self._end)
        said_before = before[0] if before else ""
        said_after = after[0] if after else ""
        clause = said_before + said_after
        if self._asked.is_left and SAYS["gone"].search(clause):
            return not SAYS["left"].search(clause)
        return self._asked.names_other(said_before, said_after)

    def _new_values(self, closing: _Closing, last: _Result) -> set[Fraction | None]:
        """The values that the question does not give, without those added to the last number."""
        added = {
            number.start
            for number in self._between(last.end, closing.stop)
            if number.start >= closing.end
            or self._in_brackets(closing.begin, number.start)
        }
        values = {
            number.value
            for number in self._valued
            if number.start not in added
            and (not number.is_word or number.value not in (1, 2))
        }
        return values - self._asked.given

    def _in_brackets(self, begin: int, place: int) -> bool:
        """Whether a bracket that opens after `begin` is open at a place."""
        opened = self._text.rfind("(", begin, place)
        return opened > self._text.rfind(")", begin, place)

    def _is_calculated(self, number: _Result) -> bool:
        """Whether a number is a calculation's result, not the right side of an equation."""
        return self._follows("equals", number) and not self._follows("unknown", number)

    def _follows(self, form: str, number: _Result) -> bool:
        """Whether words of a form stand before a number."""
        near = max(0, number.start - _LINE)
        return bool(SAYS[form].search(self._text, near, number.start))

    def _recurs(self, number: _Result) -> bool:
        """Whether a later calculation or sentence has a number again."""
        written = re.escape(self._text[number.start : number.end])
        again = re.compile(rf"(?<![0-9.]){written}(?![0-9]|\.[0-9])")
        return bool(again.search(self._text, number.end, self._end))

    def _is_joined(self, numbers: list[_Result], number: _Result) -> bool:
        """Whether a number is one of two that are both meant, such as 18 或 20."""
        for first, second in pairwise(numbers):
            if first.value == second.value:
                continue
            if number.value not in (first.value, second.value):
                continue
            if SAYS["joined"].fullmatch(self._text, first.end, second.start):
                return True
        return False

    def _past(self, form: str, start: int, end: int) -> int:
        """Where a sentence, or words that may come before a number, end."""
        match = SAYS[form].match(self._text, start, end)
        return match.end() if match else end

    def _breaks_off(self, sentences: list[tuple[int, int]]) -> bool:
        """Whether the text ends within the last sentence, unlike those before it."""
        start, end = sentences[-1] if sentences else (self._end, self._end)
        written = self._text[start:end].rstrip()
        if self._text[end:].strip():
            return False
        if not (written[-1:].isalnum() or written[-1:] in _UNFINISHED):
            return False
        numbers = [*self._results(start, end)]
        rest = self._text[numbers[-1].end : end].strip() if numbers else _UNFINISHED
        if "," in rest or SAYS["dangling"].search(written):
            return True
        if end - self._start <= _SHORT or len(sentences) == 1:
            return False
        is_line = self._text[start - 1 : start] in ("", "\n")
        return len(rest) > _UNIT or not (is_line or SAYS["conclusion"].search(written))

    def _results(self, start: int, end: int) -> Iterator[_Result]:
        """The numbers that may be results; the context of others shows that they are not."""
        for match in SAYS["number"].finditer(self._text, start, end):
            near = max(0, match.start() - 24)
            value = _value(match)
            if value is None:
                continue
            if SAYS["unused_before"].search(self._text, near, match.start()):
                continue
            if SAYS["unused_after"].match(self._text, match.end(), end):
                continue
            if below := SAYS["below_zero"].match(self._text, match.end(), end):
                # 5 °F below freezing is 27 °F.
                value = None if below["freezing"] else -abs(value)
            is_chinese = not re.search("[0-9½⅓⅔¼¾]", match[0])
            is_word = is_chinese and len(match[0]) == 1
            is_other = self._is_other_share(match, near)
            yield _Result(
                None if is_other else value, *match.span(), is_chinese, is_word
            )

    def _is_other_share(self, match: re.Match[str], near: int) -> bool:
        """Whether a number is a percentage, and the question asks for something else."""
        if match["tenths"]:  # 六成半 is 65 %, or 0.65
            return not self._asked.is_share
        if not self._asked.is_count:
            return False
        is_fraction = _group(match, "top", "digit", "over", "of")
        form = "share_before" if is_fraction else "percent_before"
        before = SAYS[form].search(self._text, near, match.start())
        return bool(before or SAYS["percent"].match(self._text, match.end()))


def _alike(first: str, second: str) -> int:
    """The number of characters at the beginning that two texts share."""
    pairs = enumerate(zip(first, second, strict=False))
    shortest = min(len(first), len(second))
    return next((place for place, (one, other) in pairs if one != other), shortest)


def _without_blanks(text: str) -> str:
    """Text near a number without blanks, and without the verb or 約 that it may have."""
    return SAYS["blank"].sub("", text)


def _without_unit(text: str, question: str) -> str:
    """Blank out the unit that is asked for: 7.5 million is 7.5 to "how many million?"."""
    unit = SAYS["asked_unit"].search(question)
    if not unit:
        return text
    written = unit["latin"] or unit["chinese"]
    name = rf"(?<=[0-9零一二三四五六七八九两十百千 ]){written}s?"
    return re.sub(name, lambda match: "\t" * len(match[0]), text, flags=re.IGNORECASE)


def _without_repeat(text: str, question: str) -> str:
    """Blank out a last line that repeats an earlier one, or the question."""
    last = text.rpartition("\n")[2]
    written = f"\n{question}\n{text}"
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
    """The value of a match of `number`; `None` if it has none."""
    if match["tenths"]:
        tenths = _plain(match["tenths"])
        return tenths and tenths * 10 + (5 if match["and_half"] else 0)
    whole = _plain(_group(match, "whole", "and", "ones", "plain") or "0")
    over = _plain(_group(match, "top", "digit", "over", "of") or "0")
    under = _plain(_group(match, "bottom", "below", "under", "parts") or "1")
    if whole is None or over is None or not under:
        return None
    value = (whole + over / under + _part(match)) * _power(match)
    return -value if match["sign"] else value


def _part(match: re.Match[str]) -> Fraction:
    """The fraction that one character stands for, such as 半."""
    part = unicodedata.numeric((match["part"] or "0").replace("半", "½"))
    return Fraction(part).limit_denominator(9)


def _power(match: re.Match[str]) -> Fraction:
    """What a number is multiplied by: "million", or a power of ten."""
    for name, power in (("thousand", 3), ("million", 6), ("billion", 9)):
        if match[name]:
            return Fraction(10**power)
    return Fraction(10) ** int(match["power"] or 0)


def _group(match: re.Match[str], *names: str) -> str | None:
    """The text of the first of these groups that matched."""
    return next((match[name] for name in names if match[name]), None)


@lru_cache(1_000)
def _plain(text: str) -> Fraction | None:
    """The value of digits and Chinese units; `None` for too many, and for 三四 ("3 or 4")."""
    if len(text) > _LONGEST or re.fullmatch("[一二三四五六七八九]{2}", text):
        return None
    total = Fraction(0)
    section = Fraction(0)
    unit = 1
    digits = re.sub(r"[\s,\\]", "", text).translate(_DIGITS)
    for number, sign in re.findall("([0-9.]*)([十百千万亿]?)", digits):
        if not sign:
            # 一百五 is 150, but 一百零五 is 105.
            place = max(1, unit // 10) if len(number) == 1 else 1
            section += Fraction(number or 0) * place
            continue
        unit = _UNITS[sign]
        if unit < 10_000:
            section += Fraction(number or 1) * unit
            continue
        section += Fraction(number or 0)
        total = (total + section) * unit if total < unit else total + section * unit
        section = Fraction(0)
    return total + section
