"""Numeric answers, as in GSM8K: a question in, a number out."""

from typing import ClassVar

from hkcanto_metrics.number import equal_numbers, parse_number, read_number

from ..data.tables import Row, as_text
from ..figures import figures
from ..judgements import Judgement, judge_reading
from ..prompts import fill
from ..samples import Sample
from . import base

_MARK = "####"  # between a solution of GSM8K and its answer


class Number(base.Kind):
    """Questions with a number for an answer. Columns: `question`, `answer`.

    An answer cell has only a number, or a solution that ends in `#### 18`.
    """

    FIGURES = figures("acc", "unparsed_rate")
    COLUMNS: ClassVar = {"question": ("question",), "answer": ("answer",)}
    VALUES: ClassVar = {"question": "question"}
    TOKENS = 1024
    TARGET = "7"

    def row(self, row: Row) -> Sample:
        """Read a question and its answer."""
        text = row.text(self.columns("question"), "question")
        cell = as_text(row.find(self.columns("answer"))) or ""
        solution, _, answer = cell.rpartition(_MARK)
        if parse_number(answer) is None:
            raise row.problem("no number as its answer")
        return Sample(
            id=str(row.number),
            question=text,
            target=answer.strip(),
            reasoning=solution.strip(),
        )

    def answer(self, row: Sample) -> str:
        """Return the solution and the answer."""
        solution = f"{row.reasoning}\n" if row.reasoning else ""
        values = {**row.cells, "reasoning": solution, "answer": row.target}
        return fill(self.template.answer_cot, values)

    def score(
        self,
        answer: str,
        sample: Sample,
    ) -> Judgement:
        """Judge an answer against the right number.

        Examples:
            >>> number = Number.__new__(Number)  # made by `task_as_run`
            >>> number.score("所以一共係 1,018 蚊。", Sample(id="", target="1018")).values["acc"]
            1.0
        """
        reading = read_number(answer, sample.question)
        number = reading.value
        target = parse_number(sample.target)
        right = (
            number is not None and target is not None and equal_numbers(number, target)
        )
        shown = None if number is None else str(number)
        return judge_reading(
            "number", shown, reading.reason, sample.target, right=right
        )
