"""Rendering of prompts: the one place where the text that a model sees is put together."""

from collections.abc import Sequence
from dataclasses import dataclass

from .records import Example, Message


@dataclass(frozen=True, slots=True)
class Prompt:
    r"""A few-shot prompt in parts, to be rendered as plain text or as chat messages.

    Attributes:
        system: Instruction in front of everything; ends in the white space that follows it.
        examples: Worked examples, in order.
        question: The question to answer.
        answer_separator: Between a question and its answer.
        example_separator: After each worked example.

    Example:
        >>> p = Prompt("Add.\n", [Example("1+1", "2")], "2+3=", "=", "\n")
        >>> p.text()
        'Add.\n1+1=2\n2+3='
    """

    system: str
    examples: Sequence[Example]
    question: str
    answer_separator: str
    example_separator: str

    def text(self) -> str:
        """Return the prompt as one string, for base models and completion APIs."""
        return self.system + self._user_text()

    def messages(self, *, multiturn: bool = False) -> list[Message]:
        """Return the prompt as chat messages.

        Args:
            multiturn: One user and one assistant message per worked example, instead of all
                examples in front of the question in a single user message.
        """
        system = [Message("system", self.system)] if self.system else []
        if not multiturn:
            return [*system, Message("user", self._user_text())]
        turns = [
            Message(role, text)
            for example in self.examples
            for role, text in (("user", example.question), ("assistant", example.answer))
        ]
        return [*system, *turns, Message("user", self.question)]

    def _user_text(self) -> str:
        examples = (
            example.question + self.answer_separator + example.answer + self.example_separator
            for example in self.examples
        )
        return "".join(examples) + self.question
