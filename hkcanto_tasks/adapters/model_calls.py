"""Model calls about logged answers, which the workbench asks of an adapter.

The Inspect adapter has them in `hkcanto.model_calls`; lm-eval cannot call a second model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from ..kinds.base import Kind
from ..kinds.judged import Judged, Said
from ..samples import Sample

AnyKind = TypeVar("AnyKind", bound=Kind, covariant=True)
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of replies so far and the total."""


@dataclass(frozen=True, slots=True)
class LoggedAnswer(Generic[AnyKind]):
    """An answer of a log, to show to a model.

    Attributes:
        kind: The task as it was run.
        sample: The item.
        text: The answer, without its reasoning.
    """

    kind: AnyKind
    sample: Sample
    text: str


@dataclass(frozen=True, slots=True)
class LetterReply:
    """A model's reply about the option that an answer chose.

    Attributes:
        letter: The option's letter; empty if the reply names none.
        failure: Why there is no reply; empty if there is one.
    """

    letter: str = ""
    failure: str = ""


class ModelCalls(Protocol):
    """The functions of an adapter that show logged answers to a model.

    Each returns one reply for each answer, in the same order. A failed request is a reply with a
    `failure`; a model that cannot be created is an error.
    """

    def read_letters(
        self,
        reader: str,
        answers: Sequence[LoggedAnswer[Kind]],
        progress: Progress,
    ) -> Sequence[LetterReply]:
        """Have a model read the letters of answers to multiple-choice questions.

        Args:
            reader: The model, as the adapter's harness names it.
            answers: The answers.
            progress: Called after each reply.
        """

    def grade(
        self,
        grader: str,
        answers: Sequence[LoggedAnswer[Judged]],
        progress: Progress,
    ) -> Sequence[Said]:
        """Have a model judge answers by the rubrics of their tasks.

        Args:
            grader: The model, as the adapter's harness names it.
            answers: The answers.
            progress: Called after each reply.
        """
