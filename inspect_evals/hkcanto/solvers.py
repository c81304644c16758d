"""The Inspect solver: asks as lm-eval does, greedily and with one system message."""

from typing import Any

from inspect_ai.model import ChatMessageSystem, Model, get_model
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.solver import Generate, Solver, TaskState, solver


@solver
def ask(separators: dict[str, str], temperature: float = 0.0) -> Solver:
    """Ask the model, at temperature 0 unless the user set one.

    A system message of the user's (`--system-message`) is put in front of the task's own, in one
    message, as lm-eval does with `--system_instruction`; Inspect itself would send two.

    Args:
        separators: Task → what joins a user's system message and the task's.
        temperature: What to send without `--temperature`.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        asked = model.config.merge(active_generate_config())
        more = _decoding(model, temperature) if asked.temperature is None else {}
        if user := asked.system_message:
            own, *rest = state.messages
            if own.role == "system":
                user = f"{user}{separators[state.metadata['task']]}{own.text}"
                state.messages = rest
            state.messages = [ChatMessageSystem(content=user), *state.messages]
            more["system_message"] = ""  # so that Inspect adds none
        return await generate(state, **more)

    return solve


def _decoding(model: Model, temperature: float) -> dict[str, Any]:
    """Return what makes a model decode at a temperature; some libraries refuse 0 as one."""
    if temperature:
        return {"temperature": temperature}
    if str(model).startswith("nnterp/"):
        return {"top_k": 1}
    if hasattr(model.api, "do_sample"):  # Transformers
        model.api.do_sample = model.model_args.get("do_sample") or False
        return {}
    return {"temperature": temperature}
