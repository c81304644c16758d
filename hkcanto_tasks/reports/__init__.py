"""Reading results: logs of both harnesses → evaluations → figures → a report or a comparison.

* `logs` reads what the harnesses wrote into `evaluations`.
* `figures` computes values with `intervals` from them, and `comparison` compares two.
* `standings` finds a run's place in the papers' tables.
* `results` and `analyses` turn all this into `blocks`: tables of typed records, and notes.
* `renderers` write blocks as a page, Markdown, JSON, CSV, or to the terminal.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .intervals import NonInferiority, non_inferiority

__all__ = ["NonInferiority", "non_inferiority"]


def __getattr__(name: str) -> Any:
    """Import what is public when it is asked for: NumPy takes a fifth of a second."""
    if name in __all__:
        from . import intervals

        return getattr(intervals, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
