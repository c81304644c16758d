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

from hkcanto_metrics.reasoning import ends_in_reasoning
from hkcanto_tasks.adapters.cut_off import room_warning
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.printable import valid
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
    setups = {name: task_as_run(name, **options) for name in tasks}
    untold = set(tasks)
    prompts: dict[str, str] = {}  # model → a question rendered with its chat template

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        for role in roles:
            if role not in model_roles():
                raise OptionError(
                    f"no model has the role {role}: --model-role {role}=MODEL."
                )
        model, task = get_model(), state.metadata["task"]
        if task in untold:
            untold.discard(task)
            template, prompts[str(model)] = _template(model)
            if said := room_warning(
                setups[task], template, prompts[str(model)], "-T reasoning=true"
            ):
                _log.warning(said)
        chosen = _asked(model, "temperature", temperature)
        more: dict[str, Any] = {"temperature": chosen}
        if hasattr(
            model.api, "do_sample"
        ):  # Transformers, which refuses a temperature of 0
            model.api.do_sample = model.model_args.get("do_sample", chosen > 0)
            more = more if chosen else {}
        elif not chosen and str(model).startswith(
            "nnterp/"
        ):  # it samples, and refuses 0
            more = {"top_k": 1}
        if user := _asked(model, "system_message"):
            own, *rest = state.messages
            if own.role == "system":
                user = f"{user}{setups[task].template.example_separator}{own.text}"
                state.messages = rest
            state.messages = [ChatMessageSystem(content=user), *state.messages]
            more["system_message"] = ""  # keeps Inspect from adding one
        state = await generate(state, **more)
        _make_valid(state)
        output, prompt = state.output, prompts.get(str(model), "")
        if output.stop_reason == "max_tokens" and ends_in_reasoning(
            prompt, output.completion
        ):
            # Cut off inside the reasoning block that the prompt opened.
            output.message.content = [ContentReasoning(reasoning=output.completion)]
            output.completion = ""
        return state

    return solve


def _asked(model: Model, setting: str, default: Any = None) -> Any:
    """Return a setting of the run, or else of the model; Inspect's `merge` copies all of them."""
    values = (
        getattr(config, setting) for config in (active_generate_config(), model.config)
    )
    return next((value for value in values if value is not None), default)


def _make_valid(state: TaskState) -> None:
    """Make the texts of a response valid Unicode; Inspect would log others in another form."""
    for message in (choice.message for choice in state.output.choices):
        if isinstance(message.content, str):
            message.content = valid(message.content)
            continue
        for part in message.content:
            for name in {"text", "reasoning", "summary"} & type(
                part
            ).model_fields.keys():
                if text := getattr(part, name):
                    setattr(part, name, valid(text))
    if (completion := valid(state.output.completion)) != state.output.completion:
        state.output.completion = completion


def _template(model: Model) -> tuple[str, str]:
    """Return the chat template of a model in this process, and a question rendered with it."""
    tokenizer = getattr(model.api, "tokenizer", None)
    own = getattr(model.api, "chat_template", None)
    template = own or getattr(tokenizer, "chat_template", None)
    if tokenizer is None or not template:
        return "", ""
    more = {"chat_template": own, "tokenize": False, "add_generation_prompt": True}
    if (thinking := getattr(model.api, "enable_thinking", None)) is not None:
        more["enable_thinking"] = thinking
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": "?"}], **more)
    return str(template), str(prompt)
