"""What was read from one response, in the one form in which both harnesses log it."""

from collections.abc import Mapping
from typing import Any

import msgspec


class Reasoning(msgspec.Struct, frozen=True, gc=False):
    """What is logged of a response with a reasoning block.

    Attributes:
        language: The block's, of `hkcanto_tasks.reasoning.LANGUAGES`.
        answer_language: That of what is scored; `none` where it is no prose, such as a letter.
        finished: Whether the block has an end: 1 or 0.
        cantonese_share: Share of Cantonese features, from 0 to 1.
        script: Of the block's Chinese: `hant`, `hans`, `mixed` or `none`.
        n_characters: Length of the block, without white space.
    """

    language: str
    answer_language: str = "none"
    finished: float = 1.0
    cantonese_share: float = 0.0
    script: str = "none"
    n_characters: int = 0


class Judgement(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The judgement of one response.

    Attributes:
        values: Figure of an item → its value. Names and order are those of the task's kind.
        answer: What was read out of the response: a letter, Jyutping, the text without wrapping.
        reason: How it was read, or why it was not: `none: refusal`.
        weights: Figure → length of the reference, for the rates that a corpus pools.
        details: Anything else worth keeping in a log.
        length: Characters of the response after its reasoning.
        reasoning: The language and length of the reasoning block; None without one.
        explanation: Why the values are what they are, in Markdown, for people. It is not logged
            with the rest: Inspect has a place of its own for it.
    """

    values: Mapping[str, float | None]
    answer: str = ""
    reason: str = ""
    weights: Mapping[str, float] = {}
    details: Mapping[str, str] = {}
    length: int = 0
    reasoning: Reasoning | None = None
    explanation: str = ""

    def logged(self) -> dict[str, Any]:
        """Return the form in which both harnesses log it.

        Examples:
            >>> Judgement({"acc": 1.0}, answer="B", explanation="Right.").logged()
            {'values': {'acc': 1.0}, 'answer': 'B'}
        """
        record: dict[str, Any] = msgspec.to_builtins(self)
        record.pop("explanation", None)
        return record
