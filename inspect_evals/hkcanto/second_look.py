"""A second look at responses that the rules cannot read: a model says which option each one chose.

Rules read only stated choices. A model may understand the responses that the rules leave unread
("Answer regeneration", arXiv:2510.14773). The headline is still computed from the rules; the second
look has its own figures. lm-eval has no second turn, so only Inspect has this.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.scorer import Metric, Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from hkcanto_metrics.choice import read_choice
from hkcanto_metrics.reasoning import split_reasoning
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.kinds.base import REASONING_TOKENS, Kind
from hkcanto_tasks.kinds.multiple_choice import MultipleChoice
from hkcanto_tasks.prompts import fill
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import task_as_run

from .scorers import reasoning_of

# The role of the model that takes the second look; by default, the model under test does.
ROLE = "reader"

# Shares of responses read by the rules, by the second look, and by neither; accuracy with both.
_SHARES = ("read", "forced", "none")
SECOND_LOOK_METRICS: dict[str, list[Metric]] = {name: [mean()] for name in _SHARES}
SECOND_LOOK_METRICS["acc_reread"] = [mean(), stderr()]

# A letter takes one token; some servers refuse to send fewer than 16.
_TOKENS = 16
_LONGEST = 4_000  # characters of a response, from its end
_PROMPT = """\
下面有一條選擇題，同埋一個人對佢嘅回應。

題目：
{question}
{options}

回應：
{response}

呢個回應揀咗邊一個選項？只可以答一個字母。如果佢一個都冇揀，或者揀咗多過一個，就答 none。
所以答案係（"""


@scorer(metrics=SECOND_LOOK_METRICS)
def second_look(task: str | list[str], options: dict[str, Any] | None = None) -> Scorer:
    """Have the model in the role `reader` read the letter if the rules read none.

    Args:
        task: The task's name in lm-eval; with several, each sample names its own.
        options: The options of its kind.

    Raises:
        OptionError: A task is not a multiple-choice task with one right option.
    """
    names = [task] if isinstance(task, str) else task
    setups = {name: task_as_run(name, **(options or {})) for name in names}
    for name, how in setups.items():
        if not isinstance(how, MultipleChoice) or how.SEVERAL:
            why = f"{name}: reread=true works only for multiple choice with one right option"
            raise OptionError(f"{why}; leave it out.")

    async def score(state: TaskState, target: Target) -> Score:
        how = setups[state.metadata["task"] if len(names) > 1 else names[0]]
        sample, reasoning = (
            msgspec.convert(state.metadata, Sample),
            reasoning_of(state.output),
        )
        letter = how.judge(state.output.completion, sample, reasoning).answer
        found, said, reader = "read" if letter else "none", "", ""
        response = split_reasoning(state.output.completion, reasoning).answer.strip()
        if response and not letter:
            model = get_model(role=ROLE, default=get_model())
            letter, said = await _look(model, how, sample, response)
            reader, found = str(model), "forced" if letter else "none"
        values = {name: float(found == name) for name in _SHARES}
        return Score(
            value={**values, "acc_reread": float(letter == target.text)},
            answer=letter,
            explanation=f"{reader} said {said!r}."
            if reader
            else "The reader was not asked.",
            metadata={"reader": reader} if reader else None,
        )

    return score


def read_letters(
    reader: str, unread: Sequence[tuple[Kind, Sample, str]]
) -> list[str | BaseException]:
    """Have a model read the letters of logged responses.

    Args:
        reader: The model, by its Inspect name.
        unread: For each response the setup, the item, and the answer after any reasoning.

    Returns:
        For each response its letter (empty if it has none), or the error of the request.
    """

    async def ask() -> list[tuple[str, str] | BaseException]:
        async with get_model(reader) as model:
            looks = (_look(model, *item) for item in unread)
            return await asyncio.gather(*looks, return_exceptions=True)

    return [
        look if isinstance(look, BaseException) else look[0]
        for look in asyncio.run(ask())
    ]


async def _look(
    model: Model, how: Kind, sample: Sample, response: str
) -> tuple[str, str]:
    """Return the letter that a model's reply settles on, empty if it has none, and the reply."""
    config = GenerateConfig(
        max_tokens=REASONING_TOKENS if how.options.reasoning else _TOKENS
    )
    values = {**how.values(sample), "response": response[-_LONGEST:]}
    reply = (await model.generate(fill(_PROMPT, values), config=config)).completion
    answer = _PROMPT.splitlines()[-1] + split_reasoning(reply).answer.strip()
    return read_choice(answer, how.lettered(sample)).letter or "", reply
