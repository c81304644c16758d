"""Extract the number that a model gives as its final answer.

The text is normalised character by character, which keeps positions, and read one question at a
time, up to the first question that gets an answer. An announced answer has priority: `####`, a box,
"the answer is"; the last announcement wins. Without an announcement, the answer is a first line
that is only a number, or the result in the last sentence. No number is guessed from a text that
breaks off.
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
# Number of closing sentences that may follow the result; number of characters in a unit, in a
# number, and in a sentence long enough to recognise it as the question's.
_TALK, _UNIT, _LONGEST, _REPEATED = 3, 6, 40, 8
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
        question: the question asked. Repetitions of it are not an answer. Among several numbers in
            a sentence, one that the question does not mention is more likely the result.

    Returns:
        The reading. It has no value if the text breaks off before a conclusion, gives two answers,
        or gives none.

    Source: Yue-GSM8K asks for the answer after `####`. All other rules are our own.

    Examples:
        >>> read_number("16 − 3 − 4 = 9，所以佢賺 9 × $2 = $18。#### 18 蚊")
        NumberReading(value=Fraction(18, 1), reason='marked', evidence=(38, 40))
    """
    if len(text) > _HEAD + _TAIL:
        reading = read_number(text[: _HEAD - 1] + "\n" + text[-_TAIL:], question)
        start, end = reading.evidence or (0, 0)
        shift = len(text) - _TAIL - _HEAD
        return replace(reading, evidence=(start + shift, end + shift)) if end > _HEAD else reading
    if not text.strip():
        return NumberReading(None, "none: empty")
    said = [fold_script(part.translate(_SIGNS)) for part in (question[:_HEAD], text)]
    asked, tidied = (SAYS["decoration"].sub(_tidy, part) for part in said)
    asked = SAYS["next_question"].sub("\n", asked)
    given = {_value(match) for match in SAYS["number"].finditer(asked)}
    words = _words((SAYS["asking"].findall(asked) or [""])[-1])
    tidied = _without_repeats(tidied, asked)
    if SAYS["millions"].search(asked):  # the unit asked for: "7.5 million" is 7.5
        tidied = SAYS["millions"].sub(lambda match: "\t" * len(match[0]), tidied)
    reading = NumberReading(None, "none: no number")
    for label, after in pairwise([None, *SAYS["next_question"].finditer(tidied), None]):
        start, end = label.end() if label else 0, after.start() if after else len(tidied)
        # Skip lines that ask a question, and answers to examples.
        if not label or (not label["sample"] and "\n" in tidied[start:end].strip()):
            reading = _Question(tidied, start, end, given, words).reading()
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
    """A number that may be the answer, with the words that announced it and its place."""

    value: Fraction | None
    start: int
    end: int
    is_chinese: bool = False
    begins: bool = False
    kind: str = "last result"
    cue: int = 0


