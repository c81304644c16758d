"""The judgement of one response, in the form that both harnesses log."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hkcanto_metrics.language import WrittenLanguage


class Judgement(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The judgement of one response.

    Attributes:
        values: Figure of an item → its value. Names and order are those of the task's kind.
        answer: The answer read from the response: a letter, Jyutping, the text without wrapping.
        reason: How it was read, or what prevented that: `none: refusal`.
        weights: Figure → length of the reference, for rates that are pooled over items.
        details: Anything else worth keeping in a log.
        length: Characters of the response after its reasoning.
        reasoning: The language of the reasoning block, and whether the block has an end; None
            without a block.
        answer_language: For responses with reasoning, the language of the scored text; `none` if
            that is not prose, such as a letter.
        explanation: The reasons for the values, in Markdown, for people. It is not logged with the
            rest, since Inspect has its own field for it.
    """

    values: Mapping[str, float | None]
    answer: str = ""
    reason: str = ""
    weights: Mapping[str, float] = {}
    details: Mapping[str, str] = {}
    length: int = 0
    reasoning: WrittenLanguage | None = None
    answer_language: str = "none"
    explanation: str = ""

    @property
    def outcome(self) -> tuple[object, ...]:
        """The parts that figures are computed from."""
        return self.answer, self.values, self.weights

    def logged(self) -> dict[str, Any]:
        """Return the record that both harnesses log.

        Examples:
            >>> Judgement({"acc": 1.0}, answer="B", explanation="Right.").logged()
            {'values': {'acc': 1.0}, 'answer': 'B'}
        """
        record: dict[str, Any] = msgspec.to_builtins(self)
        record.pop("explanation", None)
        return record


def judge_reading(
    form: str,
    answer: str | None,
    reason: str,
    target: str,
    *,
    right: bool | None = None,
) -> Judgement:
    """Return the judgement of an answer that was read from a response, by its accuracy.

    Args:
        form: The form of answer that was looked for, such as `letter`.
        answer: The answer that was read; None if there was none.
        reason: How it was read, or why it was not.
        target: The right answer.
        right: Whether it is right; by default whether it equals the target.

    Examples:
        >>> judge_reading("letter", "B", "bare", "C").values
        {'acc': 0.0, 'unparsed_rate': 0.0}
    """
    if right is None:
        right = answer == target
    why = f" ({reason})" if reason else ""
    if answer is None:
        explanation = f"No {form} could be read from the response{why}."
    else:
        explanation = f"The response was read as {answer}{why}; the answer is {target}."
    return Judgement(
        values={"acc": float(right), "unparsed_rate": float(answer is None)},
        answer=answer or "",
        reason=reason,
        explanation=explanation,
    )
