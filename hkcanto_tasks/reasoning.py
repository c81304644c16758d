"""The language of a model's reasoning, whatever the task: its record in logs, and its figures."""

from collections.abc import Mapping, Sequence

from .figures import Figure
from .judgements import Reasoning

_SHARES = (
    Figure(
        "reasoning_cantonese",
        "Reasoning in Cantonese",
        "share",
        None,
        "Share of reasoning blocks that are in Cantonese. Responses without one do not count.",
        diagnostic=True,
    ),
    Figure(
        "reasoning_finished",
        "Reasoning finished",
        "share",
        True,
        "Share of reasoning blocks that have an end.",
        diagnostic=True,
    ),
)
_RIGHT = Figure(
    "acc_reasoning_cantonese",
    "Right by Cantonese reasoning",
    "share",
    True,
    "Share of responses with a reasoning block that are right and whose block is in Cantonese.",
    diagnostic=True,
)
LANGUAGES = {
    "cantonese": "Cantonese",
    "written_chinese": "Written Chinese",
    "simplified_mandarin": "Simplified Mandarin",
    "english": "English",
    "mixed": "Mixed",
    "other": "Other",
    "none": "No prose",
}
"""Language → what a person calls it, as `hkcanto_metrics.language` tells them apart."""


def judge_reasoning(response: str, reasoning: str, answer: str) -> Reasoning | None:
    """Judge the language of a response's reasoning block; None if it has none.

    Args:
        response: What the model wrote, with its reasoning or without.
        reasoning: The reasoning, where the server handed it over apart.
        answer: What is scored of the response.

    Examples:
        >>> judge_reasoning("<think>佢問緊邊個？</think>B", "", "B").language
        'cantonese'
    """
    from hkcanto_metrics.language import identify_language, score_reasoning

    found = score_reasoning(response, reasoning)
    if found.finished is None:
        return None
    return Reasoning(
        language=found.language,
        answer_language=identify_language(answer).language,
        finished=found.finished,
        cantonese_share=found.cantonese_share,
        script=found.script,
        n_characters=found.n_characters,
    )


def with_reasoning(of_kind: Sequence[Figure]) -> Sequence[Figure]:
    """Return the figures of a kind and those of reasoning."""
    right = [_RIGHT] * any(figure.name == "acc" for figure in of_kind)
    return [*of_kind, *_SHARES, *right]


def reasoning_values(of: Reasoning, values: Mapping[str, float | None]) -> dict[str, float]:
    """Return an item's values of the figures of reasoning, and 1 or 0 for each language.

    Args:
        of: Its reasoning.
        values: Those of its kind's figures.

    Examples:
        >>> reasoning_values(Reasoning("english"), {"acc": 1.0})["acc_reasoning_cantonese"]
        0.0
    """
    found = {f"reasoning_{name}": float(of.language == name) for name in LANGUAGES}
    found["reasoning_finished"] = of.finished
    if of.answer_language != "none":
        found |= {f"answer_{name}": float(of.answer_language == name) for name in LANGUAGES}
    if (acc := values.get("acc")) is not None:
        found[_RIGHT.name] = acc * found["reasoning_cantonese"]
    return found
