"""The Inspect scorer: the core's judgement of a response as an Inspect score."""

from inspect_ai.scorer import Metric, Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.kinds import kinds
from hkcanto_tasks.scoring import judge

from .metrics import pooled_rate, pooled_stderr


def metrics_of(task: str) -> dict[str, list[Metric]]:
    """Return the Inspect metrics of a task's figures, in the order of its kind."""
    _, entry = find_task(task)
    return {
        metric.name: [pooled_rate(metric.name), pooled_stderr(metric.name)]
        if metric.pooled
        else [mean(), stderr()]
        for metric in kinds()[entry.kind].METRICS
    }


@scorer(metrics=[])
def judged(task: str) -> Scorer:
    """Score the responses of a task of the catalogue; its metrics are `metrics_of(task)`.

    Args:
        task: The task's name in lm-eval, e.g. `hkcanto_g2p`.
    """

    async def score(state: TaskState, target: Target) -> Score:
        judgement = judge(task, state.output.completion, target.text)
        return Score(
            value=dict(judgement.values),
            answer=judgement.answer,
            explanation=judgement.explanation,
            metadata={"weights": dict(judgement.weights), **judgement.details},
        )

    return score
