"""The figures of a model's reasoning, whatever the task: its language, and whether it ends."""

from collections.abc import Mapping, Sequence

from hkcanto_metrics.language import WrittenLanguage

from .figures import Figure

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


def with_reasoning(of_kind: Sequence[Figure]) -> Sequence[Figure]:
    """Return the figures of a kind and those of reasoning."""
    right = [_RIGHT] * any(figure.name == "acc" for figure in of_kind)
    return [*of_kind, *_SHARES, *right]


def reasoning_values(
    of: WrittenLanguage, answer_language: str, values: Mapping[str, float | None]
) -> dict[str, float]:
    """Return an item's values of the figures of reasoning, and 1 or 0 for each language.

    Args:
        of: The language of its reasoning.
        answer_language: That of its answer.
        values: Those of its kind's figures.

    Examples:
        >>> reasoning_values(WrittenLanguage("english"), "none", {"acc": 1.0})[_RIGHT.name]
        0.0
    """
    found = {f"reasoning_{name}": float(of.language == name) for name in LANGUAGES}
    found["reasoning_finished"] = of.finished or 0.0
    if answer_language != "none":
        found |= {f"answer_{name}": float(answer_language == name) for name in LANGUAGES}
    if (acc := values.get("acc")) is not None:
        found[_RIGHT.name] = acc * found["reasoning_cantonese"]
    return found
