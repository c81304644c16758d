"""What the kinds have in common that ask the model for a text of its own."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from hkcanto_metrics.cleaning import Cleaned
from hkcanto_metrics.fluency import Fluency

from ..catalogue import NamedTask, PromptTemplate, Subject
from ..records import Example, Metric

FLUENCY_METRICS = (
    Metric("fluent", higher_is_better=True),
    Metric("cantonese_ratio", pooled=True, higher_is_better=True),
    Metric("degenerate"),
)
"""The figures that every task has that asks for Cantonese."""

_REASONING_TOKENS = 8192


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a user can choose.

    Attributes:
        reasoning: Leave room for a reasoning block, and do not stop at what looks like a next item.
    """

    reasoning: bool = False


def prompt(task: NamedTask, options: Options) -> str:  # noqa: ARG001
    """Return the name of the benchmark's prompt."""
    return task.entry.prompts["paper"]


def system(
    template: PromptTemplate,
    task: NamedTask,  # noqa: ARG001
    subject: Subject,  # noqa: ARG001
    shots: int,
    options: Options,  # noqa: ARG001
) -> str:
    """Return the text in front of everything; without examples, one that does not refer to them."""
    return template.system if shots or not template.zero_shot else template.zero_shot


def no_examples(
    rows: list[Any],  # noqa: ARG001
    template: PromptTemplate,  # noqa: ARG001
    task: NamedTask,  # noqa: ARG001
    subject: Subject,  # noqa: ARG001
    options: Options,  # noqa: ARG001
) -> list[Example]:
    """Return no worked examples, for data without answers."""
    return []


def stop(template: PromptTemplate, options: Options) -> tuple[str, ...]:
    """Return the texts before which a response ends."""
    return () if options.reasoning else template.stop


def fill(text: str, **values: str) -> str:
    """Put values in the places of a text.

    Not `str.format`: what is put in, and the rest of the text, may have braces of its own.

    Example:
        >>> fill("Example {number}: {source}", source="{number}", number="1")
        'Example 1: {number}'
    """
    return re.sub(r"\{(\w+)\}", lambda place: values.get(place[1], place[0]), text)


def room(tokens: int, options: Options) -> int:
    """Return the longest response to ask for, in tokens: more where the model reasons first."""
    return _REASONING_TOKENS if options.reasoning else tokens


def fluency_values(fluency: Fluency) -> dict[str, float]:
    """Return the values of `FLUENCY_METRICS`.

    Example:
        >>> from hkcanto_metrics.fluency import cantonese_fluency
        >>> fluency_values(cantonese_fluency("佢哋啱啱返咗屋企。"))
        {'fluent': 1.0, 'cantonese_ratio': 1.0, 'degenerate': 0.0}
    """
    return {
        "fluent": float(fluency.passed),
        "cantonese_ratio": fluency.cantonese_ratio,
        "degenerate": float(fluency.degenerate),
    }


def fluency_weights(fluency: Fluency) -> Mapping[str, float]:
    """Return the number of features that `cantonese_ratio` was counted in."""
    return {"cantonese_ratio": fluency.cantonese_ratio.total}


def explain_cleaning(cleaned: Cleaned) -> str:
    """Say in Markdown what was removed from a response."""
    if not cleaned.removed:
        return ""
    return f"Removed before scoring: {', '.join(cleaned.removed)}.\n\n"


def explain_fluency(fluency: Fluency) -> str:
    """Say in Markdown why a text passes as Cantonese, or does not.

    Example:
        >>> from hkcanto_metrics.fluency import cantonese_fluency
        >>> explain_fluency(cantonese_fluency("他們剛回家。"))
        'Not fluent Cantonese: swc. Words of Written Chinese: 他 (at 0).'
    """
    verdict = "Fluent Cantonese" if fluency.passed else "Not fluent Cantonese"
    loop = ", caught in a loop" if fluency.degenerate else ""
    terms = "、".join(f"{term.term} (at {term.start})" for term in fluency.swc_terms)
    found = f" Words of Written Chinese: {terms}." if terms else ""
    return f"{verdict}: {fluency.label}{loop}.{found}"
