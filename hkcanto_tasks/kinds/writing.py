"""The common base of kinds that ask the model to write a text."""

from abc import abstractmethod
from typing import ClassVar

from hkcanto_metrics.cleaning import Cleaned, clean_output
from hkcanto_metrics.fluency import Fluency, cantonese_fluency

from ..declarations import Subject
from ..judgements import Judgement
from ..prompts import Example
from ..samples import Sample
from . import base

FLUENT = ("fluent", "cantonese_ratio", "degenerate")
"""The figures of every task that asks for Cantonese."""

_TERMS_SHOWN = 1_000


class Writing(base.Kind):
    """A text in, a text out. The template's placeholder for the input is `{source}`."""

    REWRITES: ClassVar[bool] = True
    """Whether the answer rewrites the source, and so may keep its labels and quotation marks."""

    VALUES: ClassVar = {"source": "source"}

    def example(self, subject: Subject, row: Sample, number: int) -> Example | None:
        """Render a text with its human answer; None if the prompt has no text for it."""
        return super().example(subject, row, number) if self.template.example is not None else None

    def score(self, answer: str, sample: Sample) -> Judgement:
        """Clean an answer and judge the remaining text."""
        source = sample.source if self.REWRITES else ""
        language = self.task.definition.language
        return self.judge_text(clean_output(answer, source=source, language=language), sample)

    @abstractmethod
    def judge_text(self, cleaned: Cleaned, sample: Sample) -> Judgement:
        """Judge a cleaned text."""


class WritingInCantonese(Writing):
    """A text in, a text in Cantonese out; only its language is judged.

    Its figures are `FLUENT`, `empty`, `overgenerated`, and others of a `Fluency`.
    """

    MAX_CHARACTERS: ClassVar[int | None] = None
    """The length above which a text is penalised; None for no limit."""

    def judge_text(self, cleaned: Cleaned, sample: Sample) -> Judgement:
        """Judge the language of a text, not its content."""
        del sample
        fluency = cantonese_fluency(cleaned.text, max_characters=self.MAX_CHARACTERS)
        details, explained = removed(cleaned)
        explained += explain_fluency(fluency)
        if self.MAX_CHARACTERS:
            penalty = f"length penalty {fluency.length_penalty:.3f}"
            explained += f"\n\n{fluency.n_characters} characters; {penalty}."
        names = [figure.name for figure in self.FIGURES if hasattr(fluency, figure.name)]
        faults = {"empty": not cleaned.text, "overgenerated": cleaned.overgenerated}
        values = fluency_values(fluency) | {name: getattr(fluency, name) for name in names}
        return Judgement(
            values=values | {name: float(fault) for name, fault in faults.items()},
            answer=cleaned.text,
            explanation=explained,
            weights={"cantonese_ratio": fluency.cantonese_ratio.total},
            details=details,
        )


def fluency_values(fluency: Fluency) -> dict[str, float]:
    """Return the values of the figures in `FLUENT`.

    Examples:
        >>> from hkcanto_metrics.fluency import cantonese_fluency
        >>> fluency_values(cantonese_fluency("佢哋啱啱返咗屋企。"))
        {'fluent': 1.0, 'cantonese_ratio': 1.0, 'degenerate': 0.0}
    """
    return {
        "fluent": float(fluency.passed),
        "cantonese_ratio": fluency.cantonese_ratio,
        "degenerate": float(fluency.degenerate),
    }


def removed(cleaned: Cleaned) -> tuple[dict[str, str], str]:
    """Return what was removed from a response: a log's details, and a sentence in Markdown."""
    if not cleaned.removed:
        return {}, ""
    names = ", ".join(cleaned.removed)
    return {"removed": names}, f"Removed before scoring: {names}.\n\n"


def explain_fluency(fluency: Fluency) -> str:
    """Say in Markdown why a text passes as Cantonese or not, listing at most 1,000 words.

    Examples:
        >>> from hkcanto_metrics.fluency import cantonese_fluency
        >>> explain_fluency(cantonese_fluency("他們剛回家。"))
        'Not fluent Cantonese: swc. Words of Written Chinese: 他 (at 0).'
    """
    verdict = "Fluent Cantonese" if fluency.passed else "Not fluent Cantonese"
    loop = ", caught in a loop" if fluency.degenerate else ""
    shown = fluency.swc_terms[:_TERMS_SHOWN]
    terms = "、".join(f"{term.term} (at {term.start})" for term in shown)
    more = f", and {hidden:,} more" if (hidden := len(fluency.swc_terms) - len(shown)) else ""
    listed = f" Words of Written Chinese: {terms}{more}." if terms else ""
    return f"{verdict}: {fluency.label}{loop}.{listed}"
