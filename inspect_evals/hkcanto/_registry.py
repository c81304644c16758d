"""Entry point for Inspect: importing it registers our tasks, scorers, metrics and models."""

import logging
import sys
from functools import wraps
from itertools import pairwise
from typing import Any

from inspect_ai._util.registry import RegistryInfo, registry_add, set_registry_info

from hkcanto_tasks.catalogue import named_tasks
from hkcanto_tasks.describing import inspect_name
from hkcanto_tasks.errors import did_you_mean, in_command, without_traceback

from . import metrics, models, scorers, second_look, solvers, tasks
from .judges import judged_summary, judged_translation

__all__ = ["metrics", "models", "scorers", "solvers", "tasks"]


def _register_as(
    logged: str,
    scorer: Any,
    *others: str,
) -> None:
    """Register a scorer under its name in logs, and under other names.

    A log omits the prefix `hkcanto/`, and `inspect score LOG` looks for the name without it.
    """
    for name in (logged, *others):

        @wraps(scorer)
        def registered(*args: Any, **kwargs: Any) -> Any:
            return scorer(*args, **kwargs)

        registry_add(registered, RegistryInfo(type="scorer", name=name))
        set_registry_info(registered, RegistryInfo(type="scorer", name=logged))


def _hint_at_unknown_tasks() -> None:
    """Say what an unknown task of ours in Inspect's command may mean; Inspect only says it has none."""
    asked = [
        name
        for option, name in pairwise(sys.argv)
        if name.startswith("hkcanto/") and not option.startswith("-")
    ]
    if not asked or not in_command():
        return  # before the catalogue is read, which most commands do not need
    by_name = named_tasks(with_sets=True)
    known = {inspect_name(task).partition(" ")[0] for task in by_name.values()}
    known.add("hkcanto/run")
    for name in asked:
        if name in known:
            continue
        task = by_name.get(name.removeprefix("hkcanto/"))
        hint = did_you_mean(name, known - {""})
        if task and inspect_name(task):
            hint = f"Did you mean {inspect_name(task)}? "
        logging.getLogger("hkcanto").warning(
            "No task %s. %s`hkcanto list` shows all.", name, hint
        )


_register_as("judged", scorers.judged)
_register_as("second_look", second_look.second_look)
_register_as("judged_summary", judged_summary)
_register_as("judged_translation", judged_translation)
# If it were logged as `choice`, Inspect would score the log again with its own scorer of that name.
_register_as("hkcanto_choice", scorers.choice, "hkcanto/choice")
without_traceback()
_hint_at_unknown_tasks()
