"""The kinds of tasks: how an item is read from a row, asked, and judged.

`base.py` has what all kinds share. A package adds a kind by the entry point group `hkcanto.kinds`.
"""

import logging
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from ..errors import CatalogueError, did_you_mean, from_package
from .base import Kind as Kind

_log = logging.getLogger("hkcanto")

_RENAMED = {
    "sentiment": '"label", with the labels that it had: write `kind = "label"` and `labels = '
    '{ Positive = ["正面"], Negative = ["負面"], Neutral = ["中性"] }`.'
}


def find_kind(name: str) -> type[Kind]:
    """Return a kind of task by its name in a `benchmark.toml`.

    Raises:
        CatalogueError: No installed package declares it.

    Examples:
        >>> [figure.name for figure in find_kind("number").FIGURES]
        ['acc', 'unparsed_rate']
    """
    if (declared := _declared().get(name)) is None:
        if name in _RENAMED:
            raise CatalogueError(f"the kind {name!r} is now {_RENAMED[name]}")
        there = f"there are {', '.join(sorted(_declared()))}. {did_you_mean(name, _declared())}"
        adding = "A package adds one by the entry point group hkcanto.kinds."
        raise CatalogueError(f"no kind {name!r}; {there}{adding}")
    with from_package(declared):
        kind: type[Kind] = declared.load()
        if not issubclass(kind, Kind):
            raise TypeError(f"{kind!r} is not derived from hkcanto_tasks.kinds.base.Kind")
    return kind


@cache
def _declared() -> dict[str, EntryPoint]:
    """Return the kinds by name; our kind wins if another package uses its name."""
    kinds: dict[str, EntryPoint] = {}
    every = entry_points(group="hkcanto.kinds")
    for declared in sorted(every, key=lambda kind: not kind.value.startswith("hkcanto_tasks.")):
        first = kinds.setdefault(declared.name, declared)
        if first.value != declared.value:
            _log.warning(
                "The kind %s = %s is left out: %s has that name already. Rename it in its package.",
                *(declared.name, declared.value, first.value),
            )
    return kinds
