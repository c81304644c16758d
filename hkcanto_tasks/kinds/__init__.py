"""The kinds of tasks: how an item is read from a row, asked, and judged.

`base.py` has what all kinds share. A package adds a kind by the entry point group `hkcanto.kinds`.
"""

import logging
from functools import cache
from importlib.metadata import entry_points

from ..errors import CatalogueError, did_you_mean, from_package
from .base import Kind as Kind

_log = logging.getLogger("hkcanto")


@cache
def find_kind(name: str) -> type[Kind]:
    """Return a kind of task by its name in a `benchmark.toml`; ours wins over another package's.

    Raises:
        CatalogueError: No installed package declares it.

    Examples:
        >>> [figure.name for figure in find_kind("number").FIGURES]
        ['acc', 'unparsed_rate']
    """
    every = entry_points(group="hkcanto.kinds")
    named = sorted(
        every.select(name=name), key=lambda one: not one.value.startswith(__package__)
    )
    if not named:
        there = f"there are {', '.join(sorted(every.names))}. {did_you_mean(name, every.names)}"
        adding = "A package adds one by the entry point group hkcanto.kinds."
        raise CatalogueError(f"no kind {name!r}; {there}{adding}")
    declared, *others = named
    for other in others:
        if other.value != declared.value:
            _log.warning(
                "The kind %s = %s is left out: %s has that name already. Rename it in its package.",
                *(name, other.value, declared.value),
            )
    with from_package(declared):
        kind: type[Kind] = declared.load()
        if not issubclass(kind, Kind):
            raise TypeError(
                f"{kind!r} is not derived from hkcanto_tasks.kinds.base.Kind"
            )
    return kind
