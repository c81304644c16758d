"""The Inspect scorers: they convert our judgement of a response to an Inspect score."""

import logging
from collections.abc import Sequence
from math import nan
from typing import Any

import msgspec
from inspect_ai.event import ModelEvent, SpanBeginEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, ContentReasoning, ModelOutput
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Score,
    Scorer,
    Target,
    accuracy,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from hkcanto_metrics.choice import read_choice
from hkcanto_tasks.adapters.cut_off import FIRST, CutOff
from hkcanto_tasks.kinds.judged import Judged
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.signatures import request_hash
from hkcanto_tasks.tasks import task_as_run

from .judges.rubric import ask_role

_log = logging.getLogger("hkcanto")
_LETTERS = "ABCDEFGHIJ"
_REASONS = {
    "empty": "no_response",
    "cut off": "no_response",
    "judge failed": "grader_failed",
    "judgement unread": "grader_failed",
    "no judge": "grader_failed",
    "refusal": "refusal",
}


@scorer(metrics=[])
def judged(
    task: str | list[str] | None = None,
    options: dict[str, Any] | None = None,
) -> Scorer:
    """Score the responses of a task of the catalogue; its metrics are those of `metrics`.

    Args:
        task: The task's name in lm-eval, e.g. `hkcanto_g2p`. With several, or without a name, each
            sample names its own task.
        options: The options of its kind; without a task, each sample has its own.
    """
    names = [task] if isinstance(task, str) else task or []
    kinds = {name: task_as_run(name, **(options or {})) for name in names}
    counters: dict[str, CutOff] = {}

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        name = names[0] if len(names) == 1 else state.metadata["task"]
        if not names and name not in kinds:
            kinds[name] = task_as_run(name, **state.metadata["options"])
        kind = kinds[name]
        sample = msgspec.convert(state.metadata, Sample)
        sent = _sent_hash(sample, state.messages)
        response = state.output.completion
        judgement = kind.judge(response, sample, reasoning_of(state.output))
        values: dict[str, Any] = {}
        if isinstance(kind, Judged):
            answer = judgement.answer
            replies = (
                await ask_role(
                    kind,
                    sample,
                    answer,
                    state.epoch,
                )
                if answer
                else ()
            )
            judgement = kind.judged(judgement, replies)
            # Inspect wants the same figures of each epoch; NaN is unscored.
            values = dict.fromkeys((figure.name for figure in kind.FIGURES), nan)
        counter = counters.setdefault(name, CutOff(kind, "-T reasoning=true"))
        counter.add(judgement)
        if counter.responses == FIRST and 2 * counter.cut >= FIRST:
            _log.warning(counter.warning)
        return Score(
            value={**values, **judgement.values},
            answer=judgement.answer,
            explanation=judgement.explanation,
            reason=_reason(judgement.reason),
            metadata={
                "judgement": judgement.logged(),
                "requested": (sent, state.metadata.get("request", "")),
            },
        )

    return score


@scorer(metrics=[accuracy(), stderr()], name="hkcanto_choice")
def choice() -> Scorer:
    """Score any task with choices by the option that a response settles on.

        inspect eval inspect_evals/mmlu_pro --model … --log-dir logs
        inspect score logs/….eval --scorer hkcanto/choice --action append

    Logs name it `hkcanto_choice`, next to the task's own scorer; `--action overwrite` replaces that
    scorer. The target must be a letter. A response that does not choose a single option is
    incorrect, and its `answer` is empty.
    """

    async def score(state: TaskState, target: Target) -> Score:
        texts = [choice.value for choice in state.choices]
        options = dict(zip(_LETTERS, texts, strict=False))
        if len(options) < 2 or target.text not in options:
            raise ValueError(
                f"hkcanto/choice: sample {state.sample_id} has {len(options)} choices and the "
                f"target {target.text!r}. It needs samples with choices, and a letter as target."
            )
        reading = read_choice(state.output.completion, options, state.input_text)
        return Score(
            value=CORRECT if reading.letter == target.text else INCORRECT,
            answer=reading.letter or "",
            explanation=f"Read as {reading.letter or 'no letter'}: {reading.reason}.",
            reason=_reason(reading.reason),
        )

    return score


def _sent_hash(sample: Sample, conversation: Sequence[ChatMessage]) -> str:
    """Return the hash of what the solver, whichever it was, sent to the model under test."""
    messages: list[ChatMessage] = []
    for event in transcript().events:
        if isinstance(event, SpanBeginEvent) and event.name == "scorers":
            break  # scorers may ask models themselves
        # Each failed attempt, such as at a rate limit, has an event of its own.
        if isinstance(event, ModelEvent) and not event.role and not event.error:
            if not event.input:
                # `inspect score` gives short samples events without their messages.
                messages = [*conversation[:-1]]
                break
            messages += event.input
    turns = [(message.role, message.text) for message in messages]
    return request_hash(sample, turns)


def reasoning_of(output: ModelOutput) -> str:
    """Return the reasoning that Inspect removed from a response; if it is hidden, its summary."""
    contents = output.choices[0].message.content if output.choices else ""
    thoughts: list[str] = []
    for part in contents:
        if isinstance(part, ContentReasoning):
            thought = part.summary if part.redacted else part.reasoning
            thoughts.append(thought or "")
    return "\n".join(thoughts)


def _reason(reading: str) -> str | None:
    """Return Inspect's term for the reason why nothing could be read."""
    if not reading.startswith("none: "):
        return None
    return _REASONS.get(reading.removeprefix("none: "), "invalid_response_format")
