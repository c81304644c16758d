"""The kinds of task: each module here reads, renders and scores one form of question.

A kind is a module with `METRICS`, `read`, `examples` and `score`, as described by `Kind`. To add
one, add a module and its name to `_MODULES`.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from ..catalogue import TaskEntry
from ..records import Example, Judgement, Metric, Sample

_MODULES = ("g2p",)


class Kind(Protocol):
    """What a module of this package provides."""

    METRICS: Sequence[Metric]
    """The figures of a judgement, headline first, in the order of a results table."""

    def read(self, path: Path, entry: TaskEntry) -> list[Sample]:
        """Read a file of the release into samples."""

    def examples(self, path: Path | None, entry: TaskEntry) -> list[Example]:
        """Return the worked examples: the release's in `path`, or the paper's without one."""

    def score(self, response: str, target: str) -> Judgement:
        """Judge a model's response. Never raises on a response, whatever is in it."""


@cache
def kinds() -> dict[str, Kind]:
    """Return the kinds by name."""
    return {name: cast(Kind, import_module(f".{name}", __name__)) for name in _MODULES}
