"""Answers in LaTeX, as in MATH and OlympiadBench: a question in, a formula out."""

from importlib.util import find_spec

from hkcanto_metrics.mathematics import equal_formulas, read_formula

from ..data.tables import Row, as_text
from ..errors import OptionError
from ..judgements import Judgement, judge_reading
from ..samples import Sample
from .number import Number


class Mathematics(Number):
    """Questions with a formula in LaTeX for an answer. Columns: `question`, `answer`.

    An answer cell has only a formula, with or without dollar signs, or a solution that ends in
    `\\boxed{…}`. Needs Math-Verify: `pip install 'hkcanto[math]'`.
    """

    TARGET = r"\frac{1}{2}"

    def set_up(self) -> None:
        """Refuse to run without the package that reads answers."""
        if find_spec("math_verify") is None:
            raise OptionError(
                "the kind 'math' compares formulas with Math-Verify: pip install 'hkcanto[math]'."
            )

    def row(self, row: Row) -> Sample:
        """Read a question and its answer."""
        text = row.text(self.columns("question"), "question")
        cell = as_text(row.find(self.columns("answer"))) or ""
        answer = read_formula(cell)
        if not equal_formulas(answer, answer):
            raise row.problem(
                "an answer that Math-Verify cannot read as one formula. Write it in LaTeX, or "
                "leave the row out"
            )
        solution = cell.strip() if "boxed" in cell else ""
        return Sample(
            id=str(row.number),
            question=text,
            target=answer,
            reasoning=solution,
        )

    def score(
        self,
        answer: str,
        sample: Sample,
    ) -> Judgement:
        r"""Compare the formula that an answer gives with the right one.

        Examples:
            >>> task = Mathematics.__new__(Mathematics)  # made by `task_as_run`
            >>> task.score(r"\boxed{\frac12}", Sample(id="", target="0.5")).values["acc"]
            1.0
        """
        formula = read_formula(answer)
        right = equal_formulas(formula, sample.target)
        if right is not None:
            return judge_reading(
                "formula",
                formula,
                "",
                sample.target,
                right=right,
            )
        reason = "none: not comparable" if formula else ""
        return judge_reading(
            "formula",
            None,
            reason,
            sample.target,
            right=False,
        )
