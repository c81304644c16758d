"""Show logged answers to a model: our side of `hkcanto_tasks.adapters.model_calls`."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from inspect_ai.model import Model, get_model

from hkcanto_tasks.adapters.model_calls import LetterReply, LoggedAnswer, Progress
from hkcanto_tasks.kinds.base import Kind
from hkcanto_tasks.kinds.judged import Judged, Said

from .judges.rubric import judge_answer
from .second_look import look_again

_AnyKind = TypeVar("_AnyKind", bound=Kind)
_AnyReply = TypeVar("_AnyReply")


def read_letters(
    reader: str,
    answers: Sequence[LoggedAnswer[Kind]],
    progress: Progress,
) -> list[LetterReply]:
    """Have a model read the letters of logged answers to multiple-choice questions.

    Args:
        reader: The model, by its Inspect name.
        answers: The answers.
        progress: Called after each reply.

    Returns:
        A reply for each answer; a failed request is one with a `failure`.
    """

    async def read_letter(model: Model, answer: LoggedAnswer[Kind]) -> LetterReply:
        try:
            letter, _ = await look_again(
                model,
                answer.kind,
                answer.sample,
                answer.text,
            )
        except Exception as error:  # any error of the provider
            return LetterReply(failure=str(error) or type(error).__name__)
        return LetterReply(letter)

    return _replies(
        reader,
        answers,
        read_letter,
        progress,
    )


def grade(
    grader: str,
    answers: Sequence[LoggedAnswer[Judged]],
    progress: Progress,
) -> list[Said]:
    """Have a model judge logged answers by the rubrics of their tasks.

    Args:
        grader: The model, by its Inspect name.
        answers: The answers.
        progress: Called after each reply.

    Returns:
        For each answer the judge's reply, or why it could not be asked.
    """

    async def judge(model: Model, answer: LoggedAnswer[Judged]) -> Said:
        return await judge_answer(
            model,
            answer.kind,
            answer.sample,
            answer.text,
            epoch=1,
            seed=1,
        )

    return _replies(
        grader,
        answers,
        judge,
        progress,
    )


def _replies(
    name: str,
    answers: Sequence[LoggedAnswer[_AnyKind]],
    ask: Callable[[Model, LoggedAnswer[_AnyKind]], Awaitable[_AnyReply]],
    progress: Progress,
) -> list[_AnyReply]:
    """Ask a model about all answers at once."""
    done = 0

    async def counted(request: Awaitable[_AnyReply]) -> _AnyReply:
        nonlocal done
        reply = await request
        done += 1
        progress(done, len(answers))
        return reply

    async def ask_all() -> list[_AnyReply]:
        async with get_model(name) as model:
            requests = (counted(ask(model, answer)) for answer in answers)
            return await asyncio.gather(*requests)

    return asyncio.run(ask_all())
