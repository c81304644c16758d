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
    declared = entry_points(group="hkcanto.kinds")
    entries = [*declared.select(name=name)]
    if not entries:
        hint = did_you_mean(name, declared.names)
        raise CatalogueError(
            f"no kind {name!r}; there are {', '.join(sorted(declared.names))}. {hint}A package "
            "adds one by the entry point group hkcanto.kinds."
        )
    entries.sort(key=lambda entry: not entry.value.startswith(__package__))
    chosen, *others = entries
    for other in others:
        if other.value != chosen.value:
            _log.warning(
                "The kind %s = %s is left out: %s has that name already. Rename it in its package.",
                name,
                other.value,
                chosen.value,
            )
    with from_package(chosen):
        kind: type[Kind] = chosen.load()
        if not issubclass(kind, Kind):
            raise TypeError(
                f"{kind!r} is not derived from hkcanto_tasks.kinds.base.Kind"
            )
    return kind
