"""Results: the figures of a model on a task under a setup, from a run or a record."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from ..declarations import TaskDefinition
from ..figures import Figure
from ..kinds.base import Kind
from ..signatures import UNKNOWN, Signature
from ..tasks import task_as_run

Harness = Literal["lm-eval", "inspect", "other"]
"""The program that called the model; `other` if a file of answers does not name it."""

if TYPE_CHECKING:
    from .statistics.intervals import Estimate


UNREAD = ("unparsed_rate", "invalid_rate", "unjudged_rate", "empty")
"""The kinds' figures for the share of responses from which no answer could be read."""


class Result(ABC):
    """The figures of a model on a task under a setup, and how they were made.

    Attributes:
        label: The model's name in a report.
        model: The model's name in the harness.
        harness: The program that called the model.
        signature: The signature for the task with all of its subjects.
        created: When the model was run.
    """

    label: str
    model: str
    harness: Harness
    signature: Signature
    created: datetime

    def value(self, name: str, part: str = "") -> "Estimate | None":
        """Return a recorded figure of the task or of one category or subject; None if unknown.

        Figures of a run are computed: `statistics.estimates.value_of`.
        """
        del name, part
        return None

    @property
    @abstractmethod
    def unfinished(self) -> str:
        """Why requested items are missing, such as `cancelled`; empty if none are."""

    @abstractmethod
    def is_complete(self, part: str = "") -> bool:
        """Return whether it covers all items of its task, or of one category or subject."""

    # ------------------------------------------------------------------ how it was made

    @property
    def task(self) -> str:
        """The name in lm-eval of the task and variant, without a subject: `hkmmlu_cot`."""
        return self.signature.task

    @property
    def shots(self) -> int | None:
        """Worked examples in the prompt; None if unknown."""
        return self.signature.shots

    @cached_property
    def options(self) -> Mapping[str, str]:
        """The options that the signature names: `prompt` → `paper`."""
        return dict(self.signature.options)

    @property
    def data(self) -> str:
        """The data: a pinned revision, `sample`, or `local-…`."""
        return self.signature.data

    @property
    def version(self) -> str:
        """The task's version; figures of two versions are not comparable."""
        return self.signature.version

    @cached_property
    def setup(self) -> Kind:
        """The setup of the task and variant with all subjects, and its figures."""
        return task_as_run(self.task, shots=self.shots)

    @property
    def definition(self) -> TaskDefinition:
        """The catalogue's entry of its task."""
        return self.setup.task.definition

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The figures of its task by name, the headline first."""
        return {figure.name: figure for figure in self.setup.figures}

    @property
    def headline(self) -> Figure:
        """The figure to read first, averaged as the paper averages it."""
        return self.setup.headline

    @cached_property
    def condition(self) -> str:
        """The condition in words: the shots, and the options that are not the default."""
        defaults, variant = self.setup.Options(), self.setup.task.variant
        of_variant = {"cot": "yes" if variant.cot else "", "script": variant.script}
        chosen = [
            f"{name}:{value}"
            for name, value in self.options.items()
            if value not in (UNKNOWN, str(of_variant.get(name) or getattr(defaults, name, None)))
        ]
        return ", ".join([self.shots_title, *chosen])

    @property
    def shots_title(self) -> str:
        """The number of worked examples in words."""
        return "prompt, shots and decoding unknown" if self.shots is None else f"{self.shots}-shot"

    @property
    def comparable_as(self) -> Hashable:
        """A key of task, setup and data, equal for runs that differ only in the model."""
        signature, data = self.signature, "local" if self.is_local else self.data
        options = frozenset(each for each in signature.options if each[0] != "rescored")
        how = options, signature.sent, signature.read
        return self.task, signature.version, self.shots, how, data

    @property
    def is_local(self) -> bool:
        """Whether it ran on the user's own files, whose names differ between the harnesses."""
        return "local-" in self.data

    @property
    def is_sample(self) -> bool:
        """Whether it ran on our sample data, whose figures cannot be compared with any others."""
        return self.data == "sample"

    @property
    def trusted_data(self) -> bool:
        """Whether it ran on a pinned revision, so that its items are known."""
        return bool(self.data) and not self.is_sample and not self.is_local
