"""What a report says of evaluations: to add an analysis, add a module and name it in `ANALYSES`."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from ..blocks import Section
from ..evaluations import Evaluation

_IN_ORDER = "subjects conditions lengths jyutping translation fluency extraction items"
ANALYSES = tuple(_IN_ORDER.split())
"""The modules, in the order of the page."""


class Analysis(Protocol):
    """What a module of this package provides."""

    def sections(self, evaluations: Sequence[Evaluation]) -> Sequence[Section]:
        """Return what it has to say of some evaluations; nothing if it has nothing to say."""


@cache
def analyses() -> tuple[Analysis, ...]:
    """Return the analyses in the order of the page."""
    return tuple(cast(Analysis, import_module(f".{name}", __name__)) for name in ANALYSES)
