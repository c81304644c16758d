"""A judge that applies the rubric of a benchmark (the kind `judged`)."""

import asyncio
from collections.abc import Sequence

from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.util import collect

from hkcanto_tasks.kinds.judged import ON_LINE, Judged, Said, read_level
from hkcanto_tasks.printable import valid
from hkcanto_tasks.prompts import fill
from hkcanto_tasks.samples import Sample

from .panel import Unusable, Verdict, ask_judge, fresh_code, judge_texts, panel


async def ask_role(
    how: Judged, sample: Sample, answer: str, epoch: int
) -> Sequence[Said]:
    """Have each model of the role `grader` judge an answer.

    Args:
        how: The task's setup.
        sample: The item.
        answer: The answer, without its reasoning.
        epoch: The number of the answer among those to the same item.

    Raises:
        PrerequisiteError: The role has no model.
    """
    judges = enumerate(panel(), start=1)
    return await collect(
        *(_ask(model, how, sample, answer, epoch, seed) for seed, model in judges)
    )


def grade(grader: str, answers: Sequence[tuple[Judged, Sample, str]]) -> list[Said]:
    """Have a model judge logged answers.

    Args:
        grader: The model, by its Inspect name.
        answers: For each answer the setup, the item, and the answer without its reasoning.

    Returns:
        For each answer the judge's reply, or why it could not be asked.
    """

    async def ask() -> list[Said]:
        async with get_model(grader) as model:
            return await asyncio.gather(
                *(_ask(model, *each, epoch=1, seed=1) for each in answers)
            )

    return asyncio.run(ask())


async def _ask(
    grader: Model, how: Judged, sample: Sample, answer: str, epoch: int, seed: int
) -> Said:
    answer, texts = valid(answer), list[str]()

    def read(reply: str) -> Verdict:
        texts.append(reply)
        try:
            return Verdict({"level": read_level(reply, how.rubric, on_line).number}, {})
        except ValueError as error:
            raise Unusable(str(error)) from error

    code = fresh_code(sample.id, epoch, answer, str(grader), seed)
    on_line, prompt = code[:ON_LINE], how.request(answer, sample, code)
    marker = {"marker": f"{how.rubric.marker} {on_line}"}
    retry = fill(judge_texts()["retry_level"], marker, keep=True)
    made = await ask_judge(grader, prompt, GenerateConfig(seed=seed), read, retry)
    failure = "" if made.values or texts else str(made.record["failure"])
    return Said(str(grader), texts[-1] if texts else "", failure, on_line)
