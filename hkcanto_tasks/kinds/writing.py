"""The common base of kinds that ask the model to write a text."""

from dataclasses import replace as replace_fields
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

import hkcanto_metrics

from ..declarations import Subject
from ..judgements import Judgement
from ..prompts import Example
from ..samples import Sample
from . import base

if TYPE_CHECKING:
    from hkcanto_metrics.cleaning import Cleaned

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

    def example(
        self,
        subject: Subject,
        row: Sample,
        number: int,
    ) -> Example | None:
        """Render a text with its human answer; None if the prompt has no text for it."""
        if self.template.example is None:
            return None
        return super().example(subject, row, number)

    @property
    def language(self) -> str:
        """The language of an answer; empty if none is declared."""
        return self.definition.language

    def cleaned(
        self,
        answer: str,
        sample: Sample,
    ) -> "Cleaned":
        """Return an answer without what is not part of the text, such as an introduction."""
        source = sample.source if self.REWRITES else ""
        cleaned = hkcanto_metrics.clean_output(
            answer, source=source, language=self.language
        )
        # A refusal is scored as no text at all.
        return replace_fields(cleaned, text="") if cleaned.refused else cleaned

    def fluency(self, text: str) -> Judgement:
        """Judge the language of a text, not its content: the figures in `FLUENT`, and others.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> task_as_run("hkcanto_fluency").fluency("他們剛回家。").explanation
            'Not fluent Cantonese: swc. Words of Written Chinese: 他 (at 0).'
        """
        fluency = hkcanto_metrics.cantonese_fluency(
            text, max_characters=self.MAX_CHARACTERS
        )
        values: dict[str, float | None] = {"fluent": fluency.passed}
        for figure in self.FIGURES:
            if hasattr(fluency, figure.name):
                values[figure.name] = getattr(fluency, figure.name)
        return Judgement(
            values,
            weights={"cantonese_ratio": fluency.cantonese_ratio.total},
            explanation=self._explanation(fluency),
        )

    def _explanation(self, fluency: "hkcanto_metrics.Fluency") -> str:
        verdict = "Fluent Cantonese" if fluency.passed else "Not fluent Cantonese"
        explanation = f"{verdict}: {fluency.label}"
        if fluency.degenerate:
            explanation += ", caught in a loop"
        explanation += "."
        terms = [f"{term.term} (at {term.start})" for term in fluency.swc_terms]
        if len(terms) > _TERMS_SHOWN:
            terms[_TERMS_SHOWN:] = [f"{len(terms) - _TERMS_SHOWN:,} more"]
        if terms:
            explanation += f" Words of Written Chinese: {'、'.join(terms)}."
        if self.MAX_CHARACTERS:
            penalty = f"length penalty {fluency.length_penalty:.3f}"
            explanation += f"\n\n{fluency.n_characters} characters; {penalty}."
        return explanation


def removed_details(cleaned: "Cleaned") -> dict[str, str]:
    """Return what was removed from an answer, for a log's details; empty if nothing."""
    return {"removed": ", ".join(cleaned.removed)} if cleaned.removed else {}


def removed_note(cleaned: "Cleaned") -> str:
    """Return what was removed from an answer, in Markdown; empty if nothing."""
    if not cleaned.removed:
        return ""
    return f"Removed before scoring: {', '.join(cleaned.removed)}.\n\n"


class WritingInCantonese(Writing):
    """A text in, a text in Cantonese out; only its language is judged.

    Its figures are `FLUENT`, `empty`, `overgenerated`, and others of a `Fluency`.
    """

    def score(
        self,
        answer: str,
        sample: Sample,
    ) -> Judgement:
        """Clean an answer and judge the language of the remaining text."""
        cleaned = self.cleaned(answer, sample)
        judgement = self.fluency(cleaned.text)
        faults = {
            "empty": not (cleaned.text or cleaned.refused),
            "overgenerated": cleaned.overgenerated,
            "refusal_rate": cleaned.refused,
        }
        names = {figure.name for figure in self.FIGURES}
        faults = {name: has for name, has in faults.items() if name in names}
        return replace(
            judgement,
            values={**judgement.values, **faults},
            answer=cleaned.text,
            explanation=removed_note(cleaned) + judgement.explanation,
            details=removed_details(cleaned),
        )
