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

    def logged(self) -> dict[str, Any]:
        """Return the record that both harnesses log.

        Examples:
            >>> Judgement({"acc": 1.0}, answer="B", explanation="Right.").logged()
            {'values': {'acc': 1.0}, 'answer': 'B'}
        """
        record: dict[str, Any] = msgspec.to_builtins(self)
        record.pop("explanation", None)
        return record
