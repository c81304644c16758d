"""Entry point for Inspect: importing it registers our tasks, scorers, metrics and models."""

from functools import wraps
from typing import Any

from inspect_ai._util.registry import RegistryInfo, registry_add, set_registry_info

from hkcanto_tasks.errors import without_traceback

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


_register_as("judged", scorers.judged)
_register_as("second_look", second_look.second_look)
_register_as("judged_summary", judged_summary)
_register_as("judged_translation", judged_translation)
# If it were logged as `choice`, Inspect would score the log again with its own scorer of that name.
_register_as("hkcanto_choice", scorers.choice, "hkcanto/choice")
without_traceback()
