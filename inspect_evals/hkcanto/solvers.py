"""The Inspect solver: it asks as lm-eval does, with greedy decoding and one system message."""

import logging
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import (
    ChatMessageSystem,
    ContentReasoning,
    Model,
    get_model,
    model_roles,
)
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.solver import Generate, Solver, TaskState, solver

from hkcanto_metrics.reasoning import ends_in_reasoning, valid
from hkcanto_tasks.adapters.cut_off import room_warning
from hkcanto_tasks.errors import OptionError
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
    unchecked = set(tasks)
    openings: dict[str, str] = {}  # model → a question rendered with its chat template

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        for role in roles:
            if role not in model_roles():
                raise OptionError(
                    f"no model has the role {role}: --model-role {role}=MODEL."
                )
        model = get_model()
        kind = kinds[state.metadata["task"]]
        if state.metadata["task"] in unchecked:
            unchecked.discard(state.metadata["task"])
            template, opening = _chat_template(model)
            openings[str(model)] = opening
            if warning := room_warning(kind, template, opening, "-T reasoning=true"):
                _log.warning(warning)
        settings = _decoding(model, temperature)
        if system := _setting(model, "system_message"):
            _add_system_message(state, system, kind.template.example_separator)
            settings["system_message"] = ""  # keeps Inspect from adding one
        # No task has tools: Inspect would ask again after a call, without end. lm-eval does not.
        state = await generate(state, tool_calls="none", **settings)
        _make_valid(state)
        output = state.output
        opening = openings.get(str(model), "")
        if output.stop_reason == "max_tokens" and ends_in_reasoning(
            opening, output.completion
        ):
            # Cut off inside the reasoning block that the prompt opened.
            output.message.content = [ContentReasoning(reasoning=output.completion)]
            output.completion = ""
        return state

    return solve


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


def _chat_template(model: Model) -> tuple[str, str]:
    """Return the chat template of a model in this process, and a question rendered with it."""
    tokenizer = getattr(model.api, "tokenizer", None)
    own_template = getattr(model.api, "chat_template", None)
    template = own_template or getattr(tokenizer, "chat_template", None)
    if tokenizer is None or not template:
        return "", ""
    settings = {"chat_template": own_template}
    thinking = getattr(model.api, "enable_thinking", None)
    if thinking is not None:
        settings["enable_thinking"] = thinking
    question = [{"role": "user", "content": "?"}]
    prompt = tokenizer.apply_chat_template(
        question,
        tokenize=False,
        add_generation_prompt=True,
        **settings,
    )
    return str(template), str(prompt)
