"""Extract the number that a model gives as its final answer.

The text is normalised character by character, which keeps positions, and read one question at a
time, up to the first question that gets an answer. `number_rules.py` has the rules.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from hkcanto_metrics.number_questions import asked_for
from hkcanto_metrics.number_rules import Part
from hkcanto_metrics.number_text import Result, Span
from hkcanto_metrics.numerals import SAYS, plain_signs, value_of, without_decoration
from hkcanto_metrics.reasoning import Parts
from hkcanto_metrics.response_text import own_answer, with_chinese_marks

_HEAD = 2_000  # characters of a question that are read
_SHORT = (
    10  # characters: a shorter question may be an answer, too; a longer label is none
)
_LINE = 3  # characters: a shorter line may be an answer again


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
    answer = _without_question(_folded(own.text), question)
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
    return without_decoration(plain_signs(text))


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


def _without_question(text: str, question: str) -> str:
    """Blank out the question at the beginning, and cut a last line that begins to repeat a line."""
    asked = question.strip()
    if len(asked) >= _SHORT and -1 < text.find(asked) <= _SHORT:
        text = text.partition(asked)[2].rjust(len(text), "\t")
    kept, _, last = text.rpartition("\n")
    written = f"\n{question}\n{kept}\n"
    begins = len(last) > _LINE and f"\n{last}" in written
    return kept if begins and f"\n{last}\n" not in written else text
