"""Asking a judge: several judgements of an item, in a fixed form, each asked for again once."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import ne
from typing import Any, Generic, TypeVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ResponseSchema,
    get_model,
    model_roles,
)
from inspect_ai.solver import TaskState
from inspect_ai.util import collect, json_schema
from pydantic import BaseModel, ConfigDict, ValidationError

from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.reasoning import strip_reasoning
from hkcanto_metrics.translation import LONGEST
from hkcanto_tasks.prompts import until_stop

from .prompts import fill, fresh_code, judge_texts, neutralize

ROLE = "grader"
_ATTEMPTS = 2
_LONGEST_REASON = 300

Verdict = TypeVar("Verdict")


class Unusable(ValueError):  # noqa: N818
    """A judge's answer cannot be used; the message says why, to the judge."""


class Reply(BaseModel):
    """The form of an answer.

    Attributes:
        code: The code of the call. JSON that stands in a text under judgement cannot have it.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    code: str


AnyReply = TypeVar("AnyReply", bound=Reply)


@dataclass(frozen=True, slots=True)
class Judgement(Generic[Verdict]):
    """What one judge said, once.

    Attributes:
        grader: The judge's model.
        seed: The seed of its sampling.
        verdict: What it said; None if it failed to.
        failure: Why its last answer could not be used; empty otherwise.
    """

    grader: str
    seed: int
    verdict: Verdict | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Form(Generic[AnyReply, Verdict]):
    """What is asked of a judge.

    Attributes:
        prompt: Code → prompt.
        reply: The form of the answer.
        check: Answer → verdict; raises `Unusable`.
        structured: Whether to send the form's JSON schema along, for providers that enforce it.
    """

    prompt: Callable[[str], str]
    reply: type[AnyReply]
    check: Callable[[AnyReply], Verdict]
    structured: bool


async def ask_panel(
    form: Form[AnyReply, Verdict], judgements: int, about: Sequence[str | int | None]
) -> list[Judgement[Verdict]]:
    """Ask for several judgements of an item.

    Args:
        form: What is asked.
        judgements: How many are asked of a single grader, with the seeds 1, 2, …; if the role has
            several models, each judges once.
        about: What the codes are drawn from: the item and the texts.

    Raises:
        PrerequisiteError: The role `grader` has no model. The model under test is never its own
            judge by accident.
    """
    bound = model_roles().get(ROLE)
    graders = (
        bound if isinstance(bound, list) else [get_model(role=ROLE, required=True)] * judgements
    )
    return await collect(
        *(_ask(form, grader, seed, about) for seed, grader in enumerate(graders, start=1))
    )


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a model answered, as judges are shown it.

    Attributes:
        text: The answer without its wrapping, as the automatic metrics read it, and no longer.
        shown: What was done to it, in words; empty where nothing was.
    """

    text: str
    shown: str


def judged_text(state: TaskState, stop: Sequence[str], source: str) -> Candidate:
    """Return what a model answered, as judges are shown it."""
    response = strip_reasoning(well_formed(state.output.completion)).lstrip()
    cleaned = clean_output(until_stop(response, stop), source=source)
    text, whole = cleaned.text[:LONGEST], len(cleaned.text)
    replaced = sum(map(ne, text, neutralize(text)))
    changes = {
        f"removed: {', '.join(cleaned.removed)}": cleaned.removed,
        f"cut: the first {LONGEST:,} of {whole:,} characters": whole > LONGEST,
        f"brackets shown as others: {replaced:,}": replaced,
    }
    return Candidate(text, "; ".join(change for change, happened in changes.items() if happened))


def well_formed(text: str) -> str:
    r"""Replace what no file and no request can hold: halves of characters beyond Unicode's 65,536.

    Examples:
        >>> well_formed("佢\ud83d走"), well_formed("\ud83d\ude00")
        ('佢�走', '😀')
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def source_text(state: TaskState) -> str:
    """Return the text that was translated or summarised.

    Raises:
        ValueError: The sample's metadata has none.
    """
    source = state.metadata.get("source")
    if not isinstance(source, str) or not source:
        raise ValueError(
            f"sample {state.sample_id}: metadata['source'] is {source!r}, but the judge compares "
            "with the source text; the task must put it there"
        )
    return source


def at_least_one(judgements: int) -> None:
    """Refuse a number of judgements that nothing could be scored with."""
    if judgements < 1:
        raise ValueError(f"judgements={judgements}: ask for at least one judgement")


def failure_rate(judgements: Sequence[Judgement[Any]]) -> float:
    """Return the share of the judgements that failed; 0 if none was needed."""
    return sum(each.verdict is None for each in judgements) / max(len(judgements), 1)


async def _ask(
    form: Form[AnyReply, Verdict], grader: Model, seed: int, about: Sequence[str | int | None]
) -> Judgement[Verdict]:
    code = fresh_code(*about, str(grader), seed)
    name = form.reply.__name__
    schema = ResponseSchema(name=name, json_schema=json_schema(form.reply))
    config = GenerateConfig(seed=seed, response_schema=schema if form.structured else None)
    messages: list[ChatMessage] = [ChatMessageUser(content=form.prompt(code))]
    failure = ""
    for _ in range(_ATTEMPTS):
        try:
            output = await grader.generate(messages, config=config)
        except Exception as error:  # a limit, a timeout, a reset: this judgement's, not the run's
            failure = well_formed(f"{type(error).__name__}: {error}")[:_LONGEST_REASON]
            return Judgement(str(grader), seed, None, failure)
        completion = well_formed(output.completion)
        reply = strip_reasoning(completion)
        try:
            return Judgement(str(grader), seed, form.check(_read(reply, code, form.reply)))
        except Unusable as error:
            # An escape in JSON can be half a character, which has no place in an answer.
            reason = well_formed(str(error))[:_LONGEST_REASON]
            failure = f"{reason} (stop reason: {output.stop_reason})"
            retry = fill(judge_texts().retry, reason=reason, code=code)
            # Some providers refuse an assistant's message without text.
            answered = ChatMessageAssistant(content=completion or "…")
            messages = [*messages, answered, ChatMessageUser(content=retry)]
    return Judgement(str(grader), seed, None, failure)


def _read(completion: str, code: str, form: type[AnyReply]) -> AnyReply:
    """Read the last JSON object with the call's code, whatever else a judge wrote around it.

    Broken JSON is not repaired: an answer that was cut off would lose errors, and raise the score.
    """
    objects = [found for found in _json_objects(completion, code) if found.get("code") == code]
    if not objects:
        raise Unusable(f'There is no complete JSON object with "code": "{code}" in it.')
    try:
        return form.model_validate(objects[-1])
    except ValidationError as error:
        problems = (
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
        )
        raise Unusable("; ".join(problems)) from error


def _json_objects(text: str, needle: str) -> Iterator[dict[str, Any]]:
    """Find the outermost JSON objects in a text, up to the last that can contain the needle."""
    decoder = json.JSONDecoder(strict=False)
    last = text.rfind(needle)
    position = text.find("{")
    while 0 <= position < last:
        try:
            found, end = decoder.raw_decode(text, position)
            yield found
        except (ValueError, RecursionError):
            end = position + 1
        position = text.find("{", end)
