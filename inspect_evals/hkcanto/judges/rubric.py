"""A judge that applies the rubric of a benchmark (the kind `judged`)."""

from collections.abc import Sequence

from inspect_ai.model import GenerateConfig, Model
from inspect_ai.util import collect

from hkcanto_metrics.reasoning import valid
from hkcanto_tasks.kinds.judged import ON_LINE, Judged, Said, read_level
from hkcanto_tasks.prompts import fill
from hkcanto_tasks.samples import Sample

from .panel import Unusable, Verdict, ask_judge, fresh_code, judge_texts, panel


async def ask_role(
    kind: Judged,
    sample: Sample,
    answer: str,
    epoch: int,
) -> Sequence[Said]:
    """Have each model of the role `grader` judge an answer.

    Args:
        kind: The task.
        sample: The item.
        answer: The answer, without its reasoning.
        epoch: The number of the answer among those to the same item.

    Raises:
        PrerequisiteError: The role has no model.
    """
    requests = [
        judge_answer(
            grader,
            kind,
            sample,
            answer,
            epoch,
            seed,
        )
        for seed, grader in enumerate(panel(), start=1)
    ]
    return await collect(*requests)


async def judge_answer(
    grader: Model,
    kind: Judged,
    sample: Sample,
    answer: str,
    epoch: int,
    seed: int,
) -> Said:
    """Return a judge's reply about an answer, or why it could not be asked.

    Args:
        grader: The judge.
        kind: The task.
        sample: The item.
        answer: The answer, without its reasoning.
        epoch: The number of the answer among those to the same item.
        seed: The seed of the request.
    """
    answer = valid(answer)
    code = fresh_code(
        sample.id,
        epoch,
        answer,
        str(grader),
        seed,
    )
    line_code = code[:ON_LINE]
    replies: list[str] = []

    def verdict(reply: str) -> Verdict:
        replies.append(reply)
        try:
            level = read_level(reply, kind.rubric, line_code)
        except ValueError as error:
            raise Unusable(str(error)) from error
        return Verdict({"level": level.number}, {})

    retry = fill(
        judge_texts()["retry_level"],
        {"marker": f"{kind.rubric.marker} {line_code}"},
        keep=True,
    )
    judged = await ask_judge(
        grader,
        kind.request(answer, sample, code),
        GenerateConfig(seed=seed),
        verdict,
        retry,
    )
    if replies:  # even an unread one: it is logged, and read again from the log
        return Said(str(grader), replies[-1], code=line_code)
    return Said(str(grader), failure=str(judged.record["failure"]), code=line_code)
