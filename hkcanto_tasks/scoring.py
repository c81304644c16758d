"""Scoring of one response: the same in both harnesses, so that equal answers score equally."""

from collections.abc import Sequence

from hkcanto_metrics.reasoning import strip_reasoning

from .kinds import Kind
from .records import Judgement


def judge(
    kind: Kind, response: str, target: str, choices: Sequence[str | None], stop: Sequence[str]
) -> Judgement:
    """Judge a model's response to an item.

    Args:
        kind: The kind of the item's task.
        response: What the model wrote, with or without its reasoning block.
        target: The item's `Sample.target`.
        choices: The item's `Sample.choices`.
        stop: Texts before which the answer ends.

    Example:
        >>> from hkcanto_tasks.kinds import kinds
        >>> judge(kinds()["g2p"], "<think>nei5?</think>hou2", "hou2", (), ()).values["ser"]
        0.0
    """
    return kind.score(until_stop(strip_reasoning(response).lstrip(), stop), target, choices)


def until_stop(response: str, stop: Sequence[str]) -> str:
    r"""Cut a response before the first of some texts.

    Harnesses and servers differ in whether they honour stop texts; cutting here makes the same
    model get the same score everywhere.

    Example:
        >>> until_stop("nei5 hou2\nExample 7", ["\nExample"])
        'nei5 hou2'
    """
    ends = [response.find(text) for text in stop]
    return response[: min((end for end in ends if end >= 0), default=len(response))]
