"""What Inspect finds through our entry point: it knows whatever these modules register."""

from functools import wraps
from typing import Any

from inspect_ai._util.registry import RegistryInfo, registry_add

from hkcanto_tasks.errors import without_traceback

from . import before_model, metrics, models, scorers, second_look, solvers, tasks
from .judges import judged_summary, judged_translation

__all__ = ["before_model", "metrics", "models", "scorers", "solvers", "tasks"]


def _register_as_logged(scorer: Any) -> None:
    """Register a scorer without `hkcanto/` in front: so logs name it, and `inspect score LOG`."""

    @wraps(scorer)
    def made(*args: Any, **kwargs: Any) -> Any:
        return scorer(*args, **kwargs)

    registry_add(made, RegistryInfo(type="scorer", name=scorer.__name__))


for each in (scorers.judged, second_look.second_look, judged_summary, judged_translation):
    _register_as_logged(each)
without_traceback()
before_model.check()
