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
from hkcanto_metrics.reasoning import split_reasoning
from hkcanto_tasks.adapters.cut_off import FIRST, CutOff
from hkcanto_tasks.kinds.judged import Judged
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.signatures import request_hash
from hkcanto_tasks.tasks import task_as_run

from .judges.rubric import ask_role

_log = logging.getLogger("hkcanto")
_LETTERS = "ABCDEFGHIJ"
_REASONS = {
    **dict.fromkeys(("empty", "cut off"), "no_response"),
    **dict.fromkeys(("judge failed", "judgement unread", "no judge"), "grader_failed"),
    "refusal": "refusal",
}


@scorer(metrics=[])
def judged(
    task: str | list[str] | None = None, options: dict[str, Any] | None = None
) -> Scorer:
    """Score the responses of a task of the catalogue; its metric is `figures`.

    Args:
        task: The task's name in lm-eval, e.g. `hkcanto_g2p`. With several, or without a name, each
            sample names its own task.
        options: The options of its kind; without a task, each sample has its own.
    """
    names = [task] if isinstance(task, str) else task or []
    kinds = {name: task_as_run(name, **(options or {})) for name in names}
    seen: dict[str, CutOff] = {}

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        name = names[0] if len(names) == 1 else state.metadata["task"]
        if not names and name not in kinds:
            kinds[name] = task_as_run(name, **state.metadata["options"])
        kind = kinds[name]
        cut_off = seen.setdefault(name, CutOff(kind, "-T reasoning=true"))
        asked = msgspec.convert(state.metadata, Sample)
        sent = _sent(asked, state.messages), state.metadata.get("request", "")
        judgement = kind.judge(
            state.output.completion, asked, reasoning_of(state.output)
        )
        values: dict[str, Any] = {}
        if isinstance(kind, Judged):
            answer = judgement.answer
            said = await ask_role(kind, asked, answer, state.epoch) if answer else ()
            judgement = kind.judged(judgement, said)
            # Inspect wants the same figures of each epoch; NaN is unscored.
            values = dict.fromkeys((figure.name for figure in kind.FIGURES), nan)
        cut_off.add(judgement)
        if cut_off.responses == FIRST and 2 * cut_off.cut >= FIRST:
            _log.warning(cut_off.warning)
        return Score(
            value={**values, **judgement.values},
            answer=judgement.answer,
            explanation=judgement.explanation,
            reason=_reason(judgement.reason),
            metadata={"judgement": judgement.logged(), "requested": sent},
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
        shown = [option.value for option in state.choices]
        options = dict(zip(_LETTERS, shown, strict=False))
        if len(options) < 2 or target.text not in options:
            raise ValueError(
                f"hkcanto/choice: sample {state.sample_id} has {len(options)} choices and the "
                f"target {target.text!r}. It needs samples with choices, and a letter as target."
            )
        parts = split_reasoning(state.output.completion, reasoning_of(state.output))
        read = read_choice(parts.answer, options, state.input_text)
        return Score(
            value=CORRECT if read.letter == target.text else INCORRECT,
            answer=read.letter or "",
            explanation=f"Read as {read.letter or 'no letter'}: {read.reason}.",
            reason=_reason(read.reason),
        )

    return score


def _sent(sample: Sample, talk: Sequence[ChatMessage]) -> str:
    """Return the hash of what the solver, whichever it was, sent to the model under test."""
    messages: list[ChatMessage] = []
    for event in transcript().events:
        if isinstance(event, SpanBeginEvent) and event.name == "scorers":
            break  # scorers may ask models themselves
        if isinstance(event, ModelEvent) and not event.role:
            if (
                not event.input
            ):  # `inspect score` gives short samples events without their messages
                messages = [*talk[:-1]]
                break
            messages += event.input
    return request_hash(sample, [(each.role, each.text) for each in messages])


def reasoning_of(output: ModelOutput) -> str:
    """Return the reasoning that Inspect removed from a response; if it is hidden, its summary."""
    contents = output.choices[0].message.content if output.choices else ""
    own = [part for part in contents if isinstance(part, ContentReasoning)]
    return "\n".join(
        (part.summary if part.redacted else part.reasoning) or "" for part in own
    )


def _reason(reading: str) -> str | None:
    """Return Inspect's term for the reason why nothing could be read."""
    if not reading.startswith("none: "):
        return None
    return _REASONS.get(reading.removeprefix("none: "), "invalid_response_format")
