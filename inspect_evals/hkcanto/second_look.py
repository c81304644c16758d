"""A second look at responses that the rules cannot read: a model says which option each one chose.

Rules read only stated choices. A model may understand the responses that the rules leave unread
("Answer regeneration", arXiv:2510.14773). The headline is still computed from the rules; the second
look has its own figures. lm-eval has no second turn, so only Inspect has this.
"""

from typing import Any

import msgspec
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.scorer import Metric, Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from hkcanto_metrics.choice import read_choice
from hkcanto_metrics.reasoning import split_reasoning
from hkcanto_tasks.adapters.second_look import (
    ACCURACY,
    LONGEST_RESPONSE,
    PROMPT,
    SHARES,
)
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.kinds.base import REASONING_TOKENS, Kind
from hkcanto_tasks.kinds.multiple_choice import MultipleChoice
from hkcanto_tasks.prompts import fill
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import task_as_run

from .scorers import reasoning_of

# The role of the model that takes the second look; by default, the model under test does.
ROLE = "reader"

SECOND_LOOK_METRICS: dict[str, list[Metric]] = {
    **{share: [mean()] for share in SHARES},
    ACCURACY: [mean(), stderr()],
}

# A letter takes one token; some servers refuse to send fewer than 16.
_LETTER_TOKENS = 16


@scorer(metrics=SECOND_LOOK_METRICS)
def second_look(
    task: str | list[str],
    options: dict[str, Any] | None = None,
) -> Scorer:
    """Have the model in the role `reader` read the letter if the rules read none.

    Args:
        task: The task's name in lm-eval; with several, each sample names its own.
        options: The options of its kind.

    Raises:
        OptionError: A task is not a multiple-choice task with one right option.
    """
    names = [task] if isinstance(task, str) else task
    kinds = {name: task_as_run(name, **(options or {})) for name in names}
    for name, kind in kinds.items():
        if not isinstance(kind, MultipleChoice) or kind.SEVERAL:
            raise OptionError(
                f"{name}: reread=true works only for multiple choice with one right option; "
                "leave it out."
            )

    async def score(state: TaskState, target: Target) -> Score:
        name = state.metadata["task"] if len(names) > 1 else names[0]
        kind = kinds[name]
        sample = msgspec.convert(state.metadata, Sample)
        response = state.output.completion
        reasoning = reasoning_of(state.output)
        letter = kind.judge(response, sample, reasoning).answer
        if letter:
            return _scored("read", letter, target)
        answer = split_reasoning(response, reasoning).answer.strip()
        if not answer:
            return _scored("none", "", target)
        reader = get_model(role=ROLE, default=get_model())
        letter, reply = await look_again(
            reader,
            kind,
            sample,
            answer,
        )
        score = _scored("forced" if letter else "none", letter, target)
        score.explanation = f"{reader} said {reply!r}."
        score.metadata = {"reader": str(reader)}
        return score

    return score


def _scored(
    share: str,
    letter: str,
    target: Target,
) -> Score:
    """Return the score of a response that counts in one of the shares."""
    values = {name: float(name == share) for name in SHARES}
    values[ACCURACY] = float(letter == target.text)
    return Score(
        value=values,
        answer=letter,
        explanation="The reader was not asked.",
    )


async def look_again(
    reader: Model,
    kind: Kind,
    sample: Sample,
    answer: str,
) -> tuple[str, str]:
    """Return the letter that a model's reply settles on, empty if it has none, and the reply.

    Args:
        reader: The model.
        kind: The task.
        sample: The item.
        answer: The answer of the model under test, without its reasoning.
    """
    limit = REASONING_TOKENS if kind.options.reasoning else _LETTER_TOKENS
    values = {**kind.values(sample), "response": answer[-LONGEST_RESPONSE:]}
    prompt = fill(PROMPT, values)
    output = await reader.generate(prompt, config=GenerateConfig(max_tokens=limit))
    reply = output.completion
    # The reader continues the prompt's last line, 所以答案係（.
    continued = PROMPT.splitlines()[-1] + split_reasoning(reply).answer.strip()
    return read_choice(continued, kind.lettered(sample)).letter or "", reply
