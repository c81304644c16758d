"""HKCanto-Eval, HKMMLU and TMMLU+ for Inspect: `inspect eval hkcanto/g2p`.

In Python: `inspect_ai.eval(hkcanto.g2p(), model="openai/gpt-4o")`. Inspect is imported on first use
of a task.
"""

# ruff: noqa: F403, F405  (`__all__` lists the public names)

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .tasks import *

__all__ = [
    "cultural",
    "dse",
    "fluency",
    "g2p",
    "hkcanto",
    "hkmmlu",
    "hkmmlu_translation",
    "law",
    "mmlu",
    "orthography",
    "phonology",
    "professional",
    "run",
    "sentiment",
    "summarization",
    "tmmluplus",
    "translation",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from . import tasks

        return getattr(tasks, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
