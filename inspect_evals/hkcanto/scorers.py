"""The Inspect scorer: the core's judgement of a response as an Inspect score."""

from typing import Any

from inspect_ai.log import HeadlineMetric
from inspect_ai.model import ContentReasoning, ModelOutput
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from msgspec.structs import asdict

from hkcanto_tasks.corpus_figures import pair_of
from hkcanto_tasks.task import LoadedTask, condition


def headline_of(loaded: LoadedTask) -> HeadlineMetric:
    """Return the figure that the paper reports."""
    headline = loaded.condition.table[0].name
    return HeadlineMetric(scorer="judged", score="judged", metric=headline)


@scorer(metrics=[])
def judged(task: str | list[str], options: dict[str, Any] | None = None) -> Scorer:
    """Score the responses of a task of the catalogue; its metric is `figures`.

    Args:
        task: The task's name in lm-eval, e.g. `hkcanto_g2p`; of several, each sample names its own.
        options: The options of its kind.
    """
    names = [task] if isinstance(task, str) else task
    conditions = {name: condition(name, **(options or {})) for name in names}

    async def score(state: TaskState, target: Target) -> Score:
        about = state.metadata
        how = conditions[about["task"] if len(names) > 1 else names[0]]
        response = state.output.completion
        judgement = how.judge(
            response, target.text, about["choices"], about["source"], _reasoning(state.output)
        )
        return Score(
            value=dict(judgement.values),
            answer=judgement.answer,
            explanation=judgement.explanation,
            reason=_reason(judgement.details.get("reason", "")),
            metadata={
                "weights": dict(judgement.weights),
                **judgement.details,
                **({"reasoning": asdict(judgement.reasoning)} if judgement.reasoning else {}),
                "pair": pair_of(judgement)._asdict(),
            },
        )

    return score


def _reasoning(output: ModelOutput) -> str:
    """Return the reasoning that Inspect took out of a response; of a hidden one, its summary."""
    contents = output.choices[0].message.content if output.choices else ""
    own = [part for part in contents if isinstance(part, ContentReasoning)]
    return "\n".join((part.summary if part.redacted else part.reasoning) or "" for part in own)


def _reason(reading: str) -> str | None:
    """Return Inspect's word for why nothing could be read."""
    if not reading.startswith("none: "):
        return None
    known = {"empty": "no_response", "cut off": "no_response", "refusal": "refusal"}
    return known.get(reading.removeprefix("none: "), "invalid_response_format")
