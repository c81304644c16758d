"""The Inspect solver: it asks as lm-eval does, with greedy decoding and one system message."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    Model,
    get_model,
    model_roles,
)
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.solver import Generate, Solver, TaskState, solver

from hkcanto_metrics.reasoning import ends_in_reasoning, valid
from hkcanto_tasks.adapters.cut_off import room_warning
from hkcanto_tasks.adapters.system_role import NOTE, explain_refusal, lacks_system_role
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.kinds.base import Kind
from hkcanto_tasks.prompts import without_system
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.signatures import request_hash
from hkcanto_tasks.tasks import task_as_run

_log = logging.getLogger("hkcanto")


@solver
def ask(
    tasks: list[str],
    options: dict[str, Any],
    roles: Sequence[str] = (),
    temperature: float = 0.0,
) -> Solver:
    """Ask the model, at temperature 0 unless the user set one.

    The user's system message (`--system-message`) is put before the task's own, in one message, as
    lm-eval does with `--system_instruction`; Inspect itself would send two.

    Args:
        tasks: The samples' tasks, by their names in lm-eval.
        options: The options of their kind.
        roles: The roles that the scorers need. Each must have a model before anything is sent.
        temperature: The temperature to send without `--temperature`.
    """
    kinds = {name: task_as_run(name, **options) for name in tasks}
    unchecked = {kind.task.name for kind in kinds.values()}
    templates: dict[str, _ChatTemplate] = {}  # by the model

    def chat_template(model: Model, kind: Kind) -> _ChatTemplate:
        """Return the model's chat template, with warnings before the first request."""
        if str(model) not in templates:
            templates[str(model)] = _chat_template(model)
            if templates[str(model)].lacks_system_role:
                _log.warning(NOTE)
        template = templates[str(model)]
        if kind.task.name in unchecked:
            unchecked.discard(kind.task.name)
            opening = template.opening
            warning = room_warning(
                kind,
                template.text,
                opening,
                "-T reasoning=true",
            )
            if warning:
                _log.warning(warning)
        return template

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        _require_roles(roles)
        model = get_model()
        kind = kinds[state.metadata["task"]]
        template = chat_template(model, kind)
        settings = _decoding(model, temperature)
        no_system = kind.options.no_system or template.lacks_system_role
        if no_system:
            _record_no_system(state)
        if system := _setting(model, "system_message"):
            _add_system_message(state, system, kind.template.example_separator)
            settings["system_message"] = ""  # keeps Inspect from adding one
        if no_system:
            _begin_with_instruction(state)
        with _refusals_explained():
            # No task has tools: Inspect would ask again after a call, without end. lm-eval does not.
            state = await generate(state, tool_calls="none", **settings)
        _make_valid(state)
        output = state.output
        if output.stop_reason == "max_tokens" and ends_in_reasoning(
            template.opening, output.completion
        ):
            # Cut off inside the reasoning block that the prompt opened.
            output.message.content = [ContentReasoning(reasoning=output.completion)]
            output.completion = ""
        return state

    return solve


def _require_roles(roles: Sequence[str]) -> None:
    for role in roles:
        if role not in model_roles():
            raise OptionError(
                f"no model has the role {role}: --model-role {role}=MODEL."
            )


@contextmanager
def _refusals_explained() -> Iterator[None]:
    """Add our advice to a server's error about the system role."""
    try:
        yield
    except Exception as error:
        # The text of Inspect's own error includes the request.
        cause = str(error.__cause__ or error)
        if advice := explain_refusal(cause, "-T no_system=true"):
            raise OptionError(f"{cause}\n{advice}") from error
        raise


def _decoding(model: Model, default: float) -> dict[str, Any]:
    """Return the settings for the temperature of the user, or the default."""
    temperature = _setting(model, "temperature", default)
    if hasattr(model.api, "do_sample"):
        # Transformers, which refuses a temperature of 0.
        model.api.do_sample = model.model_args.get("do_sample", temperature > 0)
        return {"temperature": temperature} if temperature else {}
    if not temperature and str(model).startswith("nnterp/"):
        return {"top_k": 1}  # it samples, and refuses 0
    return {"temperature": temperature}


def _setting(
    model: Model,
    name: str,
    default: Any = None,
) -> Any:
    """Return a setting of the run, or the model's if unset; Inspect's `merge` copies all of them."""
    for config in (active_generate_config(), model.config):
        value = getattr(config, name)
        if value is not None:
            return value
    return default


def _add_system_message(
    state: TaskState,
    text: str,
    separator: str,
) -> None:
    """Put a user's system message before the task's own, in one message."""
    first, *others = state.messages
    if first.role == "system":
        text = f"{text}{separator}{first.text}"
        state.messages = others
    state.messages = [ChatMessageSystem(content=text), *state.messages]


def _turns(state: TaskState) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in state.messages]


def _record_no_system(state: TaskState) -> None:
    """Record that the catalogue's request has its instruction in the user's message."""
    sample = msgspec.convert(state.metadata, Sample)
    state.metadata["no_system"] = True
    state.metadata["request"] = request_hash(sample, without_system(_turns(state)))


def _begin_with_instruction(state: TaskState) -> None:
    """Begin the user's message with the text of the system message, and remove that message."""
    (_, text), *_ = without_system(_turns(state))
    messages = [message for message in state.messages if message.role != "system"]
    state.messages = [ChatMessageUser(content=text), *messages[1:]]


def _make_valid(state: TaskState) -> None:
    """Make the texts of a response valid Unicode; Inspect would log others in another form."""
    for choice in state.output.choices:
        message = choice.message
        if isinstance(message.content, str):
            message.content = valid(message.content)
            continue
        for part in message.content:
            for name in {"text", "reasoning", "summary"} & type(
                part
            ).model_fields.keys():
                if text := getattr(part, name):
                    setattr(part, name, valid(text))
    completion = valid(state.output.completion)
    if completion != state.output.completion:
        state.output.completion = completion


@dataclass(frozen=True)
class _ChatTemplate:
    """The chat template of a model in this process; empty for a server's.

    Attributes:
        text: The template.
        opening: A question rendered with it.
        lacks_system_role: Whether it refuses or drops a system message.
    """

    text: str = ""
    opening: str = ""
    lacks_system_role: bool = False


def _chat_template(model: Model) -> _ChatTemplate:
    tokenizer = getattr(model.api, "tokenizer", None)
    own_template = getattr(model.api, "chat_template", None)
    template = own_template or getattr(tokenizer, "chat_template", None)
    is_used = getattr(model.api, "use_chat_template", None) is not False
    if tokenizer is None or not template or not is_used:
        return _ChatTemplate()
    settings = {"chat_template": own_template}
    thinking = getattr(model.api, "enable_thinking", None)
    if thinking is not None:
        settings["enable_thinking"] = thinking

    def render(messages: Sequence[Mapping[str, str]]) -> str:
        prompt = tokenizer.apply_chat_template(
            [*messages],
            tokenize=False,
            add_generation_prompt=True,
            **settings,
        )
        return str(prompt)

    return _ChatTemplate(
        text=str(template),
        opening=render([{"role": "user", "content": "?"}]),
        lacks_system_role=lacks_system_role(render),
    )
