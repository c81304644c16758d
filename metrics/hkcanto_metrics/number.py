"""Extract the number that a model gives as its final answer.

The text is normalised character by character, which keeps positions, and read one question at a
time, up to the first question that gets an answer. `number_rules.py` has the rules.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from rapidfuzz.fuzz import ratio

from hkcanto_metrics.number_questions import Asked, asked_for
from hkcanto_metrics.number_rules import Part
from hkcanto_metrics.number_text import Result, Span
from hkcanto_metrics.numerals import SAYS, plain_signs, value_of, without_decoration
from hkcanto_metrics.reasoning import Parts
from hkcanto_metrics.response_text import own_answer, with_chinese_marks

_HEAD = 2_000  # characters of a question that are read
_SHORT = 10  # characters: a shorter question may be an answer, too
_SAME_QUESTION = 80  # percent of a question that its repetition has


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


def read_number(
    text: str | Parts | None,
    question: str = "",
) -> NumberReading:
    """Read the number that a response settles on, with the reason and the place.

    Understands English, Cantonese and Written Chinese in both scripts; Arabic and Chinese numerals,
    fractions, separators. A percent sign is a unit, as in the answers of GSM8K: 40% is 40.

    Args:
        text: what the model wrote. If its answer has more than 5,000 characters, the middle is
            not read.
        question: the question asked. Repetitions of it are not an answer, and a number that it
            mentions gives way to a number that it lacks.

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
    question = SAYS["next_question"].sub(
        "\n", _folded(with_chinese_marks(question[:_HEAD]))
    )
    asked = asked_for(question)
    answer = _folded(own.text)
    if _asks_another(answer, asked):
        return NumberReading(None, "none: no number")
    answer = _without_question(answer, question)
    answer = _without_repeat(answer, question)
    answer = _without_unit(answer, question)
    answer = _without_percentages(answer, question)
    if _interviews_itself(answer):
        return NumberReading(None, "none: several")
    reason = "none: no number"
    for start, end in _parts(answer):
        part = Part(
            answer,
            start,
            end,
            asked,
        )
        result = part.result()
        if result:
            return _reading(result, own.origins)
        reason = "none: cut off" if part.is_cut_off() else "none: no number"
    return NumberReading(None, reason)


def extract_number(
    text: str | Parts | None,
    question: str = "",
) -> Fraction | None:
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
    cell = plain_signs(text.rpartition("####")[2]).strip()
    number = cell.removeprefix("$").removesuffix("%")
    match = SAYS["number"].fullmatch(number)
    return value_of(match) if match else None


def equal_numbers(
    response_value: Fraction | None,
    answer: Fraction,
) -> bool:
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
    ends = (
        pow(
            10,
            answer.denominator.bit_length(),
            answer.denominator,
        )
        == 0
    )
    if ends:
        return False
    difference = abs(response_value - answer)
    for places in range(2, 16):
        unit = Fraction(1, 10**places)
        if (response_value / unit).denominator == 1:
            return difference * 2 <= unit
    return False


def _folded(text: str) -> str:
    """Normalise signs, script and decoration, keeping the length."""
    plain = SAYS["bracketed"].sub(_with_colon, plain_signs(text))
    return without_decoration(plain)


def _with_colon(label: re.Match[str]) -> str:
    """A label in brackets at the start of a line, with a colon: 【合計】88."""
    return f"{label[0][:-1]}:"


def _reading(
    result: Result,
    origins: Sequence[int],
) -> NumberReading:
    """The reading of a result, with its place in the response."""
    evidence = (origins[result.start], origins[result.end - 1] + 1)
    reason = "none: several" if result.value is None else result.kind
    return NumberReading(result.value, reason, evidence)


def _parts(text: str) -> Iterator[Span]:
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


def _without_unit(
    text: str,
    question: str,
) -> str:
    """Blank out the unit that is asked for: 7.5 million is 7.5 to "how many million?"."""
    unit = SAYS["asked_unit"].search(question)
    if not unit:
        return text
    written = unit["latin"] or unit["chinese"]
    name = rf"(?i)(?<=[0-9零一二三四五六七八九两十百千 ]){written}s?"
    return re.sub(
        name,
        lambda match: "\t" * len(match[0]),
        text,
    )


def _without_percentages(text: str, question: str) -> str:
    """Blank out percentages that say a share again: to "what probability?", 1/2 = 0.5 = 50%."""
    if not SAYS["asks_fraction"].search(question.replace("\n", " ")):
        return text
    parts: list[str] = []
    end = 0
    for share, number in pairwise(SAYS["number"].finditer(text)):
        if not _is_percentage_of(share, number, text):
            continue
        parts.append(text[end : share.end()])
        end = number.end() + 1
        parts.append("\t" * (end - share.end()))
    return "".join([*parts, text[end:]])


def _is_percentage_of(
    share: re.Match[str],
    number: re.Match[str],
    text: str,
) -> bool:
    """Whether a number after a share, an equals sign and perhaps a bracket is its percentage."""
    if text[number.end() : number.end() + 1] != "%":
        return False
    between = text[share.end() : number.start()].strip(" \t")
    of_share = value_of(share)
    is_same = of_share is not None and of_share * 100 == value_of(number)
    return is_same and between in ("=", "(", ",", "or", "或", "即")


def _asks_another(
    text: str,
    asked: Asked,
) -> bool:
    """Whether a response begins with a question of its own, with a number that ours lacks."""
    begun = SAYS["asked_first"].match(text)
    if not begun or not begun["label"] or not asked.given:
        return False
    line = begun["line"].rstrip()
    if not line.endswith("?"):
        return False
    numbers = [match for match in SAYS["number"].finditer(line) if match[0].isdigit()]
    return not {*map(value_of, numbers)} <= asked.given


def _interviews_itself(text: str) -> bool:
    """Whether a response begins with a question without numbers, and goes on to others."""
    questions = [*SAYS["own_question"].finditer(text)]
    return len(questions) > 1 and not text[: questions[0].start()].strip()


def _without_question(
    text: str,
    question: str,
) -> str:
    """Blank out the question that a response begins with, and its label."""
    begun = SAYS["asked_first"].match(text)
    if not begun or len(question.strip()) < _SHORT:
        return text
    asked = question.strip()
    end = begun.start("line") + len(asked)
    if not text.startswith(asked, begun.start("line")):
        is_question = begun["line"].rstrip().endswith("?")
        if not is_question or ratio(begun["line"], asked) < _SAME_QUESTION:
            return text
        end = begun.end("line")
    return text[end:].rjust(len(text), "\t")


def _without_repeat(
    text: str,
    question: str,
) -> str:
    """Blank out a last line that repeats an earlier one, or the question."""
    last = text.rpartition("\n")[2]
    written = f"\n{question}\n{text}"
    after = written.find(f"\n{last}") + 1 + len(last)
    is_more = written[after : after + 1].strip("\n")
    if len(last) <= 3 or not is_more or not re.search(r"\w", last):
        return text
    kept = text.removesuffix(last)
    return kept + ",".ljust(len(last), "\t")
