"""Scoring of one response: the same in both harnesses, so that equal answers score equally."""

from collections.abc import Sequence

from hkcanto_metrics.reasoning import strip_reasoning

from .catalogue import find_task
from .kinds import kinds
from .records import Judgement


def judge(task: str, response: str, target: str) -> Judgement:
    """Judge a model's response to an item of a task.

    Args:
        task: The task's name in lm-eval.
        response: What the model wrote, with or without its reasoning block.
        target: The item's `Sample.target`.

    Example:
        >>> judge("hkcanto_g2p", "<think>nei5?</think>nei5 hou2", "nei5 hou2").values["ser"]
        0.0
    """
    _, entry = find_task(task)
    answer = until_stop(strip_reasoning(response), entry.stop)
    return kinds()[entry.kind].score(answer, target)


def until_stop(response: str, stop: Sequence[str]) -> str:
    r"""Cut a response before the first text that only a run-away base model writes.

    Harnesses and servers differ in whether they honour stop texts; cutting here makes the same
    model get the same score everywhere.

    Example:
        >>> until_stop("nei5 hou2\nExample 7", ["\nExample"])
        'nei5 hou2'
    """
    ends = [response.find(text) for text in stop]
    return response[: min((end for end in ends if end >= 0), default=len(response))]
