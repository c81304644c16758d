"""The records that results are read into: what one model did on one task, item by item."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal

from ..catalogue import Subject, TaskVariant
from ..records import Figure
from ..task import Condition, condition
from .items import Items, ItemText

__all__ = ["Evaluation", "ItemText", "Items", "SkippedLog"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One model on one task under one condition, out of one run or several of its subjects."""

    label: str  # what a report calls the model; unique for a task and condition
    model: str  # what the harness calls it
    harness: Literal["lm-eval", "inspect"]
    task: str  # the name in lm-eval of the task and variant, without a subject: `hkmmlu_cot`
    shots: int
    options: Mapping[str, str]  # those of the kind that the signature names: `prompt` → `paper`
    data: str  # which data: a pinned revision, `sample`, or `local-…`
    version: str  # of the task: figures of two versions are not comparable
    signature: str  # with the task's name instead of a part's
    created: datetime
    sources: tuple[Path, ...]  # the files that it was read from
    items: Items
    #: (subjects, figure) → what the harness itself reports of them; no subjects stand for all
    reported: Mapping[tuple[tuple[str, ...], str], float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what a reader should know, such as `judged by openai/gpt-4o`
    length_unit: str = "characters"  # of the lengths; or `tokens` of a tokenizer
    limited: bool = False  # whether the harness was asked for some of the items

    @cached_property
    def how(self) -> Condition:
        """The task and variant, all of it, with their figures."""
        return condition(self.task)

    @property
    def named(self) -> TaskVariant:
        """What the task's name stands for in the catalogue."""
        return self.how.task

    @property
    def metrics(self) -> Sequence[Figure]:
        """The figures of its kind, without averages over parts of it."""
        return self.how.kind.METRICS

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The figures of its task by name, the headline first."""
        return {figure.name: figure for figure in self.how.figures}

    @property
    def headline(self) -> Figure:
        """The figure to read first, averaged as the paper averages it."""
        return self.how.figures[0]

    @cached_property
    def subjects(self) -> Sequence[Subject]:
        """The catalogue's subjects of which it has items, in the paper's order."""
        present = set(self.items.subjects)
        return [subject for subject in self.named.subjects if subject.name in present]

    @cached_property
    def complete(self) -> bool:
        """Whether it has every item of its condition: no `--limit`, no missing subject."""
        known = not self.limited or all(subject.rows for subject in self.named.subjects)
        return known and len(set(self.items.ids)) == self.expected

    @property
    def expected(self) -> int:
        """How many items the condition asks for, as far as the catalogue knows."""
        return sum(map(self.expected_of, self.named.subjects))

    @cached_property
    def is_beginning(self) -> bool:
        """Whether it has each subject in proportion, as every beginning of a release has."""
        counts = Counter(dict(zip(self.items.ids, self.items.subjects, strict=True)).values())
        part = counts.total() / self.expected
        off = (counts[each.name] - part * self.expected_of(each) for each in self.named.subjects)
        return self.trusted_data and all(abs(each) < 1 for each in off)

    def expected_of(self, subject: Subject) -> int:
        """Return how many items of a subject are scored."""
        if not subject.rows:
            pairs = zip(self.items.ids, self.items.subjects, strict=True)
            return max(1, len({name for name, own in pairs if own == subject.name}))
        scored = subject.rows - self.named.definition.examples_from_test
        return min(scored, int(self.options.get("size", 0)) or scored)

    @cached_property
    def condition(self) -> str:
        """How it was run, for people: the shots, and the options that are not the default."""
        defaults = self.how.kind.Options()
        variant = self.named.variant
        of_variant = {"cot": "yes" if variant.cot else "", "script": variant.script}
        chosen = [
            f"{name}:{value}"
            for name, value in self.options.items()
            if value != str(of_variant.get(name) or getattr(defaults, name, None))
        ]
        return ", ".join([f"{self.shots}-shot", *chosen])

    @property
    def comparable_as(self) -> Hashable:
        """Equal for evaluations that differ in nothing but the model: task, condition and data."""
        data = "local" if self.is_local else self.data
        return self.task, self.version, self.shots, frozenset(self.options.items()), data

    @property
    def is_local(self) -> bool:
        """Whether it ran on files of the user's own, which the two harnesses sign differently."""
        return "local-" in self.data

    @property
    def is_sample(self) -> bool:
        """Whether it ran on our sample data, whose figures are comparable with nothing."""
        return self.data == "sample"

    @property
    def trusted_data(self) -> bool:
        """Whether it ran on a pinned revision: what it was asked is known."""
        return bool(self.data) and not self.is_sample and not self.is_local


@dataclass(frozen=True, slots=True)
class SkippedLog:
    """A file that was not read, or not all of it, and why, in one line."""

    path: Path
    reason: str
