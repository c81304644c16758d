"""The common base of kinds that ask the model to write a text."""

from typing import ClassVar

from msgspec.structs import replace

from hkcanto_metrics.cleaning import Cleaned, clean_output
from hkcanto_metrics.fluency import cantonese_fluency

from ..declarations import Subject
from ..judgements import Judgement
from ..prompts import Example
from ..samples import Sample
from . import base

_TERMS_SHOWN = 1_000

FLUENT = ("fluent", "cantonese_ratio", "degenerate")
"""The figures of every task that asks for Cantonese."""


class Writing(base.Kind):
    """A text in, a text out. The template's placeholder for the input is `{source}`."""

    REWRITES: ClassVar[bool] = True
    """Whether the answer rewrites the source, and so may keep its labels and quotation marks."""

    MAX_CHARACTERS: ClassVar[int | None] = None
    """The length above which a text is penalised; None for no limit."""

    VALUES: ClassVar = {"source": "source"}

    def example(self, subject: Subject, row: Sample, number: int) -> Example | None:
        """Render a text with its human answer; None if the prompt has no text for it."""
        return (
            super().example(subject, row, number)
            if self.template.example is not None
            else None
        )

    def cleaned(
        self, answer: str, sample: Sample
    ) -> tuple[Cleaned, dict[str, str], str]:
        """Return a cleaned answer, and what was removed: a log's details, and in Markdown."""
        source = sample.source if self.REWRITES else ""
        cleaned = clean_output(
            answer, source=source, language=self.task.definition.language
        )
        if not cleaned.removed:
            return cleaned, {}, ""
        names = ", ".join(cleaned.removed)
        return cleaned, {"removed": names}, f"Removed before scoring: {names}.\n\n"

    def fluency(self, text: str) -> Judgement:
        """Judge the language of a text, not its content: the figures in `FLUENT`, and others.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> task_as_run("hkcanto_fluency").fluency("他們剛回家。").explanation
            'Not fluent Cantonese: swc. Words of Written Chinese: 他 (at 0).'
        """
        fluency = cantonese_fluency(text, max_characters=self.MAX_CHARACTERS)
        names = [
            figure.name for figure in self.FIGURES if hasattr(fluency, figure.name)
        ]
        values = {"fluent": fluency.passed} | {
            name: getattr(fluency, name) for name in names
        }
        verdict = "Fluent Cantonese" if fluency.passed else "Not fluent Cantonese"
        loop = ", caught in a loop" if fluency.degenerate else ""
        terms = [f"{term.term} (at {term.start})" for term in fluency.swc_terms]
        if len(terms) > _TERMS_SHOWN:
            terms[_TERMS_SHOWN:] = [f"{len(terms) - _TERMS_SHOWN:,} more"]
        explained = f"{verdict}: {fluency.label}{loop}."
        if terms:
            explained += f" Words of Written Chinese: {'、'.join(terms)}."
        if self.MAX_CHARACTERS:
            penalty = f"length penalty {fluency.length_penalty:.3f}"
            explained += f"\n\n{fluency.n_characters} characters; {penalty}."
        weights = {"cantonese_ratio": fluency.cantonese_ratio.total}
        return Judgement(values, weights=weights, explanation=explained)


class WritingInCantonese(Writing):
    """A text in, a text in Cantonese out; only its language is judged.

    Its figures are `FLUENT`, `empty`, `overgenerated`, and others of a `Fluency`.
    """

    def score(self, answer: str, sample: Sample) -> Judgement:
        """Clean an answer and judge the language of the remaining text."""
        cleaned, details, explained = self.cleaned(answer, sample)
        judgement = self.fluency(cleaned.text)
        faults = {"empty": not cleaned.text, "overgenerated": cleaned.overgenerated}
        return replace(
            judgement,
            values={**judgement.values, **faults},
            answer=cleaned.text,
            explanation=explained + judgement.explanation,
            details=details,
        )
