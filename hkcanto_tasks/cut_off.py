"""Warn of responses cut off while reasoning, because the token limit is only for the answer."""

from hkcanto_metrics.reasoning import may_reason

from .judgements import Judgement
from .kinds.base import Kind

FIRST = 32
"""The number of responses after which a run warns, which is early enough to stop it."""


def foretold(how: Kind, template: str, prompt: str, option: str) -> str:
    """Return a warning, before the first request, if there is no room to reason; else empty.

    Args:
        how: The task.
        template: The model's chat template; empty if it has none.
        prompt: A chat rendered with the template.
        option: The option that allows reasoning.
    """
    if (
        how.options.reasoning
        or not how.is_generative
        or not may_reason(template, prompt)
    ):
        return ""
    return (
        f"{how.task.name}: the chat template has a reasoning block, but a response may have only "
        f"{how.max_tokens} tokens. If the model reasons, run with {option}; if not, switch "
        "reasoning off in the template (enable_thinking=False)."
    )


class CutOff:
    """Counter of a task's responses that were cut off before they had an answer.

    Examples:
        >>> from hkcanto_tasks.tasks import task_as_run
        >>> how = task_as_run("hkmmlu")
        >>> seen = CutOff(how, "-T reasoning=true")
        >>> seen.add(Judgement({"acc": 0.0}, reason="none: cut off"))
        >>> seen.told.partition(": run with ")[2]
        '-T reasoning=true'
    """

    def __init__(self, how: Kind, option: str) -> None:
        self._how, self._option = how, option
        self.responses = self.cut = 0

    def add(self, judgement: Judgement) -> None:
        """Count the judgement of one response."""
        self.responses += 1
        self.cut += judgement.reason == "none: cut off"

    @property
    def told(self) -> str:
        """The warning."""
        how, less = (
            self._how,
            "the limit is the one for reasoning; ask the model to think less",
        )
        advice = less if how.options.reasoning else f"run with {self._option}"
        cut = f"{self.cut} of {self.responses} responses were cut off at {how.max_tokens} tokens"
        return f"{how.task.name}: {cut} while reasoning: {advice}"
