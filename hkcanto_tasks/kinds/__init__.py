"""The kinds of task: each module here reads, renders and scores one form of question.

Which there are, ours included, the entry point group `hkcanto.kinds` says.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ..errors import CatalogueError
from .base import Kind

__all__ = ["Kind", "find_kind", "kind_names"]


def find_kind(name: str) -> type[Kind[Any]]:
    """Return a kind by its name in a `benchmark.toml`.

    Raises:
        CatalogueError: No installed package declares it.

    Examples:
        >>> [metric.name for metric in find_kind("sentiment").METRICS]
        ['acc', 'unparsed_rate']
    """
    declared = _declared().get(name)
    if declared is None:
        raise CatalogueError(
            f"no kind {name!r}; there are {', '.join(kind_names())}. A package adds one by the "
            "entry point group hkcanto.kinds."
        )
    kind: type[Kind[Any]] = declared.load()
    return kind


def kind_names() -> list[str]:
    """Return the names of all kinds."""
    return sorted(_declared())


@cache
def _declared() -> dict[str, EntryPoint]:
    return {declared.name: declared for declared in entry_points(group="hkcanto.kinds")}
