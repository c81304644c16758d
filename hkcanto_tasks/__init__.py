"""The core of hkcanto: catalogue, data, prompts and scoring, free of any harness.

The two harness packages, `hkcanto_lm_eval` and `hkcanto`, are adapters over this one:

    Examples:
        >>> from hkcanto_tasks import load_task
        >>> load_task("hkcanto_g2p").task.shots
        5
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .task import LoadedTask, load_task

__version__ = "0.2.0"
__all__ = ["LoadedTask", "__version__", "load_task"]


def __getattr__(name: str) -> Any:
    # Lazily, so that `import hkcanto_tasks` costs next to nothing at harness start-up.
    if name in ("LoadedTask", "load_task"):
        from . import task

        return getattr(task, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
