"""Warn of responses cut off while reasoning, because the token limit is only for the answer."""

from hkcanto_metrics.reasoning import may_reason

from ..judgements import Judgement
from ..kinds.base import Kind

FIRST = 32
"""The number of responses after which a run warns, which is early enough to stop it."""


def room_warning(
    kind: Kind,
    template: str,
    prompt: str,
    option: str,
) -> str:
    """Return a warning if the token limit leaves no room for reasoning; otherwise empty.

    Args:
        kind: The task.
        template: The model's chat template; empty if it has none.
        prompt: A chat rendered with the template.
        option: The option that allows reasoning.
    """
    if kind.options.reasoning or not kind.is_generative:
        return ""
    if not may_reason(template, prompt):
        return ""
    return (
        f"{kind.task.name}: the chat template has a reasoning block, but a response may have only "
        f"{kind.max_tokens} tokens. If the model reasons, run with {option}; if not, switch "
        "reasoning off in the template (enable_thinking=False)."
    )


class CutOff:
    """Counter of a task's responses that were cut off before they had an answer.

    Examples:
        >>> from hkcanto_tasks.tasks import task_as_run
        >>> kind = task_as_run("hkmmlu")
        >>> counter = CutOff(kind, "-T reasoning=true")
        >>> counter.add(Judgement({"acc": 0.0}, reason="none: cut off"))
        >>> counter.warning.partition(": run with ")[2]
        '-T reasoning=true'
    """

    def __init__(
        self,
        kind: Kind,
        option: str,
    ) -> None:
        self._kind = kind
        self._option = option
        self.responses = 0
        self.cut = 0

    def add(self, judgement: Judgement) -> None:
        """Count the judgement of one response."""
        self.responses += 1
        self.cut += judgement.reason == "none: cut off"

    @property
    def warning(self) -> str:
        """The warning."""
        kind = self._kind
        advice = f"run with {self._option}"
        if kind.options.reasoning:
            advice = "the limit is the one for reasoning; ask the model to think less"
        return (
            f"{kind.task.name}: {self.cut} of {self.responses} responses were cut off at "
            f"{kind.max_tokens} tokens while reasoning: {advice}"
        )
