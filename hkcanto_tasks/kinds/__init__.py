"""The kinds of task: each module here reads, renders and scores one form of question.

A kind is a module with what `Kind` describes. To add one, add a module and its name to `_MODULES`.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from ..catalogue import NamedTask, PromptTemplate, Subject, TaskEntry
from ..records import Example, Judgement, Metric, Sample

_MODULES = (
    "fluency",
    "g2p",
    "multiple_choice",
    "sentiment",
    "summarization",
    "translation",
    "translation_to_cantonese",
)


class Kind(Protocol):
    """What a module of this package provides. `Row` and `Options` are the module's own."""

    METRICS: Sequence[Metric]
    """The figures of a judgement, headline first, in the order of a results table."""

    Options: type[Any]
    """What a user can choose: a frozen `msgspec.Struct` whose fields all have defaults."""

    def read(self, path: Path, entry: TaskEntry) -> list[Any]:
        """Read a file of the release into rows."""

    def prompt(self, task: NamedTask, options: Any) -> str:
        """Return the name of the benchmark's prompt that the options ask for."""

    def system(
        self, template: PromptTemplate, task: NamedTask, subject: Subject, shots: int, options: Any
    ) -> str:
        """Render the text in front of everything."""

    def samples(
        self,
        rows: list[Any],
        template: PromptTemplate,
        task: NamedTask,
        subject: Subject,
        options: Any,
    ) -> list[Sample]:
        """Render the scored items."""

    def examples(
        self,
        rows: list[Any],
        template: PromptTemplate,
        task: NamedTask,
        subject: Subject,
        options: Any,
    ) -> list[Example]:
        """Render the worked examples, in order."""

    def stop(self, template: PromptTemplate, options: Any) -> tuple[str, ...]:
        """Return the texts before which a response ends."""

    def max_tokens(self, options: Any) -> int:
        """Return the longest response to ask for, in tokens."""

    def score(self, response: str, target: str, choices: Sequence[str | None]) -> Judgement:
        """Judge a model's response. Never raises on a response, whatever is in it."""


@cache
def kinds() -> dict[str, Kind]:
    """Return the kinds by name."""
    return {name: cast(Kind, import_module(f".{name}", __name__)) for name in _MODULES}
