"""What a report says of evaluations: each module here makes sections of tables, charts and notes.

An analysis is a module with what `Analysis` describes. To add one, add a module and its name to
`ANALYSES`.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from ..blocks import Section
from ..evaluations import Evaluation

ANALYSES = (
    "overview",
    "against_published",
    "subjects",
    "conditions",
    "lengths",
    "jyutping",
    "translation",
    "fluency",
    "extraction",
    "items",
)
"""The modules, in the order of the page."""


class Analysis(Protocol):
    """What a module of this package provides."""

    def sections(self, evaluations: Sequence[Evaluation]) -> Sequence[Section]:
        """Return what it has to say of some evaluations; nothing if it has nothing to say."""


@cache
def analyses() -> tuple[Analysis, ...]:
    """Return the analyses in the order of the page."""
    return tuple(cast(Analysis, import_module(f".{name}", __name__)) for name in ANALYSES)
