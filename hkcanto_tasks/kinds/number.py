"""Questions whose answer is a number, as in GSM8K: a text in, the number that it settles on out."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hkcanto_metrics.number import equal_numbers, parse_number, read_number

from ..catalogue import Subject
from ..data.tables import Record, as_text
from ..prompts import fill
from ..records import Example, Judgement, Sample
from . import base
from .multiple_choice import ACCURACY, UNPARSED

_MARK = "####"


@dataclass(frozen=True, slots=True)
class Problem:
    """A row of a release.

    Attributes:
        number: Its place in the file, from 1.
        text: The question.
        answer: The right number, as it is written.
        solution: The release's way to it, where it has one.
    """

    number: int
    text: str
    answer: str
    solution: str = ""


class Number(base.Kind[Problem]):
    """Questions with a number for an answer. Columns: `question`, `answer`.

    An answer may be a number alone, or a solution that ends in `#### 18`.
    """

    METRICS = (ACCURACY, UNPARSED)
    COLUMNS: ClassVar = {"question": ("question",), "answer": ("answer",)}
    TOKENS = 1024

    def row(self, record: Record) -> Problem:
        """Read a question and its answer."""
        text = record.text(self.columns("question"), "question")
        cell = as_text(record.find(self.columns("answer"))) or ""
        solution, _, answer = cell.rpartition(_MARK)
        if parse_number(answer) is None:
            raise record.problem("no number as its answer")
        return Problem(record.number, text, answer.strip(), solution.strip())

    def sample(self, question: str, row: Problem) -> Sample:
        """Render a scored question."""
        return Sample(str(row.number), fill(question, {"question": row.text}), row.answer)

    def example(self, subject: Subject, row: Problem, number: int) -> Example:
        """Render a question with its solution and its answer."""
        text = self.template.example or self.template.question
        values = {**self.names(subject), "number": str(number), "question": row.text}
        answer = {"reasoning": f"{row.solution}\n" if row.solution else "", "answer": row.answer}
        return Example(fill(text, values), fill(self.template.answer_cot, answer))

    def score(self, answer: str, sample: Sample) -> Judgement:
        """Judge an answer against the right number.

        Examples:
            >>> number = Number.__new__(Number)  # made by `condition` for a task of this kind
            >>> number.score("所以一共係 1,018 蚊。", Sample("", "", "1018")).values["acc"]
            1.0
        """
        reading = read_number(answer, sample.question)
        right = reading.value is not None and equal_numbers(reading.value, _gold(sample))
        return Judgement(
            values={"acc": float(right), "unparsed_rate": float(reading.value is None)},
            answer="" if reading.value is None else str(reading.value),
            explanation=(
                f"No number could be read from the response ({reading.reason})."
                if reading.value is None
                else f"The response was read as {reading.value}; the answer is {sample.target}."
            ),
            details={"reason": reading.reason},
        )


def _gold(sample: Sample) -> Fraction:
    gold = parse_number(sample.target)
    assert gold is not None  # checked when it was read
    return gold
