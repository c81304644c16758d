"""Show logged answers to a model: our side of `hkcanto_tasks.adapters.model_calls`."""

import asyncio
from collections.abc import Sequence

from inspect_ai.model import Model, get_model

from hkcanto_tasks.adapters.model_calls import LetterReply, LoggedAnswer
from hkcanto_tasks.kinds.base import Kind
from hkcanto_tasks.kinds.judged import Judged, Said

from .judges.rubric import judge_answer
from .second_look import look_again


def read_letters(
    reader: str, answers: Sequence[LoggedAnswer[Kind]]
) -> list[LetterReply]:
    """Have a model read the letters of logged answers to multiple-choice questions.

    Args:
        reader: The model, by its Inspect name.
        answers: The answers.

    Returns:
        A reply for each answer; a failed request is one with a `failure`.
    """

    async def read_letter(model: Model, answer: LoggedAnswer[Kind]) -> LetterReply:
        try:
            letter, _ = await look_again(model, answer.kind, answer.sample, answer.text)
        except Exception as error:  # any error of the provider
            return LetterReply(failure=str(error) or type(error).__name__)
        return LetterReply(letter)

    async def ask_all() -> list[LetterReply]:
        async with get_model(reader) as model:
            requests = (read_letter(model, answer) for answer in answers)
            return await asyncio.gather(*requests)

    return asyncio.run(ask_all())


def grade(grader: str, answers: Sequence[LoggedAnswer[Judged]]) -> list[Said]:
    """Have a model judge logged answers by the rubrics of their tasks.

    Args:
        grader: The model, by its Inspect name.
        answers: The answers.

    Returns:
        For each answer the judge's reply, or why it could not be asked.
    """

    async def ask_all() -> list[Said]:
        async with get_model(grader) as model:
            requests = (
                judge_answer(
                    model,
                    answer.kind,
                    answer.sample,
                    answer.text,
                    epoch=1,
                    seed=1,
                )
                for answer in answers
            )
            return await asyncio.gather(*requests)

    return asyncio.run(ask_all())