class _Question:
    """The part of a normalised text that is about one question."""

    def __init__(
        self, text: str, start: int, end: int, given: Set[Fraction | None], asked: Set[str]
    ) -> None:
        self._text, self._given, self._asked, self._end = text, given, asked, end
        sentences = self._spans(start, end)
        retractions = [at for at, _ in sentences if SAYS["retraction"].match(text, at)]
        self._start = max([start, *retractions])
        self._sentences = [span for span in sentences if span[0] >= self._start]

    def reading(self) -> NumberReading:
        """Read the announced number, the one alone in the first line, or the last result."""
        found = self._announcement() or self._confirmed(self._concluded(self._sentences))
        if not found:
            is_cut = self._breaks_off(self._sentences)
            return NumberReading(None, "none: cut off" if is_cut else "none: no number")
        reason = "none: several" if found.value is None else found.kind
        return NumberReading(found.value, reason, (found.start, found.end))

    def _spans(self, start: int, end: int) -> list[tuple[int, int]]:
        """The places of the sentences between two positions."""
        spans = [match.span() for match in SAYS["sentence"].finditer(self._text, start, end)]
        return [span for span in spans if self._text[slice(*span)].replace("#", "").strip()]

    def _announcement(self) -> _Result | None:
        """The last announced answer, or the conclusion drawn after it."""
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
            if SAYS["none_after_all"].match(self._text, start, end):
                return None
            is_equation = is_equation and not SAYS["afterword"].match(self._text, start)
            is_conclusion = is_equation and SAYS["conclusion"].search(self._text, start, end)
            result = self._pick(start, end) if is_conclusion else None
            if result and result.value not in self._given:
                found = replace(result, kind=found.kind)
        return found

    def _announced(self) -> Iterator[_Result]:
        """The numbers that are a first line of their own, or announced as the answer."""
        start, end = self._sentences[0] if self._sentences else (self._end, self._end)
        bare = self._pick(start, end)
        is_line = bare and bare.begins and SAYS["line_end"].match(self._text, bare.end)
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
        text, found = self._text, self._pick(cue.end(), stop)
        is_number = found and found.begins and SAYS["unit_only"].match(text, found.end, self._end)
        if cue["marked"] and not is_number:  # a mark followed by text is a heading
            return None if re.search(r"\w", text[stop : self._end]) else found
        if cue.lastgroup or (found and found.begins):
            return found
        filler = text[cue.end() : self._past("filler", cue.end(), stop)].strip()
        if ":" in filler or not text[cue.end() : stop].replace(filler, "", 1).strip():
            below = SAYS["paragraph_end"].search(text, stop + 1, self._end)
            end = below.start() if below else self._end
            found = self._concluded(self._spans(cue.end(), end)) or found
            return None if SAYS["question"].search(text, stop, end) else found
        # 一個, 兩樣 and the like, in a remark about the answer.
        is_word = found and found.is_chinese and text[found.end : found.end + 1].isalpha()
        return None if is_word and not filler else found

    def _past(self, form: str, start: int, end: int) -> int:
        """Where a sentence, or words that may come before a number, end."""
        match = SAYS[form].match(self._text, start, end)
        return match.end() if match else end

    def _concluded(self, sentences: list[tuple[int, int]]) -> _Result | None:
        """The result of the last sentences: without a closing remark, or else including it."""
        remark = SAYS["afterword"].match
        after = [n for n, (start, _) in enumerate(sentences) if n and remark(self._text, start)]
        for told in (sentences[: min(after, default=None)], sentences):
            for start, end in told[: -_TALK - 1 : -1] if not self._breaks_off(told) else ():
                is_over = SAYS["question"].search(self._text, start, end)
                if is_over or SAYS["refusal"].search(self._text, start, end):
                    break
                if self._is_aside(start, end):
                    continue
                found = self._pick(start, end)
                is_conclusion = SAYS["conclusion"].search(self._text, start, end)
                if found and (is_conclusion or not found.is_chinese):
                    return found
        return None

    def _is_aside(self, start: int, end: int) -> bool:
        """Whether a sentence is about another case, or only a remark."""
        aside = SAYS["aside"].search(self._text, start, end)
        if not aside or SAYS["conclusion"].match(self._text, self._past("filler", start, end)):
            return False
        is_supposed = aside["condition"] or aside["supposing"]
        fresh = [one for one in self._results(start, end) if one.value not in self._given]
        return not is_supposed or len(fresh) > 1

    def _confirmed(self, found: _Result | None) -> _Result | None:
        """A calculation's result if the sentence has one; without a word, no other number."""
        if not found or found.value is None:
            return found
        text, every = self._text, [*self._results(self._start, self._end)]
        results = [
            one
            for one in every
            if text[max(0, one.start - 9) : one.start].rstrip()[-1:] in ("=", "≈")
        ]
        if not results or found.value in {one.value for one in results}:
            return found
        start, end = next(span for span in self._sentences if found.start < span[1])
        words = [match.end() for match in SAYS["conclusion"].finditer(text, start, end)]
        here = [each for each in every if max([start, *words]) <= each.start < end]
        if same := [each for each in here if each.value == results[-1].value]:
            return replace(same[-1], kind=found.kind)
        return found if words else replace(found, value=None)

    def _breaks_off(self, sentences: list[tuple[int, int]]) -> bool:
        """Whether the text ends within the last sentence, unlike those before it."""
        start, end = sentences[-1] if sentences else (self._end, self._end)
        written = self._text[start:end].rstrip()
        if self._text[end:].strip() or not (written[-1:].isalnum() or written[-1:] in _UNFINISHED):
            return False
        found = self._pick(start, end)
        rest = self._text[found.end : end].strip() if found else _UNFINISHED
        ends = self._text[start - 1 : start] in ("", "\n") or SAYS["conclusion"].search(written)
        is_long = end - self._start > _SHORT and len(sentences) > 1
        is_open = "," in rest or SAYS["dangling"].search(written)
        return bool(is_open or (is_long and (len(rest) > _UNIT or not ends)))

    def _pick(self, start: int, end: int) -> _Result | None:
        """The number that a sentence begins with, or else its last one.

        Numbers outside of brackets and not given in the question are preferred.
        """
        text, start = self._text, max(start, end - _REACH)
        conclusions = [match.end() for match in SAYS["conclusion"].finditer(text, start, end)]
        if conclusions and (found := self._pick(conclusions[-1], end)):
            return replace(found, begins=False)
        start = self._past("filler", start, end)
        every = [*self._results(start, end)]
        numbers = [one for one in every if not SAYS["open_bracket"].search(text, start, one.start)]
        numbers = numbers or [one for one in every if one.value not in self._given]
        if not numbers:
            return None
        last = numbers[-1]
        is_result = SAYS["equates"].search(text, start, last.start)
        least = 1 if SAYS["line_end"].match(text, last.end) else 9  # 一個 is no result
        if is_result and (last.value or 0) > least:
            numbers[-1] = replace(last, is_chinese=False)
        first = numbers[0]
        western = [one for one in numbers if not one.is_chinese] or numbers
        fresh = [one for one in western if one.value not in self._given] or western
        is_sum = "=" in text[start : first.start] and SAYS["number"].match(text, start, end)
        begins = bool(is_sum) or first.start == start
        clause = SAYS["line_end" if first.is_chinese else "clause"].match(text, first.end, end)
        others = [one for one in fresh if one is not first]
        is_first = begins and clause and (not others or others[0].start >= clause.end())
        chosen = first if is_first else fresh[-1]
        if not (is_first or is_result or "=" in text[start:end]):
            chosen = max(reversed(fresh), key=lambda one: self._fit(one, start, end))
        for one, other in pairwise(numbers):
            is_joined = SAYS["joined"].fullmatch(text, one.end, other.start)
            if is_joined and chosen in (one, other) and one.value != other.value:
                return _Result(None, one.start, other.end, begins=begins)
        return replace(chosen, begins=begins and chosen is first)

    def _fit(self, number: _Result, start: int, end: int) -> int:
        """How many words the clause around a number shares with the clause that asks."""
        before = SAYS["part"].split(self._text[start : number.start])[-1]
        after = SAYS["part"].split(self._text[number.end : end])[0]
        return len(_words(before + after) & self._asked)

    def _results(self, start: int, end: int) -> Iterator[_Result]:
        """The numbers that may be results; the context of others shows that they are not."""
        for match in SAYS["number"].finditer(self._text, start, end):
            near = max(0, match.start() - 24)
            before = SAYS["unused_before"].search(self._text, near, match.start())
            after = SAYS["unused_after"].match(self._text, match.end(), end)
            if not before and not after and (value := _value(match)) is not None:
                yield _Result(value, *match.span(), not re.search("[0-9½⅓⅔¼¾]", match[0]))


def _words(text: str) -> set[str]:
    return {match[1] or match[0] for match in SAYS["words"].finditer(text)} - {""}


def _without_repeats(text: str, asked: str) -> str:
    """Blank out repetitions of the question, and a last line that repeats an earlier one."""
    written, last = f"\n{asked}\n{text}", text.rpartition("\n")[2]
    after = written.find(f"\n{last}") + 1 + len(last)
    if len(last) > 3 and written[after : after + 1].strip("\n"):
        text = text[: -len(last)] + ",".ljust(len(last), "\t")
    for sentence in SAYS["sentence"].findall(asked):
        said = sentence.strip("\t\n。.!?; ")
        if len(said) >= _REPEATED:
            again = rf"(?<![^\s#。.!?;:]){re.escape(said)}"
            text = re.sub(again, "某" * len(said), text)
    return text


def _tidy(match: re.Match[str]) -> str:
    """Replace a decoration with blanks or with a sign, keeping its length."""
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
            section += Fraction(number or 0) * (max(1, unit // 10) if len(number) == 1 else 1)
    return total + section
