"""The core of hkcanto, independent of any harness: catalogue, data, prompts, scoring, results.

The two harness packages, `hkcanto_lm_eval` and `hkcanto`, are adapters over this one.

    Examples:
        >>> from hkcanto_tasks import load_task
        >>> load_task("hkcanto_g2p").kind.shots
        5
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .results.logs import read_runs as read_runs
    from .results.statistics.intervals import NonInferiority as NonInferiority
    from .results.statistics.intervals import non_inferiority as non_inferiority
    from .tasks import LoadedTask as LoadedTask
    from .tasks import load_task as load_task

__version__ = "0.2.0"

_NAMES = {
    "tasks": ("LoadedTask", "load_task"),
    "results.logs": ("read_runs",),
    "results.statistics.intervals": ("NonInferiority", "non_inferiority"),
}


def __getattr__(name: str) -> Any:
    # Lazy imports keep `import hkcanto_tasks` cheap at harness start-up.
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
